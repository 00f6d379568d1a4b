"""How well the forecasts of memory use did: need_30d and fades_at, graded beside base rates."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.memory_timelines import MemoryTimelines
from slowwave.transforms.need_scores import need_cutoff_days, need_scores
from slowwave.transforms.params import Params
from slowwave.transforms.strength_scores import strength_scores


def memory_scores(timelines: MemoryTimelines, today: int, params: Params) -> pl.DataFrame:
    """Rows of `scorecard`, of past Mondays whose 30 days are over at the start of `today` (days since 1970)."""
    frames = (timelines.memories, timelines.days, timelines.scope_days)
    needs = need_scores(*frames, need_cutoff_days(timelines.scope_days, today, params.need), today, params.need)
    fades = strength_scores(*frames, today, params.strength, params.scorecard)
    return pl.concat([needs, fades])
