"""Estimates of a project that were too low or too high of late are corrected, and are not behind a sum of records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from rising_agents import FIRST_DAY, rising_agents

from slowwave.transforms.learning.confidence.fits import (
    confidence_fits,
    confidence_losses,
    fitted_corrections,
    interval_grades,
)
from slowwave.transforms.learning.confidence.params import ConfidenceParams, Correction
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.scorecard_confidence import RECORDS, graded_beliefs
from slowwave.transforms.learning.scorecard_rows import LAPLACE
from slowwave.transforms.learning.sessions import attempt_cells

_CUTOFFS = list(range(FIRST_DAY + 10, FIRST_DAY + 64, 3))
_PARAMS = ConfidenceParams()
_UNCORRECTED = ConfidenceParams(corrections=(Correction(records_share=0, shift=0),))


class Graded(NamedTuple):
    """What was published at each cutoff of the cells tried in the week after it, and the fits."""

    rows: pl.DataFrame
    fits: pl.DataFrame


def _graded(attempts: pl.DataFrame, params: ConfidenceParams) -> Graded:
    cells, numbered = attempt_cells(attempts)
    sessions = numbered.group_by("cell", "block", "day", "known_day").agg(
        pl.len().cast(pl.Int64).alias("attempts"), pl.col("success").sum().alias("successes")
    )
    known = CellHistory.of(sessions, params)
    losses = confidence_losses(sessions, cells, known, params)
    grades = interval_grades(sessions, cells, known, losses, params)
    days = cells.select("project").unique().join(pl.DataFrame({"day": _CUTOFFS}), how="cross")
    fits = confidence_fits(losses, grades, days, params)
    week = pl.int_ranges(pl.col("cutoff"), pl.col("cutoff") + params.horizon_days).alias("day")
    cutoffs = pl.DataFrame({"cutoff": _CUTOFFS}).with_columns(week).explode("day")
    rows = graded_beliefs(sessions, cells, known, fits, cutoffs, params)
    return Graded(rows.filter("is_published"), fits)


def _losses(rows: pl.DataFrame, method: str) -> tuple[float, float]:
    """Brier score and log loss per attempt."""
    p, won, tried = (rows[name].to_numpy() for name in (method, "successes", "attempts"))
    p = np.clip(p, 1e-3, 1 - 1e-3)
    brier = won * (1 - p) ** 2 + (tried - won) * p**2
    log_loss = -(won * np.log(p) + (tried - won) * np.log(1 - p))
    return brier.sum() / tried.sum(), log_loss.sum() / tried.sum()


@pytest.fixture(scope="module")
def rising() -> dict[str, pl.DataFrame]:
    attempts = rising_agents(1, 0.05)
    of = {"corrected": _PARAMS, "uncorrected": _UNCORRECTED}
    return {name: _graded(attempts, params).rows for name, params in of.items()}


@pytest.mark.parametrize("horizon", [1, 7])
def test_estimates_of_agents_that_rise_are_not_behind_the_sum_of_records(rising, horizon):
    within = pl.col("block") < pl.col("cutoff") + horizon
    rows, uncorrected = (rising[name].filter(within) for name in ("corrected", "uncorrected"))
    ours = _losses(rows, _PARAMS.method)
    for other in (_losses(uncorrected, _PARAMS.method), _losses(rows, RECORDS), _losses(rows, LAPLACE)):
        assert ours[0] < other[0] - 0.005
        assert ours[1] < other[1] - 0.01


def test_estimates_that_were_too_low_are_raised(rising):
    def short(name):
        rows = rising[name]
        return (rows["successes"].sum() - (rows[_PARAMS.method] * rows["attempts"]).sum()) / rows["attempts"].sum()

    assert short("uncorrected") > 0.1
    assert 0 < short("corrected") < 0.65 * short("uncorrected")


def test_agents_that_stay_as_they_are_need_no_correction():
    graded = _graded(rising_agents(2, 0), _PARAMS)
    assert graded.fits["correction"].unique().to_list() == [0]
    rows = graded.rows
    assert _losses(rows, _PARAMS.method)[0] < _losses(rows, RECORDS)[0]


def _correction_on(day, gains, params):
    grades = pl.DataFrame(
        {
            "project": ["p"] * len(gains),
            "known_day": list(range(100, 100 + len(gains))),
            "corrected_0": [10_000_000] * len(gains),
            "corrected_1": [10_000_000 - round(gain * 1_000_000) for gain in gains],
        }
    )
    found = fitted_corrections(grades, pl.DataFrame({"project": ["p"], "day": [day]}), params)
    return found["correction"].item()


def test_a_correction_must_gain_on_many_days():
    params = ConfidenceParams(
        corrections=tuple(Correction(records_share=0, shift=shift) for shift in (0, 1)), corrected_days=10
    )
    assert _correction_on(110, [5] * 10, params) == 1
    assert _correction_on(110, [50] + [0] * 9, params) == 0  # one day is luck
    assert _correction_on(110, [1] * 10, params) == 0  # less than the margin
    assert _correction_on(104, [5] * 10, params) == 0  # what is known later does not count
    assert _correction_on(116, [5] * 10, params) == 0  # nor what is older
