"""Everything that is learned from outcomes, in the order in which one table needs another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.carried import contents, with_made_of
from slowwave.transforms.core.frames import Frame, empty, framed, selected
from slowwave.transforms.core.methods.registry import implementation
from slowwave.transforms.core.schema import Table, computed_schema, polars_schema
from slowwave.transforms.grouping.errors.fingerprints import errors_of
from slowwave.transforms.grouping.errors.params import ErrorParams
from slowwave.transforms.grouping.strategies.groups import strategy_groups
from slowwave.transforms.learning.anti_patterns.anti_patterns import anti_patterns
from slowwave.transforms.learning.attempts.error_readings import error_readings
from slowwave.transforms.learning.attempts.inferred import with_apart
from slowwave.transforms.learning.attempts.outcomes import counted_outcomes
from slowwave.transforms.learning.attempts.sessions import (
    attempt_cells,
    attempt_sessions,
    cell_days,
    next_midnight,
    session_correlations,
)
from slowwave.transforms.learning.attempts.tables import ErrorReadings
from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.states import Known
from slowwave.transforms.learning.forecast.fits import forecast_fits, project_losses
from slowwave.transforms.learning.forecast.posterior import CELL
from slowwave.transforms.learning.heuristics import heuristics
from slowwave.transforms.learning.heuristics_in_order import heuristics_in_order
from slowwave.transforms.learning.params import LearningParams
from slowwave.transforms.learning.scorecard.carried import strategy_scores_state
from slowwave.transforms.learning.scorecard.scorecard import cutoff_days, graded_forecasts, scorecard
from slowwave.transforms.learning.scorecard.tables import StrategyScoresState
from slowwave.transforms.learning.tables import (
    AntiPatterns,
    CountedOutcomes,
    ErrorTemplates,
    ForecastFits,
    Heuristics,
    Scorecard,
    StrategyVariants,
    UntriedStrategies,
)
from slowwave.transforms.learning.untried_strategies import untried_strategies

_READ = (
    *(*CELL, "block", "created_at", "known_at", "success", "is_task_type_inferred", "strategy", "error_id"),
    *("cost", "duration_ms", "tokens"),
)
_OF_STRATEGIES: tuple[type[Table], ...] = (
    Heuristics,
    UntriedStrategies,
    AntiPatterns,
    ForecastFits,
    StrategyScoresState,
)
# Of an attempt what is asked by those it is handed on to: they hold it for long.
_OF_ATTEMPTS = (
    *("outcome_id", "interaction_id", "created_at", "known_at"),
    *("project", "agent", "task_type", "task", "block", "success"),
)


class Learned(NamedTuple):
    """The published tables that follow from outcomes alone.

    `scores`: the rows of the scorecard that grade forecasts of strategies, as they are carried to the next night.
    `attempts`: for what memories do.
    """

    counted_outcomes: Frame[CountedOutcomes]
    strategy_variants: Frame[StrategyVariants]
    error_templates: Frame[ErrorTemplates]
    heuristics: Frame[Heuristics]
    untried_strategies: Frame[UntriedStrategies]
    anti_patterns: Frame[AntiPatterns]
    forecast_fits: Frame[ForecastFits]
    scores: Frame[StrategyScoresState]
    attempts: pl.DataFrame

    @property
    def tables(self) -> dict[type[Table], pl.DataFrame]:
        """What is published of it; of the scorecard the rows of strategies."""
        return {
            StrategyVariants: self.strategy_variants,
            ErrorTemplates: self.error_templates,
            CountedOutcomes: self.counted_outcomes,
            Heuristics: self.heuristics,
            UntriedStrategies: self.untried_strategies,
            AntiPatterns: self.anti_patterns,
            ForecastFits: self.forecast_fits,
            Scorecard: self.scores.select(*computed_schema(Scorecard)).sort(Scorecard.key),
        }


def learned(
    outcomes: pl.DataFrame,
    as_of: datetime,
    params: LearningParams,
    counted_as: Callable[[Any], AbstractContextManager[object]] = nullcontext,
    before: Frame[StrategyScoresState] | None = None,
    readings: pl.DataFrame | None = None,
) -> Learned:
    """What the outcomes known as of `as_of` teach.

    Args:
        outcomes: of `resolved_outcomes`, all known before `as_of`.
        as_of: nothing later is looked at.
        params: all of them.
        counted_as: what is done within counts as that stage.
        before: the scores of an earlier night.
        readings: of `error_readings` of these outcomes; None: they are read here.

    `attempts` are the rows of `counted_outcomes` that count: whose, when, at which task, with what end. What is said of
    outcomes apart changes nothing that is said of others, the names of strategies and errors included.
    """
    told = with_apart(outcomes, params.attempts)
    groups = strategy_groups(_distinct(told, "strategy"))
    if readings is None:
        _, readings = error_readings(empty(ErrorReadings), told, params)
    errors = _errors(_distinct(told, "error_message"), readings.select("error_message", "masked"), params.errors)
    counted = counted_outcomes(told, groups, errors, readings, params.attempts)
    attempts = counted.filter("is_counted").drop("user_id")
    carried = empty(StrategyScoresState) if before is None else before
    of_strategies = _of_strategies(attempts, groups, errors, carried, as_of, params, counted_as)
    return Learned(
        counted_outcomes=selected(CountedOutcomes, counted),
        strategy_variants=framed(StrategyVariants, groups),
        error_templates=framed(ErrorTemplates, error_templates_of(errors)),
        heuristics=selected(Heuristics, of_strategies[Heuristics]),
        untried_strategies=selected(UntriedStrategies, of_strategies[UntriedStrategies]),
        anti_patterns=selected(AntiPatterns, of_strategies[AntiPatterns]),
        forecast_fits=selected(ForecastFits, of_strategies[ForecastFits]),
        scores=framed(StrategyScoresState, of_strategies[StrategyScoresState]),
        attempts=attempts.select(_OF_ATTEMPTS),
    )


def _distinct(outcomes: pl.DataFrame, name: str) -> pl.DataFrame:
    """The texts under this name, and whether outcomes that are apart alone have one (`is_apart`)."""
    worded = outcomes.filter(~is_blank(pl.col(name)))
    is_apart = pl.col("apart").is_not_null().all().alias("is_apart")
    return worded.group_by("project", name).agg(is_apart)


def _errors(messages: pl.DataFrame, read: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """The errors of the messages, with `is_apart`; those that are apart are read by themselves."""
    parts = [
        errors_of(of_part.drop("is_apart"), params, read).with_columns(is_apart=is_apart)
        for is_apart in (False, True)
        if (of_part := messages.filter(pl.col("is_apart") == is_apart)).height or not is_apart
    ]
    return pl.concat(parts)


def error_templates_of(errors: pl.DataFrame) -> pl.DataFrame:
    """error_templates: one row per error of a project, from the messages of `error_fingerprints`.

    Messages that are apart (`is_apart`) make rows of their own, and part of no other.
    """
    known = errors.filter(~pl.col("is_apart")).select("project", "error_id").unique()
    new = errors.filter("is_apart").join(known, on=["project", "error_id"], how="anti")
    return (
        pl.concat([errors.filter(~pl.col("is_apart")), new])
        .group_by("project", "error_id")
        .agg(
            pl.col("error_template").first(),
            pl.col("example").first(),
            pl.col("reason").unique().sort().alias("reasons"),
            pl.len().cast(pl.Int64).alias("messages"),
        )
        .sort("project", "error_id")
    )


def _of_strategies(
    attempts: pl.DataFrame,
    groups: pl.DataFrame,
    errors: pl.DataFrame,
    before: Frame[StrategyScoresState],
    as_of: datetime,
    params: LearningParams,
    counted_as: Callable[[Any], AbstractContextManager[object]],
) -> dict[type[Table], pl.DataFrame]:
    if not attempts["is_learned"].any():
        return {table: computed_schema(table).to_frame() for table in _OF_STRATEGIES}
    # of every attempt there is a copy here: of no more than is read
    cells, tried = attempt_cells(attempts.lazy().filter("is_learned").select(_READ).collect())
    sessions = attempt_sessions(tried)
    first_day = sessions["day"].min()
    cutoffs = cutoff_days(first_day if isinstance(first_day, int) else 0, as_of, params.scorecard)
    tables = implementation(params.heuristics.method)(tried, sessions, cells, cutoffs, before, as_of, params)
    shown = groups.select("project", "strategy_id", pl.col("representative").alias("strategy")).unique()
    for table in (Heuristics, UntriedStrategies):
        tables[table] = tables[table].join(shown, on=["project", "strategy_id"], how="left")
    templates = errors.select("project", "error_id", "error_template").unique()
    with counted_as("anti-patterns"):
        failing = anti_patterns(tried, tables[Heuristics], as_of, params.anti_patterns, shown, templates)
    return {**tables, AntiPatterns: failing}


def learned_in_order(
    tried: pl.DataFrame,
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    cutoffs: pl.DataFrame,
    before: Frame[StrategyScoresState],
    as_of: datetime,
    params: LearningParams,
) -> dict[type[Table], pl.DataFrame]:
    """What is learned of strategies so that old evidence keeps its order (heuristic/2)."""
    confidence, day = params.confidence, next_midnight(as_of)
    known = Known.of(sessions, confidence)
    # what follows asks which cell was tried on which day, not in which session
    sessions = cell_days(sessions)
    losses = confidence_losses(sessions, cells, known, confidence)
    mondays = cutoffs["cutoff"].unique().to_list()
    grades = interval_grades(sessions, cells, known, losses, confidence)
    asked = pl.DataFrame({"day": [*mondays, day]}, schema={"day": pl.Int64})
    fits = confidence_fits(losses, grades, cells.select("project").unique().join(asked, how="cross"), confidence)
    today = fits.filter(pl.col("day") == day)
    heuristics = heuristics_in_order(tried, cells, known, today, as_of, confidence, params.heuristics, params.attempts)
    scores = strategy_scores_state(before, sessions, cells, known, fits, cutoffs, params.scorecard, confidence)
    return {
        Heuristics: heuristics,
        UntriedStrategies: untried_strategies(heuristics, known, today, day, confidence),
        ForecastFits: _with_all_columns(ForecastFits, today),
        StrategyScoresState: scores,
    }


def learned_at_first(
    tried: pl.DataFrame,
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    cutoffs: pl.DataFrame,
    _before: Frame[StrategyScoresState],
    as_of: datetime,
    params: LearningParams,
) -> dict[type[Table], pl.DataFrame]:
    """What was learned of strategies at first (heuristic/1); nothing of those that were not tried, nothing carried."""
    losses = project_losses(sessions, cells, params.forecast)
    today = cells.select("project", pl.lit(next_midnight(as_of), pl.Int64).alias("day")).unique()
    correlations = session_correlations(sessions, cells, params.forecast)
    fits = forecast_fits(losses, correlations, today, params.forecast)
    forecasts = graded_forecasts(sessions, cells, losses, cutoffs, params.forecast)
    rows = scorecard(forecasts, params.scorecard, params.forecast.method)
    scores = rows.with_columns(part=pl.lit("all"))
    scores = with_made_of(scores, contents(scores, "part"))
    return {
        Heuristics: heuristics(
            tried, sessions, cells, fits, as_of, params.forecast, params.heuristics, params.attempts
        ),
        UntriedStrategies: computed_schema(UntriedStrategies).to_frame().drop("strategy"),
        ForecastFits: _with_all_columns(ForecastFits, fits),
        StrategyScoresState: scores.select(*polars_schema(StrategyScoresState)),
    }


def _with_all_columns(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """What another version tells is NULL."""
    return pl.concat([computed_schema(table).to_frame(), rows.drop("day")], how="diagonal")
