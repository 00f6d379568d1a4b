"""What a posted row gets from its receipt and its sender: an id, a time and a project, where it states none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.transforms.core.vocabularies import LandedTable

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
