"""What the log answers to the questions that people come with, of everything and project by project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from functools import reduce
from typing import Any, Protocol

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.carried import taken_over, with_made_of
from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.vocabularies import CAUSAL_BASES
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.tables import MemoryReferences, ProjectDays
from slowwave.transforms.health.answerable.params import AnswerParams
from slowwave.transforms.health.answerable.question_answers import Lifts, LogCounts, answers
from slowwave.transforms.health.answerable.tables import (
    AnswerableQuestions,
    AttemptsByInjection,
    InteractionsWithMemories,
    UseByDay,
)
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.learning.tables import CountedOutcomes
from slowwave.transforms.lift.params import MemoryOutcomeParams

_LIFTS = ("fair", "associated")


class AnsweringParams(Protocol):
    """Which method answers, and the mass of the intervals of lifts."""

    answers: AnswerParams
    memory_outcomes: MemoryOutcomeParams


def answerable_questions(
    days: Lazy[ProjectDays],
    had: Frame[InteractionsWithMemories],
    outcomes: Frame[CountedOutcomes],
    ended: pl.DataFrame,
    memories: pl.DataFrame,
    health: Frame[MemoryHealth],
    params: AnsweringParams,
) -> Frame[AnswerableQuestions]:
    """Four rows of everything that landed, and four of each project, sorted by key; run_id and as_of apart.

    Args:
        days: project_days of all days, stacked.
        had: interactions_with_memories.
        outcomes: counted_outcomes.
        ended: how many interactions ended, by project, of `ended_with_memories`.
        memories: which memories they had, of `ended_with_memories`.
        health: memory_id, project, scope, content, eligible_count, lift_basis, lift_low, lift_high of every memory.
        params: the mass of the intervals of lifts.

    A memory of no project, or of all, may be of the interactions of any; the lifts of a project are those of the
    memories that its interactions had.
    """
    counts = log_counts(days, had, outcomes, ended, memories, health)
    rows = [
        (row["extent"], row["project"], one.question, one.asked, one.is_answered, one.rests_on, one.answer, one.lacks)
        for row in counts.iter_rows(named=True)
        for one in answers(_counts(row), params.memory_outcomes.interval_mass)
    ]
    table = AnswerableQuestions
    return framed(table, pl.DataFrame(rows, schema=computed_schema(table), orient="row")).sort(table.key)


def _counts(row: dict[str, Any]) -> LogCounts:
    lifts = {kind: Lifts(**{one.name: row[f"{kind}_{one.name}"] for one in fields(Lifts)}) for kind in _LIFTS}
    return LogCounts(**lifts, **{one.name: row[one.name] for one in fields(LogCounts) if one.name in row})


_OF = ("extent", "project")
_EVERYTHING = {"extent": ["all"], "project": [""]}
_HAD = ("given", "relied", "cited")


def ended_with_memories(references: pl.DataFrame, ended: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """How many interactions ended, and the memories that they had, by project.

    Args:
        references: memory_id, interaction, is_injected, is_referenced, of interactions with an attempt.
        ended: interaction (its number), project, memories_offered, injection_probability of these interactions.

    Returns project, ended, ended_given, drawn (see `LogCounts`); and project, memory_id, each pair once.
    """
    given = pl.col("interaction").is_in(references.filter("is_injected")["interaction"].implode())
    probability = pl.col("injection_probability")
    is_drawn = (pl.col("memories_offered").list.len() > 0) & (probability > 0) & (probability < 1)
    counts = (
        ended.with_columns(given=given)
        .group_by("project")
        .agg(
            pl.len().cast(pl.Int64).alias("ended"),
            _count("given").alias("ended_given"),
            _count(is_drawn).alias("drawn"),
        )
    )
    theirs = (
        references.lazy()
        .filter(pl.col("is_injected") | pl.col("is_referenced"))
        .join(ended.lazy().select("interaction", "project"), on="interaction")
    )
    return counts, theirs.select("project", "memory_id").unique().collect()


def log_counts(
    days: Lazy[ProjectDays],
    had: Frame[InteractionsWithMemories],
    outcomes: Frame[CountedOutcomes],
    ended: pl.DataFrame,
    memories: pl.DataFrame,
    health: Frame[MemoryHealth],
) -> pl.DataFrame:
    """One row of everything, and one per project that something landed of, sorted by extent and project.

    Args: as `answerable_questions`.

    Columns: extent (all, project), project, those of `LogCounts`; of its lifts fair_count, fair_above, fair_below,
    associated_count, associated_above, associated_below.
    """
    landed = days.select("project", pl.col("interactions_count").alias("interactions")).collect()
    interactions = (
        _extents(pl.concat([landed, had.select("project", *_HAD), ended], how="diagonal"))
        .group_by(_OF)
        .agg(pl.all().sum())
    )
    own, shared = _memories(health)
    counts = [pl.DataFrame(_EVERYTHING), interactions, own, _outcomes(outcomes), _lifts(memories, health)]
    joined = reduce(lambda left, right: left.join(right, on=_OF, how="full", coalesce=True), counts).fill_null(0)
    return joined.with_columns(pl.col(name) + count for name, count in shared.items()).sort(_OF)


def _extents(rows: pl.DataFrame) -> pl.DataFrame:
    """Every row twice: of its project, and of everything."""
    of_project = rows.with_columns(pl.lit("project").alias("extent"))
    return pl.concat([of_project, rows.with_columns(pl.lit("all").alias("extent"), pl.lit("").alias("project"))])


def _count(condition: pl.Expr | str) -> pl.Expr:
    return (pl.col(condition) if isinstance(condition, str) else condition).sum().cast(pl.Int64)


def _memories(health: Frame[MemoryHealth]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Texts and eligible: of memories of one project alone, and of those that may be of the interactions of any."""
    texts = ~is_blank(pl.col("content"))
    eligible = texts & (pl.col("eligible_count") > 0)
    is_shared = (pl.col("project") == "") | (pl.col("scope") == "global").fill_null(value=False)
    landed = health.select("project", texts.alias("texts"), eligible.alias("eligible"), is_shared.alias("is_shared"))
    landed = landed.drop_nulls("project")
    counts = _count("texts"), _count("eligible")
    own = (
        _extents(landed)
        .group_by(_OF)
        .agg(pl.col("texts", "eligible").filter(~pl.col("is_shared")).sum().cast(pl.Int64))
    )
    return own, landed.filter("is_shared").select(counts).row(0, named=True)


def _outcomes(outcomes: Frame[CountedOutcomes]) -> pl.DataFrame:
    rows = _extents(outcomes.select("project", "basis", "is_attempt", "is_counted", "is_learned", "strategy_id"))
    return rows.group_by(_OF).agg(
        pl.len().cast(pl.Int64).alias("outcomes"),
        _count("is_counted").alias("attempts"),
        _count(pl.col("is_counted") & (pl.col("basis") == "inferred")).alias("inferred"),
        _count(pl.col("is_attempt") & ~pl.col("is_counted")).alias("apart"),
        _count("is_learned").alias("tried"),
        pl.col("strategy_id").filter("is_learned").n_unique().cast(pl.Int64).alias("strategies"),
    )


def _lifts(memories: pl.DataFrame, health: Frame[MemoryHealth]) -> pl.DataFrame:
    """Of a project the memories that its interactions had; of everything all."""
    lifts = health.filter(pl.col("lift_basis").is_not_null()).select(
        "memory_id",
        pl.col("lift_basis").is_in(CAUSAL_BASES).alias("fair"),
        (pl.col("lift_low") > 0).alias("above"),
        (pl.col("lift_high") < 0).alias("below"),
    )
    of_projects = memories.join(lifts, on="memory_id")
    rows = pl.concat(
        [
            of_projects.with_columns(pl.lit("project").alias("extent")),
            lifts.with_columns(pl.lit("all").alias("extent"), pl.lit("").alias("project")),
        ],
        how="diagonal",
    )
    return rows.group_by(_OF).agg(
        _count(is_of & pl.col(which) if which else is_of).alias(f"{kind}_{which or 'count'}")
        for kind, is_of in (("fair", pl.col("fair")), ("associated", ~pl.col("fair")))
        for which in ("", "above", "below")
    )


def attempts_by_injection(
    references: pl.DataFrame, interactions: pl.DataFrame, attempts: pl.DataFrame
) -> Frame[AttemptsByInjection]:
    """Return the attempts whose interaction landed, counted by key and sorted by it; run_id and as_of apart.

    Args:
        references: interaction (its number), is_injected, of interactions with an attempt.
        interactions: interaction_id, interaction, occurred_at, memories_offered, injection_probability.
        attempts: interaction_id, project, agent, task_type, block, success, of the attempts that count.
    """
    injected = references.lazy().filter("is_injected").select("interaction").unique().with_columns(has_memory=True)
    offered = pl.col("memories_offered").list.len().fill_null(0).cast(pl.Int64)
    probability = pl.col("injection_probability")
    is_drawn = (offered > 0) & (probability > 0) & (probability < 1)
    asked = (
        interactions.lazy()
        .join(injected, on="interaction", how="left")
        .select(
            "interaction_id",
            pl.col("occurred_at").dt.date().alias("day"),
            pl.col("has_memory").fill_null(value=False),
            offered.alias("offered_count"),
            pl.when(is_drawn.fill_null(value=False)).then(probability).otherwise(1.0).alias("probability"),
        )
    )
    counts = (
        attempts.lazy()
        .join(asked, on="interaction_id")
        .with_columns(pl.col("project", "agent", "task_type").fill_null(""))
        .group_by(AttemptsByInjection.key)
        .agg(
            pl.len().cast(pl.Int64).alias("attempts"),
            pl.col("success").sum().cast(pl.Int64).alias("successes"),
        )
    )
    return framed(AttemptsByInjection, counts.sort(AttemptsByInjection.key).collect())


_CHARACTERS_PER_TOKEN = 4
_HAD_IN_DAY = {
    "given": pl.col("is_injected"),
    "echoed": pl.col("is_echoed"),
    "parroted": pl.col("in_prompt").fill_null(value=False),
    "used": pl.col("is_used"),
    "relied": is_reference(),
    "cited": pl.col("is_cited"),
}
_COUNTED = digest([f"{name}: {had}" for name, had in _HAD_IN_DAY.items()])


def interactions_with_memories(
    before: Frame[InteractionsWithMemories], references: Lazy[MemoryReferences], days: Mapping[date, str]
) -> Frame[InteractionsWithMemories]:
    """Return how many interactions of each day had a memory, by project and agent: new or changed days are counted.

    Args:
        before: such rows, of whatever night.
        references: memory_references of all days, with `day`.
        days: by day what its references are named after.
    """
    made_of = {day.isoformat(): digest([_COUNTED, name]) for day, name in days.items()}
    kept = taken_over(before, made_of)
    known = set(kept["part"].unique())
    new = [day for day in days if day.isoformat() not in known]
    found = (
        references.filter(pl.col("day").is_in(new))
        .group_by(pl.col("day").cast(pl.String).alias("part"), "project", "agent", "interaction_id")
        .agg(had.any().alias(name) for name, had in _HAD_IN_DAY.items())
        .group_by("part", "project", "agent")
        .agg(pl.col(*_HAD_IN_DAY).sum().cast(pl.Int64))
        .collect()
    )
    rows = pl.concat([kept, with_made_of(found, made_of).select(kept.columns)])
    return framed(InteractionsWithMemories, rows.sort(InteractionsWithMemories.key))


def use_by_day(
    had: Frame[InteractionsWithMemories], references: Lazy[MemoryReferences], health: Frame[MemoryHealth]
) -> Frame[UseByDay]:
    """Return one row per day, project and agent with a memory injected, quoted, used or cited, sorted by them.

    Args:
        had: interactions_with_memories.
        references: memory_references of all days, with `day`.
        health: memory_id, content, use_state of every memory.
    """
    is_unused = pl.col("use_state") == "not_used"
    tokens = (pl.col("content").str.len_chars() / _CHARACTERS_PER_TOKEN).ceil().cast(pl.Int64)
    sizes = health.lazy().select("memory_id", tokens.alias("tokens"), is_unused.alias("is_unused"))
    injected = (
        references.filter("is_injected")
        .join(sizes, on="memory_id")
        .group_by("day", "project", "agent")
        .agg(
            pl.col("tokens").sum().alias("injected_tokens"),
            pl.col("tokens").filter("is_unused").sum().alias("unused_tokens"),
        )
    )
    rows = (
        had.lazy()
        .with_columns(pl.col("part").str.to_date("%Y-%m-%d").alias("day"))
        .join(injected, on=["day", "project", "agent"], how="left")
        .select(
            "day",
            "project",
            "agent",
            pl.col("given").alias("injected_interactions"),
            pl.col("echoed").alias("echoing_interactions"),
            pl.col("parroted").alias("parroting_interactions"),
            pl.col("used").alias("using_interactions"),
            pl.col("relied").alias("referencing_interactions"),
            pl.col("cited").alias("citing_interactions"),
            pl.col("injected_tokens", "unused_tokens").fill_null(0),
        )
    )
    return framed(UseByDay, rows.sort(UseByDay.key).collect())
