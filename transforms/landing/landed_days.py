"""What landed of each day, by kind of row and project, and how late it was recorded."""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from slowwave.transforms.core.frames import Lazy, conform, selected
from slowwave.transforms.landing.tables import LandedDays

LATE_AFTER = timedelta(hours=24)
_A_MILLIONTH = 1e-6
_HOURS_A_MICROSECOND = 1 / 3_600_000_000  # a product: Polars divides one row otherwise than many, in the last bit


def landed_days(rows: pl.LazyFrame) -> Lazy[LandedDays]:
    """One row per landed table, project, agent and UTC day with a row, sorted by them; run_id and as_of apart.

    `rows`: landed_table, project and agent (NULL: not said), occurred_at, recorded_at, basis (of outcomes, else NULL),
    tokens, cost (NULL: not said), of the winning versions.

    A row is late when it was recorded more than 24 hours after it happened. Producers say when they recorded it; who
    does not say is not known to be late.
    """
    delay = pl.col("recorded_at") - pl.col("occurred_at")
    is_late = delay > LATE_AFTER
    millionths = (pl.col("cost") * 1e6).round().cast(pl.Int64, strict=False)  # a sum of floats depends on their order
    counted = rows.group_by(
        "landed_table",
        pl.col("project").fill_null(""),
        pl.col("agent").fill_null(""),
        pl.col("occurred_at").dt.date().alias("day"),
    ).agg(
        pl.len().alias("rows_count"),
        (pl.col("basis") == "inferred").sum().alias("inferred_count"),
        is_late.sum().alias("late_count"),
        (delay.filter(is_late).max().dt.total_microseconds() * _HOURS_A_MICROSECOND).alias("late_hours_max"),
        pl.when(pl.col("tokens").is_not_null().any()).then(pl.col("tokens").sum()).alias("stated_tokens"),
        pl.when(pl.col("cost").is_not_null().any()).then(millionths.sum() * _A_MILLIONTH).alias("stated_cost"),
        pl.col("occurred_at").max().alias("newest_at"),
        pl.col("recorded_at").max().alias("newest_recorded_at"),
    )
    return selected(LandedDays, conform(LandedDays, counted)).sort(LandedDays.key)
