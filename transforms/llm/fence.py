"""Text of unknown origin in a prompt: a JSON document in a fence that it cannot close."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from slowwave.transforms.core.hashing import digest

_NONCE_LENGTH = 16
# What chat templates and the fence are made of: written out, no text can start or end a turn or a fence.
_ESCAPED = frozenset("<>|")
# Controls, formats (bidirectional marks, zero widths, tags), surrogates, private use, line and paragraph separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def fence_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    """`value` as JSON between two marks with a nonce derived from it, which it can therefore not contain."""
    text = _escape_text(json.dumps(value, ensure_ascii=False, indent=1))
    nonce = digest([text])[:_NONCE_LENGTH]
    return f"<data {nonce}>\n{text}\n</data {nonce}>"


def _escape_text(text: str) -> str:
    # what is printable holds nothing invisible: most texts, and quickly checked
    if text.replace("\n", "").isprintable() and _ESCAPED.isdisjoint(text):
        return text
    return "".join(_written_out(char) if _is_special(char) else char for char in text)


def _is_special(char: str) -> bool:
    # JSON escapes the line breaks of texts itself: those that are left are its own
    return char in _ESCAPED or (char != "\n" and unicodedata.category(char) in _INVISIBLE)


def _written_out(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def shorten_text(text: str, length: int) -> str:
    """The first `length` characters; an ellipsis says that there are more."""
    return text if len(text) <= length else text[:length] + "…"
