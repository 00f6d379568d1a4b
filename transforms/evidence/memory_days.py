"""A day's evidence as integer counts per memory, and how active each project was."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, conform, framed
from slowwave.transforms.core.schema import columns, polars_schema
from slowwave.transforms.evidence.params import BreadthParams
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.tables import (
    MemoryDays,
    MemoryEligibility,
    MemoryReferences,
    ProjectDays,
    ReferenceDays,
    ReplayedInteractions,
)

_COUNTS = [c.name for c in columns(MemoryDays) if c.kind == "integer"]


def memory_days(
    eligibility: Lazy[MemoryEligibility], references: Lazy[MemoryReferences], params: BreadthParams
) -> Lazy[MemoryDays]:
    """One row per memory that was eligible, injected, referenced or cited on the day, sorted by memory_id."""
    eligible = eligibility.group_by("memory_id").agg(pl.col("eligible_count").sum())
    breadth = is_reference().sum().over("interaction_id")
    is_broad = is_reference() & (breadth >= params.broad_memories) & (breadth < params.bulk_memories)
    is_bulk = is_reference() & (breadth >= params.bulk_memories)
    referenced_at = pl.col("occurred_at").filter(is_reference())
    referenced = (
        references.with_columns(is_broad.alias("is_broad"), is_bulk.alias("is_bulk"))
        .group_by("memory_id")
        .agg(
            pl.col("is_injected").cast(pl.Int64).sum().alias("injected_count"),
            pl.col("is_echoed").cast(pl.Int64).sum().alias("echoed_count"),
            pl.col("is_used").cast(pl.Int64).sum().alias("used_count"),
            pl.col("is_cited").cast(pl.Int64).sum().alias("cited_count"),
            (pl.col("is_echoed") & pl.col("in_prompt")).cast(pl.Int64).sum().alias("parroted"),
            is_reference().cast(pl.Int64).sum().alias("reference_count"),
            pl.col("is_broad").cast(pl.Int64).sum().alias("broad_count"),
            pl.col("is_bulk").cast(pl.Int64).sum().alias("bulk_count"),
            referenced_at.min().alias("first_referenced_at"),
            referenced_at.max().alias("last_referenced_at"),
        )
    )
    joined = eligible.join(referenced, on="memory_id", how="full", coalesce=True)
    return conform(MemoryDays, joined.with_columns(pl.col(_COUNTS).fill_null(0))).sort("memory_id")


def memory_days_of_parts(
    eligibility: Lazy[MemoryEligibility], references: Iterable[Lazy[MemoryReferences]], params: BreadthParams
) -> Frame[MemoryDays]:
    """`memory_days` of a day whose references are too many to be held: those of an interaction are in one part."""
    nothing = eligibility.clear()
    counted = [memory_days(framed(MemoryEligibility, nothing), part, params).collect() for part in references]
    none = framed(MemoryReferences, pl.LazyFrame(schema=polars_schema(MemoryReferences)))
    together = pl.concat([memory_days(eligibility, none, params).collect(), *counted]).lazy()
    rows = together.group_by("memory_id").agg(
        pl.col(_COUNTS).sum(), pl.col("first_referenced_at").min(), pl.col("last_referenced_at").max()
    )
    return framed(MemoryDays, conform(MemoryDays, rows).sort("memory_id").collect())


def reference_days(memory_days: Lazy[MemoryDays]) -> Lazy[ReferenceDays]:
    """The memories of a day that were injected, referenced or cited, sorted by memory_id."""
    is_touched = pl.any_horizontal(pl.col("injected_count", "reference_count", "cited_count") > 0)
    rows = memory_days.filter(is_touched).select(*polars_schema(ReferenceDays))
    return framed(ReferenceDays, rows).sort("memory_id")


def replayed_interactions(interactions: pl.LazyFrame) -> Lazy[ReplayedInteractions]:
    """The winning interactions of a day without their texts: the columns of `ReplayedInteractions`."""
    return conform(ReplayedInteractions, interactions)


def project_days(interactions: pl.LazyFrame) -> Lazy[ProjectDays]:
    """One row per project with an interaction on the day, sorted by project.

    `interactions`: interaction_id, project, session_id (NULL: a session of its own).
    """
    alone = pl.col("session_id").is_null().sum()
    counts = interactions.group_by("project").agg(
        pl.len().alias("interactions_count"),
        (pl.col("session_id").drop_nulls().n_unique() + alone).alias("sessions_count"),
    )
    return conform(ProjectDays, counts).sort("project")
