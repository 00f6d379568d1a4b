"""How each memory's health came about: one row per memory and day on which its counts or its state changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import numpy as np
import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, framed, selected
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.evidence.reach import REACH, with_reach
from slowwave.transforms.evidence.tables import ExpectedUse, MemoryDays
from slowwave.transforms.evidence.used.memories import STEPS
from slowwave.transforms.health.memory_health import reinforced_confidence
from slowwave.transforms.health.params import HistoryParams, ReinforcementParams
from slowwave.transforms.health.tables import COUNTS, MemoryHealthHistory
from slowwave.transforms.health.use_states import expected_uses
from slowwave.transforms.health.verdicts import use_verdict
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.usage.strength_now import evidence, strength_on, strength_state
from slowwave.transforms.usage.tables import FittedStrengths
from slowwave.transforms.usage.timelines import MemoryTimelines, with_scope
from slowwave.transforms.usage.trends import memory_trends

# Rows of history computed at once: a year of 100,000 memories is tens of millions, and a million takes 500 MB.
PIECE_ROWS = 1_000_000

_OF_USE = choose_columns(Memories, "project", "agent", "scope", "user_id", "memory_type", "importance", "pinned")


def counts_history(
    states: pl.DataFrame,
    days: Lazy[MemoryDays],
    expected: Lazy[ExpectedUse],
    timelines: MemoryTimelines,
    params: ReinforcementParams,
    before: pl.DataFrame | None = None,
    first_day: date = date.min,
) -> Iterator[pl.DataFrame]:
    """`memory_health_history` with used_expected, some memories at a time, in order of memory_id.

    `timelines` numbers them so; `expected`: expected_use of the same days as `days`.
    """
    numbers = timelines.memories.select("memory", "memory_id")
    counted = (
        days.select("memory_id", "day", pl.col(COUNTS).cast(pl.UInt32))
        .join(numbers.lazy(), on="memory_id")
        .drop("memory_id")
        .collect()
    )
    count = max(1, -(-(counted.height + states.height) // PIECE_ROWS))
    size = max(1, -(-numbers.height // count))
    for start in range(0, numbers.height, size):
        chosen = numbers.slice(start, size)
        of_piece = counted.filter(pl.col("memory").is_between(start, start + size - 1))
        counts = of_piece.join(chosen, on="memory").drop("memory").with_columns(pl.col(COUNTS).cast(pl.Int64))
        seeds = None if before is None else before.join(chosen, on="memory_id", how="semi").lazy()
        history = memory_health_history(
            states.lazy().join(chosen.lazy(), on="memory_id", how="semi"),
            framed(MemoryDays, counts.lazy(), partial=True),
            params,
            seeds,
            first_day,
        )
        yield _with_expected(history, expected, seeds).collect()


def _with_expected(history: pl.LazyFrame, days: Lazy[ExpectedUse], before: pl.LazyFrame | None) -> pl.LazyFrame:
    """The history, in order of day, with used_expected up to the end of each day."""
    told = history.join(
        days.select("memory_id", "day", "expected"), on=["memory_id", "day"], how="left", maintain_order="left"
    )
    steps = pl.col("expected").fill_null(0).cum_sum().over("memory_id")
    if before is not None:
        told = told.join(
            before.select("memory_id", (pl.col("used_expected") * STEPS).round().cast(pl.Int64).alias("before")),
            on="memory_id",
            how="left",
            maintain_order="left",
        )
        steps += pl.col("before").fill_null(0)
    return told.with_columns(expected_uses(steps).alias("used_expected")).drop("expected", "before", strict=False)


def memory_health_history(
    states: pl.LazyFrame,
    days: Lazy[MemoryDays],
    params: ReinforcementParams,
    before: pl.LazyFrame | None = None,
    first_day: date = date.min,
) -> pl.LazyFrame:
    """Per (memory_id, day) from `first_day` on the counts up to the end of that day and the state then.

    With `_OF_USE`, which `memory_use_history` goes on from.

    Args:
        states: the memory states visible (see `memory_states`).
        days: memory_days from `first_day` on, stacked, with `day`.
        params: reinforcement.
        before: per memory_id the counts of all days before `first_day`; None: there are no such days.
        first_day: no earlier day is computed.
    """
    counts = days.select("memory_id", "day", *COUNTS)
    if before is not None:
        seeds = before.select("memory_id", pl.lit(date.min).alias("day"), *COUNTS)
        counts = pl.concat([seeds, counts])
    # a change that says again what held already, as in a nightly export of all memories, is none
    changed = [pl.col(name).ne_missing(pl.col(name).shift().over("memory_id")) for name in Memories.state]
    end_of_day = (
        states.with_columns(pl.col("valid_from").dt.date().alias("day"))
        .sort("memory_id", "valid_from")
        .filter(pl.any_horizontal(changed))
        .group_by("memory_id", "day", maintain_order=True)
        .agg(pl.col("status", "confidence", *_OF_USE).last(), pl.lit(value=True).alias("is_stated"))
    )
    stacked = (
        counts.join(end_of_day, on=["memory_id", "day"], how="full", coalesce=True)
        .sort("memory_id", "day")
        .with_columns(pl.when("is_stated").then(pl.int_range(pl.len())).alias("stated_row"))
        .with_columns(pl.col("stated_row").forward_fill().over("memory_id"))
    )
    told = stacked.select(
        "memory_id",
        "day",
        pl.col("status", *_OF_USE).gather(pl.col("stated_row")),
        *[pl.col(name).fill_null(0).cum_sum().over("memory_id") for name in COUNTS],
        pl.col("confidence").gather(pl.col("stated_row")),
    )
    return told.filter(pl.col("day") >= first_day).select(
        "memory_id",
        "day",
        "status",
        *COUNTS,
        *_OF_USE,
        reinforced_confidence(pl.col("confidence"), pl.col("echoed_count"), params).alias("reinforced_confidence"),
    )


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
