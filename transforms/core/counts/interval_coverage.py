"""Whether what then happened lay in an interval, from counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import beta_interval

_MOST_ATTEMPTS = 200  # of more, an equal share is looked at
_HALVINGS = 16


@dataclass(frozen=True)
class Steps:
    """Of outcomes the numbers of successes up to the one that was, `k` of `n` in each `row`, and the log of their ways.

    A row's steps begin at `starts` and end at `ends`.
    """

    row: Integers
    k: Integers
    n: Integers
    log_ways: Floats
    starts: Integers
    ends: Integers

    @staticmethod
    def of(attempts: Integers, successes: Integers) -> Steps:
        """Of outcomes with so many attempts and successes."""
        many = np.maximum(attempts / _MOST_ATTEMPTS, 1)
        n = np.round(attempts / many).astype(np.int64)
        s = np.round(successes / many).astype(np.int64)
        row = np.repeat(np.arange(len(n)), s + 1)
        starts = np.cumsum(s + 1) - (s + 1)
        k, n = np.arange(len(row)) - starts[row], n[row]
        return Steps(row, k, n, -betaln(n - k + 1, k + 1) - np.log(n + 1), starts, starts + s)

    def share_inside(self, mean: Floats, worth: Floats, mass: float) -> Floats:
        """How much of each outcome lies in the central mass of the Beta-binomial of a mean and worth, 0-1.

        A count is a step of the distribution. It counts by the part of the step that lies inside, so that a forecaster
        who is right scores `mass` whatever the number of attempts (the randomised probability integral transform:
        Czado, Gneiting & Held 2009, Biometrics 65:1254).
        """
        if not len(self.starts):
            return np.zeros(0)
        a, b = mean * worth, (1 - mean) * worth
        chance = np.exp(
            self.log_ways + betaln(self.k + a[self.row], self.n - self.k + b[self.row]) - betaln(a, b)[self.row]
        )
        to_here = np.minimum(np.add.reduceat(chance, self.starts), 1)
        here = np.maximum(chance[self.ends], np.finfo(np.float64).tiny)
        tail = (1 - mass) / 2
        inside = np.minimum(to_here, 1 - tail) - np.maximum(to_here - here, tail)
        return np.clip(inside / here, 0, 1)


def worth_of(mean: Floats, low: Floats, high: Floats, mass: float) -> Floats:
    """The worth of the Beta of a mean whose central mass is as wide as an interval, to a thousandth of it."""
    least, most = np.full(len(mean), 0.5), np.full(len(mean), 1e7)
    mean = np.clip(mean, 1e-9, 1 - 1e-9)
    for _ in range(_HALVINGS):
        worth = np.sqrt(least * most)
        ends = beta_interval(mean * worth, (1 - mean) * worth, mass)
        is_wider = ends[1] - ends[0] > high - low
        least, most = np.where(is_wider, worth, least), np.where(is_wider, most, worth)
    return np.sqrt(least * most)
