"""What the kind of a task alone says of success."""

from __future__ import annotations

import polars as pl
import pytest
from attempt_rows import START, outcomes
from hypothesis import given
from hypothesis import strategies as st
from learned_tables import learned

from slowwave.transforms.learning.learned import task_difficulty
from slowwave.transforms.learning.tables import TaskDifficulty
from slowwave.transforms.params import Params

_CELLS = pl.DataFrame(
    {
        "cell": [0, 1, 2],
        "project": ["p", "p", "q"],
        "agent": ["a", "b", "a"],
        "task_type": ["t", "t", "t"],
        "strategy_id": ["x", "y", "x"],
    }
)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_counts_are_those_of_all_who_tried(rows):
    tried = pl.DataFrame(rows, schema={"cell": pl.Int64, "block": pl.Int64, "success": pl.Boolean}, orient="row")
    found = {row["project"]: row for row in task_difficulty(tried, _CELLS, 0.9).iter_rows(named=True)}
    for project, cells in (("p", {0, 1}), ("q", {2})):
        here = [row for row in rows if row[0] in cells]
        assert (project in found) == bool(here)
        if here:
            row, won = found[project], sum(success for *_, success in here)
            assert (row["attempts"], row["successes"]) == (len(here), won)
            assert row["estimate"] == pytest.approx((won + 1) / (len(here) + 2))
            assert row["sessions"] == len({block for _, block, _ in here})
            assert 0 <= row["estimate_low"] < row["estimate"] < row["estimate_high"] <= 1


def test_without_attempts_there_is_none():
    assert learned(outcomes([]), START, Params()).tables[TaskDifficulty].is_empty()
