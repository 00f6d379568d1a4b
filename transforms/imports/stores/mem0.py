"""mem0: its history is the log of changes; whom a memory is about stands in its vectors, which are not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slowwave.transforms.imports.adapter import Context, LeftOut, Located
from slowwave.transforms.imports.stores.cells import Cells, moment, needed, others, text
from slowwave.transforms.imports.stores.facts import Changed, Fact, not_read
from slowwave.transforms.imports.stores.store import Store, StoreTable
from slowwave.transforms.landing.coerce import Unfit

_NAME = "mem0"
_KNOWN = (
    "id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id",
)  # fmt: skip
_SAME_TEXT = "an update that leaves the text as it was"


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    begun: set[str] = set()
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            memory_id = f"{_NAME}:{needed(row, 'memory_id')}"
            yield _change(memory_id, row, begun)
        except Unfit as unfit:
            yield not_read(located, unfit, memory_id)


def _change(memory_id: str, row: Cells, begun: set[str]) -> Fact:
    """One line of the history. `created_at` is the memory's birth in every line; some lines have no other time."""
    event, old, new = needed(row, "event").upper(), text(row, "old_memory"), text(row, "new_memory")
    at = moment(row, "updated_at") or moment(row, "created_at")
    if at is None:
        message = "neither updated_at nor created_at is a time"
        raise Unfit(message)
    own = {_NAME: others(row, _KNOWN) or None, "changed_by": text(row, "actor_id")}
    if event == "DELETE":
        return Changed(memory_id, _stated(status="archived", reason="deleted in mem0", **own), at, is_end=True)
    if event not in ("ADD", "UPDATE"):
        message = f"{event!r} is no event that this importer knows"
        raise Unfit(message)
    if event == "UPDATE" and old == new:
        return LeftOut(_SAME_TEXT, example=memory_id)
    if memory_id not in begun:
        begun.add(memory_id)
        # mem0 knows users, agents and runs, and no projects: what it holds may be needed in any
        own |= {"status": "active", "scope": "global"}
    return Changed(memory_id, _stated(content=needed(row, "new_memory"), **own), at)


def _stated(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


STORE = Store(
    name=_NAME,
    version=1,
    called="mem0 (the history of mem0ai 0.1 to 2.2)",
    facts=_facts,
    tables=(StoreTable("history", ("memory_id", "old_memory", "new_memory", "event", "created_at")),),
)
