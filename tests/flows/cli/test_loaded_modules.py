"""Which modules a command loads: what decides how soon it answers, and does not depend on how busy the machine is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.lake import Lake
from slowwave.flows.report import write_report
from slowwave.transforms.serving_tables import Runs

_SLOW = {"altair", "numba", "numpy", "prefect", "pyarrow", "scipy", "sqlalchemy", "streamlit", "wordllama"}
_READING = _SLOW | {"polars", "pydantic"}
_CODE = """
import json, sys
from slowwave.flows.cli import main
try:
    main({arguments!r})
finally:
    print(json.dumps(sorted({{name.split(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home."""
    small = SmallHome(tmp_path_factory.mktemp("loaded") / "home")
    small.land(memory("m-1"), interaction("i-1", memories_used=["m-1"]), outcome("o-1", interaction_id="i-1"))
    small.nightly()
    write_report(small.settings, small.settings.current.resolve())  # else a night that changes nothing draws it
    return small.folder


def loaded(arguments: list[str], home: Path) -> set[str]:
    """The top-level modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(arguments=arguments)],
        env={**os.environ, "SLOWWAVE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (["--help"], _READING | {"duckdb", "orjson", "rich"}),
        (["--version"], _READING | {"duckdb", "orjson", "rich"}),
        (["status", "--help"], _READING | {"duckdb", "orjson", "rich"}),
        (["status"], _READING),
        (["status", "--format", "json"], _READING | {"rich"}),
        (["why", "m-1"], _READING),
        (["why", "i-1", "--format", "json"], _READING),
        (["sql", "SELECT * FROM memory_health WHERE memory_id = 'm-1'"], _READING),
        (["sql", "SELECT count(*) FROM heuristics", "--format", "csv"], _READING | {"rich"}),
        (["sql", "--list"], _READING),
        (["schema"], (_READING | {"duckdb", "rich"}) - {"pydantic"}),
        (["schema", "memory_health", "--format", "sql"], (_READING | {"duckdb", "rich"}) - {"pydantic"}),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_a_command_that_reads_loads_nothing_slow(arguments: list[str], never: set[str], home: Path) -> None:
    assert loaded(arguments, home) & never == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["memory", "show", "m-1"],
        ["memory", "show", "m-7", "--format", "json"],
        ["memory", "pin", "m-1", "--yes"],
        ["memory", "undo", "m-1", "--dry-run"],
    ],
    ids=" ".join,
)
def test_a_command_about_one_memory_loads_no_prefect_nor_what_computes(
    arguments: list[str], home: Path, tmp_path: Path
) -> None:
    shutil.copytree(home, tmp_path / "home", symlinks=True)
    assert loaded(arguments, tmp_path / "home") & _SLOW == set()


def test_status_of_a_home_that_is_not_there_loads_nothing_slow(tmp_path: Path) -> None:
    assert loaded(["status"], tmp_path / "nowhere") & _READING == set()


def test_a_night_with_nothing_new_is_recorded_without_prefect_or_what_computes(home: Path) -> None:
    before = runs(home)
    assert loaded(["nightly"], home) & (_SLOW | {"jinja2", "vl_convert"}) == set()
    assert [row[0] for row in runs(home)] == [*(row[0] for row in before), "skipped"]


def test_landing_parquet_loads_no_pandas(tmp_path: Path) -> None:
    delivered = tmp_path / "a.parquet"
    rows = {"interaction_id": ["i-1"], "created_at": ["2026-03-01"], "prompt": ["a"], "memories_used": [["m-1", "m-2"]]}
    pl.DataFrame(rows).write_parquet(delivered)
    modules = loaded(["land", str(delivered)], tmp_path / "home")
    assert "pyarrow" in modules
    assert modules & {"numba", "pandas", "prefect", "scipy"} == set()


def runs(home: Path) -> list[tuple[str]]:
    """The states of the home's nightly runs in the ledger, oldest first."""
    rows = Lake(home / "lake").ledger(Runs).filter(pl.col("kind") == "nightly")
    return rows.sort("run_id").select("status").rows()
