"""What a language model answered, as decisions that landed."""

from __future__ import annotations

from slowwave.transforms.core.node import Node
from slowwave.transforms.evidence.nodes import MEMORY_STATES
from slowwave.transforms.landing.nodes import DECISIONS
from slowwave.transforms.observations.nodes import ANSWERED_PAIRS, CURATED_BY_RULES
from slowwave.transforms.observations.tables import CurationDecisions

ANSWERING: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.llm.model_decisions:answered_pairs",
        outputs=(ANSWERED_PAIRS,),
        inputs={"decisions": CURATED_BY_RULES, "states": MEMORY_STATES, "landed": DECISIONS},
        params=("llm",),
        methods=("llm.methods",),
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.llm.model_decisions:curation_answered",
        outputs=(CurationDecisions,),
        inputs={"decisions": CURATED_BY_RULES, "states": MEMORY_STATES, "landed": DECISIONS},
        params=("llm",),
        methods=("llm.methods",),
        stage="statements and pairs",
    ),
)
