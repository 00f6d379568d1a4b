"""What is made of each day alone, and kept: evidence of eligibility, injection and use."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, LandedInput, Node, ReuseByDay
from slowwave.transforms.evidence.chunks.tables import ChunkUse
from slowwave.transforms.evidence.followed.counts import FOLLOWED_COUNTS
from slowwave.transforms.evidence.followed.tables import InstructionChecks
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import (
    ExpectedUse,
    MemoriesNow,
    MemoryDays,
    MemoryEligibility,
    MemoryReferences,
    ProjectDays,
    PublishedReferences,
    ReferenceDays,
    ReplayedInteractions,
    UseProbabilities,
)
from slowwave.transforms.landing.tables import Interactions, Memories

MEMORY_CHANGES = LandedInput(Memories, ("memory_id", *Memories.of_change, *Memories.state, "clears"))
REPLAYED = LandedInput(Interactions, ("interaction_id", "created_at", "project", "agent", "session_id", "user_id"))
CHUNKS = LandedInput(Interactions, ("interaction_id", "created_at", "project", "chunks_used"), listing="chunks_used")
# What of an interaction stands in evidence, too, is read with them.
_SHOWN = (name for name in Interactions.model_fields if name in MemoryReferences.model_fields.keys() - REPLAYED.columns)
TEXTS = LandedInput(
    Interactions,
    ("prompt", "response", "response_summary", "memories_used", "memories_cited", "reinforce", *_SHOWN),
)

MEMORY_STATES = Handed("memory_states", "What each memory was from one change to the next, carried over and cleared.")
CURRENT_MEMORIES = Handed("current_memories", "What each memory is now: its last state.")
MEMORY_POOL = Handed("memory_pool", "The stretches in which a memory was active, and whose interactions it reaches.")
ELIGIBLE_POOL = Handed("eligible_pool", "Of memory_pool what was eligible on the day.")
WORD_VECTORS = Handed("word_vectors", "Vectors of words, from a model that is installed with Slowwave.")
USED_MEMORIES = Handed("used_memories", "Interactions and the memories that their answer may rely on, and how likely.")
INSTRUCTIONS = Handed("checkable_instructions", "What answers can be checked for by each memory that says it.")
INSTRUCTED = Handed("instructed_interactions", "Interactions that such a memory was injected into.")
FOLLOWED = Handed("followed_counts", "How many checked answers follow each instruction, and how many do not.")
CHECKED_TEXTS = LandedInput(Interactions, ("interaction_id", "prompt", "response"), keys=INSTRUCTED)
CHUNK_DAYS = Handed("chunk_days", "How often each chunk and each document was used on the day.")

EVIDENCE_NODES: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.evidence.states:memory_states",
        reads="states",
        outputs=(MEMORY_STATES,),
        inputs={"memories": MEMORY_CHANGES},
        params=("scopes",),
    ),
    Node(
        "slowwave.transforms.evidence.states:current_memories",
        outputs=(CURRENT_MEMORIES,),
        inputs={"states": MEMORY_STATES},
    ),
    Node(
        "slowwave.transforms.evidence.memories_now:memories_now",
        outputs=(MemoriesNow,),
        inputs={"states": MEMORY_STATES},
    ),
    Node(
        "slowwave.transforms.evidence.states:memory_pool",
        reads="pool",
        outputs=(MEMORY_POOL,),
        inputs={"states": MEMORY_STATES},
        params=(
            "evidence.eligible_method",
            "evidence.global_types",
            "evidence.echo_method",
            "evidence.echo_code_points",
            "evidence.echo_min_code_points",
        ),
        methods=("evidence.eligible_method",),
        stage="eligibility",
    ),
    Node("", reads="word_vectors", outputs=(WORD_VECTORS,), inputs={}),
    Node(
        "slowwave.transforms.evidence.memory_days:replayed_interactions",
        outputs=(ReplayedInteractions,),
        inputs={"interactions": REPLAYED},
        looked_up=("user_id",),
        grain="day",
        in_buckets=True,
        is_in_lake=True,
        stage="eligibility",
    ),
    Node(
        "slowwave.transforms.evidence.eligibility:memory_eligibility",
        outputs=(MemoryEligibility,),
        reads="eligibility",
        inputs={"interactions": REPLAYED, "pool": MEMORY_POOL},
        grain="day",
        is_in_lake=True,
        expires=True,
        stage="eligibility",
    ),
    Node(
        "slowwave.transforms.evidence.eligibility:eligible_pool",
        outputs=(ELIGIBLE_POOL,),
        inputs={"pool": MEMORY_POOL, "eligibility": MemoryEligibility},
        grain="day",
        stage="used",
    ),
    Node(
        "slowwave.transforms.evidence.used.memories:used_memories_by_day",
        outputs=(USED_MEMORIES,),
        inputs={"interactions": (REPLAYED, TEXTS), "pool": ELIGIBLE_POOL, "word_vectors": WORD_VECTORS},
        params=("evidence.used",),
        methods=("evidence.used.method",),
        grain="day",
        in_buckets=True,
        stage="used",
    ),
    Node(
        "slowwave.transforms.evidence.expected_use:use_probabilities",
        outputs=(UseProbabilities,),
        inputs={"interactions": (REPLAYED, TEXTS), "used": USED_MEMORIES},
        grain="day",
        in_buckets=True,
        is_in_lake=True,
        stage="used",
    ),
    Node(
        "slowwave.transforms.evidence.expected_use:expected_use",
        outputs=(ExpectedUse,),
        of_parts="slowwave.transforms.evidence.expected_use:expected_use_of_parts",
        inputs={"probabilities": UseProbabilities},
        grain="day",
        is_in_lake=True,
        stage="used",
    ),
    Node(
        "slowwave.transforms.evidence.references:memory_references",
        outputs=(MemoryReferences,),
        inputs={"interactions": (REPLAYED, TEXTS), "pool": MEMORY_POOL, "used": USED_MEMORIES},
        params=("evidence.injected_method", "evidence.echo_method", "evidence.cited_method"),
        methods=("evidence.injected_method", "evidence.echo_method", "evidence.cited_method"),
        grain="day",
        in_buckets=True,
        is_in_lake=True,
        stage="echo",
    ),
    Node(
        "slowwave.transforms.evidence.memory_days:memory_days",
        outputs=(MemoryDays,),
        of_parts="slowwave.transforms.evidence.memory_days:memory_days_of_parts",
        inputs={"eligibility": MemoryEligibility, "references": MemoryReferences},
        params=("evidence.broad_memories", "evidence.bulk_memories"),
        grain="day",
        is_in_lake=True,
        stage="eligibility",
    ),
    Node(
        "slowwave.transforms.evidence.memory_days:reference_days",
        outputs=(ReferenceDays,),
        inputs={"memory_days": MemoryDays},
        grain="day",
        is_in_lake=True,
        stage="eligibility",
    ),
    Node(
        "slowwave.transforms.evidence.memory_days:project_days",
        outputs=(ProjectDays,),
        inputs={"interactions": REPLAYED},
        grain="day",
        is_in_lake=True,
        stage="eligibility",
    ),
    Node(
        "slowwave.transforms.evidence.statements.extract:extracted_statements",
        outputs=(ExtractedStatements,),
        inputs={"interactions": (REPLAYED, TEXTS)},
        params=("evidence.extract",),
        methods=("evidence.extract.method",),
        grain="day",
        in_buckets=True,
        is_in_lake=True,
        stage="statements and pairs",
    ),
    Node(
        "slowwave.transforms.evidence.references:published_references",
        outputs=(PublishedReferences,),
        inputs={"references": MemoryReferences},
        grain="day",
        reuse={
            PublishedReferences: ReuseByDay(
                "occurred_at", changed_by=(MemoryReferences,), audits_new_by="interaction_id"
            )
        },
    ),
    Node(
        "slowwave.transforms.evidence.followed.checks:checkable_instructions",
        outputs=(INSTRUCTIONS,),
        inputs={"states": MEMORY_STATES},
    ),
    Node(
        "slowwave.transforms.evidence.followed.checks:instructed_interactions",
        outputs=(INSTRUCTED,),
        inputs={"references": MemoryReferences, "instructions": INSTRUCTIONS},
    ),
    Node(
        "slowwave.transforms.evidence.followed.checks:instruction_checks",
        outputs=(InstructionChecks,),
        inputs={"interactions": CHECKED_TEXTS, "instructed": INSTRUCTED},
        params=("followed",),
        methods=("followed.method",),
        unless_empty="instructed",
        grain="day",
    ),
    Node("", query=FOLLOWED_COUNTS, outputs=(FOLLOWED,), inputs={"checks": InstructionChecks}),
    Node(
        "slowwave.transforms.evidence.chunks.use:chunk_days",
        outputs=(CHUNK_DAYS,),
        inputs={"interactions": CHUNKS},
        grain="day",
    ),
    Node("slowwave.transforms.evidence.chunks.use:chunk_use", outputs=(ChunkUse,), inputs={"days": CHUNK_DAYS}),
)
