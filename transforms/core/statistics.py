"""Statistics that several tables are made with.

Each is the expression with which its first result was published: another that is mathematically the same differs in
the last bit. So `plain_logit` and `plain_expit` stand beside scipy's, with which heuristic/3 was released, and the
q-values of anti-patterns rest on the series of `normal_tail`.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import betaincinv, stdtr, stdtrit

from slowwave.transforms.core.arrays import Floats, Integers


def plain_logit(p: Floats) -> Floats:
    """Log odds of probabilities between 0 and 1."""
    return np.log(p / (1 - p))


def plain_expit(x: Floats) -> Floats:
    """Probabilities of log odds."""
    return 1 / (1 + np.exp(-x))


def ten_thousandths(log_odds: Floats) -> Integers:
    """Probabilities of log odds, in whole 1/10,000."""
    return np.round(10_000 / (1 + np.exp(-log_odds))).astype(np.int64)


def beta_interval(a: Floats, b: Floats, mass: float) -> tuple[Floats, Floats]:
    """Ends of the equal-tailed interval that holds `mass` of Beta distributions."""
    tail = (1 - mass) / 2
    return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)


def normal_tail(z: pl.Expr) -> pl.Expr:
    """P(Z > z) of a standard normal variable (Abramowitz & Stegun 1964, 26.2.17: absolute error below 7.5e-8)."""
    t = 1 / (1 + 0.2316419 * z.abs())
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = series * (-z * z / 2).exp() * 0.3989422804014327
    return pl.when(z > 0).then(tail).otherwise(1 - tail)


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


def benjamini_hochberg(p_value: pl.Expr, tests: pl.Expr) -> pl.Expr:
    """Adjusted p-values (Benjamini & Hochberg 1995, JRSS B 57:289), NULL of NULL; may pass 1 with more tests than rows.

    Args:
        p_value: of each test; NULL: none.
        tests: how many were made, at least as many as there are p-values; those without a row had a p-value of 1.
    """
    order = p_value.arg_sort(nulls_last=True)
    raw = p_value * tests / p_value.rank("max")
    smallest_above = raw.gather(order).reverse().cum_min().reverse()
    return pl.when(p_value.is_not_null()).then(smallest_above.gather(order.arg_sort()))
