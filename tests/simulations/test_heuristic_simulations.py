"""Credible intervals of strategies against simulated truth: a nominal 90 % covers 90 %, averaged over the prior."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.attempts.sessions import (
    attempt_cells,
    attempt_sessions,
    next_midnight,
    session_correlations,
)
from slowwave.transforms.learning.forecast.fits import forecast_fits, project_losses
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.heuristic_params import HeuristicParams
from slowwave.transforms.learning.heuristics import heuristics

pytestmark = pytest.mark.slow

_START = datetime(2026, 1, 1)  # noqa: DTZ001 - times are UTC without zone
_DAYS = 60
_STRATEGIES = 400
_PARAMS = ForecastParams()


def _attempts(seed: int, correlation: float, per_session: int, worth: float, sessions_a_day: float):
    """Attempts of strategies whose success is drawn from a Beta with mean .6 worth `worth` attempts; and that success.

    A session's success is drawn around its strategy's, so that two attempts of one session correlate by `correlation`.
    """
    generator = np.random.default_rng(seed)
    truth = generator.beta(worth * 0.6, worth * 0.4, _STRATEGIES)
    sessions = np.maximum(generator.poisson(sessions_a_day * _DAYS * generator.gamma(1, 1, _STRATEGIES)), 1)
    strategy = np.repeat(np.arange(_STRATEGIES), sessions)
    rate = truth[strategy]
    if correlation:
        apart = (1 - correlation) / correlation
        rate = generator.beta(rate * apart, (1 - rate) * apart)
    day = generator.integers(_DAYS, size=len(strategy))
    size = 1 + generator.poisson(per_session - 1, size=len(strategy))
    session = np.repeat(np.arange(len(strategy)), size)
    number = np.arange(len(session))
    attempts = pl.DataFrame(
        {
            "strategy": [f"s{one:03}" for one in strategy[session]],
            "task_type": [f"t{one % 10}" for one in strategy[session]],
            "block": [f"b{one}" for one in session],
            "created_at": [_START + timedelta(days=int(d)) for d in day[session]],
            "outcome_id": [f"o{one:06}" for one in number],
            "success": generator.random(len(session)) < rate[session],
        },
        schema_overrides={"created_at": pl.Datetime("us")},
    )
    same = [pl.col("created_at").alias("known_at"), pl.col("strategy").alias("strategy_id")]
    given = [
        pl.lit("p").alias("project"),
        pl.lit("").alias("agent"),
        pl.lit(value=False).alias("is_task_type_inferred"),
    ]
    return attempts.with_columns(*same, *given), truth


def _covered(*world: Any, later: int = 0) -> float:
    """Share of strategies whose interval, `later` days after the last attempts, holds their true success."""
    attempts, truth = _attempts(*world)
    as_of = _START + timedelta(days=_DAYS + later)
    cells, tried = attempt_cells(attempts)
    sessions = attempt_sessions(tried)
    losses = project_losses(sessions, cells, _PARAMS)
    today = pl.DataFrame({"project": ["p"], "day": [next_midnight(as_of)]})
    fits = forecast_fits(losses, session_correlations(sessions, cells, _PARAMS), today, _PARAMS)
    rows = heuristics(tried, sessions, cells, fits, as_of, _PARAMS, HeuristicParams(), AttemptParams())
    true = truth[rows["strategy_id"].str.slice(1).cast(pl.Int64).to_numpy()]
    return float(rows.select(pl.lit(pl.Series(true)).is_between("confidence_low", "confidence_high").mean()).item())


@pytest.mark.parametrize("per_session", [1, 3], ids=["single", "several"])
def test_intervals_cover_where_attempts_are_independent(per_session):
    assert 0.88 <= _coverage(0, per_session) <= 0.92


@pytest.mark.parametrize("per_session", [3, 6])
def test_intervals_cover_where_attempts_of_a_session_are_alike(per_session):
    assert 0.88 <= _coverage(0.2, per_session) <= 0.92


def _coverage(correlation: float, per_session: int) -> float:
    """Averaged over worlds: strategies much alike or not, tried often or seldom."""
    worlds = product(range(6), (2, 6, 20), (0.05, 0.25))
    return float(np.mean([_covered(seed, correlation, per_session, worth, often) for seed, worth, often in worlds]))


def test_intervals_of_strategies_not_tried_for_long_cover_too():
    assert np.mean([_covered(seed, 0, 3, 2, 0.25, later=400) for seed in range(6)]) >= 0.88
