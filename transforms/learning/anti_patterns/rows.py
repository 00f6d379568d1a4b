"""What a row says besides its evidence: counts, the error behind the failures, their cost, and what to do instead."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.core.statistics import benjamini_hochberg, normal_tail
from slowwave.transforms.core.vocabularies import ANTI_PATTERN_KINDS
from slowwave.transforms.learning.anti_patterns.arms import KEY, MILLIONTH
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

ERROR_TEXTS = ("error_template", "error_family", "error_family_template")
"""What is said of an error besides its id."""
# What a failure costs, in order of preference, and the unit of each
_TOO_MUCH = 10**15  # no cost, time or number of tokens of one attempt: sums of such would overflow
_COSTS = ("cost", "duration_ms", "tokens")


def counts(attempts: pl.DataFrame, own_attempts: pl.DataFrame, rows: pl.DataFrame, of_agent: pl.Series) -> pl.DataFrame:
    """The rows (cells) with attempts, failures, sessions, other_attempts, other_failures and times.

    The others are the comparables (see `arms_at`), among all `attempts`. first_seen_at, last_seen_at: of the failures.
    attempts_since, successes_since: those known after the day it last kept failing on (`opened_day` of `rows`).
    """
    failed = ~pl.col("success")
    totals = [pl.len().cast(pl.Int64).alias("attempts"), failed.sum().cast(pl.Int64).alias("failures")]
    is_since = pl.col("known_at").dt.epoch("d") > pl.col("opened_day")
    own_attempts = own_attempts.join(rows.select("cell", "opened_day"), on="cell", how="left", maintain_order="left")
    own = own_attempts.group_by("cell").agg(
        *totals,
        pl.col("block").n_unique().cast(pl.Int64).alias("sessions"),
        pl.col("created_at").filter(failed).min().alias("first_seen_at"),
        pl.col("created_at").filter(failed).max().alias("last_seen_at"),
        pl.col("known_at").max().alias("last_attempt_at"),
        is_since.sum().cast(pl.Int64).alias("attempts_since"),
        (is_since & ~failed).sum().cast(pl.Int64).alias("successes_since"),
        pl.col("strategy").drop_nulls().mode().sort().first().alias("pattern"),
    )
    of_task = attempts.group_by("agent_task").agg(totals)
    everybody = attempts.group_by("task").agg(totals)

    def others(name: str) -> pl.Expr:
        within, elsewhere = pl.col(f"{name}_agent") - pl.col(name), pl.col(f"{name}_all") - pl.col(f"{name}_agent")
        return (
            pl.when(pl.col("cell").is_in(of_agent.implode())).then(within).otherwise(elsewhere).alias(f"other_{name}")
        )

    return (
        rows.join(own, on="cell")
        .join(of_task, on="agent_task", suffix="_agent")
        .join(everybody, on="task", suffix="_all")
        .with_columns(others("attempts"), others("failures"))
        .drop("attempts_agent", "failures_agent", "attempts_all", "failures_all")
    )


def errors(failed: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Per strategy the error, and the family, behind most of its failures, each with its text and number of failures.

    NULL where none makes up `dominant_error_share` of them; no row where neither does, or most have no message.
    """
    error = _dominant(failed, "error_id", "error_template", "error_failures", params)
    family = _dominant(failed, "error_family", "error_family_template", "error_family_failures", params)
    return error.join(family, on=KEY, how="full", coalesce=True)


def _dominant(failed: pl.DataFrame, name: str, text: str, count: str, params: AntiPatternParams) -> pl.DataFrame:
    return (
        failed.with_columns(pl.col(name).fill_null(""))
        .group_by(*KEY, name)
        .agg(pl.len().cast(pl.Int64).alias(count), pl.col(text).drop_nulls().min())
        .with_columns(pl.col(count).sum().over(KEY).alias("failures"))
        .filter((pl.col(count) >= params.dominant_error_share * pl.col("failures")) & (pl.col(name) != ""))
        .sort(*KEY, count, name, descending=[False] * len(KEY) + [True, False])
        .unique(KEY, keep="first", maintain_order=True)
        .drop("failures")
    )


def failure_costs(failed: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Per strategy what one failure costs: key, failure_cost, cost_unit.

    The owner's value, else the mean over the failed attempts of cost, of duration, of tokens, whichever is known first.
    Costs that are counted in several units have no mean. The unit is NULL where nobody said it.
    """
    if params.failure_value is not None:
        return (
            failed.select(KEY)
            .unique()
            .with_columns(failure_cost=pl.lit(params.failure_value), cost_unit=pl.lit(None, pl.String))
        )
    unit = (
        pl.when(pl.col("cost").is_not_null())
        .then("cost_unit")
        .when(pl.col("duration_ms").is_not_null())
        .then(pl.lit("ms"))
        .when(pl.col("tokens").is_not_null())
        .then(pl.lit("tokens"))
    )
    is_one_unit = pl.col("cost_unit").filter(pl.col("cost").is_not_null()).n_unique() <= 1

    def mean(name: str) -> pl.Expr:
        known = pl.when(pl.col(name) <= _TOO_MUCH).then(name).cast(pl.Float64)
        return pl.when(known.count() > 0).then(ordered_sum(known) / known.count()).alias(name)

    return (
        failed.group_by(KEY)
        .agg(
            pl.when(is_one_unit).then(mean("cost")).alias("cost"),
            mean("duration_ms"),
            mean("tokens"),
            pl.col("cost_unit").filter(pl.col("cost").is_not_null()).first(),
        )
        .select(*KEY, pl.coalesce(list(_COSTS)).alias("failure_cost"), unit.alias("cost_unit"))
    )


def better_alternatives(evidence: pl.DataFrame, heuristics: pl.DataFrame) -> pl.DataFrame:
    """Return of each strategy to avoid that has one: key, better_alternative, better_alternative_strategy_id.

    Of the strategies of the same agent and task type that do not keep failing themselves, and whose lower bound is
    above this one's confidence, the one with the highest lower bound.
    """
    scope = list(KEY[:3])
    others = heuristics.join(evidence.filter("is_open"), on=KEY, how="anti")
    bounds = heuristics.select(*KEY, pl.col("confidence").alias("to_beat"))
    return (
        evidence.filter(pl.col("kind") == "avoid")
        .select(KEY)
        .join(bounds, on=KEY)
        .join(others.select(*KEY, "strategy", "confidence_low"), on=scope, suffix="_other")
        .filter(pl.col("confidence_low") > pl.col("to_beat"))
        .sort(*KEY, "confidence_low", "strategy_id_other", descending=[False] * len(KEY) + [True, False])
        .unique(KEY, keep="first", maintain_order=True)
        .select(
            *KEY,
            pl.col("strategy").alias("better_alternative"),
            pl.col("strategy_id_other").alias("better_alternative_strategy_id"),
        )
    )


# The sentence of an anti-pattern: its counts, those of its comparables, and how it stands now.


def why_bad(params: AntiPatternParams) -> pl.Expr:
    """Return `why_bad` of a row (see `_rows`): every clause states what a count or an estimate of the row states.

    A closed row says why, and how many of its attempts succeeded since the last day on which it kept failing.
    """
    enough = f"with {params.solved_attempts} attempts or more"
    rate = f"{params.solved_rate * 100:g} % of them"
    is_hard, is_closed = pl.col("kind") == "hard_task", pl.col("state") == "closed"
    changed = pl.col("kind") != pl.col("kind_now")
    nobody, somebody = (
        f"; no strategy {enough} succeeded in over {rate}",
        f"; a strategy {enough} succeeded in over {rate}",
    )
    fails_less = f"; of late it does not surely fail more than {params.failing_rate * 100:g} % of attempts"
    own_did_not_change = pl.col("successes_since") == 0
    reason = (
        pl.when(~is_closed)
        .then(pl.when(is_hard).then(pl.lit(nobody)).otherwise(pl.lit("")))
        .when(pl.col("is_open") & pl.col("is_expected_to_succeed"))
        .then(pl.lit("; with what is known of its relatives it is expected to succeed more often than not"))
        .when(pl.col("is_open"))
        .then(pl.lit("; its share of failures is not above theirs"))
        .when(changed)
        .then(pl.when(is_hard).then(pl.lit(somebody)).otherwise(pl.lit(nobody)))
        .when(own_did_not_change)
        .then(pl.lit("; the record of its comparables changed, not its own"))
        .otherwise(
            pl.when(is_hard).then(pl.lit(fails_less)).otherwise(pl.lit("; of late it is not surely worse than they"))
        )
    )
    not_tried = pl.format("; not tried since {}", pl.col("last_attempt_at").dt.strftime("%Y-%m-%d"))
    since = pl.format(
        "; {} of {} since {} succeeded",
        pl.when(pl.col("successes_since") == 0)
        .then(pl.lit("none"))
        .otherwise(pl.col("successes_since").cast(pl.String)),
        pl.when(pl.col("attempts_since") == 1)
        .then(pl.lit("1 attempt"))
        .otherwise(pl.format("{} attempts", "attempts_since")),
        pl.col("opened_day").cast(pl.Int32).cast(pl.Date).dt.strftime("%Y-%m-%d"),
    )
    now = (
        pl.when(pl.col("state") == "dormant")
        .then(not_tried)
        .when(is_closed)
        .then(pl.when(pl.col("attempts_since") == 0).then(not_tried).otherwise(since))
        .otherwise(pl.lit(""))
    )
    return pl.concat_str(_counts(), reason, now, pl.lit(".")).alias("why_bad")


def _counts() -> pl.Expr:
    """How often the strategy failed, how often with one error, and how often its comparables failed."""
    own = pl.format(
        "Failed {} of {} attempts in {} sessions", pl.col("failures"), pl.col("attempts"), pl.col("sessions")
    )
    error = pl.when(pl.col("error_failures") > 0).then(pl.format(", {} with one error", pl.col("error_failures")))
    others = (
        pl.when(pl.col("other_attempts") == 0)
        .then(pl.lit("nothing comparable was tried"))
        .otherwise(
            pl.format("comparable strategies failed {} of {}", pl.col("other_failures"), pl.col("other_attempts"))
        )
    )
    in_family = pl.format(", {} with errors of one family", pl.col("error_family_failures"))
    family = pl.when(pl.col("error_family_failures") > pl.col("error_failures")).then(in_family)
    return pl.concat_str(own, error.fill_null(""), family.fill_null(""), pl.lit("; "), others)


# Tonight's descriptive figure: ordinary p-values, adjusted for the number of strategies tested.


def _z_worse(x: pl.Expr, n: pl.Expr, x_others: pl.Expr, n_others: pl.Expr) -> pl.Expr:
    """Score statistic of two proportions; NULL without comparables, 0 where nothing or everything failed."""
    pooled = (x + x_others) / (n + n_others)
    variance = pooled * (1 - pooled) * (1 / n + 1 / n_others)
    z = pl.when(variance > 0).then((x / n - x_others / n_others) / variance.sqrt()).otherwise(0.0)
    return pl.when(n_others > 0).then(z)


def _z_above(x: pl.Expr, n: pl.Expr, rate: float) -> pl.Expr:
    """Score statistic of one proportion against a rate."""
    return (x / n - rate) * n.sqrt() / (rate * (1 - rate)) ** 0.5


def q_values(now: pl.DataFrame, tested: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Per candidate: cell, and q_value as avoid and as hard_task (see `benjamini_hochberg`).

    Args:
        now: cell, project, and the arms of each candidate (see `arms_at`), sessions as independent observations.
        tested: per project and day the number of strategies tested: those that are not candidates have a p-value of 1.
        params: the failing rate.
    """
    x, n, x_others, n_others = (
        pl.col(name) * unit for name, unit in (("x", MILLIONTH), ("n", 1), ("x_others", MILLIONTH), ("n_others", 1))
    )
    latest = tested.group_by("project").agg(pl.col("tested").max())
    found = now.join(latest, on="project").with_columns(
        normal_tail(_z_worse(x, n, x_others, n_others)).alias("avoid"),
        normal_tail(_z_above(x + x_others, n + n_others, params.failing_rate)).alias("hard_task"),
    )
    for kind in ANTI_PATTERN_KINDS:
        adjusted = benjamini_hochberg(pl.col(kind), pl.col("tested")).over("project")
        found = found.with_columns(pl.min_horizontal(adjusted, pl.lit(1.0)).alias(kind))  # 1 without comparables
    return found.select("cell", *ANTI_PATTERN_KINDS).sort("cell")
