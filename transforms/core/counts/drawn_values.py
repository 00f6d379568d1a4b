"""Values that are drawn to others day by day: a share of what is left between them each day."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers


@dataclass(frozen=True)
class DrawnValues:
    """The events of groups, each a day from the end of which a group's value is drawn to another; sorted.

    `event` is that of each row given, and `row` the first row of each event.
    """

    group: Integers
    day: Integers
    event: Integers
    row: Integers

    @staticmethod
    def of(group: Integers, day: Integers) -> DrawnValues:
        """Events of rows of groups and days, in any order."""
        first_day = day.min(initial=0)
        key, row, event = np.unique((group << 32) + (day - first_day), return_index=True, return_inverse=True)
        return DrawnValues(key >> 32, (key & (2**32 - 1)) + first_day, event, row)

    def place(self, group: Integers, day: Integers) -> Integers:
        """The last event of each group by the end of each day; of a group without one, an event of another."""
        first_day = min(self.day.min(initial=0), day.min(initial=0))
        keys = [(of << 32) + (at - first_day) for of, at in ((self.group, self.day), (group, day))]
        return np.searchsorted(keys[0], keys[1], side="right") - 1

    def of_same_group(self, events: Integers) -> Integers:
        """All events of the groups of some."""
        is_wanted = np.zeros(1 + self.group.max(initial=-1), dtype=bool)
        is_wanted[self.group[events]] = True
        return np.flatnonzero(is_wanted[self.group])

    def values(self, towards: Floats, half_life_days: float) -> Floats:
        """Each group's value at the end of the day of each event; it begins as what it is first drawn to.

        Args:
            towards: what a value is drawn to from each event on, a column per value.
            half_life_days: after which half of what was between them is left.
        """
        found, steps = towards.copy(), self._steps
        if not steps:
            return found
        later = np.concatenate(steps)
        left = np.exp2(-(self.day[later] - self.day[later - 1]) / half_life_days)[:, None]
        drawn_to, start = towards[later - 1], 0
        for events in steps:  # as `later`, but for what can be told of all of them at once
            some = slice(start, start := start + len(events))
            found[events] = drawn_to[some] + left[some] * (found[events - 1] - drawn_to[some])
        return found

    def later(self, values: Floats, towards: Floats, events: Integers, day: Integers, half_life_days: float) -> Floats:
        """The values at the end of later days, from those at the last event by then."""
        left = np.exp2(-(day - self.day[events]) / half_life_days)[:, None]
        return towards[events] + left * (values[events] - towards[events])

    @cached_property
    def _steps(self) -> list[Integers]:
        """The second events of all groups, their third, …: each takes one event of each group at once."""
        index = np.arange(len(self.group))
        is_first = np.ones(len(self.group), dtype=bool)
        is_first[1:] = self.group[1:] != self.group[:-1]
        place = index - np.maximum.accumulate(np.where(is_first, index, 0))
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(1, place.max(initial=0) + 2))
        return [order[start:end] for start, end in pairwise(starts)]
