"""What a person has said is wrong: it is neither proposed again nor shown to a model."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.decisions.memory_edits import INVALIDATE
from slowwave.transforms.decisions.review.changes import last_reviews, review_decisions
from slowwave.transforms.decisions.review.items import statement_ids
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.versions import winning_versions

REJECTED_SCHEMA = pl.Schema({"project": pl.String(), "statement_id": pl.String()})


def rejected_texts(decisions: pl.LazyFrame, states: pl.DataFrame, as_of: datetime) -> pl.DataFrame:
    """project, statement_id: texts that `review reject` or `memory invalidate` called wrong in a project, sorted.

    Args:
        decisions: all versions of the landed decisions; only those before `as_of` count, the last on each item.
        states: memories as they are: memory_id, project, content, status. What is in use again is not rejected.
        as_of: the instant asked for.
    """
    rejected = last_reviews(review_decisions(decisions, as_of)).filter(pl.col("action") == "reject")
    invalidated = winning_versions(Decisions, decisions.filter(pl.col("command") == INVALIDATE), as_of).collect()
    if rejected.is_empty() and invalidated.is_empty():
        return REJECTED_SCHEMA.to_frame()
    known = states.select("memory_id", pl.col("project").fill_null(""), pl.col("content").alias("text"), "status")
    candidates = rejected.filter(pl.col("kind") == "candidate").select("project", "text")
    changed = rejected.select(pl.col("changed_ids").alias("memory_id")).explode("memory_id")
    changed = pl.concat([changed, invalidated.select(memory_id="target")]).unique()
    invalid = known.filter(pl.col("status") == "invalid").join(changed, on="memory_id", how="semi")
    said = _statement_keys(pl.concat([candidates, invalid.select("project", "text")]))
    in_use = _statement_keys(known.filter(pl.col("status") == "active").select("project", "text"))
    return said.join(in_use, on=["project", "statement_id"], how="anti").unique().sort("project", "statement_id")


def _statement_keys(texts: pl.DataFrame) -> pl.DataFrame:
    told = texts.filter(pl.col("text").is_not_null())
    return told.select(pl.col("project").fill_null(""), statement_ids(told["text"]).alias("statement_id"))
