"""Grades of forecasts: against the formulas, and on which attempts."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from attempt_rows import START, tried
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.transforms.core.counts import forecast_grades as scores
from slowwave.transforms.learning.attempts.sessions import next_midnight
from slowwave.transforms.learning.forecast.fits import forecast_fits, known_days, project_losses, success_forecasts
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.scorecard.params import ScorecardParams
from slowwave.transforms.learning.scorecard.scorecard import (
    BASE_RATE,
    LAPLACE,
    cutoff_days,
    graded_forecasts,
    scorecard,
)

_FORECAST = ForecastParams(min_fit_attempts=20, fit_margin_nats=0)
_PARAMS = ScorecardParams(resamples=40)

_row = st.tuples(st.integers(0, 3), st.integers(1, 999), st.integers(0, 5), st.integers(0, 5)).map(
    lambda one: (one[0], one[1] / 1000, one[2] + one[3], one[2])
)
_rows = st.lists(_row, min_size=1, max_size=12)


def _counts(rows):
    """Graded (block, forecast, attempts, successes), all blocks in one row."""
    names = ("block", "f", "attempts", "successes")
    graded = scores.graded(pl.DataFrame(rows, schema=names, orient="row"), "f", pl.Series(range(4)))
    return scores.resampled(graded, np.ones((1, 4), dtype=np.int64))


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
    drawn = scores.resampled(scores.graded(rows, "f", pl.Series([10, 20])), np.array([[1, 1], [2, 0], [0, 2]]))
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


def _log(days=29, seed=5):
    """Strategies of different worth in two projects, some known late; one is first tried in the last week."""
    generator = np.random.default_rng(seed)
    worth = {"x": 0.9, "y": 0.6, "z": 0.2, "w": 0.5}
    rows = []
    for day in range(days):
        for strategy, chance in worth.items():
            if strategy == "w" and day < 22:
                continue
            for project in "pq":
                at = START + timedelta(days=day, hours=int(generator.integers(24)))
                late = timedelta(days=int(generator.choice([0, 0, 0, 5])))
                rows.append(
                    {
                        "project": project, "strategy": strategy, "created_at": at, "recorded_at": at + late,
                        "session_id": f"{project}{day}", "success": bool(generator.random() < chance),
                    }
                )  # fmt: skip
    return [{**row, "outcome_id": f"o{n:05}"} for n, row in enumerate(rows)]


_AS_OF = START + timedelta(days=31)


def _graded(rows, as_of=_AS_OF):
    of = tried([row for row in rows if row["recorded_at"] < as_of])
    losses = project_losses(of.sessions, of.cells, _FORECAST)
    cutoffs = cutoff_days(of.sessions["day"].sort().item(0), as_of, _PARAMS)
    told = graded_forecasts(of.sessions, of.cells, losses, cutoffs, _FORECAST)
    return of, told.join(of.cells, on="cell")


def test_forecasts_are_those_that_were_published_at_the_cutoff():
    rows = _log()
    _, told = _graded(rows)
    assert told["cutoff"].n_unique() == 3
    for cutoff in told["cutoff"].unique():
        at = START + timedelta(days=int(cutoff) - next_midnight(START))
        cut = tried([row for row in rows if row["recorded_at"] < at])
        day = pl.lit(int(cutoff), pl.Int64)
        fits = forecast_fits(
            project_losses(cut.sessions, cut.cells, _FORECAST),
            pl.DataFrame(schema={"project": pl.String, "session_correlation": pl.Float64}),
            cut.cells.select("project", day.alias("day")).unique(),
            _FORECAST,
        )
        asked = cut.cells.select("cell", day.alias("day"))
        then = success_forecasts(known_days(cut.sessions), asked, cut.cells, fits, _FORECAST).drop("project")
        then = then.join(cut.cells, on="cell").select("project", "strategy_id", "confidence")
        both = told.filter(pl.col("cutoff") == cutoff).join(then, on=["project", "strategy_id"])
        assert both.height > 35
        assert both[_FORECAST.method].to_list() == pytest.approx(both["confidence"].to_list(), rel=1e-12)


def test_rows_are_the_attempts_of_the_horizon_with_what_each_method_knew_before():
    rows = _log()
    _, told = _graded(rows)
    seen = told.group_by("cutoff").agg(pl.col("attempts", "successes").sum()).sort("cutoff")
    for cutoff, attempts, successes in seen.iter_rows():
        start = START + timedelta(days=cutoff - next_midnight(START))
        tried_then = [
            row
            for row in rows
            if start <= row["created_at"] < start + timedelta(days=7) and row["recorded_at"] < _AS_OF
        ]
        assert (attempts, successes) == (len(tried_then), sum(row["success"] for row in tried_then))
    for row in told.to_dicts():
        start = START + timedelta(days=row["cutoff"] - next_midnight(START))
        known = [one for one in rows if one["recorded_at"] < start and one["project"] == row["project"]]
        own = [one["success"] for one in known if one["strategy"] == row["strategy_id"]]
        assert row[BASE_RATE] == (sum(one["success"] for one in known) + 1) / (len(known) + 2)
        assert row[LAPLACE] == (sum(own) + 1) / (len(own) + 2)


@pytest.fixture(scope="module")
def graded():
    return _graded(_log())[1]


@pytest.fixture(scope="module")
def card(graded):
    return scorecard(graded, _PARAMS, _FORECAST.method)


def test_every_method_is_graded_on_the_same_attempts(graded, card):
    single = card.filter(~pl.col("metric").str.contains("minus"))
    assert single.group_by("metric", "cutoff_at").agg(pl.col("attempts").n_unique(), pl.len()).select(
        "attempts", "len"
    ).unique().rows() == [(1, 3)]
    assert set(card["method"]) == {_FORECAST.method, BASE_RATE, LAPLACE}
    to_date = card.filter(pl.col("metric") == "brier_to_date", pl.col("method") == LAPLACE).sort("cutoff_at")
    assert to_date["cutoffs"].to_list() == [1, 2, 3]
    assert to_date["attempts"][-1] == graded["attempts"].sum()


def test_values_are_the_grades_of_the_rows(graded, card):
    for cutoff, method in [(c, m) for c in graded["cutoff"].unique() for m in (_FORECAST.method, LAPLACE)]:
        at = START + timedelta(days=cutoff - next_midnight(START))
        for metric, rows in (
            ("brier", graded.filter(pl.col("cutoff") == cutoff)),
            ("brier_to_date", graded.filter(pl.col("cutoff") <= cutoff)),
        ):
            f = rows[method].round(3)
            squares = rows["successes"] * (1 - f) ** 2 + (rows["attempts"] - rows["successes"]) * f**2
            found = card.filter(pl.col("metric") == metric, pl.col("method") == method, pl.col("cutoff_at") == at)
            assert found["value"].item() == pytest.approx(squares.sum() / rows["attempts"].sum(), rel=1e-9)


def test_a_difference_is_paired(card):
    of = {(row["method"], row["metric"], row["cutoff_at"]): row for row in card.to_dicts()}
    for (method, metric, at), row in of.items():
        if "_minus_" in metric:
            loss, other = metric.removesuffix("_to_date").split("_minus_")
            suffix = "_to_date" if metric.endswith("_to_date") else ""
            theirs = of[f"{other}/1", loss + suffix, at]["value"]
            assert row["value"] == pytest.approx(of[method, loss + suffix, at]["value"] - theirs, abs=1e-12)
            assert row["value_low"] <= row["value"] <= row["value_high"]


def test_keys_are_single_and_sorted(card):
    key = ["method", "metric", "cutoff_at", "horizon_days"]
    assert card.select(key).is_unique().all()
    assert card.equals(card.sort(key))
    assert card["cutoff_at"].unique().sort().to_list() == [START + timedelta(weeks=n) for n in (1, 2, 3)]


def test_the_order_of_rows_does_not_matter_bit_for_bit(card):
    again = scorecard(_graded(_log()[::-1])[1], _PARAMS, _FORECAST.method)
    assert_frame_equal(again, card, check_exact=True)


def test_what_comes_later_leaves_the_grades_of_a_matured_cutoff():
    in_time = [row for row in _log(days=43) if row["recorded_at"] < START + timedelta(days=12)]
    early = START + timedelta(days=14)
    before = scorecard(_graded(in_time, early)[1], _PARAMS, _FORECAST.method)
    more = [row for row in _log(days=43, seed=6) if row["created_at"] >= early]
    more = [{**row, "outcome_id": f"n{row['outcome_id']}"} for row in more]
    after = scorecard(_graded(in_time + more, START + timedelta(days=43))[1], _PARAMS, _FORECAST.method)
    first = after.filter(pl.col("cutoff_at") == START + timedelta(weeks=1))
    assert before.height > 0
    assert_frame_equal(first, before, check_exact=False, rel_tol=1e-9)


def test_nothing_matured_is_an_empty_scorecard():
    assert scorecard(_graded(_log(), START + timedelta(days=13))[1], _PARAMS, _FORECAST.method).is_empty()
