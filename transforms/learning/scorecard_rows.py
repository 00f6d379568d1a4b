"""How forecasts made at past Mondays are graded against what then happened: metrics, intervals, rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.core.counts import forecast_grades as scores
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.times import FIRST_MONDAY, epoch_day
from slowwave.transforms.learning.params import ScorecardParams
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

    Metrics: brier, log_loss, auc, calibration_in_the_large, calibration_slope, calibration_error,
    calibration_error_if_perfect (its interval: of perfect forecasters), and for the first method brier and log_loss
    minus each other method's, on the same draws of days. value_low and value_high: days drawn with replacement, a block
    bootstrap (Künsch 1989); NULL where undefined.
    """
    blocks = forecasts["block"].unique().sort()
    generator = np.random.default_rng(int(digest(seed)[:12], 16))
    drawn = generator.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), size=params.resamples)
    times = np.vstack([np.ones((1, len(blocks)), dtype=np.int64), drawn.astype(np.int64)])
    size = (int(forecasts["attempts"].sum()), forecasts["cutoff"].n_unique())
    found: dict[tuple[str, str], Floats] = {}
    for name in methods:
        counts = scores.resample_blocks(scores.count_by_forecast(forecasts, name, blocks), times)
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
