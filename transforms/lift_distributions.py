"""Quantiles and tails as expressions."""

from __future__ import annotations

import polars as pl
from scipy.special import stdtr, stdtrit


def student_t_quantile(probability: float, degrees: pl.Expr) -> pl.Expr:
    """Quantile of Student's t distribution."""
    return degrees.map_batches(
        lambda series: pl.Series(stdtrit(series.to_numpy(), probability), dtype=pl.Float64), return_dtype=pl.Float64
    )


def two_sided_p_value(t: pl.Expr, degrees: pl.Expr) -> pl.Expr:
    """Probability of a t statistic at least as far from 0."""
    return pl.map_batches(
        [-t.abs(), degrees],
        lambda series: pl.Series(2 * stdtr(series[1].to_numpy(), series[0].to_numpy()), dtype=pl.Float64),
        return_dtype=pl.Float64,
    )
