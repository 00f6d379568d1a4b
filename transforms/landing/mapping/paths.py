"""The value that a dotted path leads to in a delivered row, and the row without it.

In an object the longest name that is there counts first: `a.b` is a field of that name, else `b` in `a`. In a list a
number names an item, `last(user)` the text of the user's last message and `last(assistant)` the answer to it (see
`messages`), `join()` the texts of its parts as one, and any other name collects that of every object. A JSON text is
looked into as what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.landing.mapping.messages import LAST, last_of, text_of

_MOST_DIGITS = 9
JOIN = "join()"
"""What a path says of a list of parts whose texts are one."""


def value_at(value: Any, parts: Sequence[str]) -> Any:  # noqa: ANN401 - whatever was delivered
    """What the path leads to; None where there is nothing."""
    if not parts:
        return value
    value = parse_json_text(value)
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
    if (of_role := LAST.fullmatch(place)) is not None:
        return last_of(items, of_role[1]) if len(parts) == 1 else None
    if place == JOIN:
        return (text_of(items) or None) if len(parts) == 1 else None
    if place.isascii() and place.isdecimal():
        at = int(place) if len(place) <= _MOST_DIGITS else len(items)
        return value_at(items[at], parts[1:]) if at < len(items) else None
    found = [value_at(item, parts) if isinstance(item, dict) else None for item in items]
    return found if not items or any(one is not None for one in found) else None


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
