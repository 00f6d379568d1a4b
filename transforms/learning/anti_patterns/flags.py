"""Since when each strategy is flagged: e-values at its looks, e-BH across the strategies of a project.

Looks are the UTC midnights after new sessions of a strategy, and `as_of`; a look is named by the day it ends.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.core.vocabularies import ANTI_PATTERN_KINDS
from slowwave.transforms.learning.anti_patterns.arms import MILLIONTH, Arms, arms_at
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

# E-values: evidence against a null hypothesis that may be looked at every night, and e-BH across many of them.
# An e-process is a statistic of the data so far whose expectation under the null is at most 1 at every stopping time;
# by Ville's inequality it ever reaches 1/alpha with probability at most alpha. All formulas are row by row, in logs.
# An arm is a number of sessions `n` and the sum `x` of their failing shares, each in 0-1. The log likelihood used is
# `x log(p) + (n - x) log(1 - p)`: for shares between 0 and 1 it lies below the log of the linear bet on each session
# (concavity of the logarithm), so the e-values stay valid, if conservative, for sessions of several correlated
# attempts.
# The null maximises the likelihood, the alternative averages it over a Beta prior: "universal inference" (Wasserman,
# Ramdas & Balakrishnan 2020, PNAS 117:16880) for the two-proportion problem of Turner, Ly & Grünwald (2024, JSPI 230).
# Unlike their block-wise test it needs no pairing of the two arms in time, and it is a function of the counts alone.

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


_BEFORE_ALL = -(10**9)  # a day before every day


def _log_sum(log_e: pl.Expr) -> pl.Expr:
    """Log of the sum of e-values, given their logs."""
    return log_e.max() + ordered_sum((log_e - log_e.max()).exp()).log()


def looks(sessions: pl.DataFrame, last_day: int) -> pl.DataFrame:
    """One row per candidate and look, sorted by cell and day; `sessions` come in order of time within the cell.

    Columns: cell, agent_task, task, first_day (of its sessions), day, and recent, recent_weight of its sessions. All
    are looked at on `last_day`, too, their own evidence as it was: it ages by newer sessions only.
    """
    columns = ["cell", "agent_task", "task", "day", "recent", "recent_weight"]
    first_day = pl.col("day").min().over("cell").alias("first_day")
    changes = [pl.col(name) != pl.col(name).shift(-1) for name in ("cell", "day")]
    is_last, is_last_of_day = (pl.any_horizontal(of).fill_null(value=True) for of in (changes[:1], changes))
    own = sessions.select(*columns, first_day).filter(is_last_of_day)
    last = own.filter(is_last, pl.col("day") != last_day).with_columns(day=pl.lit(last_day, own.schema["day"]))
    return pl.concat([own, last]).sort("cell", "day")


def log_e_values(looks: pl.DataFrame, arms: Arms, params: AntiPatternParams) -> pl.DataFrame:
    """Per look (see `looks`, sorted as these): cell, day, avoid and hard_task, the logs of its two e-values.

    avoid: against "fails at most as often as its comparables". hard_task: against "neither the strategy nor all
    together, its comparables included, fail more often than `hard_rate`": the mean of the e-values of the two. Each is
    a mixture, with weights 1/2, 1/6, 1/12, … that sum to 1, of the e-values of all the history and of that since each
    restart; one that has not begun is left out.
    """
    counts = ["n", "x", "n_others", "x_others"]
    place = ["cell", "agent_task", "task"]
    restart = pl.int_ranges((pl.col("day") - pl.col("first_day")) // params.restart_days + 1)
    look = pl.int_range(pl.len()).alias("look")
    since = looks.select(look, *place, "day", "first_day", restart.alias("restart")).explode("restart")
    since = since.with_columns(
        pl.when(pl.col("restart") > 0)
        .then(pl.col("first_day") + pl.col("restart") * params.restart_days - 1)
        .otherwise(_BEFORE_ALL)
        .cast(looks.schema["day"])
        .alias("before")
    )
    restarts = since.select(pl.col("cell").cast(pl.Int64) * 2**32 + pl.col("restart")).to_series().to_numpy()
    _, first, nth = np.unique(restarts, return_index=True, return_inverse=True)
    starts = arms_at(since.select(*place, day="before")[first], arms)[nth]
    ends = arms_at(looks.select(*place, "day"), arms)[since["look"]]
    sums = since.hstack(ends.select(counts)).hstack(starts.select(pl.col(counts).name.suffix("_before")))
    x, n, x_others, n_others = pl.col("x"), pl.col("n"), pl.col("x_others"), pl.col("n_others")
    return (
        sums.select(
            "cell",
            "day",
            (-((pl.col("restart") + 1) * (pl.col("restart") + 2)).log()).alias("log_weight"),
            *[
                (pl.col(name) - pl.col(f"{name}_before")) * (MILLIONTH if name in {"x", "x_others"} else 1)
                for name in counts
            ],
        )
        .with_columns((x + x_others).alias("x_all"), (n + n_others).alias("n_all"))
        .with_columns(
            log_e_worse(x, n, x_others, n_others).alias("worse"),
            log_e_above(x, n, params.hard_rate).alias("alone"),
            log_e_above(pl.col("x_all"), pl.col("n_all"), params.hard_rate).alias("together"),
        )
        .select(
            "cell",
            "day",
            (pl.col("worse") + pl.col("log_weight")).alias("avoid"),
            (log_mean(pl.col("alone"), pl.col("together")) + pl.col("log_weight")).alias("hard_task"),
        )
        .group_by("cell", "day", maintain_order=True)
        .agg([_log_sum(pl.col(kind)) for kind in ANTI_PATTERN_KINDS])
    )


def count_tested(sessions: pl.DataFrame, cells: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Per project and day: how many strategies had enough sessions to be flagged by then, whatever came of them."""
    return (
        sessions.filter(pl.col("number") == params.min_failed_sessions)
        .join(cells, on="cell")
        .group_by("project", "day")
        .len("tested")
        .sort("project", "day")
        .with_columns(pl.col("tested").cum_sum().over("project"))
    )


def flagged_since(
    keeps_failing: pl.DataFrame,
    arms: Arms,
    tested: pl.DataFrame,
    cells: pl.DataFrame,
    last_day: int,
    params: AntiPatternParams,
) -> pl.DataFrame:
    """The strategies ever flagged: cell, kind, flagged_day; kept failing then, and rejected by e-BH.

    Every day is a look of e-BH, one for each kind: what a strategy's last look said stands until its next. Strategies
    that do not keep failing count as tested, with an e-value of 0. An e-value below 1 / level is never rejected, so one
    for which the null holds is flagged with probability at most `level`, ever.
    """
    level = params.false_discovery_rate
    until = pl.col("day").shift(-1).over("cell").fill_null(last_day + 1)
    suspects = keeps_failing.with_columns(until.alias("until")).filter(pl.col("probability") >= params.opens_at)
    log_e = pl.when(pl.col("kind") == "avoid").then("avoid").otherwise("hard_task")
    family = ["project", "kind", "day"]
    return (
        suspects.join(log_e_values(suspects, arms, params), on=["cell", "day"])
        .join(cells.select("cell", "project"), on="cell")
        .select("cell", "project", "kind", pl.int_ranges("day", "until").alias("day"), log_e.alias("log_e"))
        .filter(pl.col("log_e") >= -math.log(level))
        .explode("day")
        .with_columns(pl.col("day").cast(tested.schema["day"]))
        .sort("day", "cell")
        .join_asof(tested.sort("day"), on="day", by="project", check_sortedness=False)
        .filter(is_e_discovery(pl.col("log_e"), pl.col("tested"), family, level))
        .group_by("cell", "kind")
        .agg(pl.col("day").min().alias("flagged_day"))
        .sort("cell", "kind")
    )
