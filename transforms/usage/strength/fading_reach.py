"""How long the log has watched memories without a reference: beyond it, when one fades is no forecast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers

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
