"""The fields of the contract by name, of whichever landed table; what a name means is the same in all of them."""

from __future__ import annotations

from typing import Any

import orjson

from slowwave.transforms.core.exact_json import exact_json
from slowwave.transforms.core.schema import Column, producer_columns
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.tables import LANDED

FIELDS: dict[str, Column] = {c.name: c for table in reversed(LANDED) for c in producer_columns(table)}
FIELDS_OF: dict[LandedTable, frozenset[str]] = {
    "interactions": frozenset(c.name for c in producer_columns(LANDED[0])),
    "outcomes": frozenset(c.name for c in producer_columns(LANDED[1])),
    "memories": frozenset(c.name for c in producer_columns(LANDED[2])),
}
# What a mapping may fill: `extra` is what is left.
MAPPABLE: tuple[str, ...] = tuple(
    dict.fromkeys(c.name for table in LANDED for c in producer_columns(table) if c.name != "extra")
)


# A mapped value as the contract's field has it, where what is meant is plain; others are refused by their column.
# Conversions follow the declared kind of the column: words such as `failed` become booleans, objects in a list their
# ids.

_YES = frozenset(
    {"ok", "pass", "passed", "success", "succeeded", "successful", "completed", "solved", "resolved", "correct"}
)
_NO = frozenset(
    {
        "fail",
        "failed",
        "failure",
        "error",
        "errored",
        "ko",
        "unsuccessful",
        "unsolved",
        "unresolved",
        "incorrect",
        "wrong",
    }
)
_IDS = ("id", "memory_id", "_id", "uuid", "key")


def convert_value(column: Column, value: Any) -> tuple[Any, bool]:  # noqa: ANN401 - whatever was delivered
    """The value as the column takes it, and whether all that was delivered is still in it."""
    if column.kind == "boolean" and isinstance(value, str):
        word = value.strip().lower()
        return (word in _YES if word in _YES | _NO else value), True
    if column.kind == "texts":
        return _ids(value)
    return value, True


def _ids(value: Any) -> tuple[Any, bool]:  # noqa: ANN401
    if isinstance(value, str):
        try:
            value = exact_json(value)
        except orjson.JSONDecodeError:
            return value, True
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return value, True
    return [_id(item) for item in value], False


def _id(item: Any) -> Any:  # noqa: ANN401
    if not isinstance(item, dict):
        return item
    return next((item[name] for name in _IDS if item.get(name) is not None), item)
