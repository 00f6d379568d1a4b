"""What a row says besides its evidence: counts, the error behind the failures, their cost, and what to do instead."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.counts.ordered_sums import ordered_sum
from slowwave.transforms.learning.anti_patterns.arms import KEY
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
