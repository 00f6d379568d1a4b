"""How each memory's health came about: one row per memory and day on which its counts or its state changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import polars as pl

from slowwave.transforms.core.frames import Lazy, framed
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.evidence.tables import ExpectedUse, MemoryDays
from slowwave.transforms.evidence.used.memories import STEPS
from slowwave.transforms.health.memory_health import reinforced_confidence
from slowwave.transforms.health.params import ReinforcementParams
from slowwave.transforms.health.tables import COUNTS
from slowwave.transforms.health.use_states import expected_uses
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.usage.timelines import MemoryTimelines

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
