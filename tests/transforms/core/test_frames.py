"""Frames of declared tables: another table is refused by the type checker, other columns when the graph runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from each import each

from slowwave.transforms.core.frames import FrameError, conform, empty, framed, selected
from slowwave.transforms.core.schema import computed_schema, polars_schema
from slowwave.transforms.evidence.tables import MemoryDays, ReferenceDays
from slowwave.transforms.graph import SERVING
from slowwave.transforms.learning.tables import AntiPatterns, Heuristics

ROOT = Path(__file__).resolve().parents[3]
_RIGHT = computed_schema(Heuristics).to_frame()


@each("table", SERVING)
def test_a_frame_with_the_declared_columns_is_handed_back_itself(table):
    before, stamped = computed_schema(table).to_frame(), empty(table)
    assert framed(table, before) is before
    assert framed(table, stamped) is stamped
    lazy = before.lazy()
    assert framed(table, lazy) is lazy


def test_the_order_of_columns_is_free():
    framed(Heuristics, _RIGHT.select(reversed(_RIGHT.columns)))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (_RIGHT.drop("agent", "trend"), "not a frame of heuristics: columns are missing: agent, trend"),
        (_RIGHT.with_columns(cell=1, day=date.min), "not a frame of heuristics: columns are not declared: cell, day"),
        (
            _RIGHT.cast({"attempts": pl.UInt32}),
            "not a frame of heuristics: dtypes differ: attempts is UInt32 instead of Int64",
        ),
        (
            _RIGHT.drop("agent").with_columns(cell=1).cast({"successes": pl.Float64}),
            (
                "not a frame of heuristics: columns are missing: agent; columns are not declared: cell;"
                " dtypes differ: successes is Float64 instead of Int64"
            ),
        ),
    ],
)
def test_other_columns_are_named(frame: pl.DataFrame, said: str):
    for given in (frame, frame.lazy()):
        with pytest.raises(FrameError) as refused:
            framed(Heuristics, given)
        assert str(refused.value) == said


def test_another_table_is_refused():
    with pytest.raises(FrameError, match="not a frame of anti_patterns"):
        framed(AntiPatterns, _RIGHT)


def test_part_of_a_table_may_lack_columns_and_nothing_else():
    framed(Heuristics, _RIGHT.select("agent"), partial=True)
    with pytest.raises(FrameError, match="columns are not declared: cell"):
        framed(Heuristics, _RIGHT.select("agent", cell=1), partial=True)
    with pytest.raises(FrameError, match="agent is Int64 instead of String"):
        framed(Heuristics, _RIGHT.select(agent=1).cast({"agent": pl.Int64}), partial=True)


def test_only_what_is_kept_by_day_has_the_day_of_its_partition():
    of_days = empty(MemoryDays).with_columns(day=date.min)
    framed(MemoryDays, of_days)
    with pytest.raises(FrameError, match="columns are not declared: day"):
        framed(MemoryDays, of_days.with_columns(day=pl.lit(date.min).cast(pl.Datetime)))
    with pytest.raises(FrameError, match="columns are not declared: day"):
        framed(Heuristics, _RIGHT.with_columns(day=date.min))


def test_columns_that_are_not_of_the_table_are_left_behind():
    wide = _RIGHT.select(reversed(_RIGHT.columns)).with_columns(cell=1)
    assert selected(Heuristics, wide).schema == selected(Heuristics, wide.lazy()).collect().schema == _RIGHT.schema
    with pytest.raises(FrameError, match="columns are missing: agent"):
        selected(Heuristics, wide.drop("agent"))
    with pytest.raises(FrameError, match="attempts is UInt32"):
        selected(Heuristics, wide.cast({"attempts": pl.UInt32}))


def test_no_row_is_looked_at():
    def fails(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError

    framed(Heuristics, _RIGHT.lazy().map_batches(fails, schema=_RIGHT.schema))


def test_what_is_lacking_is_null():
    found = conform(ReferenceDays, pl.LazyFrame({"memory_id": ["a"], "injected_count": [1], "other": [2]})).collect()
    assert found.schema == polars_schema(ReferenceDays)
    assert found.row(0)[:1] == ("a",)


_TYPED = """
from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.evidence.tables import MemoryReferences, PublishedReferences
from slowwave.transforms.learning.tables import AntiPatterns, Heuristics

def takes(rows: Frame[Heuristics], plan: Lazy[Heuristics]) -> None: ...
def kept(rows: Frame[MemoryReferences]) -> None: ...
def gives(rows: Frame[Heuristics], others: Frame[AntiPatterns], published: Frame[PublishedReferences]) -> None:
    takes(rows.sort("agent"), rows.lazy().filter("is_reliable"))
    takes(framed(Heuristics, rows.drop("run_id")), rows.lazy())
    takes(others, rows.lazy())
    takes(rows, others.lazy())
    takes(rows.drop("agent"), rows.lazy())
    takes(rows.lazy().collect(), rows)
    kept(published)
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pyright", path=Path(sys.executable).parent), reason="pyright is not installed")
def test_the_type_checker_refuses_another_table(tmp_path: Path):
    """Only the lines that mix up tables, or a table and a plain frame, are refused."""
    source = tmp_path / "mixed_up.py"
    source.write_text(_TYPED, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"venvPath": str(ROOT), "venv": ".venv", "extraPaths": [str(ROOT / ".venv" / "typecheck")]})
    )
    checker = Path(sys.executable).with_name("pyright")
    done = subprocess.run([checker, "--project", tmp_path, "--outputjson"], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = _TYPED.splitlines()
    assert {lines[one["range"]["start"]["line"]].strip() for one in found} == {
        "takes(others, rows.lazy())",
        "takes(rows, others.lazy())",
        'takes(rows.drop("agent"), rows.lazy())',
        "takes(rows.lazy().collect(), rows)",
        "kept(published)",
    }
    assert {one["rule"] for one in found} == {"reportArgumentType"}
