"""What a publish tells of review: what waits for a person's word, what it stands on, and what was decided."""

from __future__ import annotations

import polars as pl

from slowwave.flows.publish.plan import Plan
from slowwave.flows.publish.replayed import replayed_interactions
from slowwave.flows.publish.run import Run
from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import Table
from slowwave.transforms.decisions.review.decisions import review_decisions
from slowwave.transforms.decisions.review.rejected_texts import rejected_texts
from slowwave.transforms.decisions.review.reviewed import reviewed
from slowwave.transforms.decisions.review.tables import ReviewDecisions, ReviewQueue, ReviewStatements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.states import current_memories
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.observations.tables import CurationDecisions


def review_from(
    run: Run,
    plan: Plan,
    health: Frame[MemoryHealth],
    ended: pl.DataFrame,
    contradictions: pl.DataFrame,
    merge_proposals: pl.DataFrame,
    curation: Frame[CurationDecisions],
) -> dict[type[Table], pl.DataFrame]:
    """review_queue, review_statements and review_decisions as known as of the plan."""
    log, lake = plan.log, run.lake
    memories = current_memories(log.states)
    decided = review_decisions(log.decisions, log.as_of)
    queue, statements = reviewed(
        lake.scan_evidence(ExtractedStatements, plan.partitions),
        replayed_interactions(lake, plan),
        lake.scan_evidence(MemoryReferences, plan.partitions),
        memories,
        ended,
        health,
        contradictions,
        merge_proposals,
        curation,
        decided,
        rejected_texts(log.decisions, memories, log.as_of),
        log.as_of,
        run.params,
    )
    return {ReviewQueue: queue, ReviewStatements: statements, ReviewDecisions: decided}
