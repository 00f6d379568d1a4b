"""How often each memory could have been used on a day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, conform, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.reach import BOUND, REACH, kinds
from slowwave.transforms.evidence.tables import MemoryEligibility

# What tells which memories were eligible, and with which text.
ELIGIBLE = ("memory_id", "content_hash")
_FOREVER = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def memory_eligibility(interactions: pl.LazyFrame, pool: pl.LazyFrame) -> Lazy[MemoryEligibility]:
    """One row per memory and stretch of the day in which it was eligible at least once.

    Args:
        interactions: occurred_at, project, agent, user_id, of one day (or of any set that is counted as one).
        pool: memory_id, is_global, project, only_agent, only_user, pattern, content_hash, valid_from, valid_until.

    An interaction at t sees a pool row with valid_from <= t < valid_until. A pool row that holds from the first to the
    last interaction of those it reaches covers them all; the others are found by two as-of joins with the interactions
    numbered by time. Either way the cost is memories + interactions, not their product: interactions are repeated only
    for each kind of reach that there is (project or all, of these an agent's, a user's). Stretches are found by the
    interactions at their ends, not by the change times, so a change between two interactions alters nothing.
    """
    stretches = _stretches(interactions, pool, list(polars_schema(MemoryEligibility)))
    return framed(MemoryEligibility, conform(MemoryEligibility, stretches)).sort(MemoryEligibility.key)


def memory_eligibility_of_parts(parts: Iterable[pl.LazyFrame], pool: pl.LazyFrame) -> Frame[MemoryEligibility]:
    """`memory_eligibility` of a day whose interactions are too many to be held: they are taken part by part.

    A stretch of the pool begins with the first interaction that it has in any part, and ends with the last.
    """
    numbered = pool.with_row_index("stretch")
    ends = {
        "first_at": pl.col("first_at").min(),
        "last_at": pl.col("last_at").max(),
        "eligible_count": pl.col("eligible_count").cast(pl.Int64).sum(),
    }
    time = pl.Datetime("us")
    schema = {"stretch": pl.UInt32, "first_at": time, "last_at": time, "eligible_count": pl.Int64}
    merged = pl.DataFrame(schema=schema)
    for part in parts:
        found = _stretches(part, numbered, list(schema)).cast(schema)  # type: ignore[arg-type] - dtypes by name
        merged = pl.concat([merged.lazy(), found]).group_by("stretch").agg(**ends).collect()
    rows = conform(MemoryEligibility, numbered.join(merged.lazy(), on="stretch"))
    return framed(MemoryEligibility, rows).sort(MemoryEligibility.key).collect()


def _stretches(interactions: pl.LazyFrame, pool: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    places = pool.select(REACH).unique().with_row_index("place").collect()
    # memories that are bound to nobody are the rule: then nothing of it is joined
    reach = [name for name in REACH if name not in BOUND or places[name].null_count() < places.height]
    at_places = _at_places(interactions, places)
    ends = at_places.group_by("place").agg(
        pl.col("occurred_at").min().alias("first_at"),
        pl.col("occurred_at").max().alias("last_at"),
        pl.len().alias("eligible_count"),
    )
    seen = (
        pool.with_columns(pl.col("valid_until").fill_null(_FOREVER))
        .join(places.lazy().select("place", *reach), on=reach, nulls_equal=True)
        .join(ends, on="place")
    )
    is_whole = (pl.col("valid_from") <= pl.col("first_at")) & (pl.col("valid_until") > pl.col("last_at"))
    whole = seen.filter(is_whole)
    partial = _partial_stretches(seen.filter(~is_whole).select(pl.exclude("first_at", "last_at")), at_places)
    return pl.concat([whole.select(names), partial.select(names)], how="vertical_relaxed")


def _at_places(interactions: pl.LazyFrame, places: pl.DataFrame) -> pl.LazyFrame:
    """place, occurred_at: each interaction once per place (see `REACH`) that it counts for."""
    none = interactions.select(pl.lit(0, pl.UInt32).alias("place"), "occurred_at").limit(0)
    return pl.concat([none, *(_of_kind(interactions, alike, on) for on, alike in kinds(places))])


def _of_kind(interactions: pl.LazyFrame, places: pl.DataFrame, on: dict[str, str]) -> pl.LazyFrame:
    if not on:  # one place, which is everybody's
        return interactions.select(pl.lit(places["place"].item(), pl.UInt32).alias("place"), "occurred_at")
    named = places.lazy().select("place", *[pl.col(theirs).alias(ours) for ours, theirs in on.items()])
    return interactions.select("occurred_at", *on).join(named, on=list(on)).select("place", "occurred_at")


def _partial_stretches(pool: pl.LazyFrame, at_places: pl.LazyFrame) -> pl.LazyFrame:
    """Stretches of pool rows that begin or end between the interactions of their place."""
    numbered = (
        at_places.sort("occurred_at")
        .with_columns(pl.int_range(pl.len()).over("place").alias("number"))
        .sort("occurred_at", "number")
    )
    ends = {
        keep: numbered.unique(["place", "occurred_at"], keep=keep).sort("occurred_at") for keep in ("first", "last")
    }
    return (
        pool.sort("valid_from")
        .join_asof(
            ends["first"].select("place", pl.col("occurred_at").alias("first_at"), pl.col("number").alias("first")),
            left_on="valid_from",
            right_on="first_at",
            by="place",
            strategy="forward",
            check_sortedness=False,
        )
        .sort("valid_until")
        .join_asof(
            ends["last"].select("place", pl.col("occurred_at").alias("last_at"), pl.col("number").alias("last")),
            left_on="valid_until",
            right_on="last_at",
            by="place",
            strategy="backward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .with_columns((pl.col("last") - pl.col("first") + 1).alias("eligible_count"))
        .filter(pl.col("eligible_count") > 0)
    )


def eligible_pool(pool: pl.LazyFrame, eligibility: Lazy[MemoryEligibility]) -> pl.LazyFrame:
    """The rows of `pool` of the memories that were eligible on a day, with the text they then had.

    `eligibility`: memory_id, content_hash (`ELIGIBLE`), of `memory_eligibility` of that day.
    """
    return pool.join(eligibility.select(ELIGIBLE).unique(), on=list(ELIGIBLE), how="semi")
