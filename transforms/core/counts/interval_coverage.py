"""Whether what then happened lay in an interval, from counts."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import beta_interval

_MOST_ATTEMPTS = 200  # of more, an equal share is looked at
_HALVINGS = 16


def share_inside(mean: Floats, worth: Floats, attempts: Integers, successes: Integers, mass: float) -> Floats:
    """How much of each outcome lies in the central mass of the Beta-binomial of a mean and worth, 0-1.

    A count is a step of the distribution. It counts by the part of the step that lies inside, so that a forecaster who
    is right scores `mass` whatever the number of attempts (the randomised probability integral transform: Czado,
    Gneiting & Held 2009, Biometrics 65:1254).
    """
    many = np.maximum(attempts / _MOST_ATTEMPTS, 1)
    n = np.round(attempts / many).astype(np.int64)
    s = np.round(successes / many).astype(np.int64)
    a, b = mean * worth, (1 - mean) * worth
    # one element per number of successes up to the one that was
    row = np.repeat(np.arange(len(n)), s + 1)
    k = np.arange(len(row)) - np.repeat(np.cumsum(s + 1) - (s + 1), s + 1)
    log_ways = -betaln(n[row] - k + 1, k + 1) - np.log(n[row] + 1)
    chance = np.exp(log_ways + betaln(k + a[row], n[row] - k + b[row]) - betaln(a, b)[row])
    starts = np.cumsum(s + 1) - (s + 1)
    to_here = np.minimum(np.add.reduceat(chance, starts), 1) if len(n) else np.zeros(0)
    here = np.maximum(chance[starts + s], np.finfo(np.float64).tiny) if len(n) else np.zeros(0)
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
