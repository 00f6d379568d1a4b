"""E-values: evidence against a null hypothesis that may be looked at every night, and e-BH across many of them.

An e-process is a statistic of the data so far whose expectation under the null is at most 1 at every stopping time;
by Ville's inequality it ever reaches 1/alpha with probability at most alpha. All formulas are row by row, in logs.

An arm is a number of sessions `n` and the sum `x` of their failing shares, each in 0-1. The log likelihood used is
`x log(p) + (n - x) log(1 - p)`: for shares between 0 and 1 it lies below the log of the linear bet on each session
(concavity of the logarithm), so the e-values stay valid, if conservative, for sessions of several correlated attempts.

The null maximises the likelihood, the alternative averages it over a Beta prior: "universal inference" (Wasserman,
Ramdas & Balakrishnan 2020, PNAS 117:16880) for the two-proportion problem of Turner, Ly & Grünwald (2024, JSPI 230).
Unlike their block-wise test it needs no pairing of the two arms in time, and it is a function of the counts alone.
"""

from __future__ import annotations

import math

import polars as pl

# Prior of a failure rate under the alternative. Any choice is valid: it only says where the test has its power.
FAILING_PRIOR = (2.0, 0.5)  # a strategy suspected to keep failing
BASELINE_PRIOR = (0.5, 0.5)  # its comparables (Krichevsky & Trofimov's)


def log_gamma(x: pl.Expr) -> pl.Expr:
    """Log of the gamma function for x > 0: Stirling's series after a shift by 8 (relative error below 1e-11)."""
    shifted = x + 8
    product = x
    for step in range(1, 8):
        product *= x + step
    square = shifted * shifted
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / shifted
    return (shifted - 0.5) * shifted.log() - shifted + 0.5 * math.log(2 * math.pi) + series - product.log()


def log_beta(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Log of the beta function for a, b > 0."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def _log_likelihood(x: pl.Expr, n: pl.Expr, rate: pl.Expr) -> pl.Expr:
    """Log likelihood of an arm at a failure rate, with 0 log 0 = 0."""
    failed = pl.when(x > 0).then(x * rate.log()).otherwise(0.0)
    return failed + pl.when(n > x).then((n - x) * (1 - rate).log()).otherwise(0.0)


def _log_mixture(x: pl.Expr, n: pl.Expr, prior: tuple[float, float]) -> pl.Expr:
    """Log likelihood of an arm averaged over a Beta prior of its failure rate."""
    a, b = prior
    return log_beta(x + a, n - x + b) - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def log_e_worse(x: pl.Expr, n: pl.Expr, x_others: pl.Expr, n_others: pl.Expr) -> pl.Expr:
    """Log e-value against "the failure rate is at most that of the others"; 0 where an arm is empty.

    Valid as an e-process for independent sessions with constant failure rates. At a fixed time it is also valid when
    rates differ between sessions (the others are a mixture, tasks get harder): the null then speaks of their averages
    over the sessions had, by the concavity of the log bet.
    """
    rate, rate_others = x / n, x_others / n_others
    pooled = (x + x_others) / (n + n_others)
    worse = rate > rate_others
    null = _log_likelihood(x, n, pl.when(worse).then(pooled).otherwise(rate)) + _log_likelihood(
        x_others, n_others, pl.when(worse).then(pooled).otherwise(rate_others)
    )
    alternative = _log_mixture(x, n, FAILING_PRIOR) + _log_mixture(x_others, n_others, BASELINE_PRIOR)
    return pl.when((n > 0) & (n_others > 0)).then(alternative - null).otherwise(0.0)


def log_e_above(x: pl.Expr, n: pl.Expr, rate: float) -> pl.Expr:
    """Log e-value against "the failure rate is at most `rate`"; 0 where there is no session."""
    null = _log_likelihood(x, n, pl.min_horizontal(x / n, pl.lit(rate)))
    return pl.when(n > 0).then(_log_mixture(x, n, FAILING_PRIOR) - null).otherwise(0.0)


def log_mean(log_a: pl.Expr, log_b: pl.Expr) -> pl.Expr:
    """Log of the mean of two e-values: an e-value again, whatever their dependence."""
    high, low = pl.max_horizontal(log_a, log_b), pl.min_horizontal(log_a, log_b)
    return high + ((low - high).exp() + 1).log() - math.log(2)


def is_e_discovery(log_e: pl.Expr, hypotheses: pl.Expr, family: list[str], level: float) -> pl.Expr:
    """Which hypotheses e-BH rejects (Wang & Ramdas 2022, JRSS B 84:822): the k largest, where k e_(k) >= m / level.

    The false discovery rate is at most `level` under any dependence. `hypotheses` is m, the number tested in the
    family, constant within it: those whose rows are missing count as not rejected.
    """
    rank = log_e.rank("max", descending=True).over(family)
    enough = log_e >= (hypotheses / (level * rank)).log()
    rejected = pl.when(enough).then(rank).max().over(family)
    return (rank <= rejected).fill_null(value=False)
