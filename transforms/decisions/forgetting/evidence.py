"""What forgetting must know of a memory besides its health: since when it is what it is, and what was decided of it."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.decisions.effects import archivings, flag_holds


def forgetting_evidence(
    states: pl.LazyFrame, touches: pl.LazyFrame, decisions: pl.LazyFrame, as_of: datetime
) -> pl.DataFrame:
    """One row per memory that ever landed, sorted by memory_id.

    Args:
        states: the memory states visible at `as_of` (see `memory_states`).
        touches: memory_id, touched_day (NULL: never referenced or injected), eligible_since_touch; see below.
        decisions: all versions of the landed decisions.
        as_of: only decisions before it count.

    Columns: memory_id, pinned, is_held (it or its project), status_since (when its last change of status took effect),
    touched_day (UTC day since 1970 of its last reference or injection; NULL: none), eligible_since_touch (interactions
    on later days in which it was eligible; NULL: never touched), shadowed_day (day of its last shadow archiving not
    undone; NULL: none), restored_day (day of its last restore; NULL: none).
    """
    ordered = states.sort("memory_id", "valid_from")
    is_new_status = pl.col("status").ne_missing(pl.col("status").shift().over("memory_id"))
    current = (
        ordered.with_columns(pl.when(is_new_status).then("valid_from").alias("status_since"))
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("project", "pinned").last(), pl.col("status_since").max())
    )
    done = archivings(decisions, as_of).lazy()
    shadowed = done.filter(pl.col("is_shadow"), pl.col("restored_at").is_null())
    return (
        current.join(flag_holds(decisions, current, as_of), on="memory_id", how="left")
        .join(_select_touches(touches), on="memory_id", how="left")
        .join(_last_day(shadowed, "decided_at", "shadowed_day"), on="memory_id", how="left")
        .join(_last_day(done, "restored_at", "restored_day"), on="memory_id", how="left")
        .drop("project")
        .sort("memory_id")
        .collect()
    )


def _select_touches(touches: pl.LazyFrame) -> pl.LazyFrame:
    return touches.select("memory_id", "touched_day", "eligible_since_touch").drop_nulls("touched_day")


def _last_day(done: pl.LazyFrame, time: str, name: str) -> pl.LazyFrame:
    return done.group_by("memory_id").agg(_epoch_day(time).max().alias(name)).filter(pl.col(name).is_not_null())


def _epoch_day(name: str) -> pl.Expr:
    return pl.col(name).dt.epoch("d").cast(pl.Int32)
