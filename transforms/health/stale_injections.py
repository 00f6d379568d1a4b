"""Injections of memories that were superseded, invalid or expired when they were injected."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, selected
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.health.tables import StaleInjections

_STALE = ("superseded", "invalid", "expired")
_US_PER_HOUR = 3_600_000_000


def stale_injections(references: Lazy[MemoryReferences], states: pl.LazyFrame) -> Frame[StaleInjections]:
    """One row per interaction and memory injected into it though it was stale, sorted by key.

    Args:
        references: memory_references of all days.
        states: the memory states visible, in which memories expire (see `states_over_time`).
    """
    stated = states.select("memory_id", "valid_from", "status").sort("memory_id", "valid_from")
    is_stale = pl.col("status").is_in(_STALE)
    is_begin = is_stale.ne_missing(is_stale.shift().over("memory_id"))
    over_time = stated.with_columns(is_stale.alias("is_stale")).with_columns(
        pl.when(is_begin).then("valid_from").forward_fill().over("memory_id").alias("stale_since")
    )
    # few memories are ever stale: of the others no injection is looked at
    concerned = over_time.filter(pl.col("is_stale").any().over("memory_id"))
    injected = references.filter("is_injected").join(concerned.select("memory_id").unique(), on="memory_id", how="semi")
    found = (
        injected.sort("occurred_at")
        .join_asof(
            concerned.sort("valid_from"),
            left_on="occurred_at",
            right_on="valid_from",
            by="memory_id",
            strategy="backward",
            check_sortedness=False,
        )
        .filter("is_stale")
    )
    return selected(StaleInjections, found.sort(StaleInjections.key).collect())


def stale_exposure(injections: pl.LazyFrame) -> pl.LazyFrame:
    """memory_id, stale_injected_count, last_stale_injected_at, stale_hours of the memories in `stale_injections`."""
    last = pl.col("occurred_at").max()
    since = pl.col("stale_since").sort_by("occurred_at").last()
    return injections.group_by("memory_id").agg(
        pl.len().cast(pl.Int64).alias("stale_injected_count"),
        last.alias("last_stale_injected_at"),
        ((last - since).dt.total_microseconds() / _US_PER_HOUR).alias("stale_hours"),
    )
