"""Memories in a trace: which a search offered, which were put before the model, and what was written to the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.adapter import LeftOut, Made, Refused, Row
from slowwave.transforms.imports.otlp.spans import Node
from slowwave.transforms.imports.otlp.turns import Asked, Read
from slowwave.transforms.imports.otlp.values import instant, numbered, text
from slowwave.transforms.imports.trace_values import MemoryRecord, ids_in_text, memory_record


def records_of(node: Node) -> list[MemoryRecord]:
    """The records of a span, in their order: memories, or documents of a retrieval."""
    held = node.span.attributes
    for name in ("gen_ai.memory.records", "gen_ai.retrieval.documents"):
        if isinstance(found := parse_json_value(held.get(name)), list):
            return [memory_record(one) for one in found if isinstance(one, dict)]
    documents = numbered(held, "retrieval.documents.")
    return [memory_record({key.removeprefix("document."): value for key, value in one.items()}) for one in documents]


@dataclass(frozen=True)
class Memories:
    """What an interaction has of memories; `injection` is how they are known to have been used."""

    offered: list[dict[str, Any]]
    used: list[str]
    injection: str
    searches: int


def memories_of(asked: Asked, read: Read, searches: list[Node]) -> Memories:
    """Offered is what the searches found. Used is what a later call of the model read, word for word.

    Where that cannot be seen, the records of a search right below the agent's span are assumed to be used: it searches
    to answer. One that a tool or the model itself asked for is not.
    """
    offered: dict[str, dict[str, Any]] = {}
    used: dict[str, None] = {}
    ways: set[str] = set()
    for node in searches:
        records = [one for one in records_of(node) if one.id]
        for place, one in enumerate(records, 1):
            offered.setdefault(one.id, {"id": one.id, "rank": place, "score": one.score})
        later = "\n".join(
            read.contents[call].read
            for call in asked.nodes
            if read.kinds[call] == "call" and call.span.started >= node.span.ended
        )
        seen = ids_in_text(records, later)
        if seen is not None:
            ways.add("observed")
            used |= dict.fromkeys(seen)
        elif records and node.parent is not None and read.kinds[node.parent] == "turn":
            ways.add("assumed")
            used |= {one.id: None for one in records}
    injection = ways.pop() if len(ways) == 1 else "mixed" if ways else ""
    return Memories([*offered.values()], [*used], injection, len(searches))


def searches_of(read: Read, kind: str) -> tuple[dict[Asked, list[Node]], int]:
    """The searches (or retrievals) of each interaction, and how many were before none.

    A search belongs to the interaction that it is a part of, else to the next one that starts after it in the trace.
    """
    found: dict[Asked, list[Node]] = {}
    before_none = 0
    for node in sorted((n for n in read.trace.nodes if read.kinds[n] == kind), key=lambda n: (n.span.started, n.id)):
        asked = read.owner.get(node)
        if asked is None:
            later = [one for one in read.interactions if one.node.span.started >= node.span.ended]
            asked = min(later, key=lambda one: (one.node.span.started, one.node.id), default=None)
        if asked is None:
            before_none += 1
        elif not node.span.error:
            found.setdefault(asked, []).append(node)
    return found, before_none


def changes_made(node: Node, project: str) -> Iterator[Made]:
    """The rows of what a span wrote to a memory store, one for each record."""
    held = node.span.attributes
    operation = text(held.get("gen_ai.operation.name"))
    if node.span.error:
        yield LeftOut("changes of a memory that failed", example=f"{operation}: {node.span.error}"[:200])
        return
    records = records_of(node)
    named = [one for one in records if one.id]
    own = text(held.get("gen_ai.memory.record.id"))
    if own and not any(one.id == own for one in named):
        nameless = next((one for one in records if not one.id), MemoryRecord("", "", None, None))
        named.insert(0, replace(nameless, id=own))
    yield from (_change(node, operation, one, project) for one in named)
    if not named:
        why = "it names no record: set gen_ai.memory.record.id, or an id in each of gen_ai.memory.records"
        if operation.startswith("delete"):
            why = "it deletes a whole store, and does not name the memories that were in it"
        yield Refused(node.span.number, f"a span {operation} makes no row: {why}", _shown(node))


def _change(node: Node, operation: str, one: MemoryRecord, project: str) -> Row:
    """The row of a change, made of its span alone: the same whatever else of the trace is known."""
    held = node.span.attributes
    is_gone = operation == "delete_memory"
    fields = {
        "memory_id": one.id,
        "changed_at": instant(node.span.ended),
        "recorded_at": instant(node.span.ended),
        "project": project,
        "status": "archived" if is_gone else "active",
        "content": None if is_gone else one.content or None,
        "reason": "deleted" if is_gone else None,
        "user_id": text(held.get("user.id") or held.get("enduser.id")) or None,
        "changed_by": text(held.get("gen_ai.agent.name")) or None,
        "store": text(held.get("gen_ai.memory.store.id")) or None,
        "metadata": one.metadata or None,
        "span": node.id,
    }
    return Row(
        {name: value for name, value in fields.items() if value is not None},
        (node.id, node.id),
        _client(node),
    )


def _client(node: Node) -> str:
    return "/".join(filter(None, (node.span.origin.scope, node.span.origin.scope_version)))


def _shown(node: Node) -> str:
    return f"{node.id} {node.span.name} {node.span.attributes}"[:2000]
