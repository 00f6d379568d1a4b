"""What the kind of a task alone says of success: the estimate for a strategy or an agent that is new to the project."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.statistics import beta_interval

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
