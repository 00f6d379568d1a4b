"""AtoCore: its memories as they stand, and its interactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slowwave.transforms.imports.made import Context, Located, Row
from slowwave.transforms.imports.stores.cells import Cells, json_cell, json_list, moment, needed, others, plain, text
from slowwave.transforms.imports.stores.facts import Fact, Held, not_read
from slowwave.transforms.imports.stores.store import Store, StoreTable
from slowwave.transforms.landing.coerce import Unfit

_NAME = "atocore"
_OF_MEMORY = (
    "id", "memory_type", "content", "project", "source_chunk_id", "confidence", "status", "created_at", "updated_at",
    "domain_tags", "valid_until",
)  # fmt: skip
_OF_INTERACTION = (
    "id", "prompt", "context_pack", "response_summary", "response", "memories_used", "chunks_used", "client",
    "session_id", "project", "created_at",
)  # fmt: skip


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            if located.record["table"] == "memories":
                memory_id = f"{_NAME}:{needed(row, 'id')}"
                yield _held(memory_id, row)
            else:
                yield _interaction(row)
        except Unfit as unfit:
            yield not_read(located, unfit, memory_id)


def _held(memory_id: str, row: Cells) -> Held:
    """A memory. What AtoCore counted itself stays under its name: Slowwave counts anew, from the interactions."""
    source = text(row, "source_chunk_id")
    return Held(
        memory_id,
        {
            "status": text(row, "status"),
            "memory_type": text(row, "memory_type"),
            "project": text(row, "project"),
            "content": needed(row, "content"),
            "confidence": plain(row, "confidence"),
            "source_ids": [source] if source else None,
            "tags": json_list(row, "domain_tags"),
            "expires_at": text(row, "valid_until"),
            _NAME: others(row, _OF_MEMORY) or None,
        },
        moment(row, "created_at"),
        moment(row, "updated_at"),
    )


def _interaction(row: Cells) -> Row:
    used = json_list(row, "memories_used")
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
            "chunks_used": json_list(row, "chunks_used"),
            "context_pack": json_cell(row, "context_pack"),
            _NAME: others(row, _OF_INTERACTION) or None,
        }
    )


STORE = Store(
    name=_NAME,
    version=2,
    called="AtoCore",
    facts=_facts,
    tables=(
        StoreTable("memories", ("id", "memory_type", "content", "status", "updated_at")),
        StoreTable("interactions", ("id", "prompt", "created_at")),
    ),
)
