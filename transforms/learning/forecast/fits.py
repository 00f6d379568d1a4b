"""Forecasts of success with what each project's own past says is the best way to weigh it."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.forecast.posterior import Evidence, evidence, fit_losses, fitted_points

_COUNTS = ("attempts", "successes")


def known_days(sessions: pl.DataFrame) -> pl.DataFrame:
    """cell, day, attempts, successes: when how much became known of each cell."""
    return sessions.group_by("cell", pl.col("known_day").alias("day")).agg(pl.col(_COUNTS).sum())


def project_losses(sessions: pl.DataFrame, cells: pl.DataFrame, params: ForecastParams) -> pl.DataFrame:
    """Log loss of every grid point per project and day on which outcomes became known (see `fit_losses`).

    Of a big log every n-th strategy of each project is looked at, with all its attempts and all its relatives.
    """
    scored = sessions.group_by("cell", "day", "known_day").agg(pl.col(_COUNTS).sum())
    nth = -(-scored.height // params.max_fit_rows)
    number = pl.int_range(pl.len()).over("project", order_by="cell")
    sample = cells.filter(number % nth == 0)["cell"]
    queries = scored.filter(pl.col("cell").is_in(sample.implode()))
    past = evidence(known_days(sessions), queries, cells).of_cells(sample)
    return fit_losses(past, queries, cells, params)


def forecast_fits(
    losses: pl.DataFrame, correlations: pl.DataFrame, days: pl.DataFrame, params: ForecastParams
) -> pl.DataFrame:
    """What each project uses to forecast from the start of a day on, and why, sorted by (project, day).

    Args:
        losses: of `project_losses`.
        correlations: of `session_correlations`.
        days: project, day.
        params: the grid.

    Returns project, day, point, half_life_days, half_life_attempts, prior_strength, recent_half_life_days,
    recent_strength, fit_attempts, log_loss and default_log_loss (nats per attempt; NULL: nothing forecast yet),
    session_correlation.
    """
    grid = pl.DataFrame(
        [{"point": number, **point.model_dump()} for number, point in enumerate(params.grid)],
        schema={
            "point": pl.Int64,
            "half_life_days": pl.Float64,
            "half_life_attempts": pl.Float64,
            "prior_strength": pl.Float64,
            "recent_half_life_days": pl.Float64,
            "recent_strength": pl.Float64,
        },
    )
    return (
        fitted_points(losses, days, params)
        .join(grid, on="point", how="left")
        .join(correlations, on="project", how="left")
        .sort("project", "day")
    )


def success_forecasts(
    known: pl.DataFrame, queries: pl.DataFrame, cells: pl.DataFrame, fits: pl.DataFrame, params: ForecastParams
) -> pl.DataFrame:
    """Estimated success of the next attempt of each queried cell, sorted by (cell, day).

    Args:
        known: of `known_days`; what became known on or after the queried day is not looked at.
        queries: cell and day.
        cells: of `attempt_cells`.
        fits: of `forecast_fits`, at least for every asked (project, day).
        params: the grid.

    Returns `queries` with confidence (0-1), prior_mean, prior_error, prior_share (of the mean, 0-1), weight and
    recent_weight (of an attempt just known), and the columns of `fits`.
    """
    past = evidence(known, queries, cells)
    rows = queries.join(cells.select("cell", "project"), on="cell").join(fits, on=["project", "day"])
    told = [
        _forecast(past.of_cells(of_point["cell"].unique()), of_point, params, number)
        for (number,), of_point in sorted(rows.partition_by("point", as_dict=True).items())
    ]
    return pl.concat(told).sort("cell", "day") if told else _forecast(past, rows, params, 0)


def _forecast(past: Evidence, rows: pl.DataFrame, params: ForecastParams, number: int) -> pl.DataFrame:
    placed = past.row_of(rows)
    row = placed["row"].to_numpy()
    posterior = past.posterior(params.grid[number], params)
    return placed.drop("row").with_columns(
        pl.Series("confidence", posterior.mean[row]),
        pl.Series("prior_mean", posterior.prior_mean[row]),
        pl.Series("prior_error", posterior.prior_error[row]),
        pl.Series("prior_share", posterior.prior_share[row]),
        pl.Series("weight", posterior.weight[row]),
        pl.Series("recent_weight", posterior.recent_weight[row]),
    )
