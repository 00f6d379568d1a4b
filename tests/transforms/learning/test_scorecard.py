"""Grades of forecasts: against the formulas, and on which attempts."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from attempt_rows import START
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.counts import forecast_grades as scores
from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.scorecard_rows import cutoff_days
from slowwave.transforms.learning.sessions import next_midnight

_PARAMS = ScorecardParams(resamples=40)

_row = st.tuples(st.integers(0, 3), st.integers(1, 999), st.integers(0, 5), st.integers(0, 5)).map(
    lambda one: (one[0], one[1] / 1000, one[2] + one[3], one[2])
)
_rows = st.lists(_row, min_size=1, max_size=12)


def _counts(rows):
    """Graded (block, forecast, attempts, successes), all blocks in one row."""
    names = ("block", "f", "attempts", "successes")
    graded = scores.count_by_forecast(pl.DataFrame(rows, schema=names, orient="row"), "f", pl.Series(range(4)))
    return scores.resample_blocks(graded, np.ones((1, 4), dtype=np.int64))


def _attempts(rows):
    """One (forecast, success) per attempt."""
    return [(f, k < successes) for _, f, attempts, successes in rows for k in range(attempts)]


def _equals(found, expected):
    assert len(found) == 1
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def _mean(values):
    return sum(values) / len(values) if values else math.nan


@given(_rows)
def test_grades_are_those_of_the_formulas(rows):
    counts, told = _counts(rows), _attempts(rows)
    _equals(scores.brier(counts), _mean([(f - won) ** 2 for f, won in told]))
    _equals(scores.log_loss(counts), _mean([-math.log(f if won else 1 - f) for f, won in told]))
    _equals(scores.calibration_in_the_large(counts), _mean([won - f for f, won in told]))


@given(_rows)
def test_auc_is_the_share_of_pairs_in_order(rows):
    told = _attempts(rows)
    pairs = [(a > b) + (a == b) / 2 for a, won in told if won for b, lost in told if not lost]
    _equals(scores.auc(_counts(rows)), _mean(pairs))


@given(_rows)
def test_calibration_error_is_over_ten_bins(rows):
    told, gaps = _attempts(rows), []
    for low in range(0, 1000, 100):
        of_bin = [won - f for f, won in told if low <= round(f * 1000) < low + 100]
        gaps.append(abs(sum(of_bin)))
    _equals(scores.calibration_error(_counts(rows)), sum(gaps) / len(told) if told else math.nan)


@given(_rows)
def test_the_slope_is_where_the_likelihood_is_flat(rows):
    slope, told = scores.calibration_slope(_counts(rows))[0], _attempts(rows)
    if math.isnan(slope) or abs(slope) > 20:
        return
    x = np.array([math.log(f / (1 - f)) for f, _ in told])
    won = np.array([won for _, won in told])
    low, high, p = -200.0, 200.0, x  # the level that fits, by halving
    for _ in range(200):
        level = (low + high) / 2
        p = 1 / (1 + np.exp(-np.clip(level + slope * x, -500, 500)))
        low, high = (level, high) if (won - p).sum() > 0 else (low, level)
    assert ((won - p) * x).sum() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0.5, 10, 4)],
        [(0, 0.5, 10, 10), (0, 0.7, 10, 10)],
        [(0, 0.9, 5, 5), (0, 0.1, 5, 0)],
        [(0, 0.9, 5, 0), (0, 0.1, 5, 5)],
        [(0, 0.9, 5, 5), (0, 0.5, 4, 2), (0, 0.1, 5, 0)],
    ],
    ids=["one forecast", "one outcome", "parted", "parted the wrong way", "parted but for a tie"],
)
def test_there_is_not_always_a_slope(rows):
    assert np.isnan(scores.calibration_slope(_counts(rows))).all()


def test_a_perfect_forecaster_is_calibrated():
    generator = np.random.default_rng(3)
    truth = generator.beta(2, 1.5, 20_000).round(3).clip(0.001, 0.999)
    won = (generator.random(len(truth)) < truth).astype(int)
    rows = [(n % 4, f, 1, s) for n, (f, s) in enumerate(zip(truth, won, strict=True))]
    counts = _counts(rows)
    assert scores.calibration_slope(counts)[0] == pytest.approx(1, abs=0.05)
    assert scores.calibration_in_the_large(counts)[0] == pytest.approx(0, abs=0.01)
    perfect = scores.calibration_error_if_perfect(counts, 300, generator)
    low, high = np.quantile(perfect, [0.01, 0.99])
    assert low <= scores.calibration_error(counts)[0] <= high
    # too sure of itself by half
    wrong = _counts([(b, 1 / (1 + (1 / f - 1) ** 2), n, s) for b, f, n, s in rows])
    assert scores.calibration_slope(wrong)[0] == pytest.approx(0.5, abs=0.05)
    assert scores.calibration_error(wrong)[0] > 2 * high


def test_resampling_counts_a_block_as_often_as_it_is_drawn():
    names = ("block", "f", "attempts", "successes")
    rows = pl.DataFrame([(10, 0.2, 4, 1), (20, 0.7, 6, 5)], schema=names, orient="row")
    drawn = scores.resample_blocks(
        scores.count_by_forecast(rows, "f", pl.Series([10, 20])), np.array([[1, 1], [2, 0], [0, 2]])
    )
    assert drawn.attempts.sum(axis=1).tolist() == [10, 8, 12]
    assert drawn.successes.sum(axis=1).tolist() == [6, 2, 10]
    assert scores.brier(drawn)[1:] == pytest.approx([(0.8**2 + 3 * 0.2**2) / 4, (5 * 0.3**2 + 0.7**2) / 6])


@given(st.integers(0, 24 * 15), st.integers(0, 13))
def test_cutoffs_are_mondays_whose_horizon_is_over(hours, first):
    first_day = next_midnight(START) + first
    as_of = START + timedelta(days=first + 10, hours=hours)
    found = cutoff_days(first_day, as_of, _PARAMS)
    at = [datetime(1970, 1, 1) + timedelta(days=day) for day in found["cutoff"].unique()]  # noqa: DTZ001 - UTC
    all_mondays = [START + timedelta(weeks=n) for n in range(9)]
    first_at = START + timedelta(days=first)
    assert sorted(at) == [m for m in all_mondays if m > first_at and m + timedelta(days=7) <= as_of]
    assert set((found["day"] - found["cutoff"]).to_list()) <= set(range(7))
    assert found.height == 7 * len(at)


def test_only_the_latest_cutoffs_are_graded():
    found = cutoff_days(next_midnight(START), START + timedelta(days=400), ScorecardParams(cutoffs=3))
    latest = next_midnight(START) + 7 * 56
    assert found["cutoff"].unique().sort().to_list() == [latest - 14, latest - 7, latest][-3:]
