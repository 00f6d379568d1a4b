"""What a log holds, of everything and project by project: what the answers rest on."""

from __future__ import annotations

from functools import reduce

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.frames import Frame, Lazy
from slowwave.transforms.core.vocabularies import CAUSAL_BASES
from slowwave.transforms.evidence.tables import ProjectDays
from slowwave.transforms.health.answerable.tables import InteractionsWithMemories
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.learning.tables import CountedOutcomes

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
