"""What kind of thing a memory says: a standing rule, something that happened, or a fact."""

from __future__ import annotations

import re

from slowwave.transforms.pair_reading import reading
from slowwave.transforms.pair_words import RECURRING, WEEKDAYS

_MODEL_TYPES = frozenset({"preference", "identity", "instruction", "rule", "heuristic", "strategy", "adaptation"})
_OBSERVATION_TYPES = frozenset({"event", "episode", "episodic", "observation", "summary", "outcome"})
_ORDER = re.compile(r"\W*(?:please\s+)?(?:do|don['’]t)\s", re.IGNORECASE)
_NO_EVENTS = frozenset(WEEKDAYS.values()) | RECURRING


def curation_kind(memory_type: str, content: str) -> str:
    """model, observation or fact: from the memory's type where that says it, else from its words.

    A day of the week, or how often something is done, makes no event of it.
    """
    if memory_type in _MODEL_TYPES:
        return "model"
    if memory_type in _OBSERVATION_TYPES:
        return "observation"
    read = reading(content)
    if read.is_standing or _ORDER.match(content):
        return "model"
    return "observation" if read.is_past or set(read.dates) - _NO_EVENTS else "fact"
