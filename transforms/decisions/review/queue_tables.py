"""review_queue and review_statements, from the tables that they stand on."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy
from slowwave.transforms.decisions.review.candidate_evidence import known_signs, promising_statements
from slowwave.transforms.decisions.review.items import landed_candidates
from slowwave.transforms.decisions.review.params import QueueParams
from slowwave.transforms.decisions.review.queue import ReviewEvidence, review_queue
from slowwave.transforms.decisions.review.tables import ReviewDecisions, ReviewQueue, ReviewStatements, StatementSigns
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.tables import CurationDecisions


class ReviewedParams(QueueParams, Protocol):
    """What the queue is made with, and who says what contradicts what."""

    observations: ObservationParams


def review_tables(
    statements: Lazy[ExtractedStatements],
    interactions: Lazy[ReplayedInteractions],
    references: Lazy[MemoryReferences],
    memories: pl.DataFrame,
    ended: pl.DataFrame,
    health: Frame[MemoryHealth],
    contradictions: pl.DataFrame,
    merge_proposals: pl.DataFrame,
    curation: Frame[CurationDecisions],
    decided: Frame[ReviewDecisions],
    rejected: pl.DataFrame,
    signs: Frame[StatementSigns],
    as_of: datetime,
    params: ReviewedParams,
) -> tuple[Frame[ReviewQueue], Frame[ReviewStatements]]:
    """The rows of review_queue and of review_statements, each sorted by key, before they are stamped.

    Args:
        statements: extracted_statements, with `day`.
        interactions: replayed_interactions.
        references: memory_references; what an answer only cites is none here.
        memories: of `current_memories`: memory_id, source_ids, owner.
        ended: of `ended_interactions`.
        health: memory_health.
        contradictions: of `observed`.
        merge_proposals: of `observed`.
        curation: curation_decisions.
        decided: review_decisions.
        rejected: of `rejected_texts`.
        signs: statement_signs.
        as_of: the instant asked for.
        params: of the queue, of evidence, and the method of observations.
    """
    told = known_signs(statements, signs)
    landed = landed_candidates(health, params.review_queue)["statement_id"]
    told = promising_statements(told, landed, ended, params.review_queue.min_points)
    named = _read_source_interactions(interactions, told, memories)
    evidence = ReviewEvidence(
        statements=told.lazy(),
        interactions=named.select("interaction_id", "occurred_at", "session_id"),
        references=references.filter(pl.col("is_injected") | is_reference()).select(
            "memory_id", "interaction_id", "occurred_at", "session_id"
        ),
        sources=memories.select("memory_id", "source_ids"),
        ended=ended,
        health=health,
        contradictions=contradictions,
        merge_proposals=merge_proposals,
        disputes_method=params.observations.method,
        curation=curation,
        decided=decided.select("item_id", "fingerprint").unique(),
        users=named.filter(pl.col("user_id").fill_null("") != "").select("interaction_id", "user_id"),
        rejected=rejected,
        owners=memories.select("memory_id", "owner"),
    )
    return review_queue(evidence, as_of, params)


def _read_source_interactions(
    interactions: Lazy[ReplayedInteractions], statements: pl.DataFrame, memories: pl.DataFrame
) -> pl.LazyFrame:
    """The interactions that state something or are a memory's source: few of all, which are read once for them."""
    sources = memories.select(pl.col("source_ids").explode().alias("interaction_id"))
    ids = pl.concat([statements.select("interaction_id"), sources]).drop_nulls().unique()
    return (
        interactions.select("interaction_id", "occurred_at", "session_id", "user_id")
        .join(ids.lazy(), on="interaction_id", how="semi")
        .collect()
        .lazy()
    )
