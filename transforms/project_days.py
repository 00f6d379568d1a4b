"""How active each project was on a day."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.evidence_tables import ProjectDays
from slowwave.transforms.schema import conform


def project_days(interactions: pl.LazyFrame) -> pl.LazyFrame:
    """One row per project with an interaction on the day, sorted by project.

    `interactions`: interaction_id, project, session_id (NULL: a session of its own).
    """
    alone = pl.col("session_id").is_null().sum()
    counts = interactions.group_by("project").agg(
        pl.len().alias("interactions_count"),
        (pl.col("session_id").drop_nulls().n_unique() + alone).alias("sessions_count"),
    )
    return conform(ProjectDays, counts).sort("project")
