"""What follows from the decisions of `slowwave review`: changes of the memory log, and what is not asked again."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.decision_tables import Decisions
from slowwave.transforms.landed_tables import Memories
from slowwave.transforms.schema import polars_schema
from slowwave.transforms.versions import winning_versions

PROMOTE, REJECT, MERGE = "review promote", "review reject", "review merge"
REVIEWS = (PROMOTE, REJECT, MERGE)

_TEXTS = pl.List(pl.String())
# A change holds what is to be said of the memory; NULL fields stay as they are. `before`: the status it then had.
_CHANGE = pl.Struct(
    {
        "memory_id": pl.String(),
        "memory_type": pl.String(),
        "project": pl.String(),
        "content": pl.String(),
        "status": pl.String(),
        "confidence": pl.Float64(),
        "source_ids": _TEXTS,
        "superseded_by": pl.String(),
        "clears": _TEXTS,
    }
)
_VALUES = pl.Struct(
    {
        "kind": pl.String(),
        "project": pl.String(),
        "memory_type": pl.String(),
        "text": pl.String(),
        "memory_ids": _TEXTS,
        "basis": pl.String(),
        "changes": pl.List(_CHANGE),
    }
)


def review_changes(decisions: pl.DataFrame) -> pl.DataFrame:
    """The rows of the memory log that decisions of `review` make, with decision_id, in place of hashes and `extra`.

    They follow from the decisions alone.
    """
    told = _reviews(decisions).explode("changes").drop_nulls("changes").drop("project", "memory_type")
    fields = [name for name in _CHANGE.to_schema() if name in polars_schema(Memories)]
    return told.sort("decision_id", maintain_order=True).select(
        "decision_id",
        pl.col("decided_at").alias("changed_at"),
        "recorded_at",
        *[pl.col("changes").struct.field(name) for name in fields],
        "reason",
        "changed_by",
    )


def review_decisions(decisions: pl.LazyFrame, as_of: datetime) -> pl.DataFrame:
    """Everything `review` decided before `as_of`: the columns of review_decisions, sorted by decision_id."""
    won = _reviews(winning_versions(Decisions, decisions, as_of).collect())
    changed = pl.col("changes").list.eval(pl.element().struct.field("memory_id")).fill_null(pl.lit([], dtype=_TEXTS))
    return won.select(
        "decision_id",
        pl.col("target").alias("item_id"),
        pl.col("command").str.strip_prefix("review ").alias("action"),
        "kind",
        "project",
        "memory_type",
        "text",
        "memory_ids",
        changed.alias("changed_ids"),
        "basis",
        "reason",
        "changed_by",
        "decided_at",
        "on_run_id",
    ).sort("decision_id")


def last_reviews(decided: pl.DataFrame) -> pl.DataFrame:
    """Of review_decisions the last on each item, sorted by item_id."""
    return decided.sort("decided_at", "decision_id").unique("item_id", keep="last").sort("item_id")


def _reviews(decisions: pl.DataFrame) -> pl.DataFrame:
    ours = decisions.filter(pl.col("command").is_in(list(REVIEWS)))
    return ours.with_columns(pl.col("values").str.json_decode(_VALUES).alias("said")).unnest("said")
