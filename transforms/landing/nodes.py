"""What is made from landed rows alone: what landed when, and what counts nowhere."""

from __future__ import annotations

from slowwave.transforms.core.node import Handed, LandedInput, Node, ReuseByDay
from slowwave.transforms.core.schema import columns
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import SetAside
from slowwave.transforms.landing.tables import LANDED, LandedDays, Memories

FAILED_ROWS = Handed("failed_rows", "Row versions that fail a declared check, or that people left out.")
DECIDED = LandedInput(Decisions, tuple(c.name for c in columns(Decisions) if not c.internal))
DECISIONS = Handed("effective_decisions", "Decisions of which what they change, if anything, is in the memory log.")

# Of each landed row, where its table has it.
_OF_DAYS = ("basis", "tokens", "cost")
_ROWS_OF_DAYS = tuple(
    LandedInput(of, ("project", "agent", of.event_time, "recorded_at", *(c for c in _OF_DAYS if c in of.model_fields)))
    for of in LANDED
)

LANDING: tuple[Node, ...] = (
    Node(
        "slowwave.transforms.landing.landed_days:landed_days",
        outputs=(LandedDays,),
        inputs={"rows": _ROWS_OF_DAYS},
        grain="day",
        reuse={LandedDays: ReuseByDay("day", changed_by=LANDED)},
    ),
    Node(
        "",
        reads="failed_rows",
        outputs=(FAILED_ROWS,),
        inputs={
            "table": tuple(
                LandedInput(of, tuple(c.name for c in columns(of) if not c.internal and not c.strict)) for of in LANDED
            ),
            "decisions": LandedInput(Decisions, ("target", "command", "decided_at", "values", "reason")),
        },
        grain="day",
    ),
    Node("slowwave.transforms.landing.set_aside:set_aside", outputs=(SetAside,), inputs={"failed": FAILED_ROWS}),
    Node(
        "slowwave.transforms.decisions.effects:effective",
        reads="decisions",
        outputs=(DECISIONS,),
        inputs={
            "decisions": DECIDED,
            "memory_row_hashes": LandedInput(Memories, ("row_hash",)),
        },
    ),
)
