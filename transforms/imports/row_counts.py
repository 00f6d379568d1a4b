"""What the rows of an import hold, as far as that decides what can be answered from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.vocabularies import Basis

_INFERRED: Basis = "inferred"


class Ended(NamedTuple):
    """An outcome: of which interaction ('': of none), and what it is."""

    interaction_id: str
    is_attempt: bool
    is_inferred: bool
    has_strategy: bool


@dataclass
class RowCounts:
    """Interactions, those that name memories by id, memories with a text, and how many outcomes there are of each kind.

    An attempt is what is not said to be none: rules that tell it from an error are for the night.
    """

    interactions: int = 0
    given: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)
    texts: int = 0
    ended: Counter[Ended] = field(default_factory=Counter)

    def count(self, fields: Mapping[str, Any]) -> None:
        """Count a row under the contract's names; an interaction may have an outcome inside."""
        of = str(fields.get("interaction_id") or "")
        is_interaction = fields.get("prompt") is not None
        if is_interaction:
            self.interactions += 1
            if fields.get("memories_used"):
                self.given.add(of)
            if fields.get("memories_cited"):
                self.cited.add(of)
        elif fields.get("memory_id") is not None:
            self.texts += not says_nothing(str(fields.get("content") or ""))
            return
        if fields.get("success") is not None:
            is_attempt, is_inferred = fields.get("attempted") is not False, fields.get("basis") == _INFERRED
            has_strategy = not says_nothing(str(fields.get("strategy") or ""))
            self.ended[Ended(of, is_attempt, is_inferred, has_strategy)] += 1

    def add(self, other: RowCounts) -> None:
        """Count what another counted."""
        self.interactions += other.interactions
        self.given |= other.given
        self.cited |= other.cited
        self.texts += other.texts
        self.ended.update(other.ended)
