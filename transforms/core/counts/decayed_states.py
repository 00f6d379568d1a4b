"""Counts that fade with age, as whole numbers: carried from one UTC day to the next, rounded down.

A state is a number of attempts in units of 2^-30. From a day to the next it is multiplied by a factor and rounded down,
then what became known on that day is added. So it is the same whatever else is counted beside it, in whatever order and
however many pieces the log comes; and of two states the one that is not below the other never falls below it later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.compiled import kernel

UNIT = 2**30  # one attempt; a factor of one
_BITS = 30
_LOW = UNIT - 1
_FEW_ASKED = 2  # owners of whom no more than one in so many is asked for are numbered anew
_DENSE_ROWS = 200_000  # states that are carried together: they fit into a cache
_COMPILED_ROWS = 20_000  # from so many on the compiled loop is worth loading
_MOST_DAYS = 100_000  # that it sorts by


def daily_factor(half_life_days: float | None) -> int:
    """What a state is multiplied by from a day to the next, in units of 2^-30; None: it never fades."""
    return UNIT if half_life_days is None else round(float(np.exp2(-1 / half_life_days)) * UNIT)


@dataclass(frozen=True)
class DecayedStates:
    """What became known of owners, and whose state is wanted at the end of which days.

    Args:
        owner: 0, 1, 2, …; any order, an owner's day may come several times.
        day: days since 1970 on which it became known.
        known: how much, a row per owner and day, a column per count, in units of 2^-30.
        query_owner: whose state is wanted.
        query_day: at the end of which day.
    """

    owner: Integers
    day: Integers
    known: Integers
    query_owner: Integers
    query_day: Integers

    def decayed_counts(self, factor: int, whole: Integers | None = None, columns: int | None = None) -> Integers:
        """The state of each queried owner at the end of each queried day: what became known by then, faded.

        Args:
            factor: of `daily_factor`.
            whole: by owner the number of the whole it is part of, whose state is wanted in its place.
            columns: of so many counts, the first ones.

        Returns one row per asked state, one column per count.
        """
        many = self.known.shape[1] if columns is None else columns
        if self._in_order is not None:
            loops, owner, day, known, query_owner, query_day, asks = self._in_order
            found = np.zeros((len(asks), many), dtype=np.int64)
            number = np.arange(self._owners) if whole is None else np.require(whole, np.int64, ["C", "W"])
            owners = 1 + number.max(initial=-1)
            loops.decay_counts(number, owner, day, known, query_owner, query_day, asks, factor, owners, found)
            return found
        known = self.known[:, :many]
        if whole is None:
            return _carried_by_turns(self.owner, self.day, known, self.query_owner, self.query_day, factor)
        return _carried_by_turns(whole[self.owner], self.day, known, whole[self.query_owner], self.query_day, factor)

    @property
    def _owners(self) -> int:
        return 1 + int(max(self.owner.max(initial=-1), self.query_owner.max(initial=-1)))

    @cached_property
    def _in_order(self) -> tuple[Any, ...] | None:
        """For the compiled loop: all in order of days, and where each asked state belongs; None: it is not worth it."""
        rows = len(self.owner) + len(self.query_owner)
        if rows < _COMPILED_ROWS or _span(self.day, self.query_day) >= _MOST_DAYS:
            return None
        loops = kernel("core.counts.decayed_states_kernel")
        if loops is None:
            return None
        day, query_day = (np.require(of, np.int64, ["C", "W"]) for of in (self.day, self.query_day))
        adds, asks = loops.by_day(day), loops.by_day(query_day)
        taken = (self.owner[adds], day[adds], self.known[adds], self.query_owner[asks], query_day[asks])
        return loops, *(np.require(of, np.int64, ["C", "W"]) for of in taken), asks


def _carried_by_turns(
    owner: Integers, day: Integers, known: Integers, query_owner: Integers, query_day: Integers, factor: int
) -> Integers:
    number = 1 + max(owner.max(initial=-1), query_owner.max(initial=-1))
    is_asked = np.zeros(number, dtype=bool)
    is_asked[query_owner] = True
    asked = np.flatnonzero(is_asked)
    if len(asked) * _FEW_ASKED < number:  # those of others are not carried
        place = np.cumsum(is_asked) - 1
        rows = np.flatnonzero(is_asked[owner])
        return _carried_by_turns(place[owner[rows]], day[rows], known[rows], place[query_owner], query_day, factor)
    found = np.zeros((len(query_owner), known.shape[1]), dtype=np.int64)
    per_turn = max(_DENSE_ROWS // max(known.shape[1], 1), 1)
    for first in range(0, number, per_turn):
        mine, wanted = _between(owner, first, per_turn), _between(query_owner, first, per_turn)
        found[wanted] = _decay_counts(
            owner[mine] - first, day[mine], known[mine], query_owner[wanted] - first, query_day[wanted], factor
        )
    return found


def _span(*days: Integers) -> int:
    """Days from the first to the last."""
    each = [day for day in days if len(day)]
    return int(max(day.max() for day in each) - min(day.min() for day in each)) if each else 0


def _between(owner: Integers, first: int, count: int) -> Integers:
    return np.flatnonzero((owner >= first) & (owner < first + count))


def _decay_counts(
    owner: Integers, day: Integers, known: Integers, query_owner: Integers, query_day: Integers, factor: int
) -> Integers:
    found = np.zeros((len(query_owner), known.shape[1]), dtype=np.int64)
    owners = np.concatenate([owner, query_owner])
    state = np.zeros((1 + owners.max(initial=-1), known.shape[1]), dtype=np.int64)
    by_day, by_asked = np.argsort(day, kind="stable"), np.argsort(query_day, kind="stable")
    days = np.unique(np.concatenate([day, query_day]))
    adds = np.searchsorted(day[by_day], days, side="left"), np.searchsorted(day[by_day], days, side="right")
    asks = (
        np.searchsorted(query_day[by_asked], days, side="left"),
        np.searchsorted(query_day[by_asked], days, side="right"),
    )
    before = 0
    for at, today in enumerate(days.tolist()):
        _fade(state, today - before, factor)
        before = today
        rows = by_day[adds[0][at] : adds[1][at]]
        np.add.at(state, owner[rows], known[rows])
        rows = by_asked[asks[0][at] : asks[1][at]]
        found[rows] = state[query_owner[rows]]
    return found


def _fade(state: Integers, days: int, factor: int) -> None:
    """Carry states over some days, each rounded down; what has faded altogether is carried no further."""
    if factor == UNIT:
        return
    for _ in range(days):
        if not state.any():
            return
        # the product of two numbers of 60 bits in two halves
        low = ((state & _LOW) * factor) >> _BITS
        state >>= _BITS
        state *= factor
        state += low
