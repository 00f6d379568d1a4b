"""Text of unknown origin in an answer to an agent: quoted, cut to length, with nothing in it that cannot be seen."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import orjson

from slowwave.flows.ask.cells import json_bytes
from slowwave.flows.kernel.terminal import shorten_to_width

LONGEST_LIST = 20
LONGEST_ITEM = 300
# Controls, formats (bidirectional marks, zero widths, tags), surrogates, private use, line and paragraph separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SELECTORS = frozenset(map(chr, [*range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0)]))
_LINES = str.maketrans("", "", "\n\t")
# What chat templates and markup are made of: JSON may write it so, and it stays the same text.
_MARKUP = {character: f"\\u{ord(character):04x}" for character in "<>|&"}


def inert(value: Any, longest: int) -> Any:  # noqa: ANN401 - whatever DuckDB returns
    r"""`value` as JSON has it, texts cut to `longest` characters and lists to so many items.

    What cannot be seen is written out, such as `\u200b`: a text can neither hide words nor reorder them.
    """
    return _bound_value(orjson.loads(json_bytes(value)), longest)


def inert_json(value: Mapping[str, Any]) -> str:
    """An answer as one line of JSON that holds no markup, and reads as the same values."""
    return orjson.dumps(value).decode().translate(str.maketrans(_MARKUP))


def _bound_value(value: Any, longest: int) -> Any:  # noqa: ANN401 - whatever JSON can say
    if isinstance(value, str):
        return _escape_hidden(shorten_to_width(value, longest))
    if isinstance(value, list):
        return [_bound_value(each, min(longest, LONGEST_ITEM)) for each in value[:LONGEST_LIST]]
    if isinstance(value, dict):
        return {_escape_hidden(name): _bound_value(each, longest) for name, each in value.items()}
    return value


def _escape_hidden(text: str) -> str:
    if text.translate(_LINES).isprintable() and _SELECTORS.isdisjoint(text):
        return text
    return "".join(_written_out(char) if _is_hidden(char) else char for char in text)


def _is_hidden(char: str) -> bool:
    return char in _SELECTORS or (char not in "\n\t" and unicodedata.category(char) in _INVISIBLE)


def _written_out(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"  # noqa: PLR2004 - of one unit
