"""What is known of each memory, how that came about, and how each project's memory is doing."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, Node, PartitionNames, Resumed, ReuseByDay, SameValues, TableInput
from slowwave.transforms.evidence.nodes import CURRENT_MEMORIES, FOLLOWED, MEMORY_STATES
from slowwave.transforms.evidence.tables import (
    ExpectedUse,
    MemoryDays,
    MemoryReferences,
    ProjectDays,
    ReferenceDays,
    ReplayedInteractions,
)
from slowwave.transforms.health.answerable.tables import (
    AnswerableQuestions,
    AttemptsByInjection,
    InteractionsWithMemories,
    UseByDay,
)
from slowwave.transforms.health.project.tables import ProjectHealth
from slowwave.transforms.health.tables import COUNTS, MemoryHealth, MemoryHealthHistory, ScopeLeaks, StaleInjections
from slowwave.transforms.health.touches import MEMORY_TOUCHES
from slowwave.transforms.learning.nodes import ATTEMPTS
from slowwave.transforms.learning.tables import CountedOutcomes
from slowwave.transforms.lift.nodes import ATTEMPTED_INTERACTIONS, ATTEMPTED_REFERENCES, MEMORY_OUTCOMES
from slowwave.transforms.usage.nodes import MEMORY_USE, TIMELINES
from slowwave.transforms.usage.tables import FittedStrengths

COUNTS_HISTORY = Handed("counts_history", "Counts and state of a memory up to each day on which they changed.")
TOUCHES = Handed("memory_touches", "How often each memory was eligible, in all and since it was last used.")
FORGETTING_EVIDENCE = Handed("forgetting_evidence", "What forgetting must know of a memory besides its health.")
ENDED_COUNTS = Handed("ended_counts", "How many interactions ended, with a memory and without, by project.")
ENDED_MEMORIES = Handed("ended_memories", "The memories that interactions with an attempt had, by project.")
HEALTH_ANSWERING = TableInput(
    MemoryHealth,
    ("memory_id", "project", "scope", "content", "eligible_count", "lift_basis", "lift_low", "lift_high"),
)
HEALTH_SIZES = TableInput(MemoryHealth, ("memory_id", "content", "use_state"))
OUTCOMES_ANSWERING = TableInput(
    CountedOutcomes, ("project", "basis", "is_attempt", "is_counted", "is_learned", "strategy_id")
)

HEALTH: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.health.history:counts_history",
        outputs=(COUNTS_HISTORY,),
        inputs={"states": MEMORY_STATES, "days": MemoryDays, "expected": ExpectedUse, "timelines": TIMELINES},
        resumes=Resumed(MemoryHealthHistory, by="memory_id", counts=(*COUNTS, "used_expected")),
        params=("reinforcement_delta", "reinforcement_cap"),
        stage="history",
    ),
    Node(
        "slowwave.transforms.health.usage_history:memory_use_history",
        outputs=(MemoryHealthHistory,),
        inputs={"history": COUNTS_HISTORY, "timelines": TIMELINES, "strength_fits": FittedStrengths},
        params=("evidence", "strength", "trend", "verdict"),
        methods=("trend.method", "verdict.method"),
        grain="day",
        reuse={
            MemoryHealthHistory: ReuseByDay(
                "day",
                changed_by=(MemoryDays, MEMORY_STATES),
                is_onward=True,
                while_same=SameValues(FittedStrengths, "half_life_days", "default_half_life_days"),
                audits_new_by="day",
            )
        },
        stage="history",
    ),
    Node(
        "slowwave.transforms.health.answerable.use_by_day:interactions_with_memories",
        outputs=(InteractionsWithMemories,),
        inputs={"references": MemoryReferences, "days": PartitionNames(MemoryReferences)},
    ),
    Node(
        "slowwave.transforms.health.answerable.log_counts:ended_with_memories",
        outputs=(ENDED_COUNTS, ENDED_MEMORIES),
        inputs={"references": ATTEMPTED_REFERENCES, "ended": ATTEMPTED_INTERACTIONS},
    ),
    Node(
        "slowwave.transforms.health.answerable.attempts_by_injection:attempts_by_injection",
        outputs=(AttemptsByInjection,),
        inputs={"references": ATTEMPTED_REFERENCES, "interactions": ATTEMPTED_INTERACTIONS, "attempts": ATTEMPTS},
    ),
    Node(
        "slowwave.transforms.health.stale_injections:stale_injections",
        outputs=(StaleInjections,),
        inputs={"references": MemoryReferences, "states": MEMORY_STATES},
    ),
    Node(
        "slowwave.transforms.health.scope_leaks:scope_leaks",
        outputs=(ScopeLeaks,),
        inputs={"references": MemoryReferences, "states": MEMORY_STATES, "interactions": ReplayedInteractions},
        params=("scopes",),
    ),
    Node("", query=MEMORY_TOUCHES, outputs=(TOUCHES,), inputs={"history": MemoryHealthHistory}, stage="history"),
    Node(
        "slowwave.transforms.health.judged_health:judged_health",
        outputs=(MemoryHealth,),
        inputs={
            "states": MEMORY_STATES,
            "days": ReferenceDays,
            "expected": ExpectedUse,
            "eligible": TOUCHES,
            "stale": StaleInjections,
            "followed": FOLLOWED,
            "outcomes": MEMORY_OUTCOMES,
            "use": MEMORY_USE,
            "held": FORGETTING_EVIDENCE,
        },
        params=("reinforcement_delta", "reinforcement_cap", "stated", "verdict", "review", "memory_outcomes"),
        methods=("stated.method", "verdict.method", "review.method"),
    ),
    Node(
        "slowwave.transforms.health.answerable.use_by_day:use_by_day",
        outputs=(UseByDay,),
        inputs={"had": InteractionsWithMemories, "references": MemoryReferences, "health": HEALTH_SIZES},
    ),
    Node(
        "slowwave.transforms.health.project.project_health:project_health",
        outputs=(ProjectHealth,),
        inputs={"health": MemoryHealth, "memories": CURRENT_MEMORIES, "leaks": ScopeLeaks},
        params=("project_health",),
        methods=("project_health.method",),
    ),
    Node(
        "slowwave.transforms.health.answerable.answerable_questions:answerable_questions",
        outputs=(AnswerableQuestions,),
        inputs={
            "days": ProjectDays,
            "had": InteractionsWithMemories,
            "outcomes": OUTCOMES_ANSWERING,
            "ended": ENDED_COUNTS,
            "memories": ENDED_MEMORIES,
            "health": HEALTH_ANSWERING,
        },
        params=("answers", "memory_outcomes"),
        methods=("answers.method",),
    ),
)
