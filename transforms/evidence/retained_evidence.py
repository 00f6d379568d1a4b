"""Retained evidence: what was found in texts before they expired, reused where its memory was eligible then."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from slowwave.transforms.core.frames import Frame, conform
from slowwave.transforms.core.schema import Table, column
from slowwave.transforms.core.vocabularies import FoundIn
from slowwave.transforms.evidence.reach import is_reached
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences, UseProbabilities
from slowwave.transforms.evidence.used.memories import STEPS, USED

_ROW_HASH = "Key: hash of the row version whose texts expired."


class KeptReferences(Table):
    """What was found in texts that have expired, and how likely their uses were; the rest follows from the row."""

    name: ClassVar[str] = "kept_references"
    key: ClassVar[tuple[str, ...]] = ("row_hash", "memory_id")

    row_hash: str = column(_ROW_HASH)
    interaction_id: str = column("The interaction.")
    memory_id: str = column("Key: the memory.")
    echoed_in: FoundIn | None = column("As in memory_references.")
    in_prompt: bool | None = column("As in memory_references.")
    used_score: float | None = column("Estimated probability of a use, sure enough to count or not.", unit="0-1")
    passage: str | None = column("As in memory_references.")
    passage_at: int | None = column("As in memory_references.", unit="code points")
    used_method: str | None = column("The method that found it used, with version. NULL: not used, or not surely.")


class KeptStatements(ExtractedStatements):
    """Rows of extracted_statements that were found in texts that have expired."""

    name: ClassVar[str] = "kept_statements"
    key: ClassVar[tuple[str, ...]] = ("row_hash", "rule", "statement_id")

    row_hash: str = column(_ROW_HASH)


def kept_references(
    references: Frame[MemoryReferences], probabilities: Frame[UseProbabilities], winners: pl.DataFrame
) -> Frame[KeptReferences]:
    """Return what of a day's memory_references and use_probabilities was found in texts.

    `winners`: interaction_id, row_hash of the rows whose texts expire.
    """
    method = pl.col("methods").list.eval(pl.element().filter(pl.element().str.starts_with("used/"))).list.first()
    likely = probabilities.lazy().drop("occurred_at")
    rows = (
        references.lazy()
        .filter(is_reference())
        .join(likely, on=["interaction_id", "memory_id"], how="full", coalesce=True)
        .join(winners.lazy(), on="interaction_id")
        .with_columns(method.alias("used_method"), pl.coalesce("used_score", (pl.col("probability") / STEPS).round(4)))
    )
    return conform(KeptReferences, rows).sort(KeptReferences.key).collect()


def kept_statements(statements: Frame[ExtractedStatements], winners: pl.DataFrame) -> Frame[KeptStatements]:
    """Return a day's extracted_statements of these rows; `winners` as in `kept_references`."""
    rows = statements.lazy().join(winners.lazy(), on="interaction_id")
    return conform(KeptStatements, rows).sort(KeptStatements.key).collect()


def find_retained(kept: pl.LazyFrame, interactions: pl.DataFrame, pool: pl.LazyFrame) -> pl.DataFrame:
    """Return the retained pairs whose memory was eligible, as memories stand now; each pair once.

    Args:
        kept: rows of kept_references.
        interactions: row_hash, interaction_id, occurred_at, project, agent, user_id, reinforce.
        pool: memory_id, is_global, project, only_agent, only_user, valid_from, valid_until.
    """
    at = pl.col("occurred_at")
    about = interactions.lazy().filter("reinforce")
    about = about.select("row_hash", at, pl.col("project").alias("of_project"), "agent", "user_id")
    reach = pool.select("memory_id", "is_global", "project", "only_agent", "only_user", "valid_from", "valid_until")
    return (
        kept.join(about, on="row_hash")
        .join(reach, on="memory_id")
        .filter(
            pl.col("is_global") | (pl.col("project") == pl.col("of_project")),
            is_reached(),
            pl.col("valid_from") <= at,
            pl.col("valid_until").is_null() | (at < pl.col("valid_until")),
        )
        .unique(KeptReferences.key)
        .sort(KeptReferences.key)
        .collect()
    )


def select_quoted(found: pl.DataFrame) -> pl.DataFrame:
    """Return interaction_id, memory_id, echoed_in, in_prompt of those pairs that were quoted."""
    is_echoed = pl.col("echoed_in").is_not_null()
    return found.filter(is_echoed).select("interaction_id", "memory_id", "echoed_in", "in_prompt")


def select_used(found: pl.DataFrame) -> pl.DataFrame:
    """Return those pairs that may have been uses, as `used_memories_by_day` has them."""
    steps = (pl.col("used_score") * STEPS).round().cast(pl.Int64)
    return found.filter(pl.col("used_score").is_not_null()).with_columns(steps.alias("used_score")).select(*USED)
