"""When each memory was referenced, and how active those were who could have referenced it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from slowwave.transforms.params import EvidenceParams

EVERYBODY = 0
_STATED = ("status", "memory_type", "project", "agent", "importance", "pinned")


@dataclass(frozen=True)
class MemoryTimelines:
    """All that strength, need and trend are told from; days are whole UTC days since 1970.

    `memories`, sorted by memory: memory (its number), memory_id, scope (number of those whose interactions it is
    eligible in: its project, or everybody for a global memory), status, memory_type, project, agent, importance, pinned
    (false if never said), created_day; NULL what was never landed.

    `days`, sorted by memory and day: one row per day with a reference: memory, day, reference_count, broad_count,
    bulk_count (see `reference_days`).

    `scope_days`, sorted by scope and day: one row per day with an interaction: scope, day, interactions_count,
    sessions_count.

    `scopes`: scope and project; that of everybody is `EVERYBODY`.
    """

    memories: pl.DataFrame
    days: pl.DataFrame
    scope_days: pl.DataFrame
    scopes: pl.DataFrame


def is_global(params: EvidenceParams) -> pl.Expr:
    """Memories (project, memory_type) that are eligible in every project."""
    of_nobody = (pl.col("project") == "") & pl.col("memory_type").is_in(list(params.global_types))
    return of_nobody.fill_null(value=False)


def memory_timelines(
    states: pl.LazyFrame, days: pl.LazyFrame, project_days: pl.LazyFrame, params: EvidenceParams
) -> MemoryTimelines:
    """The timelines of every memory that was ever landed, injected or referenced.

    Args:
        states: the memory states visible (see `memory_states`); the last one of a memory counts.
        days: reference_days of all days, stacked, with `day`.
        project_days: project_days of all days, stacked, with `day`.
        params: which memories are global.
    """
    stated = (
        states.sort("memory_id", "valid_from")
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("valid_from").first().dt.epoch("d").cast(pl.Int32).alias("created_day"), pl.col(_STATED).last())
    )
    known = days.select("memory_id").unique().join(stated, on="memory_id", how="full", coalesce=True)
    memories = (
        known.sort("memory_id")
        .with_columns(is_global(params).alias("is_global"), pl.col("pinned").fill_null(value=False))
        .with_row_index("memory")
        .collect()
    )
    active = project_days.with_columns(pl.col("day").dt.epoch("d").cast(pl.Int32)).collect()
    # a memory that never landed stands beside those of no project: nothing is known of where it belongs
    projects = pl.concat([memories["project"].fill_null(""), active["project"]]).unique().sort()
    scopes = pl.DataFrame({"project": projects}).with_row_index("scope", offset=EVERYBODY + 1)
    everybody = pl.lit(EVERYBODY, pl.UInt32)
    counts = ("interactions_count", "sessions_count")
    of_project = active.join(scopes, on="project").select("scope", "day", *counts)
    of_all = of_project.group_by("day").agg(pl.col(counts).sum()).select(everybody.alias("scope"), "day", *counts)
    numbered = memories.join(
        scopes, left_on=pl.col("project").fill_null(""), right_on="project", how="left", maintain_order="left"
    ).select(
        "memory",
        "memory_id",
        pl.when("is_global").then(everybody).otherwise(pl.col("scope")).alias("scope"),
        *_STATED,
        "created_day",
    )
    referenced = (
        days.filter(pl.col("reference_count") > 0)
        .select(
            "memory_id",
            pl.col("day").dt.epoch("d").cast(pl.Int32),
            "reference_count",
            "broad_count",
            "bulk_count",
        )
        .collect()
        .join(numbered.select("memory", "memory_id"), on="memory_id")
        .select("memory", "day", "reference_count", "broad_count", "bulk_count")
        .sort("memory", "day")
    )
    return MemoryTimelines(numbered, referenced, pl.concat([of_all, of_project]).sort("scope", "day"), scopes)
