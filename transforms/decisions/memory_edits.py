"""What a person says of one memory, `slowwave memory`: the change it asks for, what it alters, what takes it back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.landing.stated_changes import changes_of
from slowwave.transforms.landing.tables import Memories

EDIT, ARCHIVE, INVALIDATE = "memory edit", "memory archive", "memory invalidate"
PIN, TAG, UNDO = "memory pin", "memory tag", "memory undo"
MEMORY_EDITS = (EDIT, ARCHIVE, INVALIDATE, PIN, TAG, UNDO)

State = Mapping[str, Any]
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Undoable:
    """A decision that can be taken back: its change, and what the fields of it were before."""

    decision: Mapping[str, Any]
    before: Fields


def change_of(memory_id: str, fields: Fields) -> dict[str, Any]:
    """The change that gives a memory these fields; one that is None is cleared."""
    clears = sorted(name for name, value in fields.items() if value is None)
    said = {name: value for name, value in fields.items() if value is not None}
    return {"memory_id": memory_id, **said, **({"clears": clears} if clears else {})}


def states_of(changes: pl.DataFrame) -> list[dict[str, Any]]:
    """The states of one memory after each of its winning changes, oldest first."""
    return memory_states(changes.lazy()).sort("valid_from").collect().to_dicts()


def state_after(changes: pl.DataFrame, fields: Fields) -> State:
    """The state of one memory, were these fields said after its winning changes."""
    last = changes.sort("changed_at").tail(1)
    change = change_of(last["memory_id"][0], fields)
    said = pl.DataFrame([change], schema={name: changes.schema[name] for name in change})
    row = said.with_columns(changed_at=last["changed_at"] + pl.duration(microseconds=1))
    return states_of(pl.concat([changes, row], how="diagonal"))[-1]


def differences(before: State, after: State) -> dict[str, tuple[Any, Any]]:
    """The fields of a memory that are not the same in two states: what they were, what they are."""
    return {name: (before[name], after[name]) for name in Memories.state if before[name] != after[name]}


def fields_of_status(status: str, state: State) -> Fields:
    """What says that a memory has this status; in use again, no other stands for it."""
    is_freed = state["status"] == "superseded" and status in {"candidate", "active", "graduated"}
    return {"status": status, **({"superseded_by": None} if is_freed else {})}


def fields_of_tags(added: Sequence[str], removed: Sequence[str], state: State) -> Fields:
    """What gives a memory tags, after those it has, and takes others from it."""
    tags = [tag for tag in dict.fromkeys([*(state["tags"] or []), *added]) if tag not in removed]
    return {"tags": tags or None}


def last_to_undo(decisions: Sequence[Mapping[str, Any]]) -> Undoable | None:
    """Of the decisions of `slowwave memory` on one memory, oldest first, the last that was not taken back."""
    said = [
        (decision, json.loads(decision["values"]) | {"changes": changes_of(decision["values"])})
        for decision in decisions
    ]
    undone = {values["undoes"] for decision, values in said if decision["command"] == UNDO}
    left = [
        Undoable(decision, values["changes"][0]["before"])
        for decision, values in said
        if decision["command"] != UNDO and decision["decision_id"] not in undone
    ]
    return left[-1] if left else None
