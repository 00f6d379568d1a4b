"""Everything that is learned of strategies, in the order in which one table needs another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from slowwave.transforms.core.frames import Frame, empty, framed, selected
from slowwave.transforms.core.methods.registry import implementation
from slowwave.transforms.core.schema import Table, computed_schema
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.learning.anti_patterns.anti_patterns import anti_patterns
from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristics import heuristics
from slowwave.transforms.learning.params import LearningParams
from slowwave.transforms.learning.scorecard_confidence import strategy_scores_state
from slowwave.transforms.learning.scorecard_rows import cutoff_days
from slowwave.transforms.learning.sessions import (
    attempt_sessions,
    cell_days,
    next_midnight,
)
from slowwave.transforms.learning.tables import (
    AntiPatterns,
    ErrorTemplates,
    ForecastFits,
    Heuristics,
    StrategyScoresState,
    StrategyVariants,
    TaskDifficulty,
    UntriedStrategies,
)
from slowwave.transforms.learning.untried_strategies import untried_strategies

# What the kind of a task alone says of success: the estimate for a strategy or an agent that is new to the project.

_KEY = ("project", "task_type")


def task_difficulty(tried: pl.DataFrame, cells: pl.DataFrame, mass: float) -> pl.DataFrame:
    """One row per project and kind of task with an attempt that is learned from, sorted by key.

    Args:
        tried: cell, block, success of these attempts.
        cells: cell, project, agent, task_type, strategy_id.
        mass: of the interval.

    Returns the key, attempts, successes, sessions, strategies, agents; estimate, the mean of the Beta distribution
    whose prior is uniform (Laplace's rule), and estimate_low and estimate_high, its equal-tailed interval.
    """
    rows = (
        tried.select("cell", "block", "success")
        .join(cells.select("cell", "agent", "strategy_id", *_KEY), on="cell")
        .group_by(_KEY)
        .agg(
            pl.len().cast(pl.Int64).alias("attempts"),
            pl.col("success").cast(pl.Int64).sum().alias("successes"),
            *[
                pl.col(name).n_unique().cast(pl.Int64).alias(count)
                for name, count in (("block", "sessions"), ("strategy_id", "strategies"), ("agent", "agents"))
            ],
        )
        .sort(_KEY)
    )
    won = rows["successes"].to_numpy() + 1.0
    lost = rows["attempts"].to_numpy() + 2.0 - won
    low, high = beta_interval(won, lost, mass)
    return rows.with_columns(
        pl.Series("estimate", won / (won + lost), pl.Float64),
        pl.Series("estimate_low", low, pl.Float64),
        pl.Series("estimate_high", high, pl.Float64),
    )


_TABLES: tuple[type[Table], ...] = (
    *(Heuristics, UntriedStrategies, TaskDifficulty, AntiPatterns, ForecastFits),
    StrategyScoresState,
)


class Learned(NamedTuple):
    """What is learned of strategies.

    `scores`: the rows of the scorecard that grade forecasts of strategies, as they are carried to the next night.
    """

    heuristics: Frame[Heuristics]
    untried_strategies: Frame[UntriedStrategies]
    task_difficulty: Frame[TaskDifficulty]
    anti_patterns: Frame[AntiPatterns]
    forecast_fits: Frame[ForecastFits]
    scores: Frame[StrategyScoresState]


def learn_strategies(
    tried: pl.DataFrame,
    cells: pl.DataFrame,
    variants: Frame[StrategyVariants],
    templates: Frame[ErrorTemplates],
    as_of: datetime,
    params: LearningParams,
    counted_as: Callable[[Any], AbstractContextManager[object]] = nullcontext,
    before: Frame[StrategyScoresState] | None = None,
) -> Learned:
    """What the attempts known as of `as_of` teach of strategies.

    Args:
        tried: of `count_attempts`, all known before `as_of`.
        cells: of `count_attempts`.
        variants: project, strategy_id, representative of strategy_variants.
        templates: project, error_id, error_template of error_templates.
        as_of: nothing later is looked at.
        params: all of them.
        counted_as: what is done within counts as that stage.
        before: the scores of an earlier night.
    """
    carried = empty(StrategyScoresState) if before is None else before
    tables = _tables(tried, cells, variants, templates, carried, as_of, params, counted_as)
    return Learned(
        heuristics=selected(Heuristics, tables[Heuristics]),
        untried_strategies=selected(UntriedStrategies, tables[UntriedStrategies]),
        task_difficulty=selected(TaskDifficulty, tables[TaskDifficulty]),
        anti_patterns=selected(AntiPatterns, tables[AntiPatterns]),
        forecast_fits=selected(ForecastFits, tables[ForecastFits]),
        scores=framed(StrategyScoresState, tables[StrategyScoresState]),
    )


def _tables(
    tried: pl.DataFrame,
    cells: pl.DataFrame,
    variants: Frame[StrategyVariants],
    templates: Frame[ErrorTemplates],
    before: Frame[StrategyScoresState],
    as_of: datetime,
    params: LearningParams,
    counted_as: Callable[[Any], AbstractContextManager[object]],
) -> dict[type[Table], pl.DataFrame]:
    if tried.is_empty():
        return {table: computed_schema(table).to_frame() for table in _TABLES}
    sessions = attempt_sessions(tried)
    first_day = sessions["day"].min()
    cutoffs = cutoff_days(first_day if isinstance(first_day, int) else 0, as_of, params.scorecard)
    tables = implementation(params.heuristics.method)(tried, sessions, cells, cutoffs, before, as_of, params)
    del sessions
    shown = variants.select("project", "strategy_id", pl.col("representative").alias("strategy")).unique()
    difficulty = task_difficulty(tried, cells, params.confidence.credible_mass)
    of_task = difficulty.select("project", "task_type", pl.col("estimate").alias("task_estimate"))
    tables[UntriedStrategies] = tables[UntriedStrategies].join(of_task, on=["project", "task_type"], how="left")
    for table in (Heuristics, UntriedStrategies):
        tables[table] = tables[table].join(shown, on=["project", "strategy_id"], how="left")
    with counted_as("anti-patterns"):
        failing = anti_patterns(tried, tables[Heuristics], as_of, params.anti_patterns, shown, templates, cells)
    return {**tables, TaskDifficulty: difficulty, AntiPatterns: failing}


def learned_in_order(
    tried: pl.DataFrame,
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    cutoffs: pl.DataFrame,
    before: Frame[StrategyScoresState],
    as_of: datetime,
    params: LearningParams,
) -> dict[type[Table], pl.DataFrame]:
    """What is learned of strategies so that old evidence keeps its order."""
    confidence, day = params.confidence, next_midnight(as_of)
    known = CellHistory.of(sessions, confidence)
    # what follows asks which cell was tried on which day, not in which session
    sessions = cell_days(sessions)
    losses = confidence_losses(sessions, cells, known, confidence)
    mondays = cutoffs["cutoff"].unique().to_list()
    grades = interval_grades(sessions, cells, known, losses, confidence)
    asked = pl.DataFrame({"day": [*mondays, day]}, schema={"day": pl.Int64})
    fits = confidence_fits(losses, grades, cells.select("project").unique().join(asked, how="cross"), confidence)
    today = fits.filter(pl.col("day") == day)
    of_cells = heuristics(tried, cells, known, today, as_of, confidence, params.heuristics, params.attempts)
    scores = strategy_scores_state(before, sessions, cells, known, fits, cutoffs, params.scorecard, confidence)
    return {
        Heuristics: of_cells,
        UntriedStrategies: untried_strategies(of_cells, known, today, day, confidence),
        ForecastFits: _with_all_columns(ForecastFits, today),
        StrategyScoresState: scores,
    }


def _with_all_columns(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with every column of the table; what this version does not tell is NULL."""
    return pl.concat([computed_schema(table).to_frame(), rows.drop("day")], how="diagonal")
