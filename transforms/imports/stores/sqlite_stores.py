"""Stores that libraries keep in SQLite: mem0, LangGraph, Astrocyte and AtoCore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Row
from slowwave.transforms.imports.stores.cells import (
    Cells,
    json_cell,
    json_list,
    microseconds,
    moment,
    others,
    plain,
    required_text,
    text,
)
from slowwave.transforms.imports.stores.change_log import (
    Fact,
    LostMemory,
    MemoryChange,
    MemoryEnd,
    Store,
    StoredMemory,
    StoreTable,
    unreadable_fact,
)
from slowwave.transforms.imports.stores.memory_files import without_scores
from slowwave.transforms.landing.coerce import Unfit, json_text

# ------------------------------------------------------------------------------------------
# mem0: its history is the log of changes; whom a memory is about stands in its vectors, which are not read.

_MEM0 = "mem0"
_MEM0_COLUMNS = (
    "id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id",
)  # fmt: skip
_SAME_TEXT = "an update that leaves the text as it was"


def _mem0_facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    begun: set[str] = set()
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            memory_id = f"{_MEM0}:{required_text(row, 'memory_id')}"
            yield _mem0_change(memory_id, row, begun)
        except Unfit as unfit:
            yield unreadable_fact(located, unfit, memory_id)


def _mem0_change(memory_id: str, row: Cells, begun: set[str]) -> Fact:
    """One line of the history. `created_at` is the memory's birth in every line; some lines have no other time."""
    event, old, new = required_text(row, "event").upper(), text(row, "old_memory"), text(row, "new_memory")
    at = moment(row, "updated_at") or moment(row, "created_at")
    if at is None:
        message = "neither updated_at nor created_at is a time"
        raise Unfit(message)
    own = {_MEM0: others(row, _MEM0_COLUMNS) or None, "changed_by": text(row, "actor_id")}
    if event == "DELETE":
        return MemoryChange(
            memory_id, _without_null(status="archived", reason="deleted in mem0", **own), at, is_end=True
        )
    if event not in ("ADD", "UPDATE"):
        message = f"{event!r} is no event that this importer knows"
        raise Unfit(message)
    if event == "UPDATE" and old == new:
        return LeftOut(_SAME_TEXT, example=memory_id)
    if memory_id not in begun:
        begun.add(memory_id)
        # mem0 knows users, agents and runs, and no projects: what it holds may be needed in any
        own |= {"status": "active", "scope": "global"}
    return MemoryChange(memory_id, _without_null(content=required_text(row, "new_memory"), **own), at)


def _without_null(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


MEM0_STORE = Store(
    name=_MEM0,
    version=1,
    called="mem0 (the history of mem0ai 0.1 to 2.2)",
    facts=_mem0_facts,
    tables=(StoreTable("history", ("memory_id", "old_memory", "new_memory", "event", "created_at")),),
)


# ------------------------------------------------------------------------------------------
# The store of LangGraph, which LangMem writes to: every item is a memory; what was before its last put is not kept.

_LANGGRAPH = "langgraph"
# The namespace to which `slowwave push` moves what is archived, before its own.
_ARCHIVE = "slowwave-archived"
_PUT_AWAY = "archived by `slowwave push`"
_LANGGRAPH_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")
# Where items hold their text: LangMem's own shape first, then names in use for one.
_TEXT_NAMES = ("content", "text", "memory", "value")


def _langgraph_facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            prefix = text(row, "prefix") or ""
            is_archived = prefix.partition(".")[0] == _ARCHIVE
            prefix = prefix.partition(".")[2] if is_archived else prefix
            memory_id = f"{_LANGGRAPH}:{prefix}/{required_text(row, 'key')}"
            held = _langgraph_memory(memory_id, prefix, row)
            yield replace(held, ended=MemoryEnd(held.changed_at, _PUT_AWAY)) if is_archived else held
        except Unfit as unfit:
            yield unreadable_fact(located, unfit, memory_id)


def _langgraph_memory(memory_id: str, prefix: str, row: Cells) -> StoredMemory:
    """An item. Its namespace may name a user, an agent or anything else: it is kept, and taken for none of them."""
    value = json_cell(row, "value")
    if value is None:
        message = "the column value holds nothing"
        raise Unfit(message)
    content, rest = _content(without_scores(value) if isinstance(value, dict) else value)
    namespace = prefix.split(".")
    return StoredMemory(
        memory_id,
        {
            "status": "active",
            # a namespace is no project: what stands in it may be needed in any
            "scope": "global",
            "content": content,
            _LANGGRAPH: {
                "namespace": namespace,
                **({"value": rest} if rest else {}),
                **others(row, _LANGGRAPH_COLUMNS),
            },
        },
        moment(row, "created_at"),
        moment(row, "updated_at"),
    )


def _content(value: Any) -> tuple[str, dict[str, Any]]:  # noqa: ANN401 - whatever JSON holds
    """The text of an item and what else it has; without a text of its own, the item as JSON."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else json_text(value), {}
    for name in _TEXT_NAMES:
        held = value.get(name)
        if isinstance(held, dict) and isinstance(held.get("content"), str):  # a `Memory` of LangMem's
            inner = {key: one for key, one in held.items() if key != "content"}
            outer = {key: one for key, one in value.items() if key != name}
            return held["content"], outer | ({name: inner} if inner else {})
        if isinstance(held, str) and not says_nothing(held):
            return held, {key: one for key, one in value.items() if key != name}
    return json_text(value), {}


LANGGRAPH_STORE = Store(
    name=_LANGGRAPH,
    version=1,
    called="LangGraph (langgraph-checkpoint-sqlite 2 to 3)",
    facts=_langgraph_facts,
    tables=(
        # when an item expires moves with every reading of it, which changes nothing of what it says
        StoreTable(
            "store",
            ("prefix", "key", "value", "updated_at"),
            left_out=("expires_at",),
        ),
    ),
)


# ------------------------------------------------------------------------------------------
# Astrocyte: what it has retained are memories; what it has forgotten is archived when it forgot it.

_ASTROCYTE = "astrocyte"
# A bank's observations are kept in a bank of their own.
_OBSERVATIONS = "::obs"
_ASTROCYTE_COLUMNS = (
    "pk", "id", "bank_id", "embedding", "text", "tags", "fact_type", "retained_at", "forgotten_at", "changed_at",
    "occurred_at",
)  # fmt: skip


def _astrocyte_facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            if located.record["table"] == "astrocyte_legal_holds":
                yield LeftOut("a legal hold on a bank", example=text(row, "bank_id") or "")
                continue
            memory_id = _astrocyte_id(required_text(row, "bank_id"), required_text(row, "id"))
            if located.record["table"] == "astrocyte_tombstones":
                yield LostMemory(memory_id, microseconds(row, "changed_at"), "erased in Astrocyte")
            else:
                yield _astrocyte_memory(memory_id, row)
        except Unfit as unfit:
            yield unreadable_fact(located, unfit, memory_id)


def _astrocyte_id(bank: str, own: str) -> str:
    return f"{_ASTROCYTE}:{bank}:{own}"


def _astrocyte_memory(memory_id: str, row: Cells) -> StoredMemory:
    bank = required_text(row, "bank_id").removesuffix(_OBSERVATIONS)
    metadata = json_cell(row, "metadata")
    of_observation = metadata if isinstance(metadata, dict) else {}
    occurred = microseconds(row, "occurred_at")
    own = {**others(row, _ASTROCYTE_COLUMNS), "occurred_at": f"{occurred.isoformat()}Z" if occurred else None}
    if of_observation != without_scores(of_observation):
        own["metadata"] = without_scores(of_observation) or None
    forgotten = microseconds(row, "forgotten_at")
    retained = microseconds(row, "retained_at")
    return StoredMemory(
        memory_id,
        {
            "status": "active",
            "memory_type": text(row, "fact_type"),
            "project": bank,
            "content": required_text(row, "text"),
            "confidence": of_observation.get("_obs_confidence"),
            "source_ids": _source_ids(bank, of_observation),
            "tags": json_list(row, "tags"),
            _ASTROCYTE: {name: value for name, value in own.items() if value is not None} or None,
        },
        retained,
        # stores of earlier releases keep no time of change
        microseconds(row, "changed_at") or retained,
        MemoryEnd(forgotten, "forgotten in Astrocyte") if row.get("forgotten_at") is not None else None,
    )


def _source_ids(bank: str, metadata: dict[str, Any]) -> list[str] | None:
    """The memories that an observation stands on, which are of the bank itself."""
    ids = json_list(metadata, "_obs_source_ids")
    return [_astrocyte_id(bank, own) for own in ids] if ids else None


ASTROCYTE_STORE = Store(
    name=_ASTROCYTE,
    version=1,
    called="Astrocyte (astrocyte-sqlite 0.22)",
    facts=_astrocyte_facts,
    tables=(
        StoreTable(
            "astrocyte_vectors",
            ("id", "bank_id", "text", "retained_at"),
            left_out=("embedding",),
        ),
        StoreTable("astrocyte_tombstones", ("id", "bank_id", "changed_at"), is_required=False),
        StoreTable("astrocyte_legal_holds", ("bank_id",), is_required=False),
    ),
)


# ------------------------------------------------------------------------------------------
# AtoCore: its memories as they stand, and its interactions, with the documents that their chunks are of.

_ATOCORE = "atocore"
_OF_MEMORY = (
    "id", "memory_type", "content", "project", "source_chunk_id", "confidence", "status", "created_at", "updated_at",
    "domain_tags", "valid_until", "reference_count", "last_referenced_at",
)  # fmt: skip
_OF_INTERACTION = (
    "id", "prompt", "context_pack", "response_summary", "response", "memories_used", "chunks_used", "client",
    "session_id", "project", "created_at",
)  # fmt: skip


def _atocore_facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    """What the tables state; first those of documents and their chunks."""
    chunks = _Chunks()
    for located in records:
        table, row, memory_id = located.record["table"], located.record["row"], None
        try:
            if table == "source_documents":
                chunks.add_document(row)
            elif table == "source_chunks":
                chunks.add_chunk(row)
            elif table == "memories":
                memory_id = f"{_ATOCORE}:{required_text(row, 'id')}"
                yield _atocore_memory(memory_id, row, chunks)
            else:
                yield _atocore_interaction(row, chunks)
        except Unfit as unfit:
            yield unreadable_fact(located, unfit, memory_id)


class _Chunks:
    """The documents and their chunks, as far as rows name them: no texts."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, str]] = {}
        self._chunks: dict[str, tuple[str, dict[str, str]]] = {}

    def add_document(self, row: Cells) -> None:
        self._documents[required_text(row, "id")] = _texts_of(row, "title", "file_path")

    def add_chunk(self, row: Cells) -> None:
        self._chunks[required_text(row, "id")] = required_text(row, "document_id"), _texts_of(row, "heading_path")

    def chunk_name(self, chunk_id: str) -> str:
        """Return `document#chunk`, or the chunk alone where its document is not known."""
        return f"{self._chunks[chunk_id][0]}#{chunk_id}" if chunk_id in self._chunks else chunk_id

    def describe_chunks(self, chunk_ids: Iterable[str]) -> dict[str, list[dict[str, str]]]:
        """Return what is known of some chunks: the title and path of the document, and the path of headings."""
        known = [one for one in chunk_ids if one in self._chunks]
        found = [
            {"id": self.chunk_name(one)} | self._documents.get(self._chunks[one][0], {}) | self._chunks[one][1]
            for one in known
        ]
        return {"chunks": found} if found else {}


def _texts_of(row: Cells, *columns: str) -> dict[str, str]:
    return {column: said for column in columns if (said := text(row, column))}


def _atocore_memory(memory_id: str, row: Cells, chunks: _Chunks) -> StoredMemory:
    """A memory. What AtoCore counted itself is what it states: Slowwave counts anew, from the interactions."""
    source = text(row, "source_chunk_id")
    own = others(row, _OF_MEMORY) | chunks.describe_chunks([source or ""])
    return StoredMemory(
        memory_id,
        {
            "status": text(row, "status"),
            "memory_type": text(row, "memory_type"),
            "project": text(row, "project"),
            "content": required_text(row, "content"),
            "confidence": plain(row, "confidence"),
            "source_ids": [chunks.chunk_name(source)] if source else None,
            "tags": json_list(row, "domain_tags"),
            "expires_at": text(row, "valid_until"),
            "stated_references": plain(row, "reference_count"),
            "stated_last_referenced_at": text(row, "last_referenced_at"),
            _ATOCORE: own or None,
        },
        moment(row, "created_at"),
        moment(row, "updated_at"),
    )


def _atocore_interaction(row: Cells, chunks: _Chunks) -> Row:
    used, read = json_list(row, "memories_used"), json_list(row, "chunks_used") or []
    own = others(row, _OF_INTERACTION) | chunks.describe_chunks(read)
    return Row(
        {
            "interaction_id": f"{_ATOCORE}:{required_text(row, 'id')}",
            "created_at": required_text(row, "created_at"),
            "project": text(row, "project"),
            "client": text(row, "client"),
            "session_id": text(row, "session_id"),
            "prompt": required_text(row, "prompt"),
            "response": text(row, "response"),
            "response_summary": text(row, "response_summary"),
            "memories_used": [f"{_ATOCORE}:{own}" for own in used] if used else None,
            "chunks_used": [chunks.chunk_name(chunk_id) for chunk_id in read] or None,
            "context_pack": json_cell(row, "context_pack"),
            _ATOCORE: own or None,
        }
    )


ATOCORE_STORE = Store(
    name=_ATOCORE,
    version=3,
    called="AtoCore",
    facts=_atocore_facts,
    tables=(
        StoreTable("source_documents", ("id",), is_required=False, left_out=("tags", "file_hash")),
        StoreTable("source_chunks", ("id", "document_id"), is_required=False, left_out=("content", "metadata")),
        StoreTable("memories", ("id", "memory_type", "content", "status", "updated_at")),
        StoreTable("interactions", ("id", "prompt", "created_at")),
    ),
)
