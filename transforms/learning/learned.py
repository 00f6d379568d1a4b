"""Everything that is learned of strategies, in the order in which one table needs another.

Also strategies that were tried elsewhere in the project: what may be expected of them where they were not.
"""

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
from slowwave.transforms.core.vocabularies import STRATEGY_KEY
from slowwave.transforms.learning.anti_patterns.anti_patterns import anti_patterns
from slowwave.transforms.learning.confidence.fits import confidence_fits, confidence_losses, interval_grades
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import GROUP, CellHistory
from slowwave.transforms.learning.heuristics import estimate_cells, heuristics
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

_COUNTS = ("attempts", "successes")


def untried_strategies(
    heuristics: pl.DataFrame, known: CellHistory, fits: pl.DataFrame, day: int, params: ConfidenceParams
) -> pl.DataFrame:
    """One row per agent, task type and strategy of the project that the agent never tried there, sorted by key.

    Of a project with more than `max_untried` of them, those of the strategies that succeed most often in the project.

    Args:
        heuristics: cell, project, agent, task_type, strategy_id, attempts, successes, confidence, confidence_low of all
            strategies tried.
        known: of the same cells.
        fits: of `confidence_fits`, at least for the day.
        day: estimates are of the days from this one on, in days since 1970.
        params: how the past is weighed.

    Returns the key; confidence, confidence_low, confidence_high of the next attempt; from which relatives:
    elsewhere_attempts and elsewhere_successes (the strategy at other task types), twin_attempts and twin_successes (the
    strategy here, by other agents), here_attempts and here_successes (other strategies here, by any agent),
    agent_attempts and agent_successes (the agent, anything); best_tried_strategy_id (highest lower bound of those
    tried), best_tried_confidence, could_beat_best_tried (its upper bound is above that confidence).
    """
    tried = heuristics.select("cell", *STRATEGY_KEY, *_COUNTS, "confidence", "confidence_low")
    candidates = _candidates(tried, params)
    first = 1 + (tried["cell"].max() if tried.height else 0)  # type: ignore[operator]
    numbered = candidates.with_columns((pl.int_range(pl.len(), dtype=pl.Int64) + first).alias("cell"))
    cells = pl.concat([tried.select("cell", *STRATEGY_KEY), numbered.select("cell", *STRATEGY_KEY)])
    asked = numbered.select("cell", pl.lit(day, pl.Int64).alias("day"))
    told = estimate_cells(asked, cells, known, fits, params).select("cell", "^confidence.*$")
    best = (
        tried.sort("confidence_low", "confidence", "strategy_id", descending=[True, True, False])
        .unique(GROUP, keep="first", maintain_order=True)
        .select(
            *GROUP,
            pl.col("strategy_id").alias("best_tried_strategy_id"),
            pl.col("confidence").alias("best_tried_confidence"),
        )
    )
    rows = numbered.join(told, on="cell").join(best, on=GROUP)
    for prefix, key in (
        ("everywhere", ("project", "strategy_id")),
        ("twin", ("project", "task_type", "strategy_id")),
        ("here", ("project", "task_type")),
        ("agent", ("project", "agent")),
    ):
        counts = tried.group_by(key).agg(pl.col(name).sum().alias(f"{prefix}_{name}") for name in _COUNTS)
        rows = rows.join(counts, on=key, how="left")
    rows = rows.with_columns(pl.col("^.+_(attempts|successes)$").fill_null(0))
    return (
        rows.with_columns(
            *[
                (pl.col(f"{part}_{name}") - pl.col(f"twin_{name}")).alias(f"{whole}_{name}")
                for part, whole in (("everywhere", "elsewhere"), ("here", "here"))
                for name in _COUNTS
            ],
            (pl.col("confidence_high") > pl.col("best_tried_confidence")).alias("could_beat_best_tried"),
        )
        .drop("cell", "everywhere_attempts", "everywhere_successes")
        .sort(STRATEGY_KEY)
    )


def _candidates(tried: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """The keys of strategies that an agent did not try on a task type it tried others on."""
    groups = tried.select(GROUP).unique()
    many = groups.group_by("project").agg(pl.len().alias("groups"))
    rate = (pl.col("successes") + 1) / (pl.col("attempts") + 2)
    strategies = (
        tried.group_by("project", "strategy_id")
        .agg(pl.col(_COUNTS).sum())
        .join(many, on="project")
        .with_columns(rate.alias("rate"))
        .sort("project", "rate", "strategy_id", descending=[False, True, False])
        .filter(
            pl.int_range(pl.len()).over("project")
            < pl.max_horizontal(params.max_untried // pl.col("groups"), pl.lit(1))
        )
    )
    return (
        groups.join(strategies.select("project", "strategy_id"), on="project")
        .join(tried, on=STRATEGY_KEY, how="anti")
        .sort(STRATEGY_KEY)
    )


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
