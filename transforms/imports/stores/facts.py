"""What the rows of a store state: memories as they are, changes, and what the store has let go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.transforms.imports.adapter import LeftOut, Located, Refused, Row
from slowwave.transforms.imports.stores.cells import shown


@dataclass(frozen=True)
class Ended:
    """Since when a store no longer uses a memory that it still has, and why."""

    at: datetime | None
    reason: str


@dataclass(frozen=True)
class Held:
    """A memory as its store has it now.

    `fields`: what a landed change of it says, without its times; what the contract does not know stands under the
    store's own name, so that no column of a store is ever taken for a field of ours. `born_at`, `changed_at`: the
    store's own times, UTC without a zone, None where it keeps none.
    """

    memory_id: str
    fields: dict[str, Any]
    born_at: datetime | None = None
    changed_at: datetime | None = None
    ended: Ended | None = None


@dataclass(frozen=True)
class Changed:
    """A change from a log that the store itself keeps, oldest first for each memory."""

    memory_id: str
    fields: dict[str, Any]
    at: datetime
    is_end: bool = False


@dataclass(frozen=True)
class LetGo:
    """A memory that the store says it had, and of which it has kept no text."""

    memory_id: str
    at: datetime | None
    reason: str


@dataclass(frozen=True)
class Unread:
    """A memory that is there and cannot be read: refused, yet not gone."""

    memory_id: str
    refused: Refused


Fact = Held | Changed | LetGo | Unread | Row | Refused | LeftOut


def not_read(located: Located, why: object, memory_id: str | None = None) -> Fact:
    """A row of a table that cannot be read, and why; `memory_id`: of the memory that it is, where that can be known."""
    refused = Refused(located.number, f"{located.record['table']}: {why}", shown(located.record["row"]))
    return refused if memory_id is None else Unread(memory_id, refused)
