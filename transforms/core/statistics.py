"""Statistics that several tables are made with.

Each is the expression with which its first result was published: another that is mathematically the same differs in
the last bit. So `plain_logit` and `plain_expit` stand beside scipy's, with which heuristic/2 was released, and the
q-values of anti-patterns rest on the series of `normal_tail`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

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


@dataclass(frozen=True)
class Difference:
    """A difference of two shares, its interval, and of each side the share, weighted alike, and the attempts."""

    value: float
    low: float
    high: float
    with_share: float
    without_share: float
    with_attempts: int
    without_attempts: int


def stratified_difference(strata: pl.DataFrame, mass: float) -> Difference | None:
    """Return the difference in success between two sides, compared within strata only; None where none has both sides.

    strata: stratum, is_treated, attempts, successes. The strata are weighted as by Mantel & Haenszel (1959), and the
    variance is that of Sato (1989), which is right for few large strata and for many small ones alike. `mass` is that
    of the interval, for instance .9; it is cut at −1 and 1.
    """
    sides = [
        strata.filter(side).group_by("stratum").agg(pl.col("attempts", "successes").sum())
        for side in (pl.col("is_treated"), ~pl.col("is_treated"))
    ]
    both = sides[0].join(sides[1], on="stratum", suffix="_0", nulls_equal=True)
    if both.is_empty():
        return None
    n1, x1, n0, x0 = (
        both[name].cast(pl.Float64).to_numpy() for name in ("attempts", "successes", "attempts_0", "successes_0")
    )
    n = n1 + n0
    weight = np.sum(n1 * n0 / n)
    with_share, without_share = float(np.sum(x1 * n0 / n) / weight), float(np.sum(x0 * n1 / n) / weight)
    value = with_share - without_share
    first = np.sum((n1**2 * x0 - n0**2 * x1 + n1 * n0 * (n0 - n1) / 2) / n**2)
    second = np.sum((x1 * (n0 - x0) + x0 * (n1 - x1)) / (2 * n))
    error = math.sqrt(max(value * first + second, 0.0)) / weight
    reach = NormalDist().inv_cdf((1 + mass) / 2) * error
    limits = max(value - reach, -1.0), min(value + reach, 1.0)
    return Difference(value, *limits, with_share, without_share, int(n1.sum()), int(n0.sum()))
