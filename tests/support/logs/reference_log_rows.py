"""Real logs of what people worked on, as timelines: an item is a memory, a moment is an interaction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from real_rows import FOLDER

REFERENCE_LOGS = FOLDER / "reference_logs"


@dataclass(frozen=True)
class ReferenceLog:
    """One log: `memories`, `days` and `scope_days` of `need_forecasts`, all active and of one scope."""

    name: str
    memories: pl.DataFrame
    days: pl.DataFrame
    scope_days: pl.DataFrame


def reference_log(path: Path) -> ReferenceLog:
    """A log's timelines; events of one item at one moment are one reference, and a moment's items its breadth."""
    events = (
        pl.read_parquet(path)
        .unique(["item_id", "at"])
        .with_columns(pl.col("at").dt.epoch("d").cast(pl.Int32).alias("day"), pl.len().over("at").alias("breadth"))
    )
    numbers = events.select(pl.col("item_id").unique().sort()).with_row_index("memory")
    bulk = pl.col("breadth") >= 100
    days = (
        events.join(numbers, on="item_id")
        .group_by("memory", "day")
        .agg(
            pl.len().cast(pl.Int64).alias("reference_count"),
            (pl.col("breadth") >= 10).and_(~bulk).sum().cast(pl.Int64).alias("broad_count"),
            bulk.sum().cast(pl.Int64).alias("bulk_count"),
        )
        .sort("memory", "day")
    )
    scope = pl.lit(1, pl.UInt32).alias("scope")
    moments = pl.col("at").n_unique().cast(pl.Int64)
    scope_days = events.group_by("day").agg(moments.alias("interactions_count"), moments.alias("sessions_count"))
    first = days.group_by("memory").agg(pl.col("day").min().alias("created_day"))
    memories = numbers.join(first, on="memory").select(
        "memory",
        pl.col("item_id").alias("memory_id"),
        scope,
        pl.lit(path.stem).alias("project"),
        pl.lit("knowledge").alias("memory_type"),
        pl.lit("active").alias("status"),
        pl.lit(None, pl.Float64).alias("importance"),
        pl.lit(value=False).alias("pinned"),
        "created_day",
    )
    scope_days = scope_days.select(scope, "day", "interactions_count", "sessions_count").sort("day")
    return ReferenceLog(path.stem, memories.sort("memory"), days, scope_days)


def reference_logs() -> list[ReferenceLog]:
    """All logs, by name."""
    return [reference_log(path) for path in sorted(REFERENCE_LOGS.glob("*.parquet"))]
