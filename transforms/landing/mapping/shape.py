"""Which rows a mapping takes, and how many it makes of one: `where` and `explode`.

Of a list of messages `explode` makes a row per turn: what the user says, and what follows until the user speaks again.
Of any other list it makes a row per element. What is exploded stands in each row where the list stood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.landing.coerce import Unfit, json_text
from slowwave.transforms.landing.mapping.messages import LAST, has_messages, last_of, text_of, turns_of
from slowwave.transforms.landing.mapping.rules import Condition, FieldMapping
from slowwave.transforms.landing.tables import Outcomes

# The value that a dotted path leads to in a delivered row, and the row without it.
# In an object the longest name that is there counts first: `a.b` is a field of that name, else `b` in `a`. In a list a
# number names an item, `last(user)` the text of the user's last message and `last(assistant)` the answer to it (see
# `messages`), `join()` the texts of its parts as one, and any other name collects that of every object. A JSON text is
# looked into as what it says.

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


LEFT_OUT = "the mapping leaves it out"
"""How the reason of a row begins that a condition left out: such a row is counted, and is no fault."""
_MOST_ELEMENTS = 10_000
_MOST_CHARACTERS = 2**26  # each of the rows carries what else the delivered row has
# What is said of a whole delivered row: only the last of the rows made of it says it, or it would count several times.
_ONCE = frozenset(
    choose_columns(
        Outcomes,
        *(
            "success",
            "attempted",
            "error_message",
            "feedback",
            "duration_ms",
            "tokens",
            "cost",
            "basis",
            "basis_method",
        ),
    )
)
_IDS = frozenset({"interaction_id", "outcome_id", "memory_id"})


def find_refusal(record: dict[str, Any], mapping: FieldMapping) -> str:
    """Return why no row is made of a delivered one; '' where one is, or several are."""
    for condition in mapping.where:
        if not _is_met(condition, value_at(record, condition.parts)):
            among = ", ".join(map(_text, condition.values))
            return f"{LEFT_OUT}: where {condition.path} {'is' if condition.is_negated else 'is not'} {among or 'blank'}"
    return _no_elements(record, mapping.explode) if mapping.explode else ""


def explode_row(record: dict[str, Any], mapping: FieldMapping) -> list[dict[str, Any]]:
    """Return the rows that a delivered one makes: itself, where nothing is exploded."""
    if not mapping.explode:
        return [record]
    elements = _elements(record, mapping.explode)
    if not elements:
        return [record]
    left, name = without(record, mapping.explode), ".".join(mapping.explode)
    return [left | {name: element} for element in elements]


def number_row(record: dict[str, Any], mapping: FieldMapping, number: int, count: int) -> dict[str, Any]:
    """Return a mapped row as one of several: its ids end in its number from 1 on, the last one has the result."""
    if not mapping.explode:
        return record
    own = {rule.field for rule in mapping.rules if rule.parts[: len(mapping.explode)] == mapping.explode}
    made = {name: value for name, value in record.items() if number == count or name not in _ONCE - own}
    return made | {
        name: f"{made[name]}#{number}"
        for name in _IDS - own
        if isinstance(made.get(name), str | int) and made[name] != ""
    }


def _no_elements(record: dict[str, Any], path: tuple[str, ...]) -> str:
    name, value = ".".join(path), value_at(record, path)
    value = parse_json_text(value)
    if not isinstance(value, list):
        return (
            f"{name} is no list, so it cannot be exploded: name a list in `explode`, or leave such rows out by `where`"
        )
    elements = _elements(record, path)
    if not elements:
        what = "a message of a user" if has_messages(value) else "an element"
        return f"{name} has not {what}, so that exploded it makes no row: leave such rows out by `where`"
    try:
        carried = len(json_text(without(record, path)))
    except Unfit:
        return ""  # found again, and said, where it would be kept
    if len(elements) > _MOST_ELEMENTS or len(elements) * carried > _MOST_CHARACTERS:
        return (
            f"{name} has {len(elements):,} elements, and an exploded row has {_MOST_ELEMENTS:,} at most, which "
            f"together carry {_MOST_CHARACTERS:,} letters of its other fields: deliver it in several rows"
        )
    return ""


def _elements(record: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
    value = parse_json_text(value_at(record, path))
    if not isinstance(value, list):
        return []
    return turns_of(value) if has_messages(value) else [one for one in value if one is not None]


def _is_met(condition: Condition, value: Any) -> bool:  # noqa: ANN401 - whatever was delivered
    held = value if isinstance(value, list) and value else [value]
    is_among = any(_is_alike(one, wanted) for one in held for wanted in condition.values)
    return is_among != condition.is_negated


def _is_alike(value: object, wanted: object) -> bool:
    if type(value) in (int, float) and type(wanted) in (int, float):
        return value == wanted
    return isinstance(value, str | int | float | None) and _text(value) == _text(wanted)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or value == [] else str(value)
