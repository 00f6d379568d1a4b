"""AtoCore: its memories as they stand, and its interactions, with the documents that their chunks are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slowwave.transforms.imports.adapter import Context, Located, Row
from slowwave.transforms.imports.stores.cells import Cells, json_cell, json_list, moment, needed, others, plain, text
from slowwave.transforms.imports.stores.facts import Fact, Held, not_read
from slowwave.transforms.imports.stores.store import Store, StoreTable
from slowwave.transforms.landing.coerce import Unfit

_NAME = "atocore"
_OF_MEMORY = (
    "id", "memory_type", "content", "project", "source_chunk_id", "confidence", "status", "created_at", "updated_at",
    "domain_tags", "valid_until", "reference_count", "last_referenced_at",
)  # fmt: skip
_OF_INTERACTION = (
    "id", "prompt", "context_pack", "response_summary", "response", "memories_used", "chunks_used", "client",
    "session_id", "project", "created_at",
)  # fmt: skip


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
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
                memory_id = f"{_NAME}:{needed(row, 'id')}"
                yield _held(memory_id, row, chunks)
            else:
                yield _interaction(row, chunks)
        except Unfit as unfit:
            yield not_read(located, unfit, memory_id)


class _Chunks:
    """The documents and their chunks, as far as rows name them: no texts."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, str]] = {}
        self._chunks: dict[str, tuple[str, dict[str, str]]] = {}

    def add_document(self, row: Cells) -> None:
        self._documents[needed(row, "id")] = _said(row, "title", "file_path")

    def add_chunk(self, row: Cells) -> None:
        self._chunks[needed(row, "id")] = needed(row, "document_id"), _said(row, "heading_path")

    def named(self, chunk_id: str) -> str:
        """Return `document#chunk`, or the chunk alone where its document is not known."""
        return f"{self._chunks[chunk_id][0]}#{chunk_id}" if chunk_id in self._chunks else chunk_id

    def described(self, chunk_ids: Iterable[str]) -> dict[str, list[dict[str, str]]]:
        """Return what is known of some chunks: the title and path of the document, and the path of headings."""
        known = [one for one in chunk_ids if one in self._chunks]
        found = [
            {"id": self.named(one)} | self._documents.get(self._chunks[one][0], {}) | self._chunks[one][1]
            for one in known
        ]
        return {"chunks": found} if found else {}


def _said(row: Cells, *columns: str) -> dict[str, str]:
    return {column: said for column in columns if (said := text(row, column))}


def _held(memory_id: str, row: Cells, chunks: _Chunks) -> Held:
    """A memory. What AtoCore counted itself is what it states: Slowwave counts anew, from the interactions."""
    source = text(row, "source_chunk_id")
    own = others(row, _OF_MEMORY) | chunks.described([source or ""])
    return Held(
        memory_id,
        {
            "status": text(row, "status"),
            "memory_type": text(row, "memory_type"),
            "project": text(row, "project"),
            "content": needed(row, "content"),
            "confidence": plain(row, "confidence"),
            "source_ids": [chunks.named(source)] if source else None,
            "tags": json_list(row, "domain_tags"),
            "expires_at": text(row, "valid_until"),
            "stated_references": plain(row, "reference_count"),
            "stated_last_referenced_at": text(row, "last_referenced_at"),
            _NAME: own or None,
        },
        moment(row, "created_at"),
        moment(row, "updated_at"),
    )


def _interaction(row: Cells, chunks: _Chunks) -> Row:
    used, read = json_list(row, "memories_used"), json_list(row, "chunks_used") or []
    own = others(row, _OF_INTERACTION) | chunks.described(read)
    return Row(
        {
            "interaction_id": f"{_NAME}:{needed(row, 'id')}",
            "created_at": needed(row, "created_at"),
            "project": text(row, "project"),
            "client": text(row, "client"),
            "session_id": text(row, "session_id"),
            "prompt": needed(row, "prompt"),
            "response": text(row, "response"),
            "response_summary": text(row, "response_summary"),
            "memories_used": [f"{_NAME}:{own}" for own in used] if used else None,
            "chunks_used": [chunks.named(chunk_id) for chunk_id in read] or None,
            "context_pack": json_cell(row, "context_pack"),
            _NAME: own or None,
        }
    )


STORE = Store(
    name=_NAME,
    version=3,
    called="AtoCore",
    facts=_facts,
    tables=(
        StoreTable("source_documents", ("id",), is_required=False, left_out=("tags", "file_hash")),
        StoreTable("source_chunks", ("id", "document_id"), is_required=False, left_out=("content", "metadata")),
        StoreTable("memories", ("id", "memory_type", "content", "status", "updated_at")),
        StoreTable("interactions", ("id", "prompt", "created_at")),
    ),
)
