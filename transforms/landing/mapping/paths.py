"""The value that a dotted path leads to in a delivered row, and the row without it.

In an object the longest name that is there counts first: `a.b` is a field of that name, else `b` in `a`. In a list a
number names an item, and any other name collects that of every object. A JSON text is looked into as what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from slowwave.transforms.core.exact_json import exact_json

_MOST_DIGITS = 9


def value_at(value: Any, parts: Sequence[str]) -> Any:  # noqa: ANN401 - whatever was delivered
    """What the path leads to; None where there is nothing."""
    if not parts:
        return value
    if isinstance(value, str):
        value = _said(value)
    if isinstance(value, dict):
        for end in range(len(parts), 0, -1):
            inner = value.get(".".join(parts[:end]))
            found = None if inner is None else value_at(inner, parts[end:])
            if found is not None:
                return found
        return None
    return _in_list(value, parts) if isinstance(value, list) else None


def _in_list(items: list[Any], parts: Sequence[str]) -> Any:  # noqa: ANN401
    place = parts[0]
    if place.isascii() and place.isdecimal():
        at = int(place) if len(place) <= _MOST_DIGITS else len(items)
        return value_at(items[at], parts[1:]) if at < len(items) else None
    found = [value_at(item, parts) if isinstance(item, dict) else None for item in items]
    return found if not items or any(one is not None for one in found) else None


def _said(text: str) -> Any:  # noqa: ANN401
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return exact_json(text)
    except orjson.JSONDecodeError:
        return None


def without(record: dict[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """The object without what the path leads to, nor objects that this empties; lists and texts stay whole."""
    for end in range(len(parts), 0, -1):
        name, rest = ".".join(parts[:end]), parts[end:]
        inner = record.get(name)
        if inner is None or value_at(inner, rest) is None:
            continue
        if rest and not isinstance(inner, dict):
            return record
        left = without(inner, rest) if rest else {}
        if left is inner:
            return record
        others = {key: value for key, value in record.items() if key != name}
        return {**others, name: left} if left else others
    return record
