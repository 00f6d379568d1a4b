"""Which outcomes are attempts: what became of each outcome before anything is learned from it."""

from __future__ import annotations

from functools import reduce

import numpy as np
import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, Lazy
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.core.vocabularies import Basis
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.learning.params import AttemptParams
from slowwave.transforms.learning.tables import CountedOutcomes

_TAKEN_FROM_INTERACTION = choose_columns(ReplayedInteractions, "project", "agent", "session_id", "user_id")
_LOOKED_AT = 2_000


def resolved_outcomes(outcomes: pl.DataFrame, interactions: Lazy[ReplayedInteractions]) -> pl.DataFrame:
    """Winning outcomes with project, agent, session and user taken from their interaction where they say none.

    Args:
        outcomes: the columns of `outcomes`.
        interactions: interaction_id, project, agent, session_id, user_id; not looked at where every outcome says all.

    Returns the columns of `outcomes`; project and agent are never NULL ('' is none).
    """
    says_none = pl.any_horizontal(pl.col(_TAKEN_FROM_INTERACTION).is_null()) & pl.col("interaction_id").is_not_null()
    asked = outcomes.filter(says_none).select("interaction_id").unique()
    if asked.height:
        there = {name: f"{name}_there" for name in _TAKEN_FROM_INTERACTION}
        theirs = interactions.select("interaction_id", *there).rename(there)
        theirs = theirs.join(asked.lazy(), on="interaction_id", how="semi").collect()
        filled = [pl.coalesce(name, of_theirs).alias(name) for name, of_theirs in there.items()]
        found = outcomes.join(theirs, on="interaction_id", how="left", maintain_order="left")
        outcomes = found.with_columns(filled).drop(there.values())
    return outcomes.with_columns(pl.col("project", "agent").fill_null(""))


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
    outcomes: pl.DataFrame,
    groups: pl.DataFrame,
    errors: pl.DataFrame,
    readings: pl.DataFrame,
    params: AttemptParams,
) -> pl.DataFrame:
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
    error_id, duration_ms, tokens, cost, cost_unit.
    """
    has_task_type = ~is_blank(pl.col("task_type"))
    refused = pl.col("attempted").not_()
    reason = (
        pl.when(refused & (pl.col("basis") == "inferred"))
        .then(pl.lit("not attempted, as was inferred"))
        .when(refused)
        .then(pl.lit("not attempted, says the producer"))
        .when(pl.col("attempted").is_null() & pl.col("success").not_())
        .then("not_attempted")
    )
    ordered = outcomes.sort("outcome_id")
    counted = (
        ordered.hstack(_derive_columns(ordered, groups, errors, readings, params))
        .with_columns(has_task_type.alias("has_task_type"), reason.alias("reason"))
        .with_columns(
            pl.col("reason").is_null().alias("is_attempt"),
            (pl.col("reason").is_null() & pl.col("apart").is_null()).alias("is_counted"),
            pl.when("has_task_type").then("task_type").otherwise(pl.col("inferred").fill_null("")).alias("task_type"),
            (~pl.col("has_task_type") & pl.col("inferred").fill_null("").ne("")).alias("is_task_type_inferred"),
            pl.coalesce(pl.when(pl.col("session_id") != "").then("session_id"), "interaction_id", "outcome_id").alias(
                "block"
            ),
            pl.max_horizontal("created_at", "recorded_at").alias("known_at"),
        )
    )
    left_out = pl.coalesce(
        "apart", _out_of_scope(params), pl.when(pl.col("strategy_id").is_null()).then(pl.lit("no strategy"))
    )
    return counted.with_columns(pl.coalesce("reason", left_out).alias("reason"), _is_deciding(counted)).select(
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
        pl.col("reason").is_null().alias("is_learned"),
        "is_deciding",
        "reason",
        "error_message",
        "error_id",
        "duration_ms",
        "tokens",
        "cost",
        "cost_unit",
    )


def _derive_columns(
    outcomes: pl.DataFrame, groups: pl.DataFrame, errors: pl.DataFrame, readings: pl.DataFrame, params: AttemptParams
) -> pl.DataFrame:
    """What is told by the texts of each outcome, in their order: not_attempted, error_id, strategy_id, inferred."""
    # messages are long: each is looked up once, and by its number from then on
    numbered = readings.select("error_message", "not_attempted").with_row_index("message")
    read = _looked_up(outcomes.select("error_message"), numbered)
    of_project = errors.select("project", "error_message", "error_id").join(
        numbered.select("error_message", "message"), on="error_message"
    )
    known = _looked_up(outcomes.select("project", read["message"]), of_project.drop("error_message"))
    grouped = _looked_up(outcomes.select("project", "strategy"), groups.select("project", "strategy", "strategy_id"))
    # rules are regexes: run over distinct texts
    tasks = outcomes.filter(is_blank(pl.col("task_type"))).select("task").drop_nulls().unique()
    inferred = _looked_up(
        outcomes.select("task"), tasks.with_columns(inferred_task_type(pl.col("task"), params).alias("inferred"))
    )
    return pl.DataFrame([read["not_attempted"], known["error_id"], grouped["strategy_id"], inferred["inferred"]])


def _looked_up(rows: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """The rows with what is told of all their columns, NULL where nothing is."""
    return rows.join(told, on=rows.columns, how="left", maintain_order="left")


def _is_deciding(counted: pl.DataFrame) -> pl.Series:
    """Which rows are the latest of their interaction that are counted; of some at one time the last one."""
    tried = (
        counted.with_row_index("nth")
        .filter("is_counted", pl.col("interaction_id").is_not_null())
        .select("interaction_id", "created_at", "nth")
    )
    if tried["interaction_id"].n_unique() < tried.height:
        tried = tried.sort("created_at", "nth").unique("interaction_id", keep="last")
    is_deciding = np.zeros(counted.height, dtype=bool)
    is_deciding[tried["nth"].to_numpy()] = True
    return pl.Series("is_deciding", is_deciding)


def _out_of_scope(params: AttemptParams) -> pl.Expr:
    """Why an attempt is not learned from: its agent does not learn from its task type; else NULL."""
    if not params.scopes:
        return pl.lit(None, pl.String)  # a sentence is else made of every row
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


# Outcomes that nobody reported: whether they count, beside those that somebody did.

# As published: why an inferred outcome counts for nothing.
NOT_LEARNED = "inferred, and learn_from_inferred is off"
REPORTED_TOO = "inferred, and its interaction has an outcome that was not"
_INFERRED: Basis = "inferred"
_REPORTED: Basis = "reported"


def with_apart(outcomes: pl.DataFrame, params: AttemptParams) -> pl.DataFrame:
    """Outcomes with `basis`, never NULL, and `apart`: why one counts for nothing, though it is known; NULL: it counts.

    An inferred outcome never takes the place of one that was reported or evaluated, whichever came later and whether
    that was an attempt or not. Where there is none such it counts if `learn_from_inferred` is set.

    Args:
        outcomes: interaction_id, basis (NULL or '': reported).
        params: whether inferred outcomes are learned from.
    """
    said = pl.when(pl.col("basis") != "").then("basis").otherwise(pl.lit(_REPORTED))
    is_inferred = pl.col("basis") == _INFERRED
    if params.learn_from_inferred:
        is_reported_too = (~is_inferred).any().over("interaction_id") & pl.col("interaction_id").is_not_null()
        apart = pl.when(is_inferred & is_reported_too).then(pl.lit(REPORTED_TOO))
    else:
        apart = pl.when(is_inferred).then(pl.lit(NOT_LEARNED))
    return outcomes.with_columns(said.alias("basis")).with_columns(apart.alias("apart"))
