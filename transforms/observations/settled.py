"""What a pair of statements is to each other once the changes of state between statements are known."""

from __future__ import annotations

from slowwave.transforms.observations.pairs.relation import Relation
from slowwave.transforms.observations.states.changes import StateChange


def change_relation(change: StateChange) -> Relation:
    """Return the relation of two statements between which a change of state was found."""
    return Relation("supersedes", change.reason, (change.before, change.after))


def downgrade_relation(related: Relation) -> Relation:
    """Return the relation of two statements between which none was found.

    What is only newer and at odds by its words may be at odds: that is for people to settle.
    """
    if related.relation != "supersedes" or related.is_retraction:
        return related
    reason = f"may be at odds, but no change from one state to another can be read from them: {related.reason}"
    return Relation("may_contradict", reason, related.words)
