"""Astrocyte: what it has retained are memories; what it has forgotten is archived when it forgot it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from slowwave.transforms.imports.adapter import Context, LeftOut, Located
from slowwave.transforms.imports.stores.cells import Cells, json_cell, json_list, microseconds, needed, others, text
from slowwave.transforms.imports.stores.facts import Ended, Fact, Held, LetGo, not_read
from slowwave.transforms.imports.stores.front_scores import without_scores
from slowwave.transforms.imports.stores.store import Store, StoreTable
from slowwave.transforms.landing.coerce import Unfit

_NAME = "astrocyte"
# A bank's observations are kept in a bank of their own.
_OBSERVATIONS = "::obs"
_KNOWN = (
    "pk", "id", "bank_id", "embedding", "text", "tags", "fact_type", "retained_at", "forgotten_at", "changed_at",
    "occurred_at",
)  # fmt: skip


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            if located.record["table"] == "astrocyte_legal_holds":
                yield LeftOut("a legal hold on a bank", example=text(row, "bank_id") or "")
                continue
            memory_id = _memory_id(needed(row, "bank_id"), needed(row, "id"))
            if located.record["table"] == "astrocyte_tombstones":
                yield LetGo(memory_id, microseconds(row, "changed_at"), "erased in Astrocyte")
            else:
                yield _held(memory_id, row)
        except Unfit as unfit:
            yield not_read(located, unfit, memory_id)


def _memory_id(bank: str, own: str) -> str:
    return f"{_NAME}:{bank}:{own}"


def _held(memory_id: str, row: Cells) -> Held:
    bank = needed(row, "bank_id").removesuffix(_OBSERVATIONS)
    metadata = json_cell(row, "metadata")
    of_observation = metadata if isinstance(metadata, dict) else {}
    occurred = microseconds(row, "occurred_at")
    own = {**others(row, _KNOWN), "occurred_at": f"{occurred.isoformat()}Z" if occurred else None}
    if of_observation != without_scores(of_observation):
        own["metadata"] = without_scores(of_observation) or None
    forgotten = microseconds(row, "forgotten_at")
    retained = microseconds(row, "retained_at")
    return Held(
        memory_id,
        {
            "status": "active",
            "memory_type": text(row, "fact_type"),
            "project": bank,
            "content": needed(row, "text"),
            "confidence": of_observation.get("_obs_confidence"),
            "source_ids": _source_ids(bank, of_observation),
            "tags": json_list(row, "tags"),
            _NAME: {name: value for name, value in own.items() if value is not None} or None,
        },
        retained,
        # stores of earlier releases keep no time of change
        microseconds(row, "changed_at") or retained,
        Ended(forgotten, "forgotten in Astrocyte") if row.get("forgotten_at") is not None else None,
    )


def _source_ids(bank: str, metadata: dict[str, Any]) -> list[str] | None:
    """The memories that an observation stands on, which are of the bank itself."""
    ids = json_list(metadata, "_obs_source_ids")
    return [_memory_id(bank, own) for own in ids] if ids else None


STORE = Store(
    name=_NAME,
    version=1,
    called="Astrocyte (astrocyte-sqlite 0.22)",
    facts=_facts,
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
