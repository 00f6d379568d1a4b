"""What the timelines of memories tell as of a day: strength, when it fades, need, trend."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.learning.tables import Scorecard, StrategyScoresState
from slowwave.transforms.usage.need_forecasts import need_forecasts
from slowwave.transforms.usage.need_scores import need_cutoff_days, need_scores
from slowwave.transforms.usage.params import UsageParams
from slowwave.transforms.usage.strength_fading import fades_at_of
from slowwave.transforms.usage.strength_fits import strength_fits
from slowwave.transforms.usage.strength_now import evidence, strength_forecast, strengths_of
from slowwave.transforms.usage.strength_scores import strength_scores
from slowwave.transforms.usage.tables import FittedStrengths, NeedFits
from slowwave.transforms.usage.timelines import MemoryTimelines
from slowwave.transforms.usage.trends import memory_trends


class MemoryUse(NamedTuple):
    """What is computed of each memory, and what was fitted for it.

    `memories`: memory_id, half_life_days, strength, strength_state, strength_forecast, fades_at, need_30d,
    need_if_active, trend.

    `strength_fits`, `need_fits`: what was fitted for it; `scores`: rows of the scorecard; as published.
    """

    memories: pl.DataFrame
    strength_fits: Frame[FittedStrengths]
    need_fits: Frame[NeedFits]
    scores: pl.DataFrame


def memory_use(
    timelines: MemoryTimelines,
    today: int,
    params: UsageParams,
    counted_as: Callable[[Any], AbstractContextManager[object]] = nullcontext,
) -> MemoryUse:
    """One row per memory of the timelines, sorted by memory_id.

    Args:
        timelines: see there; nothing later than `today` in them.
        today: the UTC day of `as_of`, in days since 1970.
        params: methods, grids, thresholds.
        counted_as: what is done within counts as that stage.
    """
    memories, days, scope_days = timelines.memories, timelines.days, timelines.scope_days
    asked = memories.select("memory", pl.lit(today, pl.Int32).alias("day"))
    fits = strength_fits(memories, days, scope_days, today, params.strength)
    known = evidence(memories, days, fits, params.strength)
    with counted_as("need"):
        need = need_forecasts(memories, days, scope_days, today, params.need)
    told = (
        memories.select("memory", "memory_id")
        .join(strengths_of(known, asked, params.strength).drop("day"), on="memory")
        .join(strength_forecast(known, asked, params.strength).drop("day"), on="memory")
        .join(fades_at_of(known, fits, today, params.strength), on="memory")
        .join(need.forecasts, on="memory")
        .join(memory_trends(memories, days, scope_days, asked, params.trend).drop("day"), on="memory")
    )
    with counted_as("need"):
        scores = memory_scores(timelines, today, params)
    return MemoryUse(
        memories=told.drop("memory").sort("memory_id"),
        strength_fits=framed(FittedStrengths, fits),
        need_fits=framed(NeedFits, need.fits.cast({"scope": pl.Int64}).rename({"scope": "pool_id"})),
        scores=scores,
    )


def memory_scores(timelines: MemoryTimelines, today: int, params: UsageParams) -> pl.DataFrame:
    """Rows of `scorecard`, of past Mondays whose 30 days are over at the start of `today` (days since 1970)."""
    frames = (timelines.memories, timelines.days, timelines.scope_days)
    needs = need_scores(*frames, need_cutoff_days(timelines.scope_days, today, params.need), today, params.need)
    fades = strength_scores(*frames, today, params.strength, params.scorecard)
    return pl.concat([needs, fades])


def all_scores(of_strategies: Frame[StrategyScoresState], of_memories: pl.DataFrame) -> Frame[Scorecard]:
    """The rows of `scorecard`, before they are stamped."""
    return framed(Scorecard, pl.concat([of_strategies.select(of_memories.columns), of_memories]))
