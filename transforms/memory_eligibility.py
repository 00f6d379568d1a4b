"""How often each memory could have been used on a day."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.evidence_tables import MemoryEligibility
from slowwave.transforms.schema import conform, polars_schema

_FOREVER = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_SCOPE = ["is_global", "project"]


def memory_eligibility(interactions: pl.LazyFrame, pool: pl.LazyFrame) -> pl.LazyFrame:
    """One row per memory and stretch of the day in which it was eligible at least once.

    Args:
        interactions: occurred_at, project, of one day (or of any set that is counted as one).
        pool: memory_id, is_global, project, pattern, valid_from, valid_until.

    An interaction at t sees a pool row with valid_from <= t < valid_until. A pool row that holds from the first to the
    last interaction covers its whole scope; the others are told by two as-of joins with the interactions numbered by
    time per scope. Either way the cost is memories + interactions, not their product. Stretches are told by the
    interactions at their ends, not by the change times, so a change between two interactions alters nothing.
    """
    per_scope = pl.concat(
        [
            interactions.select(pl.lit(value=False).alias("is_global"), "project", "occurred_at"),
            interactions.select(pl.lit(value=True).alias("is_global"), pl.lit("").alias("project"), "occurred_at"),
        ]
    )
    scopes = per_scope.group_by(_SCOPE).agg(
        pl.col("occurred_at").min().alias("first_at"),
        pl.col("occurred_at").max().alias("last_at"),
        pl.len().alias("eligible_count"),
    )
    seen = pool.with_columns(pl.col("valid_until").fill_null(_FOREVER)).join(scopes, on=_SCOPE)
    is_whole = (pl.col("valid_from") <= pl.col("first_at")) & (pl.col("valid_until") > pl.col("last_at"))
    whole = seen.filter(is_whole)
    partial = _partial_stretches(seen.filter(~is_whole).select(pl.exclude("first_at", "last_at")), per_scope)
    names = list(polars_schema(MemoryEligibility))
    stretches = pl.concat([conform(MemoryEligibility, part.select(names)) for part in (whole, partial)])
    return stretches.sort(MemoryEligibility.key)


def _partial_stretches(pool: pl.LazyFrame, per_scope: pl.LazyFrame) -> pl.LazyFrame:
    """Stretches of pool rows that begin or end between the interactions of their scope."""
    numbered = (
        per_scope.sort("occurred_at")
        .with_columns(pl.int_range(pl.len()).over(_SCOPE).alias("number"))
        .sort("occurred_at", "number")
    )
    ends = {
        keep: numbered.unique([*_SCOPE, "occurred_at"], keep=keep).sort("occurred_at") for keep in ("first", "last")
    }
    return (
        pool.sort("valid_from")
        .join_asof(
            ends["first"].select(*_SCOPE, pl.col("occurred_at").alias("first_at"), pl.col("number").alias("first")),
            left_on="valid_from",
            right_on="first_at",
            by=_SCOPE,
            strategy="forward",
            check_sortedness=False,
        )
        .sort("valid_until")
        .join_asof(
            ends["last"].select(*_SCOPE, pl.col("occurred_at").alias("last_at"), pl.col("number").alias("last")),
            left_on="valid_until",
            right_on="last_at",
            by=_SCOPE,
            strategy="backward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .with_columns((pl.col("last") - pl.col("first") + 1).alias("eligible_count"))
        .filter(pl.col("eligible_count") > 0)
    )
