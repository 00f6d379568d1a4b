"""What was found in texts before they went, taken over as long as its memory was eligible then."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, conform
from slowwave.transforms.evidence.kept.tables import KeptReferences, KeptStatements
from slowwave.transforms.evidence.reach import is_reached
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.evidence.used.memories import STEPS, USED


def kept_references(references: Frame[MemoryReferences], winners: pl.DataFrame) -> Frame[KeptReferences]:
    """What of a day's memory_references was found in texts.

    `winners`: interaction_id, row_hash of the rows whose texts go.
    """
    method = pl.col("methods").list.eval(pl.element().filter(pl.element().str.starts_with("used/"))).list.first()
    rows = references.lazy().filter(is_reference()).join(winners.lazy(), on="interaction_id")
    return conform(KeptReferences, rows.with_columns(method.alias("used_method"))).sort(KeptReferences.key).collect()


def kept_statements(statements: Frame[ExtractedStatements], winners: pl.DataFrame) -> Frame[KeptStatements]:
    """A day's extracted_statements of these rows; `winners` as in `kept_references`."""
    rows = statements.lazy().join(winners.lazy(), on="interaction_id")
    return conform(KeptStatements, rows).sort(KeptStatements.key).collect()


def found_before(kept: pl.LazyFrame, interactions: pl.DataFrame, pool: pl.LazyFrame) -> pl.DataFrame:
    """Of what is kept the pairs whose memory was eligible, as memories stand now; each pair once.

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


def echoed_before(found: pl.DataFrame) -> pl.DataFrame:
    """interaction_id, memory_id, echoed_in, in_prompt of those pairs that were echoed."""
    is_echoed = pl.col("echoed_in").is_not_null()
    return found.filter(is_echoed).select("interaction_id", "memory_id", "echoed_in", "in_prompt")


def used_before(found: pl.DataFrame) -> pl.DataFrame:
    """Those pairs that were used, as `used_memories_by_day` has them."""
    steps = (pl.col("used_score") * STEPS).round().cast(pl.Int64)
    return found.filter(pl.col("used_score").is_not_null()).with_columns(steps.alias("used_score")).select(*USED)
