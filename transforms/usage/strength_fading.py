"""How long the log has watched memories without a reference: beyond it, when one fades is no forecast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_now import StrengthEvidence, evidence, strength_on

_DAY_BITS = 32
_NO_DAY = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Watched:
    """Runs without a reference: one row per day of evidence (birth or reference) of a memory.

    `memory_types`: the names; `kind`: which of them; `scope`; `start`: the day, or the scope's first active day where
    that is later; `following`: the day of the memory's next evidence. `active`: scope and active day in one number.
    """

    memory_types: list[str]
    kind: Integers
    scope: Integers
    day: Integers
    start: Integers
    following: Integers
    active: Integers

    def reach(self, today: int, further_days: int) -> pl.DataFrame:
        """memory_type, reach_days: the longest run up to the last active day before `today`, and `further_days` more.

        NULL: none was watched.
        """
        last = np.searchsorted(self.active, _key(self.scope, np.int64(today))) - 1
        is_own = (last >= 0) & (self.active[np.maximum(last, 0)] >> _DAY_BITS == self.scope) & (self.day < today)
        newest = np.where(is_own, self.active[np.maximum(last, 0)] & ((1 << _DAY_BITS) - 1), -1)
        length = np.where(is_own, np.minimum(self.following, newest) - self.start, 0)
        longest = np.zeros(len(self.memory_types), dtype=np.int64)
        np.maximum.at(longest, self.kind, length)
        return pl.DataFrame(
            {"memory_type": self.memory_types, "reach_days": longest},
            schema={"memory_type": pl.String, "reach_days": pl.Int64},
        ).with_columns(pl.when(pl.col("reach_days") > 0).then(pl.col("reach_days") + further_days).alias("reach_days"))


def watch_memories(memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame) -> Watched:
    """The runs of `memories`; arguments as in `strength_fits`, which passes those that half-lives are fitted on."""
    names = memories.select(pl.col("memory_type").fill_null("").unique().sort()).to_series()
    known = memories.select(
        pl.col("memory").cast(pl.Int64),
        pl.col("scope").cast(pl.Int64),
        pl.col("memory_type").fill_null(""),
        pl.col("created_day").cast(pl.Int64),
    )
    first = scope_days.group_by(pl.col("scope").cast(pl.Int64)).agg(pl.col("day").min().cast(pl.Int64).alias("first"))
    born = known.filter(pl.col("created_day").is_not_null()).select("memory", pl.col("created_day").alias("day"))
    used = days.select(pl.col("memory").cast(pl.Int64), pl.col("day").cast(pl.Int64))
    kinds = pl.DataFrame({"memory_type": names}).with_row_index("kind")
    rows = (
        pl.concat([born, used])
        .unique()
        .join(known.drop("created_day"), on="memory")
        .join(first, on="scope")
        .join(kinds, on="memory_type")
        .sort("memory", "day")
        .with_columns(pl.col("day").shift(-1).over("memory").fill_null(_NO_DAY).alias("following"))
    )
    active = scope_days.select(pl.col("scope").cast(pl.Int64), pl.col("day").cast(pl.Int64)).unique()
    return Watched(
        names.to_list(),
        _integers(rows["kind"]),
        _integers(rows["scope"]),
        _integers(rows["day"]),
        np.maximum(_integers(rows["day"]), _integers(rows["first"])),
        _integers(rows["following"]),
        np.sort(_key(_integers(active["scope"]), _integers(active["day"]))),
    )


def _key(scope: Integers, day: Integers | np.int64) -> Integers:
    return (scope << _DAY_BITS) + day


def _integers(series: pl.Series) -> Integers:
    return series.to_numpy().astype(np.int64)


# When each memory will have faded if nothing happens.

_HORIZON_DAYS = 36_525  # a hundred years
NEVER = np.iinfo(np.int64).max


def fades_at(
    memories: pl.DataFrame, days: pl.DataFrame, fits: pl.DataFrame, today: int, params: StrengthParams
) -> pl.DataFrame:
    """The first UTC midnight at which a memory is below `forgettable_below`, by the very function that tells strength.

    Assumes no new reference, and importance, pin and half-lives as they are. It counts from the last evidence, so it
    may lie in the past, and any later run with the same evidence, params and fits finds the same.

    Args:
        memories: memory, memory_type, importance, pinned, created_day.
        days: memory, day, reference_count, broad_count, bulk_count: days with a reference, one row each.
        fits: memory_type, half_life_days, and with strength/2 reach_days: of `strength_fits`.
        today: days since 1970; later evidence is not looked at.
        params: method and threshold.

    Returns memory and fades_at (UTC without zone), sorted by memory. NULL: pinned, without any evidence, or not
    within a hundred years of its last evidence; or to come later than `reach_days` after
    it: no memory of the type was watched for nearly so long. What has faded by `today` is no forecast and always
    known.
    """
    return fades_at_of(evidence(memories, days, fits, params), fits, today, params)


def fades_at_of(known: StrengthEvidence, fits: pl.DataFrame, today: int, params: StrengthParams) -> pl.DataFrame:
    """`fades_at` of evidence prepared before."""
    owner = np.arange(len(known.memory), dtype=np.int64)
    row = known.last_rows(owner, np.full(len(owner), today, dtype=np.int64))
    day = fades_on(known, row, params)
    day = np.where((day > today) & ~is_reached(known, row, day, fits), NEVER, day)
    at = pl.Series("fades_at", day).set(pl.Series(day == NEVER), None)
    return pl.DataFrame({"memory": pl.Series("memory", known.memory)}).select(
        pl.col("memory").cast(pl.UInt32), at.cast(pl.Int32).cast(pl.Date).cast(pl.Datetime("us"))
    )


def is_reached(known: StrengthEvidence, row: Integers, day: Integers, fits: pl.DataFrame) -> Booleans:
    """Whether memories of the type of each `row` (-1: none) were watched as long as from it to `day`."""
    reach = np.full(len(known.memory_types), -1, dtype=np.int64)
    of_type = dict(fits.select("memory_type", "reach_days").drop_nulls().iter_rows())
    for number, name in enumerate(known.memory_types):
        reach[number] = of_type.get(name, -1)
    if not len(known.day):
        return np.zeros(len(row), dtype=np.bool_)
    span = np.where(day == NEVER, NEVER, day - known.day[row])
    return (row >= 0) & (span <= reach[known.kind[known.owner[row]]])


def fades_on(known: StrengthEvidence, row: Integers, params: StrengthParams) -> Integers:
    """The day of `fades_at` of memories whose last evidence is in `row` (-1: none), in days since 1970, or `NEVER`."""
    found = np.full(len(row), NEVER)
    asked = np.flatnonzero(row >= 0)
    row = row[asked]
    # without references strength only falls: halve the span in which it first is below
    low = known.day[row] + 1
    high = known.day[row] + _HORIZON_DAYS
    ever = strength_on(known, row, high) < params.forgettable_below
    asked, row, low, high = asked[ever], row[ever], low[ever], high[ever]
    for _ in range(_HORIZON_DAYS.bit_length()):
        middle = (low + high) // 2
        is_below = strength_on(known, row, middle) < params.forgettable_below
        high = np.where(is_below, middle, high)
        low = np.where(is_below, low, np.minimum(middle + 1, high))
    found[asked] = high
    return found
