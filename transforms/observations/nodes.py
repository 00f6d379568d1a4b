"""The facts behind the memories: what says the same, what contradicts what, what a fact has become."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, Node, TableInput
from slowwave.transforms.evidence.nodes import MEMORY_STATES, WORD_VECTORS
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.observations.tables import Observations

READY_TEXTS = Handed("ready_texts", "Texts that were read once, for all who compare them.")
CURATED_BY_RULES = Handed("curated_by_rules", "Rows of curation_decisions as the rules have them.")
ANSWERED_PAIRS = Handed("answered_pairs", "What a language model said of pairs of memories.")
OBSERVED = Handed("observed", "Rows of observations as the rules have them.")
CONTRADICTIONS = Handed("contradictions", "Pairs of memories that cannot both be true.")
MERGE_PROPOSALS = Handed("merge_proposals", "Memories that may be merged into one.")

# Of memory_health; no more of it is held while statements are compared.
HEALTH_OBSERVED = TableInput(
    MemoryHealth,
    (
        *("memory_id", "confidence", "confirmed_count", "contradicted_count", "reference_count", "injected_count"),
        *("last_referenced_at", "trend"),
    ),
)

OBSERVATIONS: tuple[Node, ...] = (
    Node("slowwave.transforms.observations.pairs.texts:ready_texts", outputs=(READY_TEXTS,), inputs={}),
    Node(
        "slowwave.transforms.observations.curation_decisions:curation_decisions",
        outputs=(CURATED_BY_RULES,),
        inputs={"states": MEMORY_STATES, "word_vectors": WORD_VECTORS, "ready": READY_TEXTS},
        params=("observations",),
        methods=("observations.curation_method",),
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.observations.observations:observe_memories",
        outputs=(OBSERVED, CONTRADICTIONS, MERGE_PROPOSALS),
        inputs={
            "states": MEMORY_STATES,
            "health": HEALTH_OBSERVED,
            "word_vectors": WORD_VECTORS,
            "answered": ANSWERED_PAIRS,
            "ready": READY_TEXTS,
        },
        params=("observations",),
        methods=("observations.method",),
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.observations.answered:observation_methods",
        outputs=(Observations,),
        inputs={"observations": OBSERVED, "answered": ANSWERED_PAIRS},
        stage="statements and pairs",
    ),
)
