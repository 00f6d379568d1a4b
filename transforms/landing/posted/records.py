"""The rows of a posted body: one JSON object, an array of them, or JSON lines."""

from __future__ import annotations

from typing import Any

import orjson

from slowwave.transforms.core.exact_json import exact_json

MOST_DEPTH = 100
_NO_OBJECT = 'it is no JSON object such as {"prompt": …}'
_TOO_DEEP = f"it nests deeper than {MOST_DEPTH} levels"


def posted_records(body: bytes) -> list[dict[str, Any] | str]:
    """Each row, or why it is none, in the order of the body; no row where the body says nothing.

    A body that is not JSON as a whole is read line by line; blank lines are no rows.
    """
    try:
        stated = exact_json(body)
    except orjson.JSONDecodeError:
        return [_of_line(line) for line in body.split(b"\n") if line.strip()]
    return [_check_record(one) for one in stated] if isinstance(stated, list) else [_check_record(stated)]


def is_too_deep(value: object) -> bool:
    """Whether lists and objects lie in each other deeper than a row may have them."""
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [held for one in level for held in _containers(one)]
        if not level:
            return False
    return True


def _containers(value: object) -> list[object]:
    if isinstance(value, dict):
        return [held for held in value.values() if isinstance(held, (dict, list))]
    return [held for held in value if isinstance(held, (dict, list))] if isinstance(value, list) else []


def _of_line(line: bytes) -> dict[str, Any] | str:
    try:
        return _check_record(exact_json(line))
    except orjson.JSONDecodeError as error:
        return f"it is not JSON: {error.msg} (column {error.colno})"


def _check_record(stated: object) -> dict[str, Any] | str:
    if not isinstance(stated, dict):
        return _NO_OBJECT
    return _TOO_DEEP if is_too_deep(stated) else stated
