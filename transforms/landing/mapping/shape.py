"""Which rows a mapping takes, and how many it makes of one: `where` and `explode`.

Of a list of messages `explode` makes a row per turn: what the user says, and what follows until the user speaks again.
Of any other list it makes a row per element. What is exploded stands in each row where the list stood.
"""

from __future__ import annotations

from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.landing.coerce import Unfit, json_text
from slowwave.transforms.landing.mapping.messages import has_messages, turns_of
from slowwave.transforms.landing.mapping.paths import value_at, without
from slowwave.transforms.landing.mapping.rules import Condition, FieldMapping
from slowwave.transforms.landing.tables import Outcomes

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
