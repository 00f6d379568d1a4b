"""What is made of many lifts: systematic error taken off, shrunk towards each other, false discoveries counted."""

from __future__ import annotations

from statistics import NormalDist

import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.core.statistics import student_t_quantile, two_sided_p_value
from slowwave.transforms.lift.params import MemoryOutcomeParams

_POWER = 0.8
_LEAST_VARIANCE = 1e-4


def half_width(params: MemoryOutcomeParams) -> pl.Expr:
    """Half the width of the interval around an `estimate`."""
    return pl.col("standard_error") * student_t_quantile((1 + params.interval_mass) / 2, pl.col("degrees"))


def calibrate_lifts(lifts: pl.DataFrame, placebos: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """`lifts` with the systematic error that placebos show taken off, and `placebo`: passed, failed or missing.

    Empirical calibration with negative controls (Schuemie et al. 2018): a memory's own placebo, shrunk towards the
    others of the basis, is what the comparison finds where there is nothing to find; it is subtracted, and what stays
    uncertain of it is added to the error. failed: the interval of the placebo, of the shrunk placebo, or of the mean of
    all placebos of the basis leaves out 0. missing: there is none, of too few sessions, or its interval is wider than
    both the lift's own and `max_placebo_half_width` to either side.
    """
    quantile = NormalDist().inv_cdf((1 + params.interval_mass) / 2)
    seen = _posterior(
        placebos.filter(pl.col("sessions") >= params.min_sessions), params.systematic_error, params.systematic_weight
    ).select(
        "memory",
        pl.col("estimate").alias("size"),
        half_width(params).alias("half_width"),
        pl.col("posterior_mean").alias("bias"),
        pl.col("posterior_error").alias("bias_error"),
        (pl.col("centre").abs() > quantile * pl.col("centre_error")).alias("is_basis_off"),
    )
    is_own_off = pl.col("size").abs() > pl.col("half_width")
    is_off = is_own_off | (pl.col("bias").abs() > quantile * pl.col("bias_error")) | pl.col("is_basis_off")
    placebo = (
        pl.when(pl.col("size").is_null())
        .then(pl.lit("missing"))
        .when(is_off)
        .then(pl.lit("failed"))
        .when(pl.col("half_width") > pl.max_horizontal(half_width(params), params.max_placebo_half_width))
        .then(pl.lit("missing"))
        .otherwise(pl.lit("passed"))
    )
    return lifts.join(seen, on="memory", how="left", maintain_order="left").select(
        "memory",
        (pl.col("estimate") - pl.col("bias").fill_null(0)).alias("estimate"),
        (pl.col("standard_error").pow(2) + pl.col("bias_error").fill_null(0).pow(2)).sqrt().alias("standard_error"),
        "degrees",
        "sessions",
        placebo.alias("placebo"),
    )


def shrunk(lifts: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """lift, lift_low, lift_high and lift_p_value of memories of one basis, from estimate, standard_error, degrees.

    Shrunk towards the mean of the basis (see `_posterior`). The p-value is two-sided, of the memory's own estimate,
    before shrinking.
    """
    error, lift = pl.col("standard_error"), pl.col("posterior_mean")
    reach = half_width(params) / error * pl.col("posterior_error")
    return _posterior(lifts, params.lift_spread, params.lift_spread_weight).with_columns(
        lift.alias("lift"),
        pl.max_horizontal(lift - reach, -1.0).alias("lift_low"),
        pl.min_horizontal(lift + reach, 1.0).alias("lift_high"),
        two_sided_p_value(pl.col("estimate") / error, pl.col("degrees")).alias("lift_p_value"),
    )


def _posterior(rows: pl.DataFrame, spread: float, weight: float) -> pl.DataFrame:
    """`rows` with posterior_mean, posterior_error of what `estimate` measures; centre, centre_error of their mean.

    Empirical Bayes (Morris 1983): the true sizes are taken to be normal. Their standard deviation is estimated from all
    rows and from `spread`, which is worth `weight` rows; their mean from all rows and one more that lies at 0. The
    error allows for the mean being an estimate.
    """
    estimate, noise = pl.col("estimate"), pl.col("standard_error").pow(2)

    def centre(variance: pl.Expr | float) -> pl.Expr:
        precision = 1 / (noise + variance)
        return ordered_sum(estimate * precision) / (ordered_sum(precision) + 1 / variance)

    excess = ordered_sum((estimate - pl.col("centre")).pow(2) - noise) + weight * spread**2
    variance = pl.col("variance")
    own = variance / (variance + noise)
    return (
        rows.with_columns(centre(spread**2).alias("centre"))
        .with_columns(pl.max_horizontal(excess / (pl.len() + weight), _LEAST_VARIANCE).alias("variance"))
        .with_columns(
            centre(variance.first()).alias("centre"),
            (1 / (ordered_sum(1 / (noise + variance)) + 1 / variance)).sqrt().alias("centre_error"),
        )
        .with_columns(
            (pl.col("centre") + own * (estimate - pl.col("centre"))).alias("posterior_mean"),
            (own * noise + ((1 - own) * pl.col("centre_error")).pow(2)).sqrt().alias("posterior_error"),
        )
        .drop("variance")
    )


def detectable(params: MemoryOutcomeParams) -> pl.Expr:
    """The smallest true lift, up or down, that evidence as exact as this tells from 0 in four cases of five.

    Standard error times the sum of the t quantile of the interval and the normal quantile of the power (Bloom 1995).
    """
    interval = student_t_quantile((1 + params.interval_mass) / 2, pl.col("degrees"))
    return pl.col("standard_error") * (interval + NormalDist().inv_cdf(_POWER))
