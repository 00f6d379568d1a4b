"""Whether a flagged strategy still keeps failing: a posterior on its recent sessions, at every look."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.learning.anti_patterns.arms import MILLION, Arms, arms_at, latest_totals
from slowwave.transforms.learning.anti_patterns.flags import log_beta
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

_TERMS = 12  # pairs of terms: an error below 1e-9 for the Beta parameters the params allow
_HALF = 0.5
_PRIOR_MEANS = (0.01, 0.99)  # what failure rates of 0 and 1 count for in the prior


def _continued_fraction(a: pl.Expr, b: pl.Expr, x: pl.Expr) -> pl.Expr:
    """Regularised incomplete beta function for x < (a + 1) / (a + b + 2) (DLMF 8.17.22, evaluated backwards)."""
    tail = pl.lit(1.0)
    for m in range(_TERMS, -1, -1):
        if m < _TERMS:
            even = (m + 1) * (b - (m + 1)) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
            tail = 1 + even / tail
        tail = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / tail
    return (a * x.log() + b * (1 - x).log() - log_beta(a, b)).exp() / (a * tail)


def probability_above(rates: pl.DataFrame) -> pl.Series:
    """P(rate > threshold) per row of (a, b, threshold), for a rate distributed as Beta(a, b) and 0 < threshold < 1."""
    a, b, x = pl.col("a"), pl.col("b"), pl.col("threshold")
    converges = x < (a + 1) / (a + b + 2)
    swapped = rates.select(
        converges.alias("converges"),
        pl.when(converges).then(a).otherwise(b).alias("a"),
        pl.when(converges).then(b).otherwise(a).alias("b"),
        pl.when(converges).then(x).otherwise(1 - x).alias("threshold"),
    )
    found = swapped.select("converges", _continued_fraction(a, b, x).alias("below"))  # once: it is long to read
    below = pl.col("below")
    return found.select(pl.when("converges").then(1 - below).otherwise(below).alias("probability")).to_series()


def baselines(looks: pl.DataFrame, arms: Arms, params: AntiPatternParams) -> pl.DataFrame:
    """Per look, in their order: baseline, the comparables' present failure rate; NULL without comparables.

    It is that of their sessions of the last `baseline_days`, or of all if there were none lately.
    """
    window = looks.select("cell", "agent_task", "task", pl.col("day") - params.baseline_days)
    before = arms_at(window, arms).select(pl.col("n_others", "x_others").name.suffix("_before"))
    now = arms_at(looks.select("cell", "agent_task", "task", "day"), arms)
    lately = {name: pl.col(name) - pl.col(f"{name}_before") for name in ("n_others", "x_others")}
    n, x = (pl.when(lately["n_others"] > 0).then(since).otherwise(pl.col(name)) for name, since in lately.items())
    return now.hstack(before).select(pl.when(n > 0).then(x / (n * MILLION)).alias("baseline"))


def keeps_failing(looks: pl.DataFrame, arms: Arms, params: AntiPatternParams) -> pl.DataFrame:
    """The looks with `kind`, what the strategy would be, and `probability`, P(keeps failing); sorted by cell and day.

    It would be hard_task where no strategy succeeds (see `succeeding`), else avoid. The failure rate of its next
    session has a Beta posterior: its own sessions, weighted by age, on a prior at its comparables' present rate (one
    half without any). To keep failing is to be above that rate by the margin (avoid); to be above the failing rate
    where they fail half the time or more.
    """
    expected = pl.col("baseline").fill_null(_HALF).clip(*_PRIOR_MEANS)
    others_succeed = (pl.col("baseline") < _HALF).fill_null(value=False)
    beyond = pl.col("baseline") + params.margin
    at = looks.hstack(baselines(looks, arms, params))
    solvers = arms.succeeding["succeeding"].gather(latest_totals(looks, arms.succeeding, "task"))
    is_avoid = pl.col("succeeding") > 0
    threshold = pl.when(others_succeed).then(beyond).otherwise(params.failing_rate)
    threshold = pl.when(is_avoid).then(pl.max_horizontal(threshold, beyond)).otherwise(params.failing_rate)
    at = at.with_columns(solvers.fill_null(0)).with_columns(
        pl.when(is_avoid).then(pl.lit("avoid")).otherwise(pl.lit("hard_task")).alias("kind")
    )
    # nothing fails more than what always fails, nor than comparables that there are not
    can_be_above = (threshold < 1) & ~(is_avoid & pl.col("baseline").is_null())
    rates = at.select(
        (params.prior_sessions * expected + pl.col("recent")).alias("a"),
        (params.prior_sessions * (1 - expected) + pl.col("recent_weight") - pl.col("recent")).alias("b"),
        pl.when(can_be_above).then(threshold).otherwise(_HALF).alias("threshold"),
        can_be_above.alias("can_be_above"),
    )
    probability = pl.when(rates["can_be_above"]).then(probability_above(rates)).otherwise(0.0).alias("probability")
    return at.select("cell", "agent_task", "task", "first_day", "day", "kind", probability)


def open_states(keeps_failing: pl.DataFrame, flagged_since: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """The strategies that were ever open, per kind: cell, kind, is_open (now), opened_day (the last time).

    A flagged strategy opens when it keeps failing with P >= `opens_at`, closes when P falls below `closes_below` or it
    would be of the other kind, and so on; between the two it stays as it was.
    """
    stands_until = pl.col("day").shift(-1).over("cell")
    holds = pl.when(pl.col("kind") == pl.col("kind_flagged")).then("probability").otherwise(0.0)
    opens, closes = holds >= params.opens_at, holds < params.closes_below
    return (
        keeps_failing.with_columns(stands_until.alias("until"))
        .join(flagged_since.rename({"kind": "kind_flagged"}), on="cell")
        .filter(pl.col("until").is_null() | (pl.col("until") > pl.col("flagged_day")))
        .sort("cell", "kind_flagged", "day")
        .with_columns(pl.when(opens).then(statement=True).when(closes).then(statement=False).alias("is_open"))
        .group_by("cell", pl.col("kind_flagged").alias("kind"), maintain_order=True)
        .agg(pl.col("is_open").drop_nulls().last(), pl.col("day").filter(opens).last().alias("opened_day"))
    )
