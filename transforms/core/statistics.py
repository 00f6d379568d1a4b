"""Statistics that several tables are made with.

Each is the expression with which its first result was published: another that is mathematically the same differs in
the last bit. So `plain_logit` and `plain_expit` stand beside scipy's, with which heuristic/3 was released, and the
q-values of anti-patterns rest on the series of `normal_tail`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.special import betaincinv, stdtr, stdtrit

from slowwave.transforms.core.arrays import Floats, Integers


def plain_logit(p: Floats) -> Floats:
    """Log odds of probabilities between 0 and 1."""
    return np.log(p / (1 - p))


def plain_expit(x: Floats) -> Floats:
    """Probabilities of log odds."""
    return 1 / (1 + np.exp(-x))


def ten_thousandths(log_odds: Floats) -> Integers:
    """Probabilities of log odds, in whole 1/10,000."""
    return np.round(10_000 / (1 + np.exp(-log_odds))).astype(np.int64)


def beta_interval(a: Floats, b: Floats, mass: float) -> tuple[Floats, Floats]:
    """Ends of the equal-tailed interval that holds `mass` of Beta distributions."""
    tail = (1 - mass) / 2
    return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)


def normal_tail(z: pl.Expr) -> pl.Expr:
    """P(Z > z) of a standard normal variable (Abramowitz & Stegun 1964, 26.2.17: absolute error below 7.5e-8)."""
    t = 1 / (1 + 0.2316419 * z.abs())
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = series * (-z * z / 2).exp() * 0.3989422804014327
    return pl.when(z > 0).then(tail).otherwise(1 - tail)


def student_t_quantile(probability: float, degrees: pl.Expr) -> pl.Expr:
    """Quantile of Student's t distribution."""
    return degrees.map_batches(
        lambda series: pl.Series(stdtrit(series.to_numpy(), probability), dtype=pl.Float64), return_dtype=pl.Float64
    )


def two_sided_p_value(t: pl.Expr, degrees: pl.Expr) -> pl.Expr:
    """Probability of a t statistic at least as far from 0."""
    return pl.map_batches(
        [-t.abs(), degrees],
        lambda series: pl.Series(2 * stdtr(series[1].to_numpy(), series[0].to_numpy()), dtype=pl.Float64),
        return_dtype=pl.Float64,
    )


def benjamini_hochberg(p_value: pl.Expr, tests: pl.Expr) -> pl.Expr:
    """Adjusted p-values (Benjamini & Hochberg 1995, JRSS B 57:289), NULL of NULL; may pass 1 with more tests than rows.

    Args:
        p_value: of each test; NULL: none.
        tests: how many were made, at least as many as there are p-values; those without a row had a p-value of 1.
    """
    order = p_value.arg_sort(nulls_last=True)
    raw = p_value * tests / p_value.rank("max")
    smallest_above = raw.gather(order).reverse().cum_min().reverse()
    return pl.when(p_value.is_not_null()).then(smallest_above.gather(order.arg_sort()))


# Values that are drawn to others day by day: a share of what is left between them each day.


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
