"""What each memory is now, with its last change, since when it could be used, and when it ended."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, selected
from slowwave.transforms.evidence.states import IN_USE
from slowwave.transforms.evidence.tables import MemoriesNow


def memories_now(states: pl.DataFrame) -> Frame[MemoriesNow]:
    """The rows of memories_now, before they are stamped, sorted by memory_id.

    `states`: of `states_over_time`, sorted by memory and time.
    """
    is_in_use = pl.col("status").is_in(IN_USE)
    over_time = states.group_by("memory_id").agg(
        pl.col("valid_from").min().alias("created_at"),
        pl.col("changed_at").n_unique().cast(pl.Int64).alias("changes_count"),
        pl.col("valid_from").filter(pl.col("status") == "active").min().alias("first_eligible_at"),
        # when the last time ended in which it was in use; NULL: it still is, or never was
        pl.when(~is_in_use.last())
        .then(pl.coalesce(pl.col("valid_until").filter(is_in_use).max(), pl.col("valid_from").min()))
        .alias("ended_at"),
    )
    now = states.filter(pl.col("valid_until").is_null())
    return selected(MemoriesNow, now.join(over_time, on="memory_id", maintain_order="left"))
