"""How sure one can be of each strategy, as first released: counts, posterior, credible interval, trend."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
from scipy.special import ndtr

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.attempts.sessions import next_midnight
from slowwave.transforms.learning.forecast.fits import known_days, success_forecasts
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.heuristic_params import HeuristicParams

_FADED = -400  # squares of smaller weights would be zero


def heuristics(
    attempts: pl.DataFrame,
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    fits: pl.DataFrame,
    as_of: datetime,
    forecast: ForecastParams,
    params: HeuristicParams,
    scope: AttemptParams,
) -> pl.DataFrame:
    """One row per (project, agent, task_type, strategy_id) with at least one attempt, sorted by key.

    Args:
        attempts: cell, block, strategy, created_at, success, is_task_type_inferred of attempts that are learned from.
        sessions: of `attempt_sessions`.
        cells: of `attempt_cells`.
        fits: of `forecast_fits`.
        as_of: nothing known later counts.
        forecast: mass of the interval.
        params: what is called a trend, and reliable.
        scope: how many attempts each agent needs.

    Returns the key, attempts, successes, success_rate, sessions, effective_sessions, prior_mean, confidence,
    confidence_low, confidence_high (credible interval), trend, first_seen_at, last_validated_at, is_reliable, variants.
    """
    day = next_midnight(as_of)
    asked = cells.select("cell", pl.lit(day, pl.Int64).alias("day"))
    told = success_forecasts(known_days(sessions), asked, cells, fits, forecast)
    rows = cells.join(told.drop("project"), on="cell", how="left")
    for more in (_effective_sessions(sessions, told), cell_counts(attempts), _trend(sessions, told, day, params)):
        rows = rows.join(more, on="cell", how="left")
    rows = rows.sort("cell")
    low, high = credible_interval(rows, forecast)
    return with_reliability(
        rows.with_columns(pl.Series("confidence_low", low), pl.Series("confidence_high", high)), params, scope
    )


def cell_counts(attempts: pl.DataFrame) -> pl.DataFrame:
    """Per cell attempts, successes, sessions, first_seen_at, last_validated_at, is_task_type_inferred, variants."""
    counts = attempts.group_by("cell").agg(
        pl.len().cast(pl.Int64).alias("attempts"),
        pl.col("success").cast(pl.Int64).sum().alias("successes"),
        pl.col("block").n_unique().cast(pl.Int64).alias("sessions"),
        pl.col("created_at").min().alias("first_seen_at"),
        pl.col("created_at").max().alias("last_validated_at"),
        pl.col("is_task_type_inferred").all(),
    )
    variants = attempts.select("cell", "strategy").unique().group_by("cell").agg(variants=pl.col("strategy").sort())
    return counts.join(variants, on="cell")


def with_reliability(rows: pl.DataFrame, params: HeuristicParams, scope: AttemptParams) -> pl.DataFrame:
    """The rows with success_rate and is_reliable: enough attempts for their agent, and a lower bound that is high."""
    needed = pl.col("agent").replace_strict(
        {one.agent: one.min_occurrences for one in scope.scopes if one.min_occurrences is not None},
        default=scope.min_occurrences,
        return_dtype=pl.Int64,
    )
    return rows.with_columns(
        (pl.col("successes") / pl.col("attempts")).alias("success_rate"),
        ((pl.col("attempts") >= needed) & (pl.col("confidence_low") > params.reliable_above)).alias("is_reliable"),
    )


def credible_interval(rows: pl.DataFrame, params: ForecastParams) -> tuple[Floats, Floats]:
    """Equal-tailed interval of a Beta with mean `confidence` that is worth prior and effective sessions together.

    The mean weighs its own attempts and the prior mean by 1 - share and share: its variance, in variances of one
    attempt, is (1 - share)^2 / effective sessions + share^2 (1 / prior's worth + `prior_error`), and its worth the
    inverse. The prior is worth its strength, a number of attempts, over the own attempts' design effect, for it was
    fitted on attempts as correlated as they are. Own evidence that has faded so leaves an interval as wide as the
    prior's, never a narrower one. An interval always holds its mean.
    """
    mean = rows["confidence"].to_numpy()
    share = rows["prior_share"].to_numpy()
    own = (1 - share) ** 2 / rows["effective_sessions"].to_numpy()
    prior = rows["design_effect"].to_numpy() / rows["prior_strength"].to_numpy() + rows["prior_error"].to_numpy()
    worth = 1 / (own + share**2 * prior)
    low, high = beta_interval(mean * worth, (1 - mean) * worth, params.credible_mass)
    return np.minimum(low, mean), np.maximum(high, mean)


def _effective_sessions(sessions: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Per cell effective_sessions (how many independent attempts the weighted ones are worth) and design_effect.

    Kish's (sum of weights)^2 / sum of squared weights, where a session of m attempts that correlate by r counts as
    m / (1 + (m - 1) r) of them (Kish 1965, Survey Sampling). design_effect: by how much that enlarges the variance.
    """
    of_day = sessions.group_by("cell", "block", "known_day").agg(pl.col("attempts").sum())
    # sessions of one day and size weigh the same: sums over them need no order
    alike = of_day.group_by("cell", "known_day", "attempts").agg(pl.len().cast(pl.Int64).alias("sessions"))
    later = (
        of_day.group_by("cell", "known_day")
        .agg(pl.col("attempts").sum().alias("of_day"))
        .sort("cell", "known_day", descending=[False, True])
        .select("cell", "known_day", (pl.col("of_day").cum_sum().over("cell") - pl.col("of_day")).alias("later"))
    )
    rows = alike.join(later, on=["cell", "known_day"]).join(told, on="cell").sort("cell", "known_day", "attempts")
    age = rows["day"].to_numpy() - rows["known_day"].to_numpy()
    crowd = np.exp2(-rows["later"].to_numpy() / rows["half_life_attempts"].fill_null(np.inf).to_numpy())
    fade = np.exp2(np.maximum(-age / rows["half_life_days"].to_numpy(), _FADED))
    recent_fade = np.exp2(np.maximum(-age / rows["recent_half_life_days"].fill_null(np.inf).to_numpy(), _FADED))
    weight = crowd * (rows["weight"].to_numpy() * fade + rows["recent_weight"].to_numpy() * recent_fade)
    attempts = rows["attempts"].to_numpy()
    together = rows["sessions"].to_numpy() * attempts
    correlated = 1 + (attempts - 1) * rows["session_correlation"].to_numpy()
    cell = rows["cell"].to_numpy()
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    total = np.add.reduceat(weight * together, starts) if len(starts) else np.zeros(0)
    alone = np.add.reduceat(weight * weight * together, starts) if len(starts) else np.ones(0)
    squares = np.add.reduceat(weight * weight * together * correlated, starts) if len(starts) else np.ones(0)
    return pl.DataFrame(
        {
            "cell": cell[starts],
            "effective_sessions": total * total / squares,
            "design_effect": squares / alone,
        }
    )


def _trend(sessions: pl.DataFrame, told: pl.DataFrame, day: int, params: HeuristicParams) -> pl.DataFrame:
    """Trend per cell: the last days' success beside all before, with sessions as the unit.

    unproven (too few sessions), stale (not tried in the last days), new (not tried before them), strengthening or
    weakening (the success rates differ with the asked-for probability, normal approximation), else stable.
    """
    is_recent = pl.col("known_day") >= day - params.trend_days
    alike = 1 + (pl.col("attempts") - 1) * pl.col("session_correlation")
    worth = (pl.col("attempts") / alike * 1_000_000).round().cast(pl.Int64)
    sides = (
        sessions.join(told.select("cell", "session_correlation"), on="cell")
        .group_by("cell")
        .agg(
            *[
                value.filter(side).sum().alias(f"{name}_{when}")
                for when, side in (("recent", is_recent), ("before", ~is_recent))
                for name, value in (("n", pl.col("attempts")), ("s", pl.col("successes")), ("worth", worth))
            ],
            pl.col("block").filter(is_recent).n_unique().alias("sessions_recent"),
            pl.col("block").filter(~is_recent).n_unique().alias("sessions_before"),
        )
    )
    rate = {when: (pl.col(f"s_{when}") + 1) / (pl.col(f"n_{when}") + 2) for when in ("recent", "before")}
    variance = [rate[when] * (1 - rate[when]) / (pl.col(f"worth_{when}") * 1e-6 + 3) for when in rate]
    z = (rate["recent"] - rate["before"]) / (variance[0] + variance[1]).sqrt()
    few = params.trend_min_sessions
    compared = sides.with_columns(z.alias("z"))
    rose = pl.Series("rose", ndtr(compared["z"].to_numpy()))
    return compared.with_columns(rose).select(
        "cell",
        pl.when(pl.col("sessions_recent") + pl.col("sessions_before") < few)
        .then(pl.lit("unproven"))
        .when(pl.col("n_recent") == 0)
        .then(pl.lit("stale"))
        .when(pl.col("n_before") == 0)
        .then(pl.lit("new"))
        .when(pl.min_horizontal("sessions_recent", "sessions_before") < few)
        .then(pl.lit("unproven"))
        .when(pl.col("rose") >= params.trend_probability)
        .then(pl.lit("strengthening"))
        .when(pl.col("rose") <= 1 - params.trend_probability)
        .then(pl.lit("weakening"))
        .otherwise(pl.lit("stable"))
        .alias("trend"),
    )
