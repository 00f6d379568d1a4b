"""What follows from the decisions of `slowwave review`: what is not asked again."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.decisions.review.tables import ReviewDecisions
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.stated_changes import CHANGE
from slowwave.transforms.landing.versions import winning_versions

PROMOTE, REJECT, MERGE = "review promote", "review reject", "review merge"
REVIEWS = (PROMOTE, REJECT, MERGE)

_TEXTS = pl.List(pl.String())
_VALUES = pl.Struct(
    {
        "kind": pl.String(),
        "project": pl.String(),
        "memory_type": pl.String(),
        "text": pl.String(),
        "memory_ids": _TEXTS,
        "basis": pl.String(),
        "changes": pl.List(CHANGE),
    }
)


def review_decisions(decisions: pl.LazyFrame, as_of: datetime) -> Frame[ReviewDecisions]:
    """Everything `review` decided before `as_of`: the columns of review_decisions, sorted by decision_id."""
    won = _reviews(winning_versions(Decisions, decisions, as_of).collect())
    changed = pl.col("changes").list.eval(pl.element().struct.field("memory_id")).fill_null(pl.lit([], dtype=_TEXTS))
    rows = won.select(
        "decision_id",
        pl.col("target").alias("item_id"),
        pl.col("command").str.strip_prefix("review ").alias("action"),
        "kind",
        "project",
        "memory_type",
        "text",
        "memory_ids",
        changed.alias("changed_ids"),
        pl.col("basis").alias("fingerprint"),
        "reason",
        "changed_by",
        "decided_at",
        "on_run_id",
    )
    return framed(ReviewDecisions, rows).sort("decision_id")


def last_reviews(decided: pl.DataFrame) -> pl.DataFrame:
    """Of review_decisions the last on each item, sorted by item_id."""
    return decided.sort("decided_at", "decision_id").unique("item_id", keep="last").sort("item_id")


def _reviews(decisions: pl.DataFrame) -> pl.DataFrame:
    ours = decisions.filter(pl.col("command").is_in(list(REVIEWS)))
    return ours.with_columns(pl.col("values").str.json_decode(_VALUES).alias("said")).unnest("said")
