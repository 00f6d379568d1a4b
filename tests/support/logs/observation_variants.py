"""A sentence with one thing changed that makes another statement of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"\b\d+\b")
_NUMBER_WORD = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_DAY = re.compile(r"\b(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b")
_MONTH = re.compile(r"\b(January|February|April|June|July|August|September|October|November|December)\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_BE = re.compile(r"\b(is|are|was|were|can|will|has)\b(?! not)")
_NOT = re.compile(r"\b(?:not|never)\b ?")


def variants(text: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the changed sentence): numbers, negations, dates and names altered or put in."""
    for kind, pattern, other in (
        ("number", _NUMBER, lambda match: str(int(match.group()) + 7)),
        ("number", _NUMBER_WORD, lambda _: "eleven"),
        ("date", _DAY, lambda match: "Tuesday" if match.group() != "Tuesday" else "Friday"),
        ("date", _MONTH, lambda match: "June" if match.group() != "June" else "April"),
        ("name", _NAME, lambda _: "Zanzibar"),
        ("negation", _BE, lambda match: f"{match.group()} not"),
        ("negation", _NOT, lambda _: ""),
    ):
        changed = pattern.sub(other, text, count=1)
        if changed != text:
            yield kind, changed
    bare = text.rstrip(" .!?")
    yield "number", f"{bare} 17 times."
    yield "negation", f"It is not true that {text}"
    yield "date", f"{bare} on 2026-03-01." if "Wednesday" in text else f"{bare} on Wednesday."
    yield "name", f"{bare} with Zanzibar."
