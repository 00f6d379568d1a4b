"""Whether a memory is used more or less than it was, inferred from active days alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.transforms.core.vocabularies import TRENDS
from slowwave.transforms.usage.trend.looks import STALE, UNPROVEN, raw_trends
from slowwave.transforms.usage.trend.use_counts import ReferencePlaces

if TYPE_CHECKING:
    from slowwave.transforms.core.arrays import Integers, SmallIntegers
    from slowwave.transforms.usage.trend.params import TrendParams


def memory_trends(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, queries: pl.DataFrame, params: TrendParams
) -> pl.DataFrame:
    """Trend of memories as it stood at the UTC midnight that begins each queried day; it sees the days before.

    The rule: among the active days of a memory's scope (silent days are no evidence), the share of its references that
    falls into a recent window, as long as several references or bursts of references take at the memory's own rate, is
    held against the window's share of the span observed, by a Beta posterior in which references count by bursts.
    A run without reference that is long, and improbable at that rate, is stale; short observation is new, and few
    references or bursts are unproven.

    What is older than the log and was never referenced in it is stale as well from the first active
    day on and until its first reference; within `new_active_days` days of being made it is new all the same.

    The published state is that of the latest look whose own finding equals the one before, so a change needs two looks
    in a row that saw something: midnights after silent days see nothing new and are passed over.

    Args:
        memories: memory (0, 1, 2, ...), scope, created_day; sorted by memory.
        days: memory, day with a reference; sorted. Only whether there was one counts, not how many.
        scope_days: scope, day with an interaction; sorted. References on other days have no exposure and are left out.
        queries: memory, day of the look, any number of each, in any order.
        params: windows and thresholds.

    Returns:
        memory, day, trend (new | strengthening | stable | weakening | stale | unproven): one row per distinct pair
        asked for, sorted. Days are whole UTC days since 1970.
    """
    is_repeat = (pl.col("memory") == pl.col("memory").shift()) & (pl.col("day") == pl.col("day").shift())
    pairs = queries.select("memory", "day").sort("memory", "day").filter(~is_repeat.fill_null(value=False))
    references = ReferencePlaces(memories, days, scope_days)
    memory = pairs["memory"].to_numpy().astype(np.int64)
    place = references.places(memory, pairs["day"].to_numpy().astype(np.int64))
    # looks that see the same are one; sorted pairs have them side by side
    is_other = np.ones(len(memory), dtype=bool)
    is_other[1:] = (memory[1:] != memory[:-1]) | (place[1:] != place[:-1])
    memory, place = memory[is_other], place[is_other]
    known = _settled_trends(memory, place, references, params)
    known[references.is_left_over(memory, place, params.new_active_days)] = STALE
    names = pl.Series("trend", TRENDS, dtype=pl.String)
    return pairs.with_columns(names.gather(known[np.cumsum(is_other) - 1]))


def _settled_trends(
    memory: Integers, place: Integers, references: ReferencePlaces, params: TrendParams
) -> SmallIntegers:
    """What two looks in a row agree on, the latest before `place`."""
    begin: Integers = references.begin[memory]
    found: SmallIntegers = raw_trends(memory, place, references, params)
    settled: SmallIntegers = np.full(len(memory), UNPROVEN, dtype=np.int8)
    open_rows = np.arange(len(memory))
    for _ in range(params.max_looks):
        if not len(open_rows):
            break
        place = place - 1
        before: SmallIntegers = raw_trends(memory, np.maximum(place, begin), references, params)
        agrees = (before == found) | (place < begin)
        settled[open_rows[agrees]] = found[agrees]
        kept = ~agrees
        open_rows, memory, place, begin = open_rows[kept], memory[kept], place[kept], begin[kept]
        found = before[kept]
    return settled
