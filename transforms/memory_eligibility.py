"""How often each memory could have been used on a day."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.evidence_tables import MemoryEligibility
from slowwave.transforms.schema import conform

_FOREVER = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def memory_eligibility(interactions: pl.LazyFrame, pool: pl.LazyFrame) -> pl.LazyFrame:
    """One row per memory and stretch of the day in which it was eligible at least once.

    Args:
        interactions: occurred_at, project, of one day (or of any set that is counted as one).
        pool: memory_id, is_global, project, pattern, valid_from, valid_until.

    An interaction at t sees a pool row with valid_from <= t < valid_until. Interactions sorted by time are numbered per
    scope, so a stretch's count is the difference of two as-of joins: the cost is memories + interactions, not their
    product. Stretches are told by the interactions at their ends, not by the change times, so a change between two
    interactions alters nothing.
    """
    per_scope = pl.concat(
        [
            interactions.select(pl.lit(value=False).alias("is_global"), "project", "occurred_at"),
            interactions.select(pl.lit(value=True).alias("is_global"), pl.lit("").alias("project"), "occurred_at"),
        ]
    )
    numbered = (
        per_scope.sort("occurred_at")
        .with_columns(pl.int_range(pl.len()).over("is_global", "project").alias("number"))
        .sort("occurred_at", "number")
    )
    by = ["is_global", "project"]
    first = numbered.unique(subset=[*by, "occurred_at"], keep="first").sort("occurred_at")
    last = numbered.unique(subset=[*by, "occurred_at"], keep="last").sort("occurred_at")
    stretches = (
        pool.join(per_scope.select(by).unique(), on=by, how="semi")
        .with_columns(pl.col("valid_until").fill_null(_FOREVER))
        .sort("valid_from")
        .join_asof(
            first.select(*by, pl.col("occurred_at").alias("first_at"), pl.col("number").alias("first")),
            left_on="valid_from",
            right_on="first_at",
            by=by,
            strategy="forward",
            check_sortedness=False,
        )
        .sort("valid_until")
        .join_asof(
            last.select(*by, pl.col("occurred_at").alias("last_at"), pl.col("number").alias("last")),
            left_on="valid_until",
            right_on="last_at",
            by=by,
            strategy="backward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .with_columns((pl.col("last") - pl.col("first") + 1).alias("eligible_count"))
        .filter(pl.col("eligible_count") > 0)
    )
    return conform(MemoryEligibility, stretches).sort("memory_id", "first_at")
