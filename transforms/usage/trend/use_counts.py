"""What a look sees of a memory's use: integer counts, by search in sorted positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from slowwave.transforms.core.arrays import Booleans, Integers


_DAY_BITS = 32
_NO_DAY = np.iinfo(np.int32).max


def _key(owner: Integers, place: Integers) -> Integers:
    """Owner and place in one integer that sorts like the pair; places are 32-bit integers of either sign."""
    return (owner << _DAY_BITS) + (place + (1 << (_DAY_BITS - 1)))


def _integers(series: pl.Series) -> Integers:
    return series.to_numpy().astype(np.int64)


@dataclass(frozen=True)
class TrendCounts:
    """What looks see; one array element per look. All lengths are in active days of the scope.

    Attributes:
        observed: active days since the memory began; the day it began is none of them.
        span: of them those since the last `max_reference_days` references began.
        references: references (days with one) in the span.
        run: active days since the last reference, or since the span began.
        gap_squares: sum over the references in the span of the squared distance from the one before.
        is_known: the memory has landed at any time, or was referenced before the look.
    """

    observed: Integers
    span: Integers
    references: Integers
    run: Integers
    gap_squares: Integers
    is_known: Booleans


class ReferencePlaces:
    """Where the references of all memories stand among the active days of their scopes.

    A reference on a day on which its scope had no interaction is left out: there is no exposure to hold it against.

    Args:
        memories: memory (0, 1, 2, ...), scope, created_day; sorted by memory.
        days: memory, day of each day with a reference; sorted.
        scope_days: scope, day of each active day; sorted.
    """

    def __init__(self, memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame) -> None:
        self._scope = _integers(memories["scope"])
        self._active = _key(_integers(scope_days["scope"]), _integers(scope_days["day"]))
        # the place of the first active day of each memory's scope: nothing is seen before it
        self.begin = np.searchsorted(self._active, self._scope << _DAY_BITS)
        memory = _integers(days["memory"])
        wanted = _key(self._scope[memory], _integers(days["day"]))
        place = np.searchsorted(self._active, wanted)
        found = np.zeros(len(place), dtype=bool)
        inside = place < len(self._active)
        found[inside] = self._active[place[inside]] == wanted[inside]
        memory, self._place = memory[found], place[found]
        self._key = _key(memory, self._place)
        number = np.arange(memories.height, dtype=np.int64)
        self._first = np.searchsorted(self._key, number << _DAY_BITS)
        gaps = np.diff(self._place, prepend=0)
        # two memories side by side have no gap between them
        gaps[self._first[self._first < len(gaps)]] = 0
        self._squares = np.cumsum(gaps * gaps)
        created = _integers(memories["created_day"].fill_null(_NO_DAY))
        self._created_day = created
        self._created = np.searchsorted(self._active, _key(self._scope, created), side="right")
        self._is_dated = created != _NO_DAY

    def places(self, memory: Integers, day: Integers) -> Integers:
        """Place of each look: that of the first active day that it does not see."""
        return np.searchsorted(self._active, _key(self._scope[memory], day))

    def _active_day(self, place: Integers) -> Integers:
        return (self._active[place] & ((1 << _DAY_BITS) - 1)) - (1 << (_DAY_BITS - 1))

    def counts(self, memory: Integers, place: Integers, max_reference_days: int) -> TrendCounts:
        """What looks at `place` see of each `memory`."""
        first = self._first[memory]
        last = np.searchsorted(self._key, _key(memory, place))
        padded = np.append(self._place, 0)
        # a memory begins when it lands or is first referenced, whichever comes first; observation on the day after
        landed = np.where(self._is_dated[memory], self._created[memory], place)
        begin = np.where(last > first, np.minimum(padded[first] + 1, landed), landed)
        begin = np.minimum(begin, place)
        is_known = self._is_dated[memory] | (last > first)
        # only the first reference can stand on the day it begins
        first = first + ((last > first) & (padded[first] < begin))
        cut = last - max_reference_days
        is_cut = cut > first
        start = np.where(is_cut, padded[np.maximum(cut - 1, 0)] + 1, begin)
        first = np.where(is_cut, cut, first)
        references = last - first
        some = references > 0
        end = np.where(some, padded[last - 1] + 1, start)
        head = padded[np.minimum(first, len(self._place))] - start + 1
        squares = np.append(self._squares, 0)
        between = squares[last - 1] - squares[np.minimum(first, len(self._place))]
        return TrendCounts(
            observed=place - begin,
            span=place - start,
            references=references,
            run=place - end,
            gap_squares=np.where(some, head * head + between, 0),
            is_known=is_known,
        )

    def is_left_over(self, memory: Integers, place: Integers, days: int) -> Booleans:
        """Whether looks at `place` see memories older than the log that it never referenced.

        That is: made before the first active day of their scope and, up to the last one seen, at least `days` calendar
        days old.
        """
        is_seen = place > self.begin[memory]  # an active day, so that there is a first one
        seen = np.flatnonzero(is_seen)
        first, last = self._active_day(self.begin[memory[seen]]), self._active_day(place[seen] - 1)
        created = self._created_day[memory[seen]]
        is_unused = np.searchsorted(self._key, _key(memory[seen], place[seen])) == self._first[memory[seen]]
        is_seen[seen] = is_unused & (created < first) & (last - created >= days)
        return is_seen

    def references_since(self, memory: Integers, place: Integers, window: Integers) -> Integers:
        """References of each memory on the last `window` active days before `place`."""
        after = np.searchsorted(self._key, _key(memory, place))
        return after - np.searchsorted(self._key, _key(memory, place - window))
