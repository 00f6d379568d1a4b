"""What the timelines of memories tell as of a day: strength, when it fades, need, trend."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import polars as pl

from slowwave.transforms.fades_at import fades_at_of
from slowwave.transforms.memory_scores import memory_scores
from slowwave.transforms.memory_timelines import MemoryTimelines
from slowwave.transforms.memory_trends import memory_trends
from slowwave.transforms.need_forecasts import need_forecasts
from slowwave.transforms.need_tables import NeedFits
from slowwave.transforms.params import Params
from slowwave.transforms.schema import Table
from slowwave.transforms.strength_fits import strength_fits
from slowwave.transforms.strength_tables import FittedStrengths
from slowwave.transforms.strengths import evidence, strength_forecast, strengths_of


@dataclass(frozen=True)
class MemoryUse:
    """What is told of each memory, and what was fitted for it.

    `memories`: memory_id, half_life_days, strength, strength_state, strength_forecast, fades_at, need_30d,
    need_if_active, trend.

    `strength_fits`, `need_fits`: what was fitted for it; `scores`: rows of the scorecard; as published.
    """

    memories: pl.DataFrame
    strength_fits: pl.DataFrame
    need_fits: pl.DataFrame
    scores: pl.DataFrame

    @property
    def tables(self) -> dict[type[Table], pl.DataFrame]:
        """What is published of the fits."""
        return {FittedStrengths: self.strength_fits, NeedFits: self.need_fits}


def memory_use(
    timelines: MemoryTimelines,
    today: int,
    params: Params,
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
    return MemoryUse(told.drop("memory").sort("memory_id"), fits, need.fits, scores)
