"""What memories change: how the interactions ended that had them, beside those that had not."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, LandedInput, Node
from slowwave.transforms.evidence.nodes import MEMORY_STATES
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.learning.nodes import ATTEMPTS

ATTEMPTED = LandedInput(
    Interactions,
    ("interaction_id", "created_at", "project", "user_id", "memories_offered", "injection_probability"),
    keys=ATTEMPTS,
)

ATTEMPTED_INTERACTIONS = Handed(
    "attempted_interactions", "Interactions with an attempt, numbered: whose, what was offered."
)
ATTEMPTED_REFERENCES = Handed("attempted_references", "Of memory_references those of interactions with an attempt.")
MEMORY_ORIGINS = Handed("memory_origins", "What each memory was when it first landed.")
MEMORY_OWNERS = Handed("memory_owners", "Memories that are eligible in one user's interactions only.")
OFFERS = Handed("offers", "Which memories interactions with an attempt were offered.")
TRIALS = Handed("trials", "Interactions by how their latest attempt ended, and what each is comparable with.")
USER_TRIALS = Handed("user_trials", "The same, of users who own a memory, each comparable with their own alone.")
MEMORY_OUTCOMES = Handed("memory_outcomes", "Per memory, the outcomes of the interactions that had it, summed up.")

LIFT: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.lift.observed_outcomes:attempted_interactions",
        outputs=(ATTEMPTED_INTERACTIONS,),
        inputs={"interactions": ATTEMPTED},
        stage="lift",
    ),
    Node(
        "slowwave.transforms.lift.observed_outcomes:attempted_references",
        outputs=(ATTEMPTED_REFERENCES,),
        inputs={"references": MemoryReferences, "interactions": ATTEMPTED_INTERACTIONS},
        stage="lift",
    ),
    Node(
        "slowwave.transforms.evidence.states:memory_origins",
        outputs=(MEMORY_ORIGINS,),
        inputs={"states": MEMORY_STATES},
        stage="lift",
    ),
    Node(
        "slowwave.transforms.evidence.reach:memory_owners",
        outputs=(MEMORY_OWNERS,),
        inputs={"states": MEMORY_STATES},
        params=("evidence.eligible_method", "evidence.global_types"),
        stage="lift",
    ),
    Node(
        "slowwave.transforms.lift.observed_outcomes:attempted_trials",
        outputs=(OFFERS, TRIALS, USER_TRIALS),
        inputs={"interactions": ATTEMPTED_INTERACTIONS, "attempts": ATTEMPTS, "owners": MEMORY_OWNERS},
        stage="lift",
    ),
    Node(
        "slowwave.transforms.lift.observed_outcomes:memory_outcomes",
        outputs=(MEMORY_OUTCOMES,),
        inputs={
            "references": ATTEMPTED_REFERENCES,
            "offers": OFFERS,
            "memories": MEMORY_ORIGINS,
            "known": TRIALS,
            "of_users": USER_TRIALS,
            "owners": MEMORY_OWNERS,
        },
        params=("memory_outcomes",),
        methods=("memory_outcomes.outcomes_method", "memory_outcomes.lift_method"),
        stage="lift",
    ),
)
