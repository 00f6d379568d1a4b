"""What should change, and what was decided: forgetting, review, and the answers of a language model."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, Node, PartitionNames, ReuseByDifference, TableInput
from slowwave.transforms.decisions.forgetting.tables import ForgettingAudit, ForgettingPlan, ForgettingQuotas, Regret
from slowwave.transforms.decisions.review.tables import ReviewDecisions, ReviewQueue, ReviewStatements, StatementSigns
from slowwave.transforms.evidence.nodes import CURRENT_MEMORIES, MEMORY_STATES
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.health.nodes import FORGETTING_EVIDENCE, TOUCHES
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.nodes import DECISIONS
from slowwave.transforms.learning.nodes import ENDED
from slowwave.transforms.observations.nodes import CONTRADICTIONS, MERGE_PROPOSALS
from slowwave.transforms.observations.tables import CurationDecisions

ARCHIVINGS = Handed("archivings", "Every `forget apply` on a memory, and whether it was undone.")
REJECTED_TEXTS = Handed("rejected_texts", "Texts that a person called wrong in a project.")

HEALTH_REVIEWED = TableInput(
    MemoryHealth,
    (
        *("memory_id", "project", "agent", "user_id", "scope", "memory_type", "status", "content", "created_at"),
        *("pinned", "injected_count", "reference_count", "last_referenced_at", "confirmed_count", "contradicted_count"),
        *("followed_count", "not_followed_count", "followed_low", "followed_high"),
        *("confidence", "need_30d", "fades_at", "trend", "verdict", "reasons", "expires_at"),
    ),
)

DECIDING: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.decisions.forgetting.plan:forgetting_evidence",
        outputs=(FORGETTING_EVIDENCE,),
        inputs={"states": MEMORY_STATES, "touches": TOUCHES, "decisions": DECISIONS},
    ),
    Node(
        "slowwave.transforms.decisions.forgetting.plan:forgetting_plan",
        outputs=(ForgettingPlan,),
        inputs={"health": MemoryHealth, "evidence": FORGETTING_EVIDENCE},
        params=("forgetting",),
        methods=("forgetting.method",),
    ),
    Node(
        "slowwave.transforms.decisions.forgetting.plan:forgetting_quotas",
        outputs=(ForgettingQuotas,),
        inputs={"health": MemoryHealth, "evidence": FORGETTING_EVIDENCE},
        params=("forgetting",),
        methods=("forgetting.method",),
    ),
    Node(
        "slowwave.transforms.decisions.effects:forgetting_audit",
        outputs=(ForgettingAudit,),
        inputs={"decisions": DECISIONS},
    ),
    Node("slowwave.transforms.decisions.effects:archivings", outputs=(ARCHIVINGS,), inputs={"decisions": DECISIONS}),
    Node(
        "slowwave.transforms.decisions.forgetting.regret:regret",
        outputs=(Regret,),
        inputs={"archived": ARCHIVINGS, "references": MemoryReferences},
        params=("forgetting",),
        methods=("forgetting.regret_method",),
    ),
    Node(
        "slowwave.transforms.decisions.review.rejected_texts:rejected_texts",
        outputs=(REJECTED_TEXTS,),
        inputs={"decisions": DECISIONS, "states": CURRENT_MEMORIES},
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.decisions.review.changes:review_decisions",
        outputs=(ReviewDecisions,),
        inputs={"decisions": DECISIONS},
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.decisions.review.candidate_evidence:statement_signs",
        outputs=(StatementSigns,),
        inputs={"statements": ExtractedStatements, "days": PartitionNames(ExtractedStatements)},
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.decisions.review.queue:review_tables",
        outputs=(ReviewQueue, ReviewStatements),
        inputs={
            "statements": ExtractedStatements,
            "interactions": ReplayedInteractions,
            "references": MemoryReferences,
            "memories": CURRENT_MEMORIES,
            "ended": ENDED,
            "health": HEALTH_REVIEWED,
            "contradictions": CONTRADICTIONS,
            "merge_proposals": MERGE_PROPOSALS,
            "curation": CurationDecisions,
            "decided": ReviewDecisions,
            "rejected": REJECTED_TEXTS,
            "signs": StatementSigns,
        },
        params=("evidence", "review_queue", "observations"),
        methods=("review_queue.method",),
        reuse={ReviewStatements: ReuseByDifference("occurred_at")},
        stage="statements and pairs",
    ),
)
