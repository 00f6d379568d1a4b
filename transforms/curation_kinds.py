"""What kind of thing a memory says: a standing rule, something that happened, or a fact."""

from __future__ import annotations

from slowwave.transforms.pair_reading import Reading
from slowwave.transforms.pair_words import STANDING

_MODEL_TYPES = frozenset({"preference", "identity", "instruction", "rule", "heuristic", "strategy", "adaptation"})
_OBSERVATION_TYPES = frozenset({"event", "episode", "episodic", "observation", "summary", "outcome"})


def curation_kind(memory_type: str, read: Reading) -> str:
    """model, observation or fact: from the memory's type where that says it, else from its words."""
    if memory_type in _MODEL_TYPES:
        return "model"
    if memory_type in _OBSERVATION_TYPES:
        return "observation"
    if read.words & STANDING:
        return "model"
    return "observation" if read.is_past or read.dates else "fact"
