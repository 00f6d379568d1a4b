"""What a publish tells of review: what waits for a person's word, what it stands on, and what was decided."""

from __future__ import annotations

import polars as pl

from slowwave.flows.plan import Plan
from slowwave.flows.run import Run
from slowwave.transforms.evidence_tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.extract_tables import ExtractedStatements
from slowwave.transforms.rejected_texts import rejected_texts
from slowwave.transforms.review_decisions import review_decisions
from slowwave.transforms.review_queue import ReviewEvidence, review_queue
from slowwave.transforms.review_tables import ReviewDecisions, ReviewQueue, ReviewStatements
from slowwave.transforms.schema import Table


def review_from(
    run: Run,
    plan: Plan,
    health: pl.DataFrame,
    ended: pl.DataFrame,
    contradictions: pl.DataFrame,
    merge_proposals: pl.DataFrame,
    disputes_method: str,
    curation: pl.DataFrame,
) -> dict[type[Table], pl.DataFrame]:
    """review_queue, review_statements and review_decisions as known as of the plan."""
    log, lake = plan.log, run.lake
    decided = review_decisions(log.decisions, log.as_of)
    evidence = ReviewEvidence(
        statements=lake.scan_evidence(ExtractedStatements, plan.partitions),
        interactions=lake.scan_evidence(ReplayedInteractions, plan.partitions).select(
            "interaction_id", "occurred_at", "session_id"
        ),
        references=lake.scan_evidence(MemoryReferences, plan.partitions).select(
            "memory_id", "interaction_id", "occurred_at", "session_id"
        ),
        sources=log.states.filter(pl.col("valid_until").is_null()).select("memory_id", "source_ids"),
        ended=ended,
        health=health,
        contradictions=contradictions,
        merge_proposals=merge_proposals,
        disputes_method=disputes_method,
        curation=curation,
        decided=decided.select("item_id", "basis").unique(),
        rejected=rejected_texts(log.decisions, log.states.filter(pl.col("valid_until").is_null()), log.as_of),
    )
    queue, statements = review_queue(evidence, log.as_of, run.params)
    return {ReviewQueue: queue, ReviewStatements: statements, ReviewDecisions: decided}
