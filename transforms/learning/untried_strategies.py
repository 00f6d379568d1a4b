"""Strategies that were tried elsewhere in the project: what may be expected of them where they were not."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.vocabularies import STRATEGY_KEY
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import GROUP, CellHistory
from slowwave.transforms.learning.heuristics import estimate_cells

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
