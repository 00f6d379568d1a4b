"""A day's evidence as integer counts per memory."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.evidence_tables import MemoryDays
from slowwave.transforms.schema import conform


def memory_days(eligibility: pl.LazyFrame, references: pl.LazyFrame) -> pl.LazyFrame:
    """One row per memory that was eligible, injected or referenced on the day, sorted by memory_id."""
    eligible = eligibility.group_by("memory_id").agg(pl.col("eligible_count").sum())
    is_reference = pl.col("is_echoed")
    referenced_at = pl.col("occurred_at").filter(is_reference)
    referenced = references.group_by("memory_id").agg(
        pl.col("is_injected").cast(pl.Int64).sum().alias("injected_count"),
        pl.col("is_echoed").cast(pl.Int64).sum().alias("echoed_count"),
        is_reference.cast(pl.Int64).sum().alias("reference_count"),
        referenced_at.min().alias("first_referenced_at"),
        referenced_at.max().alias("last_referenced_at"),
    )
    counts = ["eligible_count", "injected_count", "echoed_count", "reference_count"]
    joined = eligible.join(referenced, on="memory_id", how="full", coalesce=True)
    return conform(MemoryDays, joined.with_columns(pl.col(counts).fill_null(0))).sort("memory_id")
