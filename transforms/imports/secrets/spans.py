"""Places of secrets in a text, and the text without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

MARK = "[secret:"


@dataclass(frozen=True, order=True)
class Span:
    """A secret: from where to where it stands, and of which kind it is."""

    start: int
    end: int
    kind: str


def without(text: str, spans: Iterable[Span], counts: Counter[str]) -> str:
    """A text with `[secret:KIND]` for each span; of those that overlap, for the first and longest."""
    parts: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start < at:
            continue
        parts += [text[at : span.start], f"{MARK}{span.kind}]"]
        counts[span.kind] += 1
        at = span.end
    return "".join([*parts, text[at:]]) if parts else text


def has_any(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of some words stands in a text."""
    for word in words:  # noqa: SIM110 - any() takes twice as long, and every text is asked
        if word in text:
            return True
    return False
