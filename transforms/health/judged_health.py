"""memory_health with what follows from it for each memory alone: its verdict, and what looking at it is worth."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, selected
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.evidence.tables import ExpectedUse, ReferenceDays
from slowwave.transforms.health.memory_health import memory_health
from slowwave.transforms.health.params import HealthParams, ReviewParams, VerdictParams
from slowwave.transforms.health.review_value import review_value
from slowwave.transforms.health.stale_injections import stale_exposure
from slowwave.transforms.health.tables import MemoryHealth, StaleInjections
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
