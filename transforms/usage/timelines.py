"""When each memory was referenced, and how active those were who could have referenced it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from slowwave.transforms.core.frames import Lazy
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.evidence.params import ReachParams
from slowwave.transforms.evidence.reach import REACH, bound_reaches, is_bound, with_reach
from slowwave.transforms.evidence.tables import MemoriesNow, ProjectDays, ReferenceDays

EVERYBODY = 0
_STATED = choose_columns(MemoriesNow, "status", "memory_type", "project", "agent", "importance", "pinned")


@dataclass(frozen=True)
class MemoryTimelines:
    """All that strength, need and trend are computed from; days are whole UTC days since 1970.

    `memories`, sorted by memory: memory (its number), memory_id, scope (number of those whose interactions it is
    eligible in: its project, everybody for a global memory, of these an agent or user), status, memory_type, project,
    agent, importance, pinned (false if never said), created_day; NULL what was never landed.

    `days`, sorted by memory and day: one row per day with a reference: memory, day, reference_count, broad_count,
    bulk_count (see `reference_days`).

    `scope_days`, sorted by scope and day: one row per day with an interaction: scope, day, interactions_count,
    sessions_count.

    `scopes`: scope and its `REACH`; that of everybody is `EVERYBODY`.
    """

    memories: pl.DataFrame
    days: pl.DataFrame
    scope_days: pl.DataFrame
    scopes: pl.DataFrame


def memory_timelines(
    states: pl.LazyFrame,
    days: Lazy[ReferenceDays],
    project_days: Lazy[ProjectDays],
    params: ReachParams,
    of_bound: pl.DataFrame | None = None,
) -> MemoryTimelines:
    """The timelines of every memory that was ever landed, injected or referenced.

    Args:
        states: the memory states visible (see `memory_states`); the last one of a memory counts.
        days: reference_days of all days, stacked, with `day`.
        project_days: project_days of all days, stacked, with `day`.
        params: which memories are global or bound to an agent or user.
        of_bound: bound_days of all days, of the `bound_reaches` of these states; None: no memory is bound.
    """
    stated = (
        states.sort("memory_id", "valid_from")
        .group_by("memory_id", maintain_order=True)
        .agg(
            pl.col("valid_from").first().dt.epoch("d").cast(pl.Int32).alias("created_day"),
            pl.col(*_STATED, "scope", "user_id").last(),
        )
    )
    known = days.select("memory_id").unique().join(stated, on="memory_id", how="full", coalesce=True)
    memories = (
        known.sort("memory_id").with_columns(pl.col("pinned").fill_null(value=False)).with_row_index("memory").collect()
    )
    active = project_days.with_columns(pl.col("day").dt.epoch("d").cast(pl.Int32)).collect()
    # a memory that never landed stands beside those of no project: nothing is known of where it belongs
    projects = pl.concat([memories["project"].fill_null(""), active["project"]]).unique().sort()
    scopes = _scopes(projects, bound_reaches(states, params))
    reached = with_reach(memories.lazy(), params).select(REACH).collect()
    everybody = pl.lit(EVERYBODY, pl.UInt32)
    counts = ("interactions_count", "sessions_count")
    own = scopes.filter(~pl.col("is_global"), ~is_bound())
    of_project = active.join(own, on="project").select("scope", "day", *counts)
    of_all = of_project.group_by("day").agg(pl.col(counts).sum()).select(everybody.alias("scope"), "day", *counts)
    activity = [of_all, of_project]
    if of_bound is not None:
        day = pl.col("day").dt.epoch("d").cast(pl.Int32)
        activity.append(with_scope(of_bound, scopes).select("scope", day, *counts))
    numbered = memories.with_columns(with_scope(reached, scopes)["scope"]).select(
        "memory", "memory_id", "scope", *_STATED, "created_day"
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
    return MemoryTimelines(numbered, referenced, pl.concat(activity).sort("scope", "day"), scopes)


def with_scope(reached: pl.DataFrame, scopes: pl.DataFrame) -> pl.DataFrame:
    """Rows that have a `REACH` (without a project: ''), in their order, with the number of it; NULL: it has none."""
    placed = reached.with_columns(pl.col("project").fill_null(""))
    return placed.join(scopes, on=REACH, how="left", nulls_equal=True, maintain_order="left")


def _scopes(projects: pl.Series, bound: pl.DataFrame) -> pl.DataFrame:
    """scope, `REACH`: everybody, the projects, then those that are bound."""
    nobody = pl.lit(None, dtype=pl.String)
    plain = pl.concat([pl.Series("project", [""]), projects.rename("project")]).to_frame()
    is_everybody = pl.int_range(pl.len()) == EVERYBODY
    numbered = plain.select(is_everybody.alias("is_global"), "project", only_agent=nobody, only_user=nobody)
    return pl.concat([numbered, bound]).with_row_index("scope")
