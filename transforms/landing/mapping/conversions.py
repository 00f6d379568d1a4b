"""A mapped value as the contract's field has it, where what is meant is plain; others are refused by their column.

Conversions follow the declared kind of the column: epochs in micro- or nanoseconds become times, words such as `failed`
booleans, objects in a list their ids. Seconds, milliseconds and JSON texts are what every row may have.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import orjson

from slowwave.transforms.core.exact_json import exact_json
from slowwave.transforms.core.schema import Column

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_MICROSECONDS_FROM, _NANOSECONDS_FROM = 10**14, 10**17
_WHOLE = re.compile(r"\s*[+-]?[0-9]{15,20}\s*")
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


def converted(column: Column, value: Any) -> tuple[Any, bool]:  # noqa: ANN401 - whatever was delivered
    """The value as the column takes it, and whether all that was delivered is still in it."""
    if column.kind == "time":
        return _time(value), True
    if column.kind == "boolean" and isinstance(value, str):
        word = value.strip().lower()
        return (word in _YES if word in _YES | _NO else value), True
    if column.kind == "texts":
        return _ids(value)
    return value, True


def _time(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) >= _MICROSECONDS_FROM:
        return value
    try:
        return _EPOCH + timedelta(microseconds=value // 1000 if abs(value) >= _NANOSECONDS_FROM else value)
    except OverflowError:
        return value


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
