"""The store of LangGraph, which LangMem writes to: every item is a memory; what was before its last put is not kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, Located
from slowwave.transforms.imports.stores.cells import Cells, json_cell, moment, needed, others, text
from slowwave.transforms.imports.stores.facts import Ended, Fact, Held, not_read
from slowwave.transforms.imports.stores.front_scores import without_scores
from slowwave.transforms.imports.stores.store import Store, StoreTable
from slowwave.transforms.landing.coerce import Unfit, json_text

_NAME = "langgraph"
# The namespace to which `slowwave push` moves what is archived, before its own.
_ARCHIVE = "slowwave-archived"
_PUT_AWAY = "archived by `slowwave push`"
_KNOWN = ("prefix", "key", "value", "created_at", "updated_at")
# Where items hold their text: LangMem's own shape first, then names in use for one.
_TEXT_NAMES = ("content", "text", "memory", "value")


def _facts(records: Iterable[Located], _context: Context) -> Iterator[Fact]:
    for located in records:
        row, memory_id = located.record["row"], None
        try:
            prefix = text(row, "prefix") or ""
            is_archived = prefix.partition(".")[0] == _ARCHIVE
            prefix = prefix.partition(".")[2] if is_archived else prefix
            memory_id = f"{_NAME}:{prefix}/{needed(row, 'key')}"
            held = _held(memory_id, prefix, row)
            yield replace(held, ended=Ended(held.changed_at, _PUT_AWAY)) if is_archived else held
        except Unfit as unfit:
            yield not_read(located, unfit, memory_id)


def _held(memory_id: str, prefix: str, row: Cells) -> Held:
    """An item. Its namespace may name a user, an agent or anything else: it is kept, and taken for none of them."""
    value = json_cell(row, "value")
    if value is None:
        message = "the column value holds nothing"
        raise Unfit(message)
    content, rest = _content(without_scores(value) if isinstance(value, dict) else value)
    namespace = prefix.split(".")
    return Held(
        memory_id,
        {
            "status": "active",
            # a namespace is no project: what stands in it may be needed in any
            "scope": "global",
            "content": content,
            _NAME: {"namespace": namespace, **({"value": rest} if rest else {}), **others(row, _KNOWN)},
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


STORE = Store(
    name=_NAME,
    version=1,
    called="LangGraph (langgraph-checkpoint-sqlite 2 to 3)",
    facts=_facts,
    tables=(
        # when an item expires moves with every reading of it, which changes nothing of what it says
        StoreTable(
            "store",
            ("prefix", "key", "value", "updated_at"),
            left_out=("expires_at",),
        ),
    ),
)
