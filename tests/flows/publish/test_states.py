"""States: which of those kept is read, that no more is written than says more, and that the last of each month stay."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.lake.lake import Lake, make_lake
from slowwave.flows.publish.states import keep_state, kept_state, superseded_states
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.learning.tables import StrategyScoresState as State

MARCH_30, MARCH_31, APRIL_2 = date(2026, 3, 30), date(2026, 3, 31), date(2026, 4, 2)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return make_lake(tmp_path / "lake")


def state(parts: Sequence[str]) -> pl.DataFrame:
    """A row for each part, made of what its name says."""
    rows = [{"part": part, "made_of": f"of {part}", "method": "m"} for part in parts]
    return pl.DataFrame(rows, schema=polars_schema(State))


def parts(lake: Lake, day: date) -> list[str]:
    return kept_state(lake, State, day).collect()["part"].to_list()


def test_the_last_one_up_to_the_day_is_read_else_the_first_after_it(lake):
    assert parts(lake, MARCH_30) == []
    keep_state(lake, State, MARCH_31, "20260331T000000000000-0000", state("a"))
    keep_state(lake, State, MARCH_31, "20260331T010000000000-0000", state("ab"))
    keep_state(lake, State, APRIL_2, "20260402T000000000000-0000", state("abc"))
    assert [parts(lake, day) for day in (MARCH_30, MARCH_31, date(2026, 4, 1), APRIL_2)] == [
        ["a"], ["a", "b"], ["a", "b"], ["a", "b", "c"],
    ]  # fmt: skip
    assert [file.path.stem[:11] for file in superseded_states(lake, State)] == ["20260331T00"]


def test_what_says_no_more_than_what_is_kept_is_not_written(lake):
    keep_state(lake, State, MARCH_30, "first", state("ab"))
    keep_state(lake, State, MARCH_31, "second", state("a"))
    assert parts(lake, MARCH_31) == ["a", "b"]
    assert list(lake.files(f"evidence/{State.name}")) == [MARCH_30]


def test_what_was_read_already_is_not_read_again(lake):
    keep_state(lake, State, MARCH_30, "first", state("a"), kept=state("ab"))
    assert parts(lake, MARCH_30) == []
    keep_state(lake, State, MARCH_30, "second", state("ab"), kept=state("a"))
    assert parts(lake, MARCH_30) == ["a", "b"]


def test_a_damaged_one_counts_for_nothing(lake):
    keep_state(lake, State, MARCH_30, "first", state("ab"))
    (file,) = lake.files(f"evidence/{State.name}")[MARCH_30]
    kept = file.path.read_bytes()
    other = io.BytesIO()
    state("ab").with_columns(method=pl.lit("other")).write_parquet(other)
    # of one whose values have changed, nothing but its bytes says so; of some, Polars panics
    for damaged in (b"", b"cut off", kept[:-1], other.getvalue()):
        file.path.write_bytes(damaged)
        assert parts(lake, MARCH_30) == []
    keep_state(lake, State, MARCH_30, "second", state("a"))
    assert parts(lake, MARCH_30) == ["a"]


def test_one_of_other_columns_counts_for_nothing(lake):
    for gone in ("method", "made_of"):  # a release that had no such column would else be taken to have found NULL
        keep_state(lake, State, MARCH_30, f"without {gone}", state("ab").drop(gone), kept=state(""))
        assert parts(lake, MARCH_30) == []
    keep_state(lake, State, MARCH_31, "with all", state("a"))
    assert parts(lake, MARCH_31) == ["a"]


def test_a_full_rebuild_finds_what_was_wrong_and_replaces_it(lake):
    keep_state(lake, State, MARCH_30, "first", state("ab"))
    keep_state(lake, State, MARCH_30, "second", state("ab"), verify=True)
    wrong = state("abc").with_columns(method=pl.lit("other"))
    keep_state(lake, State, MARCH_30, "third", wrong)
    with pytest.raises(UserError, match="strategy_scores_state differs from a full rebuild"):
        keep_state(lake, State, MARCH_30, "whole", state("abc"), verify=True)
    assert kept_state(lake, State, MARCH_30).collect().equals(state("abc"))
