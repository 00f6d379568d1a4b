"""memory_health with what follows from it for each memory alone: its verdict, and what looking at it is worth."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, framed, selected
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.evidence.scopes import ScopeParams, tag_value
from slowwave.transforms.evidence.tables import ExpectedUse, MemoryReferences, ReferenceDays, ReplayedInteractions
from slowwave.transforms.health.memory_health import memory_health
from slowwave.transforms.health.params import HealthParams, ReviewParams, VerdictParams
from slowwave.transforms.health.review_value import review_value
from slowwave.transforms.health.tables import MemoryHealth, ScopeLeaks, StaleInjections
from slowwave.transforms.health.use_states import with_use_states
from slowwave.transforms.health.verdicts import verdicts
from slowwave.transforms.lift.params import MemoryOutcomeParams


class JudgingParams(HealthParams, Protocol):
    """What health is computed with, and what it is judged by."""

    verdict: VerdictParams
    review: ReviewParams
    memory_outcomes: MemoryOutcomeParams


def judged_health(
    states: pl.LazyFrame,
    days: Lazy[ReferenceDays],
    expected: Lazy[ExpectedUse],
    eligible: pl.LazyFrame,
    stale: Lazy[StaleInjections],
    followed: pl.LazyFrame,
    outcomes: pl.LazyFrame,
    use: pl.LazyFrame,
    held: pl.LazyFrame,
    today: int,
    params: JudgingParams,
) -> Frame[MemoryHealth]:
    """The rows of memory_health, before they are stamped, sorted by memory_id.

    Args:
        states: the memory states visible (see `memory_states`).
        days: reference_days of all days, stacked.
        expected: expected_use of all days, stacked.
        eligible: memory_id, eligible_count, of all days.
        stale: of `stale_injections`.
        followed: memory_id, followed_count, not_followed_count of the instructions that were checked.
        outcomes: of `memory_outcomes`.
        use: `memories` of `memory_use`.
        held: of `forgetting_evidence`: per memory_id whether it is_held.
        today: the UTC day of the publish, in days since 1970.
        params: of health, verdicts and review; the mass of all intervals.
    """
    mass = params.memory_outcomes.interval_mass
    is_held = held.select("memory_id", "is_held")
    known = (
        memory_health(states, days, eligible, outcomes, use, is_held, params)
        .join(stale_exposure(stale), on="memory_id", how="left", maintain_order="left")
        .join(followed, on="memory_id", how="left", maintain_order="left")
        .with_columns(pl.col("stale_injected_count", "followed_count", "not_followed_count").fill_null(0))
        .collect()
    )
    known = known.hstack(_following_interval(known, mass))
    known = with_use_states(known, expected, params.verdict, interval_mass=mass)
    told = verdicts(known.lazy(), today, params.verdict, interval_mass=mass)
    judged = known.join(told.collect(), on="memory_id", maintain_order="left")
    worth = review_value(judged, params.review, interval_mass=mass).select("memory_id", "review_value")
    return selected(MemoryHealth, judged.join(worth, on="memory_id", how="left", maintain_order="left"))


def _following_interval(known: pl.DataFrame, mass: float) -> pl.DataFrame:
    """Return followed_low and followed_high of these memories: NULL where no answer was checked."""
    followed, not_followed = (known[name].to_numpy() + 1.0 for name in ("followed_count", "not_followed_count"))
    is_checked = pl.Series(followed + not_followed > 2)  # noqa: PLR2004 - the prior alone
    ends = zip(("followed_low", "followed_high"), beta_interval(followed, not_followed, mass), strict=True)
    return pl.DataFrame({name: pl.select(pl.when(is_checked).then(pl.Series(end))).to_series() for name, end in ends})


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


def scope_leaks(
    references: Lazy[MemoryReferences],
    states: pl.LazyFrame,
    interactions: Lazy[ReplayedInteractions],
    params: ScopeParams,
) -> Frame[ScopeLeaks]:
    """One row per interaction and memory of another scope that was put into it, sorted by key.

    Args:
        references: memory_references of all days.
        states: the memory states visible (see `memory_states`).
        interactions: replayed_interactions of all days.
        params: the tags that tell scopes apart.

    What was never said crosses nothing: an interaction without a user, a memory of no user. An interaction states no
    tags: where it was given memories of two tenants, each of them stands beside the other's.
    """
    tags = sorted(set(params.tags))
    bound = {
        "user": pl.col("user_id"),
        "agent": pl.when(pl.col("scope") == "agent", pl.col("agent") != "").then("agent"),
        **{tag: tag_value(tag) for tag in tags},
    }
    stated = states.select("memory_id", "valid_from", *(value.alias(f"of {name}") for name, value in bound.items()))
    is_bound = pl.any_horizontal(pl.col(f"of {name}").is_not_null() for name in bound)
    # most memories are everybody's: of these no injection is looked at
    concerned = stated.filter(is_bound.any().over("memory_id")).sort("valid_from").collect().lazy()
    ids = concerned.select("memory_id").unique()
    injected = references.filter("is_injected").join(ids, on="memory_id", how="semi").collect()
    if injected.is_empty():  # and no interaction is looked up
        return framed(ScopeLeaks, computed_schema(ScopeLeaks).to_frame())
    users = interactions.select("interaction_id", "user_id").join(injected.lazy(), on="interaction_id", how="semi")
    given = injected.lazy().join(users, on="interaction_id", how="left")
    found = given.sort("occurred_at").join_asof(
        concerned,
        left_on="occurred_at",
        right_on="valid_from",
        by="memory_id",
        strategy="backward",
        check_sortedness=False,
    )
    had = {
        "user": pl.when(pl.col("user_id") != "").then("user_id"),
        "agent": pl.when(pl.col("agent") != "").then("agent"),
        **{tag: _beside(tag) for tag in tags},
    }
    told = found.with_columns(value.alias(f"had {name}") for name, value in had.items())
    is_crossed = {name: (pl.col(f"of {name}") != pl.col(f"had {name}")).fill_null(value=False) for name in bound}
    scopes = {
        side: [
            pl.when(crossed).then(pl.format(f"{name}={{}}", f"{side} {name}")) for name, crossed in is_crossed.items()
        ]
        for side in ("of", "had")
    }
    rows = told.filter(pl.any_horizontal(is_crossed.values())).with_columns(
        pl.concat_list(pl.when(crossed).then(pl.lit(name)) for name, crossed in is_crossed.items())
        .list.drop_nulls()
        .alias("crossed"),
        pl.concat_str(scopes["of"], separator=", ", ignore_nulls=True).alias("memory_scope"),
        pl.concat_str(scopes["had"], separator=", ", ignore_nulls=True).alias("interaction_scope"),
    )
    return selected(ScopeLeaks, rows.sort(ScopeLeaks.key).collect())


def _beside(tag: str) -> pl.Expr:
    """The values of a tag that the other memories of an interaction had; NULL: none but its own."""
    own = pl.col(f"of {tag}")
    values = own.drop_nulls().unique().sort().implode().over("interaction_id", mapping_strategy="join")
    others = values.list.set_difference(pl.concat_list(own))
    return pl.when(others.list.len() > 0).then(others.list.sort().list.join("|"))
