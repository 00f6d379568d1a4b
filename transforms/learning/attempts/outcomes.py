"""Which outcomes are attempts: what became of each outcome before anything is learned from it."""

from __future__ import annotations

from functools import reduce

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, Lazy
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.tables import CountedOutcomes

_TAKEN_FROM_INTERACTION = ("project", "agent", "session_id", "user_id")
_LOOKED_AT = 2_000


def resolved_outcomes(outcomes: pl.LazyFrame, interactions: Lazy[ReplayedInteractions]) -> pl.LazyFrame:
    """Winning outcomes with project, agent, session and user taken from their interaction where they say none.

    Args:
        outcomes: the columns of `outcomes`.
        interactions: interaction_id, project, agent, session_id, user_id.

    Returns the columns of `outcomes`; project and agent are never NULL ('' is none).
    """
    theirs = interactions.select(
        "interaction_id", *[pl.col(name).alias(f"{name}_there") for name in _TAKEN_FROM_INTERACTION]
    )
    filled = [pl.coalesce(name, f"{name}_there").alias(name) for name in _TAKEN_FROM_INTERACTION]
    return (
        outcomes.join(theirs, on="interaction_id", how="left")
        .with_columns(filled)
        .with_columns(pl.col("project", "agent").fill_null(""))
        .drop([f"{name}_there" for name in _TAKEN_FROM_INTERACTION])
    )


def not_attempted_reason(error_message: pl.Expr, params: AttemptParams) -> pl.Expr:
    """Why a failed outcome with this error was no attempt; NULL: the error does not say so. First rule wins."""
    head = error_message.str.slice(0, _LOOKED_AT)
    reason = pl.lit(None, pl.String)
    for rule in reversed(params.not_attempted):
        applies = head.str.contains(rule.pattern)
        if rule.unless is not None:
            applies &= ~head.str.contains(rule.unless)
        reason = pl.when(applies).then(pl.lit(rule.reason)).otherwise(reason)
    return reason


def inferred_task_type(task: pl.Expr, params: AttemptParams) -> pl.Expr:
    """Task type inferred from the words of the task (ALMA's keywords, extended); '' without a task. First rule wins."""
    head = task.str.slice(0, _LOOKED_AT)
    told = pl.lit(params.other_task_type)
    for rule in reversed(params.task_types):
        told = pl.when(head.str.contains(rule.pattern)).then(pl.lit(rule.task_type)).otherwise(told)
    return pl.when(is_blank(task)).then(pl.lit("")).otherwise(told)


def counted_outcomes(
    outcomes: pl.LazyFrame,
    groups: pl.LazyFrame,
    errors: pl.LazyFrame,
    readings: pl.LazyFrame,
    params: AttemptParams,
) -> pl.LazyFrame:
    """As what each outcome counts, sorted by outcome_id.

    Args:
        outcomes: of `resolved_outcomes`, with basis and apart (of `with_apart`).
        groups: project, strategy, strategy_id (of `strategy_groups`).
        errors: project, error_message, error_id (of `error_fingerprints`).
        readings: error_message, not_attempted (of `error_readings`).
        params: rules.

    Returns outcome_id, interaction_id, created_at, known_at, project, agent, user_id, block (the session; without one
    the interaction, else the outcome), task_type, is_task_type_inferred, task, strategy, strategy_id, success, basis,
    basis_method, is_attempt, is_counted (an attempt that is not apart), is_learned, is_deciding (the latest of its
    interaction that is counted), reason (why it is no attempt, or not learned from; else NULL), error_message,
    error_id, duration_ms, tokens, cost.
    """
    has_task_type = ~is_blank(pl.col("task_type"))
    # rules are regexes: run over distinct texts
    told_by_task = _distinct(outcomes.filter(~has_task_type), "task").with_columns(
        inferred_task_type(pl.col("task"), params).alias("inferred")
    )
    says = pl.when(pl.col("basis") == "inferred").then(pl.lit("as was inferred")).otherwise(pl.lit("says the producer"))
    reason = (
        pl.when(pl.col("attempted").not_())
        .then(pl.format("not attempted, {}", says))
        .when(pl.col("attempted").is_null() & pl.col("success").not_())
        .then("not_attempted")
    )
    counted = (
        # numbers in the order of ids: what is sorted and joined again are these
        outcomes.sort("outcome_id")
        .with_row_index("nth")
        .join(readings.select("error_message", "not_attempted"), on="error_message", how="left", maintain_order="left")
        .join(told_by_task, on="task", how="left", maintain_order="left")
        .join(
            groups.select("project", "strategy", "strategy_id"),
            on=["project", "strategy"],
            how="left",
            maintain_order="left",
        )
        .join(
            errors.select("project", "error_message", "error_id"),
            on=["project", "error_message"],
            how="left",
            maintain_order="left",
        )
        .with_columns(reason.alias("reason"))
        .with_columns(
            pl.col("reason").is_null().alias("is_attempt"),
            (pl.col("reason").is_null() & pl.col("apart").is_null()).alias("is_counted"),
            pl.when(has_task_type).then("task_type").otherwise(pl.col("inferred").fill_null("")).alias("task_type"),
            (~has_task_type & pl.col("inferred").fill_null("").ne("")).alias("is_task_type_inferred"),
            pl.coalesce(pl.when(pl.col("session_id") != "").then("session_id"), "interaction_id", "outcome_id").alias(
                "block"
            ),
            pl.max_horizontal("created_at", "recorded_at").alias("known_at"),
        )
    )
    left_out = pl.coalesce(
        "apart", _out_of_scope(params), pl.when(pl.col("strategy_id").is_null()).then(pl.lit("no strategy"))
    )
    tried = counted.filter("is_counted", pl.col("interaction_id").is_not_null())
    deciding = (
        tried.select("interaction_id", "created_at", "nth")
        .sort("created_at", "nth")
        .unique("interaction_id", keep="last")
        .select("nth", pl.lit(value=True).alias("is_deciding"))
    )
    return (
        counted.join(deciding, on="nth", how="left", maintain_order="left")
        .with_columns(pl.coalesce("reason", left_out).alias("reason"), pl.col("is_deciding").fill_null(value=False))
        .with_columns(pl.col("reason").is_null().alias("is_learned"))
        .select(
            "outcome_id",
            "interaction_id",
            "created_at",
            "known_at",
            "project",
            "agent",
            "user_id",
            "block",
            "task_type",
            "is_task_type_inferred",
            "task",
            "strategy",
            "strategy_id",
            "success",
            "basis",
            "basis_method",
            "is_attempt",
            "is_counted",
            "is_learned",
            "is_deciding",
            "reason",
            "error_message",
            "error_id",
            "duration_ms",
            "tokens",
            "cost",
        )
    )


def _distinct(outcomes: pl.LazyFrame, name: str) -> pl.LazyFrame:
    return outcomes.select(name).drop_nulls().unique()


def _out_of_scope(params: AttemptParams) -> pl.Expr:
    """Why an attempt is not learned from: its agent does not learn from its task type; else NULL."""
    is_out = [pl.lit(value=False)]
    for scope in params.scopes:
        is_refused = pl.col("task_type").is_in(list(scope.cannot_learn))
        if scope.can_learn is not None:
            is_refused |= ~pl.col("task_type").is_in(list(scope.can_learn))
        is_out.append((pl.col("agent") == scope.agent) & is_refused)
    said = pl.format("out of scope: {} does not learn from {}", "agent", "task_type")
    return pl.when(reduce(lambda a, b: a | b, is_out)).then(said)


def ended_interactions(counted: Frame[CountedOutcomes]) -> pl.DataFrame:
    """interaction_id, success: how the latest attempt that counts of each interaction ended."""
    return counted.filter("is_deciding").select("interaction_id", "success")
