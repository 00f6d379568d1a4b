"""Records that a memory search returned, and which of them a prompt holds word for word."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from slowwave.transforms.core.blank import says_nothing

# As many characters of a memory as tell it from others in a prompt.
_TELLING = 80
_IDS = ("id", "memory_id", "_id", "document_id")
_TEXTS = ("content", "memory", "text", "document", "page_content")
_SCORES = ("score", "similarity", "relevance", "relevance_score")


@dataclass(frozen=True)
class MemoryRecord:
    """A record of a memory or a document. `id` and `content` are '' where they were not captured."""

    id: str
    content: str
    score: float | None
    metadata: Any


def record(found: Mapping[str, Any]) -> MemoryRecord:
    """A record under the names that stores give to its id, text and score."""
    content = next((found[name] for name in _TEXTS if found.get(name)), "")
    if isinstance(content, str) and content.startswith("{"):
        with suppress(orjson.JSONDecodeError):
            content = orjson.loads(content)
    if isinstance(content, dict):  # a store's own object around the text, or what is remembered as an object
        content = next((content[name] for name in _TEXTS if isinstance(content.get(name), str)), _json(content))
    id_ = next((found[name] for name in _IDS if isinstance(found.get(name), (str, int)) and found[name] != ""), "")
    return MemoryRecord(
        str(id_).strip(),
        content if isinstance(content, str) else "",
        next((score for name in _SCORES if (score := _score(found.get(name))) is not None), None),
        found.get("metadata"),
    )


def _json(content: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(content).decode() if content else ""
    except orjson.JSONEncodeError:  # which is how it says that lists lie in lists too deep
        return ""


def in_text(records: Iterable[MemoryRecord], text: str) -> list[str] | None:
    """The ids of those records that stand in a text, but for case and white space; None where it is not known."""
    needles = {
        one.id: needle for one in records if (needle := _normal(one.content)[:_TELLING]) and not says_nothing(needle)
    }
    searched = _normal(text)
    if not needles or not searched:
        return None
    return [id_ for id_, needle in needles.items() if needle in searched]


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _score(value: Any) -> float | None:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
