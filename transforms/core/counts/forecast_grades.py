"""How good forecasts of success were: from integer counts per day and forecast, so that figures replay exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import betaln

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import beta_interval, plain_expit, plain_logit

# Forecasts are graded to the thousandth, and none as certain.
_STEPS = 1000
_FORECASTS = np.arange(1, _STEPS) / _STEPS
_CALIBRATION_BINS = 10
_NEWTON_STEPS = 8
_CONVERGED = 1e-6


@dataclass(frozen=True)
class Graded:
    """Attempts and successes per block (a row) and forecast in thousandths (a column)."""

    attempts: Integers
    successes: Integers


def count_by_forecast(rows: pl.DataFrame, forecast: str, blocks: pl.Series) -> Graded:
    """Counts of `rows` (block, attempts, successes, and a forecast of success 0-1) per block of `blocks` (sorted)."""
    place = np.searchsorted(blocks.to_numpy(), rows["block"].to_numpy())
    step = np.clip(np.round(rows[forecast].to_numpy() * _STEPS).astype(np.int64), 1, _STEPS - 1) - 1
    shape = (len(blocks), _STEPS - 1)
    counts = []
    for name in ("attempts", "successes"):
        table = np.zeros(shape, dtype=np.int64)
        np.add.at(table, (place, step), rows[name].to_numpy())
        counts.append(table)
    return Graded(*counts)


def resample_blocks(counts: Graded, times: Integers) -> Graded:
    """Each row of `times` says how often each block is drawn; the result has one row per row of `times`."""
    return Graded(times @ counts.attempts, times @ counts.successes)


def brier(counts: Graded) -> Floats:
    """Mean squared error of the forecast (Brier 1950), per row."""
    failures = counts.attempts - counts.successes
    return _per_attempt(counts, counts.successes * (1 - _FORECASTS) ** 2 + failures * _FORECASTS**2)


def log_loss(counts: Graded) -> Floats:
    """Mean negative log likelihood in nats, per row."""
    failures = counts.attempts - counts.successes
    return _per_attempt(counts, -counts.successes * np.log(_FORECASTS) - failures * np.log(1 - _FORECASTS))


def auc(counts: Graded) -> Floats:
    """How often a success was forecast higher than a failure, ties half (Hanley and McNeil 1982); NaN without both."""
    failures = counts.attempts - counts.successes
    below = np.cumsum(failures, axis=1) - failures
    pairs = counts.successes.sum(axis=1) * failures.sum(axis=1)
    return _ratio((counts.successes * (2 * below + failures)).sum(axis=1) / 2, pairs)


def calibration_in_the_large(counts: Graded) -> Floats:
    """Observed minus forecast success rate, per row."""
    return _per_attempt(counts, counts.successes - _FORECASTS * counts.attempts)


def calibration_slope(counts: Graded) -> Floats:
    """Slope of the logistic regression of success on the forecast's logit (Cox 1958): below 1 is too sure of itself.

    NaN where all forecasts or all outcomes are the same, or where forecasts part successes from failures so well that
    every steeper slope fits better.
    """
    is_seen = counts.attempts.any(axis=0)
    logit = plain_logit(_FORECASTS)[is_seen]
    n, s = counts.attempts[:, is_seen], counts.successes[:, is_seen]
    slope, level, step_slope = np.ones(len(n)), np.zeros(len(n)), np.zeros(len(n))
    for _ in range(_NEWTON_STEPS):
        p = plain_expit(np.clip(level[:, None] + slope[:, None] * logit, -30, 30))
        residual, weight = s - n * p, n * p * (1 - p)
        g0, g1 = residual.sum(axis=1), (residual * logit).sum(axis=1)
        h00, h01, h11 = weight.sum(axis=1), (weight * logit).sum(axis=1), (weight * logit**2).sum(axis=1)
        determinant = h00 * h11 - h01**2
        step_level = _ratio(h11 * g0 - h01 * g1, determinant)
        step_slope = _ratio(h00 * g1 - h01 * g0, determinant)
        level = level + np.clip(step_level, -2, 2)
        slope = slope + np.clip(step_slope, -2, 2)
    is_known = ((n > 0).sum(axis=1) > 1) & (s.sum(axis=1) > 0) & (s.sum(axis=1) < n.sum(axis=1))
    return np.where(is_known & (np.abs(step_slope) < _CONVERGED), slope, np.nan)


def calibration_error(counts: Graded) -> Floats:
    """Mean distance of observed and forecast success over ten equal bins of the forecast, by attempts (ECE)."""
    gap = counts.successes - counts.attempts * _FORECASTS
    return _ratio(np.abs(_sum_bins(gap)).sum(axis=1), counts.attempts.sum(axis=1))


def calibration_error_if_perfect(counts: Graded, draws: int, generator: np.random.Generator) -> Floats:
    """Calibration error of `draws` forecasters whose forecasts are true, on the attempts of the only row."""
    successes = generator.binomial(counts.attempts[0], _FORECASTS, size=(draws, len(_FORECASTS)))
    return calibration_error(Graded(np.repeat(counts.attempts, draws, axis=0), successes))


def _sum_bins(values: Floats) -> Floats:
    starts = np.searchsorted(_FORECASTS, np.arange(_CALIBRATION_BINS) / _CALIBRATION_BINS)
    return np.add.reduceat(values, starts, axis=1)


def _per_attempt(counts: Graded, values: NDArray[Any]) -> Floats:
    return _ratio(values.sum(axis=1), counts.attempts.sum(axis=1))


def _ratio(numerator: Floats, denominator: Floats | Integers) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator != 0, numerator / denominator, np.nan)


# Whether what then happened lay in an interval, from counts.

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
