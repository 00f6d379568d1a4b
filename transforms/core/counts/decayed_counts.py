"""Counts that fade with age: the state of every owner just before each of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers

Counts = tuple[Floats, Floats]


@dataclass(frozen=True)
class Timeline:
    """Rows of many owners, sorted by (owner, day), with how many attempts and successes became known on that day."""

    owner: Integers
    day: Floats
    attempts: Integers
    successes: Integers
    _known: dict[tuple[float, float | None], Counts] = field(default_factory=dict, repr=False, compare=False)

    def rows(self, chosen: Integers) -> Timeline:
        """Some of the rows, all or none of each owner's."""
        return Timeline(self.owner[chosen], self.day[chosen], self.attempts[chosen], self.successes[chosen])

    def decayed(self, half_life_days: float, half_life_attempts: float | None = None) -> Counts:
        """Decayed attempts and successes known before each row's day, one array each.

        An attempt weighs 2^(-age / half life), its age being the days from the day it became known to the row's day;
        with `half_life_attempts` also 2^(-later / that), `later` being the attempts that became known on later days.
        Each owner is folded in order of time, so the result does not depend on what else is in the timeline.
        """
        key = (half_life_days, half_life_attempts)
        if key not in self._known:
            self._known[key] = self._decayed(half_life_days, half_life_attempts)
        return self._known[key]

    def _decayed(self, half_life_days: float, half_life_attempts: float | None) -> Counts:
        attempts = np.zeros(len(self.owner))
        successes = np.zeros(len(self.owner))
        fade = np.ones(len(self.owner))
        # where the owner changes the days may go back; that fade is not used
        fade[1:] = np.exp2(-np.abs(self.day[1:] - self.day[:-1]) / half_life_days)
        crowd = np.ones(len(self.owner))
        if half_life_attempts is not None:
            crowd = np.exp2(-self.attempts / half_life_attempts)
        for row in self._steps:
            attempts[row] = (attempts[row - 1] * crowd[row - 1] + self.attempts[row - 1]) * fade[row]
            successes[row] = (successes[row - 1] * crowd[row - 1] + self.successes[row - 1]) * fade[row]
        return attempts, successes

    @cached_property
    def _steps(self) -> list[Integers]:
        """The second rows of all owners, their third, ...: a step takes one row of each owner at once."""
        index = np.arange(len(self.owner))
        is_first = np.ones(len(self.owner), dtype=bool)
        is_first[1:] = self.owner[1:] != self.owner[:-1]
        place = index - np.maximum.accumulate(np.where(is_first, index, 0))
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(1, place.max(initial=0) + 2))
        return [order[start:end] for start, end in pairwise(starts)]
