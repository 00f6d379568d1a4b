"""How the interactions that had a memory ended, beside how they were expected to end without it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.core.frames import Lazy
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.lift.lift import COMPARED, OFFERED, memory_lift, with_own_lifts
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.lift.trials import (
    expected_success,
    known_before,
    memory_numbers,
    trials,
    trials_offering_memory,
    trials_with_memory,
)

_UNKNOWN_CONFIDENCE = 0.5
_OFFERS = ("interaction", "user_id", "memories_offered", "injection_probability")
SCHEMA = pl.Schema(
    {
        "memory_id": pl.String,
        **dict.fromkeys(["confirmed_count", "contradicted_count"], pl.Int64),
        "contradicted_expected": pl.Float64,
        **dict.fromkeys(["confidence", "confidence_low", "confidence_high"], pl.Float64),
        **dict.fromkeys(["lift", "lift_low", "lift_high"], pl.Float64),
        "lift_basis": pl.String,
        **dict.fromkeys(["lift_detectable", "lift_p_value", "lift_q_value"], pl.Float64),
        "is_harmful": pl.Boolean,
        "lift_note": pl.String,
        "lost_successes": pl.Float64,
    }
)


def attempted_interactions(interactions: pl.DataFrame) -> pl.DataFrame:
    """Return interactions with an attempt, each with its number as `interaction`; project '' is none."""
    return interactions.with_columns(pl.col("project").fill_null("")).with_row_index("interaction")


def attempted_references(references: Lazy[MemoryReferences], interactions: pl.DataFrame) -> pl.DataFrame:
    """memory_id, interaction, is_injected, is_referenced, of interactions with an attempt.

    `references`: memory_references. `interactions`: interaction_id, interaction (its number).
    """
    return (
        references.join(interactions.lazy().select("interaction_id", "interaction"), on="interaction_id")
        .select("memory_id", "interaction", "is_injected", is_reference().alias("is_referenced"))
        .collect()
    )


class AttemptedTrials(NamedTuple):
    """What is compared.

    `offers`: interaction, user_id, memories_offered (some), injection_probability. `known`: see `trials`. `of_users`:
    the same by user, of those who own a memory.
    """

    offers: pl.DataFrame
    known: pl.DataFrame
    of_users: pl.DataFrame


def attempted_trials(
    interactions: pl.DataFrame, attempts: pl.DataFrame, owners: pl.DataFrame, as_of: datetime
) -> AttemptedTrials:
    """The trials that are known of: an interaction ended as its latest attempt (created_at, then outcome_id) did.

    Args:
        interactions: interaction_id, interaction (its number), occurred_at, user_id, memories_offered (id, rank,
            score), injection_probability.
        attempts: outcome_id, interaction_id, created_at, known_at, project, agent, task_type, task, block, success.
        owners: memory_id, only_user, of memories that are eligible in one user's interactions only.
        as_of: attempts known later do not count.
    """
    begun, ended = _before(interactions, "occurred_at", as_of), _before(attempts, "known_at", as_of)
    offers = begun.filter(pl.col("memories_offered").list.len() > 0)
    known = trials(begun, ended)
    of_users = known.clear()
    if not owners.is_empty():
        theirs = _of_owners(begun, owners)
        of_users = trials(theirs, ended.join(theirs, on="interaction_id", how="semi"), by_user=True)
    return AttemptedTrials(offers.select(_OFFERS), known, of_users)


def _before(rows: pl.DataFrame, name: str, as_of: datetime) -> pl.DataFrame:
    """The rows of before `as_of`: in a publish all of them are, and they are not copied."""
    is_before = rows[name] < as_of
    return rows if is_before.all() else rows.filter(is_before)


def _of_owners(interactions: pl.DataFrame, owners: pl.DataFrame) -> pl.DataFrame:
    return interactions.join(owners, left_on="user_id", right_on="only_user", how="semi")


def memory_outcomes(
    references: pl.DataFrame,
    offers: pl.DataFrame,
    memories: pl.DataFrame,
    known: pl.DataFrame,
    of_users: pl.DataFrame,
    owners: pl.DataFrame,
    params: MemoryOutcomeParams,
) -> pl.DataFrame:
    """One row per memory that an interaction with an attempted outcome had or was offered, sorted by memory_id.

    Args:
        references: memory_id, interaction, is_injected, is_referenced.
        offers: of `attempted_trials`, like the next two.
        memories: memory_id, created_at, confidence (the initial one, or NULL).
        known: see there.
        of_users: see there.
        owners: memory_id, only_user, of memories that are eligible in one user's interactions only: their lift compares
            that user's interactions alone.
        params: bounds and weights.

    Columns: memory_id, those of `memory_confidence`, those of `memory_lift`.
    """
    if known.is_empty():
        return SCHEMA.to_frame()
    confidence, lifts = _confidence_and_lift(known, references, offers, memories, params)
    if not owners.is_empty():
        _, own = _confidence_and_lift(of_users, references, _of_owners(offers, owners), memories, params)
        lifts = with_own_lifts(lifts, own, owners)
    return (
        lifts.join(confidence, on="memory_id", how="left", maintain_order="left")
        .with_columns(pl.col("confirmed_count", "contradicted_count").fill_null(0))
        .select(*confidence.columns, *[name for name in lifts.columns if name != "memory_id"])
    )


def _confidence_and_lift(
    known: pl.DataFrame,
    references: pl.DataFrame,
    offers: pl.DataFrame,
    memories: pl.DataFrame,
    params: MemoryOutcomeParams,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`memory_confidence` and `memory_lift` from the trials `known`."""
    numbers = memory_numbers(references, offers)
    having = trials_with_memory(references, known, numbers)
    before = known_before(known)
    having = having.hstack(expected_success(having, before, having, params))
    confidence = memory_confidence(having, memories, params)
    places = trials_offering_memory(offers, known, having, numbers)
    places = places.hstack(expected_success(places, before, having, params)).select(OFFERED)
    injected = having.filter("is_injected").group_by("memory").agg(pl.len().cast(pl.Int64).alias("injected"))
    having = having.select(COMPARED)  # what is only asked here is not held while memories are compared
    return confidence, memory_lift(places, memories, known, before, having, injected, numbers, params)


def memory_confidence(uses: pl.DataFrame, memories: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Per memory_id of `uses`, sorted: counts of its uses by how they ended, and the confidence they leave.

    Args:
        uses: memory_id, block, is_referenced, success (0 or 1), expected, history: the interactions that had the
            memory, with the forecast of success without it (see `expected_success`).
        memories: memory_id, confidence (the initial one, or NULL).
        params: `confidence_weight`, `interval_mass`.

    confirmed_count, contradicted_count: references (the answer echoes or uses it) in attempts that succeeded, failed.
    The latter is not evidence that the text is false: `contradicted_expected` says how many of exactly these uses were
    expected to fail without it. It is NULL without uses, or where nothing at all was known before any of them.

    confidence, confidence_low, confidence_high: Beta posterior mean and credible interval. Every use adds what its end
    says beyond what was expected: a success 1 - expected for, a failure expected against; for less against is observed
    less expected success. The prior is the initial confidence (.5 if none was said), worth `confidence_weight` such
    units. A memory that changes nothing comes to .5: its uses end neither better nor worse than without it. Uses of one
    session that end alike count as one surprise, not as many. NULL where contradicted_expected is.
    """
    surprise, together = pl.col("surprise"), pl.col("together")
    is_success = pl.col("success") == 1
    used = uses.filter("is_referenced").with_columns(
        pl.when(is_success).then(1 - pl.col("expected")).otherwise("expected").alias("surprise")
    )
    independence = (
        used.group_by("memory_id", "block")
        .agg(ordered_sum(surprise).alias("together"), ordered_sum(surprise.pow(2)).alias("apart"))
        .group_by("memory_id")
        .agg((ordered_sum(pl.col("apart")) / ordered_sum(together.pow(2))).alias("independence"))
    )
    initial = pl.col("confidence").fill_null(_UNKNOWN_CONFIDENCE).clip(0.01, 0.99)
    weight, independent = params.confidence_weight, pl.col("independence")
    told = (
        used.group_by("memory_id")
        .agg(
            is_success.sum().cast(pl.Int64).alias("confirmed_count"),
            (~is_success).sum().cast(pl.Int64).alias("contradicted_count"),
            ordered_sum(1 - pl.col("expected")).alias("contradicted_expected"),
            ordered_sum(surprise.filter(is_success)).alias("for"),
            ordered_sum(surprise.filter(~is_success)).alias("against"),
            pl.col("history").max(),
        )
        .join(independence, on="memory_id")
        .join(memories.select("memory_id", "confidence"), on="memory_id", how="left")
        .sort("memory_id")
        .with_columns(
            (initial * weight + pl.col("for") * independent).alias("a"),
            ((1 - initial) * weight + pl.col("against") * independent).alias("b"),
        )
    )
    low, high = beta_interval(told["a"].to_numpy(), told["b"].to_numpy(), params.interval_mass)
    is_known = pl.col("history") > 0
    return told.select(
        "memory_id",
        "confirmed_count",
        "contradicted_count",
        pl.when(is_known).then("contradicted_expected").alias("contradicted_expected"),
        pl.when(is_known).then(pl.col("a") / (pl.col("a") + pl.col("b"))).alias("confidence"),
        pl.when(is_known).then(pl.Series(low)).alias("confidence_low"),
        pl.when(is_known).then(pl.Series(high)).alias("confidence_high"),
    )
