"""What is known of a store before it is read: what was last seen of it, and what `slowwave push` wrote to it.

Without it, what changed in a store, and what is gone, is not known. Values that were pushed are no word of the store's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import polars as pl

# ------------------------------------------------------------------------------------------
# What `slowwave push` wrote to stores: an import tells by it that a value is ours, and no word of the store's.

# A push is written down before it is done, so that no import in between takes its values for the store's own.
PUSH_BEGIN, PUSH, PUSH_UNDO = "push begin", "push", "push undo"
PUSHES = (PUSH_BEGIN, PUSH, PUSH_UNDO)

Pushed = Mapping[str, Mapping[str, Sequence[tuple[Any, datetime]]]]
"""Per memory and field of the memory log the values that were pushed, and since when, oldest first."""


@dataclass(frozen=True)
class PushDecision:
    """One landed decision of `slowwave push`.

    `before`, `after`: fields of the store, as they were and as written. `run`: the command that wrote them. `begun`:
    the decision written down before. `undoes`: the one that this takes back.
    """

    decision_id: str
    command: str
    memory_id: str
    decided_at: datetime
    store: str
    place: str
    run: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    begun: str | None
    undoes: str | None

    def mark_done(self) -> PushDecision:
        """The same, once it is noted as done."""
        return replace(self, command=PUSH_UNDO if self.undoes else PUSH, begun=self.decision_id)

    def only(self, fields: frozenset[str]) -> PushDecision:
        """The same of some fields alone."""
        kept = ({name: value for name, value in said.items() if name in fields} for said in (self.before, self.after))
        before, after = kept
        return replace(self, before=before, after=after)


def push_decisions(decisions: pl.DataFrame) -> list[PushDecision]:
    """The decisions of `slowwave push`, oldest first."""
    ours = decisions.filter(pl.col("command").is_in(PUSHES)).sort("decided_at", "decision_id")
    return [
        PushDecision(decision_id, command, target, decided_at, **_push_values(json.loads(values)))
        for decision_id, command, target, decided_at, values in ours.select(
            "decision_id", "command", "target", "decided_at", "values"
        ).iter_rows()
    ]


def _push_values(values: Mapping[str, Any]) -> dict[str, Any]:
    names = ("store", "place", "run", "before", "after")
    return {**{name: values[name] for name in names}, "begun": values.get("begun"), "undoes": values.get("undoes")}


def pushed_values(decisions: pl.DataFrame) -> Pushed:
    """What was written to stores, or was about to be, under the names that the memory log has for it."""
    found: dict[str, dict[str, list[tuple[Any, datetime]]]] = {}
    for decision in push_decisions(decisions):
        for name, value in _logged_values(decision.after):
            found.setdefault(decision.memory_id, {}).setdefault(name, []).append((value, decision.decided_at))
    return found


def _logged_values(after: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in after.items():
        if name == "is_archived":
            yield "status", "archived" if value else "active"
        elif name in ("confidence", "content"):
            yield name, value


# ------------------------------------------------------------------------------------------
# What was seen of the stores of one kind: without it, what changed in a store, and what is gone, is not known.


@dataclass(frozen=True)
class SeenMemory:
    """What was last seen of a memory: as of when, whether in use, a digest of each field, and which stores had it."""

    at: datetime
    is_live: bool
    digests: Mapping[str, str]
    stores: frozenset[str]


@dataclass
class StoreSnapshot:
    """What was seen by which version of the importer: of memories by id, and digests of other rows by key.

    `stores`: where each store lies that was read, by what identifies it.
    """

    version: int
    memories: dict[str, SeenMemory] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    stores: dict[str, str] = field(default_factory=dict)

    def copy(self) -> StoreSnapshot:
        """The same, of which a reading that fails halfway may be thrown away."""
        return StoreSnapshot(self.version, dict(self.memories), dict(self.rows), dict(self.stores))


def _is_none_of_them(_memory_id: str) -> bool:
    return False


def _nothing_known(_memory_ids: Collection[str]) -> Mapping[str, Mapping[str, str]]:
    return {}


@dataclass(frozen=True)
class ReadBefore:
    """What a store is read beside: `seen`, which the reading brings up to date.

    `store` tells stores of one kind apart, so that none archives what another has. `seen_at`: when it is read, UTC
    without a zone. `absent`: stores that are where they were no more: what only they had, nobody has.
    `accepts_vanished`: memories are archived however many are gone at once. `pushed`: what `slowwave push` wrote, which
    is no word of the store's. `is_erased`: tells by the id of a memory whether it was erased from the lake. `known`:
    the last landed content and status of memories, as far as there are any.
    """

    store: str
    seen: StoreSnapshot
    seen_at: datetime
    absent: frozenset[str] = frozenset()
    accepts_vanished: bool = False
    pushed: Pushed = field(default_factory=dict)
    is_erased: Callable[[str], bool] = _is_none_of_them
    known: Callable[[Collection[str]], Mapping[str, Mapping[str, str]]] = _nothing_known
