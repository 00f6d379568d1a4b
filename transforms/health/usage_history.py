"""How strength, trend and the verdict on use came about, day by day."""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.transforms.core.frames import Frame, selected
from slowwave.transforms.evidence.reach import REACH, with_reach
from slowwave.transforms.health.params import HistoryParams
from slowwave.transforms.health.tables import MemoryHealthHistory
from slowwave.transforms.health.verdicts import use_verdict
from slowwave.transforms.usage.strength_now import evidence, strength_on, strength_state
from slowwave.transforms.usage.tables import FittedStrengths
from slowwave.transforms.usage.timelines import MemoryTimelines, with_scope
from slowwave.transforms.usage.trends import memory_trends

_SAID = ("memory_type", "importance", "pinned")
_STATED = (*_SAID, "scope", "created_day")


def memory_use_history(
    history: pl.DataFrame, timelines: MemoryTimelines, strength_fits: Frame[FittedStrengths], params: HistoryParams
) -> Frame[MemoryHealthHistory]:
    """memory_health_history before it is stamped: what a publish at the midnight ending each day says.

    Args:
        history: memory_id, day, and as they stood at its end: status, project, agent, scope, user_id, memory_type,
            importance, pinned, eligible_count, injected_count, reference_count.
        timelines: of those memories and others.
        strength_fits: the half-lives to tell it with, tonight's.
        params: strength, trend, verdict, and which memories are global.

    The verdict is what use alone leads to (see `use_verdict`).
    """
    # a project that has neither memories nor interactions any more, in which nothing ever happened
    nowhere = pl.lit(timelines.scopes.height, pl.UInt32)
    scope = with_scope(with_reach(history.lazy(), params.evidence).select(REACH).collect(), timelines.scopes)["scope"]
    next_day = pl.col("day").dt.epoch("d").cast(pl.Int32) + 1
    numbered = (
        history.with_columns(next_day.alias("next_day"), pl.col("pinned").fill_null(value=False))
        .join(
            timelines.memories.select("memory", "memory_id", "created_day"),
            on="memory_id",
            how="left",
            maintain_order="left",
        )
        .with_columns(
            pl.lit(scope).fill_null(nowhere).alias("scope"),
            # before it landed nothing was known of when it would
            pl.when(pl.col("status").is_not_null()).then("created_day").alias("created_day"),
        )
    )
    # a memory that was of another type, pinned or elsewhere before is treated apart for that time
    versions = numbered.select("memory", *_STATED).unique().sort("memory", *_STATED).with_row_index("version")
    asked = numbered.join(
        versions, on=["memory", *_STATED], how="left", nulls_equal=True, maintain_order="left"
    ).select(pl.col("version").alias("memory"), pl.col("next_day").alias("day"))
    days = (
        versions.select("memory", "version")
        .join(timelines.days, on="memory")
        .drop("memory")
        .rename({"version": "memory"})
        .sort("memory", "day")
    )
    memories = versions.drop("memory").rename({"version": "memory"})
    trends = memory_trends(memories, days, timelines.scope_days, asked, params.trend)
    last = days.select("memory", "day", pl.col("day").alias("last_day")).sort("day")
    found = (
        asked.with_row_index("row")
        .join(trends, on=["memory", "day"], how="left")
        .sort("day")
        .join_asof(last, on="day", by="memory", allow_exact_matches=False, check_sortedness=False)
        .sort("row")
    )
    rows = (
        numbered.with_columns(
            _strength(memories, days, strength_fits, asked, params),
            found["trend"],
            found["last_day"].cast(pl.Date).cast(pl.Datetime("us")).alias("last_referenced_at"),
            pl.col("created_day").cast(pl.Date).cast(pl.Datetime("us")).alias("created_at"),
        )
        .with_columns(strength_state(pl.col("strength"), params.strength).alias("strength_state"))
        .with_columns(use_verdict(pl.col("next_day"), params.verdict).alias("use_verdict"))
        .select(
            *(name for name in history.columns if name != "scope"), "strength", "strength_state", "trend", "use_verdict"
        )
    )
    return selected(MemoryHealthHistory, rows)


def _strength(
    memories: pl.DataFrame, days: pl.DataFrame, fits: pl.DataFrame, asked: pl.DataFrame, params: HistoryParams
) -> pl.Series:
    """Strength at the midnight that begins each asked day: what happens on that day is not seen yet."""
    known = evidence(memories, days, fits, params.strength)
    owner = np.searchsorted(known.memory, asked["memory"].to_numpy().astype(np.int64))
    day = asked["day"].to_numpy().astype(np.int64)
    row = known.last_rows(owner, day - 1)
    told = np.flatnonzero(row >= 0)
    strength = np.full(len(row), np.nan)
    strength[told] = strength_on(known, row[told], day[told])
    return pl.Series("strength", strength).fill_nan(None)
