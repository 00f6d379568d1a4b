"""Which version of a row wins, as of a time."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.core.schema import Landed


def is_visible(table: type[Landed], as_of: datetime) -> pl.Expr:
    """Whether a row version counts at `as_of`: it happened before, and was written before."""
    return (pl.col(table.event_time) < as_of) & (pl.col("recorded_at") < as_of)


def winning_versions(table: type[Landed], rows: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """One row per key of `table`: of the versions visible at `as_of` the latest `recorded_at`, ties by `row_hash`.

    Needs only the key, the event time, `recorded_at` and `row_hash`; other columns pass through. Order is not kept.
    """
    latest = ["recorded_at", "row_hash"]
    return (
        rows.filter(is_visible(table, as_of))
        .sort(latest, descending=True)
        .unique(subset=list(table.key), keep="first", maintain_order=True)
    )
