"""How well the forecasts of success did, as first released: as of past Mondays against what then happened."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.core.counts import forecast_grades as scores
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.times import FIRST_MONDAY, epoch_day, midnight
from slowwave.transforms.learning.forecast.fits import forecast_fits, known_days, success_forecasts
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.scorecard.params import ScorecardParams
from slowwave.transforms.learning.tables import Scorecard

BASE_RATE = "base_rate/1"
LAPLACE = "laplace/1"


_METRICS: dict[str, Callable[[scores.Graded], Floats]] = {
    "brier": scores.brier,
    "log_loss": scores.log_loss,
    "auc": scores.auc,
    "calibration_in_the_large": scores.calibration_in_the_large,
    "calibration_slope": scores.calibration_slope,
    "calibration_error": scores.calibration_error,
}
_COMPARED = ("brier", "log_loss")


def cutoff_days(first_day: int, as_of: datetime, params: ScorecardParams) -> pl.DataFrame:
    """cutoff, day: Mondays after `first_day` whose horizon is over at `as_of`, with the days of the horizon."""
    last = epoch_day(as_of) - params.horizon_days
    mondays = range(first_day + 1 + (FIRST_MONDAY - first_day - 1) % 7, last + 1, 7)
    cutoffs = pl.DataFrame({"cutoff": pl.Series(list(mondays)[-params.cutoffs :], dtype=pl.Int64)})
    horizon = pl.int_ranges(pl.col("cutoff"), pl.col("cutoff") + params.horizon_days)
    return cutoffs.with_columns(horizon.alias("day")).explode("day")


def graded_forecasts(
    sessions: pl.DataFrame, cells: pl.DataFrame, losses: pl.DataFrame, cutoffs: pl.DataFrame, params: ForecastParams
) -> pl.DataFrame:
    """What each method said at the start of each cutoff day, on the attempts of the horizon: common rows for all.

    Args:
        sessions: of `attempt_sessions`.
        cells: of `attempt_cells`.
        losses: of `project_losses`.
        cutoffs: cutoff, day (both in days since 1970): attempts of which days a cutoff's forecasts are graded on.
        params: the grid.

    Returns cutoff, block (the day tried), cell, attempts, successes, and per method the forecast.
    """
    tried = (
        sessions.join(cutoffs, on="day")
        .group_by("cutoff", "cell", "day")
        .agg(pl.col("attempts", "successes").sum())
        .rename({"day": "block"})
    )
    columns = ["cutoff", "block", "cell", "attempts", "successes", params.method, BASE_RATE, LAPLACE]
    if tried.is_empty():
        return tried.with_columns(pl.lit(None, pl.Float64).alias(name) for name in columns[-3:]).select(columns)
    asked = tried.select("cell", pl.col("cutoff").alias("day")).unique()
    of_project = asked.join(cells, on="cell").select("project", "day").unique()
    no_correlation = pl.DataFrame(schema={"project": pl.String, "session_correlation": pl.Float64})
    fits = forecast_fits(losses, no_correlation, of_project, params)
    known = known_days(sessions)
    told = success_forecasts(known, asked, cells, fits, params).select(
        "cell", pl.col("day").alias("cutoff"), pl.col("confidence").alias(params.method)
    )
    known = known.join(cells.select("cell", "project"), on="cell")
    days = cutoffs["cutoff"].unique().sort()
    own = known_before(known, ["cell"], days, "own")
    project = known_before(known, ["project"], days, "project")
    return (
        tried.join(told, on=["cell", "cutoff"])
        .join(cells.select("cell", "project"), on="cell")
        .join(own, on=["cell", "cutoff"], how="left")
        .join(project, on=["project", "cutoff"], how="left")
        .with_columns(pl.col("^(own|project)_(attempts|successes)$").fill_null(0))
        .with_columns(
            ((pl.col("project_successes") + 1) / (pl.col("project_attempts") + 2)).alias(BASE_RATE),
            ((pl.col("own_successes") + 1) / (pl.col("own_attempts") + 2)).alias(LAPLACE),
        )
        .select(columns)
        .sort("cutoff", "block", "cell")
    )


def known_before(known: pl.DataFrame, key: list[str], days: pl.Series, prefix: str) -> pl.DataFrame:
    """Per key and cutoff the attempts and successes known before it, as `<prefix>_attempts`, `<prefix>_successes`."""
    names = [f"{prefix}_attempts", f"{prefix}_successes"]
    so_far = (
        known.group_by(*key, "day")
        .agg(pl.col("attempts").sum().alias(names[0]), pl.col("successes").sum().alias(names[1]))
        .sort("day")
        .with_columns(pl.col(names).cum_sum().over(key))
    )
    asked = so_far.select(key).unique().join(days.sort().to_frame("cutoff"), how="cross", maintain_order="right")
    return (
        asked.join_asof(
            so_far,
            left_on="cutoff",
            right_on="day",
            by=key,
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .filter(pl.col(names[0]).is_not_null())
        .select(*key, *names, "cutoff")
    )


def scorecard(forecasts: pl.DataFrame, params: ScorecardParams, method: str) -> pl.DataFrame:
    """Grades of every method at every cutoff, and over all cutoffs up to it (`…_to_date`), sorted by key.

    Args:
        forecasts: of `graded_forecasts`.
        params: resamples and interval.
        method: the method others are compared with.

    Returns method, metric, cutoff_at, horizon_days, value, value_low, value_high (days drawn with replacement: a block
    bootstrap, Künsch 1989; NULL where undefined), attempts, cutoffs. Metrics: brier, log_loss, auc,
    calibration_in_the_large, calibration_slope, calibration_error, calibration_error_if_perfect (its interval: of
    perfect forecasters), and for `method` brier and log_loss minus each other method's, on the same draws of days.
    """
    rows = []
    for cutoff in forecasts["cutoff"].unique().sort():
        alone = forecasts.filter(pl.col("cutoff") == cutoff)
        so_far = forecasts.filter(pl.col("cutoff") <= cutoff)
        about = (midnight(int(cutoff)), params.horizon_days)
        methods = (method, BASE_RATE, LAPLACE)
        rows += grades(alone, "{}", about, [str(cutoff), ""], methods, params)
        rows += grades(so_far, "{}_to_date", about, [str(cutoff), "_to_date"], methods, params)
    return scorecard_rows(rows)


def scorecard_rows(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    """The table of rows of `grades`, sorted by its key."""
    return pl.DataFrame(rows, schema=computed_schema(Scorecard), orient="row").sort(
        "method", "metric", "cutoff_at", "horizon_days"
    )


def grades(
    forecasts: pl.DataFrame,
    named: str,
    about: tuple[datetime, int],
    seed: list[str],
    methods: tuple[str, ...],
    params: ScorecardParams,
) -> list[tuple[object, ...]]:
    """Rows of the scorecard for these forecasts, together.

    Args:
        forecasts: block, attempts, successes, and per method the forecast; not empty.
        named: how metrics are named, `{}` being the metric.
        about: cutoff and horizon (days).
        seed: tells the draws of blocks.
        methods: the columns that are graded; the first is compared with the others.
        params: resamples and interval.
    """
    blocks = forecasts["block"].unique().sort()
    generator = np.random.default_rng(int(digest(seed)[:12], 16))
    drawn = generator.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), size=params.resamples)
    times = np.vstack([np.ones((1, len(blocks)), dtype=np.int64), drawn.astype(np.int64)])
    size = (int(forecasts["attempts"].sum()), forecasts["cutoff"].n_unique())
    found: dict[tuple[str, str], Floats] = {}
    for name in methods:
        counts = scores.resampled(scores.graded(forecasts, name, blocks), times)
        for metric, measure in _METRICS.items():
            found[name, metric] = measure(counts)
        whole = scores.Graded(counts.attempts[:1], counts.successes[:1])
        perfect = scores.calibration_error_if_perfect(whole, params.resamples, generator)
        found[name, "calibration_error_if_perfect"] = np.concatenate([[perfect.mean()], perfect])
    for other in methods[1:]:
        for metric in _COMPARED:
            difference = found[methods[0], metric] - found[other, metric]
            found[methods[0], f"{metric}_minus_{other.split('/', maxsplit=1)[0]}"] = difference
    return [
        (name, named.format(metric), *about, *value_and_interval(values, params.interval_mass), *size)
        for (name, metric), values in found.items()
    ]


def value_and_interval(values: Floats, mass: float) -> tuple[float | None, float | None, float | None]:
    """The first value, and the interval of those after it; None where undefined."""
    drawn = values[1:][~np.isnan(values[1:])]
    value = None if np.isnan(values[0]) else float(values[0])
    if value is None or not len(drawn):
        return value, None, None
    tail = (1 - mass) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return value, float(low), float(high)
