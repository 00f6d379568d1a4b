"""The rows of a posted body: one JSON object, an array of them, or JSON lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from slowwave.transforms.core.exact_json import exact_json
from slowwave.transforms.core.vocabularies import LandedTable

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


# What a posted row gets from its receipt and its sender: an id, a time and a project, where it states none.

ID_OF: dict[LandedTable, str] = {
    "interactions": "interaction_id",
    "outcomes": "outcome_id",
    "memories": "memory_id",
}
_TIME_OF: dict[LandedTable, str] = {
    "interactions": "created_at",
    "outcomes": "created_at",
    "memories": "changed_at",
}


@dataclass(frozen=True)
class Receipt:
    """Where a row was posted to, by whom, and when.

    `project`: the one of the sender, None where it may name any. `received_at`: UTC. `row_id`: for a row without one.
    """

    kind: LandedTable
    project: str | None
    received_at: datetime
    row_id: str


def stamp_record(record: dict[str, Any], receipt: Receipt) -> dict[str, Any] | str:
    """The row with what it lacks, or why it cannot be taken."""
    kind = kind_of(record)
    if receipt.kind == "interactions" and kind != "interactions":
        return "it has no prompt, so it is no interaction"
    if receipt.kind != "interactions" and kind == "interactions":
        return "it has a prompt, so it is an interaction: post it to /interactions"
    if receipt.kind == "outcomes" and kind == "memories":
        return "it has a memory_id, so it is the change of a memory: post it to /memories"
    if receipt.kind == "memories" and kind != "memories":
        return "it has no memory_id, so it is no change of a memory"
    given: dict[str, Any] = {}
    if record.get(_TIME_OF[receipt.kind]) is None:
        given[_TIME_OF[receipt.kind]] = f"{receipt.received_at.isoformat()}Z"
    if record.get(ID_OF[receipt.kind]) is None:
        given[ID_OF[receipt.kind]] = receipt.row_id
    if receipt.project is not None:
        if record.get("project") not in (None, receipt.project):
            return "it names another project than that of its token"
        if record.get("scope") == "global" and receipt.project:
            return "its scope is global: the token is of one project"
        given["project"] = receipt.project
    return record | given


def kind_of(record: dict[str, Any]) -> LandedTable:
    """What landing takes a row for, where it can tell; else it may be an outcome."""
    if record.get("prompt") is not None:
        return "interactions"
    return "memories" if record.get("memory_id") is not None else "outcomes"
