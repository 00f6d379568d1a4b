"""The middle of the attempts before a memory existed is found without listing them: it is their median."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.lift.same_task import _Attempts, _middles

_START = datetime(2026, 1, 1)  # noqa: DTZ001 - naive times hold UTC
_attempts = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9), st.integers(0, 1)), min_size=1, max_size=30)
_took = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(-1, 11)),
    min_size=1,
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(_attempts, _took)
def test_it_is_the_median_of_all_that_came_before(attempts, took):
    """Times are microseconds apart, so that a middle may lie between two of them."""

    def times(moments: tuple[int, ...]) -> pl.Series:
        return pl.Series([_START + timedelta(microseconds=moment) for moment in moments], dtype=pl.Datetime("us"))

    tasks, at, success = zip(*attempts, strict=True)
    repeated = pl.DataFrame({"of_task": tasks, "at": times(at), "success": success})
    memories, of_task, created = zip(*took, strict=True)
    pairs = pl.DataFrame({"memory": memories, "of_task": of_task, "created_at": times(created)})
    listed = (
        pairs.join(repeated, on="of_task")
        .filter(pl.col("at") < pl.col("created_at"))
        .group_by("memory")
        .agg(pl.col("at").median().cast(pl.Datetime("us")).alias("middle_at"))
    )
    assert _middles(pairs, _Attempts.of(repeated)).sort("memory").equals(listed.sort("memory"))
