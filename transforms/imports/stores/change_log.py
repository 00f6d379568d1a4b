"""Stores of memories, and the log of changes of a store that keeps none: what it says now beside what it last said.

What `slowwave push` wrote is none of the store's words: it lands nothing, and counts as seen.

A change bears the store's own time where that has moved on; else, and where a memory is gone, the time at which we saw
it: when it happened in between, nobody knows. That is the one time in an imported row that is ours, and why what was
seen is kept: read again, nothing is landed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Record, Refused, Row, Undecided
from slowwave.transforms.imports.secrets import clean_value
from slowwave.transforms.imports.stores.cells import describe_row
from slowwave.transforms.imports.stores.store_state import ReadBefore, SeenMemory
from slowwave.transforms.landing.coerce import json_text

# ------------------------------------------------------------------------------------------
# What the rows of a store state: memories as they are, changes, and what the store has let go.


@dataclass(frozen=True)
class MemoryEnd:
    """Since when a store no longer uses a memory that it still has, and why."""

    at: datetime | None
    reason: str


@dataclass(frozen=True)
class StoredMemory:
    """A memory as its store has it now.

    `fields`: what a landed change of it says, without its times; what the contract does not know stands under the
    store's own name, so that no column of a store is ever taken for a field of ours. `born_at`, `changed_at`: the
    store's own times, UTC without a zone, None where it keeps none.
    """

    memory_id: str
    fields: dict[str, Any]
    born_at: datetime | None = None
    changed_at: datetime | None = None
    ended: MemoryEnd | None = None


@dataclass(frozen=True)
class MemoryChange:
    """A change from a log that the store itself keeps, oldest first for each memory."""

    memory_id: str
    fields: dict[str, Any]
    at: datetime
    is_end: bool = False


@dataclass(frozen=True)
class LostMemory:
    """A memory that the store says it had, and of which it has kept no text; `heir`: what replaced it, '' for none."""

    memory_id: str
    at: datetime | None
    reason: str
    heir: str = ""


@dataclass(frozen=True)
class UnreadableMemory:
    """A memory that is there and cannot be read: refused, yet not gone."""

    memory_id: str
    refused: Refused


Fact = StoredMemory | MemoryChange | LostMemory | UnreadableMemory | Row | Refused | LeftOut


def unreadable_fact(located: Located, why: object, memory_id: str | None = None) -> Fact:
    """A row of a table that cannot be read, and why; `memory_id`: of the memory that it is, where that can be known."""
    refused = Refused(located.number, f"{located.record['table']}: {why}", describe_row(located.record["row"]))
    return refused if memory_id is None else UnreadableMemory(memory_id, refused)


# More than this share of a store's memories does not go at once without a person's word.
MOST_VANISHED = 0.2
IS_GONE = "it is no longer in the store"
_IN_USE = (None, "candidate", "active")
_CHANGED_BY = "slowwave import"
_TICK = timedelta(microseconds=1)
_IS_BACK = "it is in the store again"
_ACTIVE, _ARCHIVED = "active", "archived"
_IS_ARCHIVED: Mapping[str, str] = {"status": _ARCHIVED}
_OF_MEMORIES = (StoredMemory, MemoryChange, LostMemory, UnreadableMemory)
_SECOND_MEMORY = "a second memory of one id"
_NEVER_SEEN = "let go by the store before it was first read"
_PUSHED = "written by `slowwave push`"
_ERASED = "erased here by `slowwave lake erase`"


class StoreReading:
    """One reading of one store: turns its facts into the rows that are new, and keeps what was seen up to date.

    `unchanged`: how many memories and rows had landed before. `had`: memories in use that the store had when it was
    last read. `vanished`: those that no store of the kind has any more; known when all facts have been taken.
    """

    def __init__(self, before: ReadBefore, version: int) -> None:
        self.seen = before.seen
        self.unchanged = 0
        self.vanished: list[str] = []
        self.had = sum(one.is_live and before.store in one.stores for one in before.seen.memories.values())
        self._store = before.store
        self._absent = before.absent
        self._seen_at = before.seen_at
        self._pushed = before.pushed
        self._is_erased = before.is_erased
        self._present: set[str] = set()
        self._changed_at: dict[str, datetime] = {}
        self._returned: set[str] = set()
        if self.seen.version != version:  # made by other rules: said anew where these say otherwise
            self.seen.version = version
            self.seen.rows.clear()
            for memory_id, memory in self.seen.memories.items():
                self.seen.memories[memory_id] = replace(memory, digests={})

    def make_rows(self, facts: Iterable[Fact]) -> Iterator[Made]:
        """Rows of what has not been landed yet, and what is refused or left out."""
        for one in facts:
            fact = self._without_erased(_without_secrets(one))
            if isinstance(fact, StoredMemory):
                yield from self._add_memory(fact)
            elif isinstance(fact, MemoryChange):
                yield from self._add_change(fact)
            elif isinstance(fact, LostMemory):
                yield from self._add_lost(fact)
            elif isinstance(fact, UnreadableMemory):
                self._present.add(fact.memory_id)
                yield fact.refused
            elif isinstance(fact, Row):
                yield from self._add_row(fact)
            else:
                yield fact
        for memory_id in sorted(self._returned):
            yield from self._return_memory(memory_id)
        for memory_id, memory in sorted(self.seen.memories.items()):
            if memory.is_live and memory_id not in self._present and memory.stores - self._absent == {self._store}:
                self._vanish(memory_id)

    def _without_erased(self, fact: Fact) -> Fact:
        is_erased = isinstance(fact, _OF_MEMORIES) and self._is_erased(fact.memory_id)
        return LeftOut(_ERASED, is_settled=True) if is_erased else fact  # no example: not even its id is kept

    @property
    def is_too_much(self) -> bool:
        """Whether more of what the store had in use vanished than may go without a person's word."""
        return len(self.vanished) > MOST_VANISHED * self.had

    def archive_vanished(self) -> Iterator[Row]:
        """The rows that archive what vanished. To be taken after `made`, once it is known that all was read."""
        for memory_id, memory in list(self.seen.memories.items()):
            if memory_id not in self._present and self._store in memory.stores:
                self.seen.memories[memory_id] = replace(memory, stores=memory.stores - {self._store})
        for memory_id in self.vanished:
            yield self._end_memory(memory_id, None, IS_GONE, changed_by=_CHANGED_BY)

    def _vanish(self, memory_id: str) -> None:
        if self._is_pushed(memory_id, "status", _ARCHIVED):
            self._mark_ended(memory_id, self.seen.memories[memory_id].at)
        else:
            self.vanished.append(memory_id)

    def _is_pushed(self, memory_id: str, name: str, value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
        """Whether a field is as it was pushed last."""
        pushed = self._pushed.get(memory_id, {}).get(name)
        return bool(pushed) and _digest(pushed[-1][0]) == _digest(value)

    # ------------------------------------------------------------------------------------------ kinds of facts

    def _add_memory(self, held: StoredMemory) -> Iterator[Made]:
        if held.memory_id in self._present:
            yield LeftOut(_SECOND_MEMORY, example=held.memory_id)
            return
        self._present.add(held.memory_id)
        before = self.seen.memories.get(held.memory_id)
        stated = {name: value for name, value in held.fields.items() if value is not None}
        if before is None:
            yield from self._first_change(held, stated)
            return
        if held.ended is not None:
            stated["status"] = _ARCHIVED
        digests = {name: _digest(value) for name, value in stated.items()}
        differing = [
            name
            for name in {**before.digests, **digests}
            if digests.get(name) != before.digests.get(name)
            and not self._is_pushed(held.memory_id, name, stated.get(name))
        ]
        changed = {name: stated.get(name, "") for name in differing}  # '' clears what the store no longer states
        at, is_live = before.at, _is_in_use(stated)
        if changed:
            own = _latest(held.changed_at, held.ended.at if held.ended else None)
            at = self._change_time(before.at, own)
            reason = held.ended.reason if held.ended is not None and "status" in changed else None
            yield _change(held.memory_id, at, at, changed, reason)
        else:
            self.unchanged += 1
        self._keep_seen(held.memory_id, at, is_live, digests)

    def _first_change(self, held: StoredMemory, stated: dict[str, Any]) -> Iterator[Row]:
        """What is first said of a memory counts from its birth: nobody knows better. It is known since it changed."""
        known = _latest(held.born_at, held.changed_at) or self._seen_at
        begins = held.born_at or known
        digests = {name: _digest(value) for name, value in stated.items()}
        yield _change(held.memory_id, begins, known, stated)
        if held.ended is not None:
            digests["status"] = _digest(_ARCHIVED)
            known = max(held.ended.at or self._seen_at, begins + _TICK)
            yield _change(held.memory_id, known, known, {"status": _ARCHIVED}, held.ended.reason)
        self._keep_seen(held.memory_id, known, held.ended is None and _is_in_use(stated), digests)

    def _add_change(self, change: MemoryChange) -> Iterator[Made]:
        """Two changes of one memory at one instant are put in their order."""
        before = self.seen.memories.get(change.memory_id)
        told_at = self._changed_at.get(change.memory_id)
        at = change.at if told_at is None else max(change.at, told_at + _TICK)
        if before is not None and told_at is None and before.digests:
            self._returned.add(change.memory_id)
        self._present.add(change.memory_id)
        self._changed_at[change.memory_id] = at
        if before is not None and self._was_pushed(change):
            yield LeftOut(_PUSHED, example=change.memory_id, is_settled=True)
        else:
            yield from self._add_row(_change(change.memory_id, at, at, change.fields))
        self._keep_seen(change.memory_id, max(at, before.at) if before else at, not change.is_end, {})

    def _was_pushed(self, change: MemoryChange) -> bool:
        """Whether a line of the store's own log is of a push; what it says may have been said by others before."""
        pushed = self._pushed.get(change.memory_id, {}).get("content", ())
        return any(change.fields.get("content") == value and change.at >= since for value, since in pushed)

    def _return_memory(self, memory_id: str) -> Iterator[Row]:
        """A memory that was archived when it vanished, of a store whose own log has it again."""
        memory = self.seen.memories[memory_id]
        if memory.is_live:
            at = self._change_time(memory.at, self._changed_at[memory_id])
            yield _change(memory_id, at, at, {"status": _ACTIVE, "changed_by": _CHANGED_BY}, _IS_BACK)
            self.seen.memories[memory_id] = replace(memory, at=at)

    def _add_lost(self, gone: LostMemory) -> Iterator[Made]:
        before = self.seen.memories.get(gone.memory_id)
        if before is None:
            yield LeftOut(_NEVER_SEEN, example=gone.memory_id, is_settled=True)
        elif gone.memory_id not in self._present:
            self._present.add(gone.memory_id)
            if before.is_live and self._is_pushed(gone.memory_id, "status", _ARCHIVED):
                self._mark_ended(gone.memory_id, before.at)
            elif before.is_live:
                replaced = {"status": "superseded", "superseded_by": gone.heir} if gone.heir else {}
                yield self._end_memory(gone.memory_id, gone.at, gone.reason, **replaced)

    def _add_row(self, row: Row) -> Iterator[Row]:
        key, digest = _key(row.fields), _digest(row.fields)
        if self.seen.rows.get(key) == digest:
            self.unchanged += 1
            return
        self.seen.rows[key] = digest
        yield row

    # ------------------------------------------------------------------------------------------ what was landed

    def _end_memory(self, memory_id: str, own: datetime | None, reason: str, **said: str) -> Row:
        at = self._change_time(self.seen.memories[memory_id].at, own)
        fields = {"status": _ARCHIVED, **said}
        self._mark_ended(memory_id, at, {name: value for name, value in fields.items() if name != "changed_by"})
        return _change(memory_id, at, at, fields, reason)

    def _mark_ended(self, memory_id: str, at: datetime, said: Mapping[str, str] = _IS_ARCHIVED) -> None:
        before = self.seen.memories[memory_id]
        digests = {**before.digests, **{name: _digest(value) for name, value in said.items()}}
        self.seen.memories[memory_id] = replace(before, at=at, is_live=False, digests=digests)

    def _keep_seen(self, memory_id: str, at: datetime, is_live: bool, digests: Mapping[str, str]) -> None:
        before = self.seen.memories.get(memory_id)
        stores = (before.stores if before else frozenset()) | {self._store}
        self.seen.memories[memory_id] = SeenMemory(at, is_live, digests, stores)

    def _change_time(self, before: datetime, own: datetime | None) -> datetime:
        return change_time(before, own, self._seen_at)


def change_time(before: datetime, own: datetime | None, seen_at: datetime) -> datetime:
    """When a change took effect: by the store's own time if that has moved on, else when it was seen."""
    return own if own is not None and own > before else max(seen_at, before + _TICK)


def _change(memory_id: str, at: datetime, known: datetime, fields: Mapping[str, Any], reason: str | None = None) -> Row:
    times = {"changed_at": _time_text(at), "recorded_at": _time_text(known)}
    return Row({"memory_id": memory_id, **times, **fields, **({"reason": reason} if reason else {})})


def _without_secrets(fact: Fact) -> Fact:
    """The fact, with the id as it lands: an id may hold a secret too, and what was seen is kept by it."""
    if isinstance(fact, _OF_MEMORIES):
        memory_id = clean_value(fact.memory_id, Counter())
        return fact if memory_id == fact.memory_id else replace(fact, memory_id=memory_id)
    return fact


def _is_in_use(fields: Mapping[str, Any]) -> bool:
    return fields.get("status") in _IN_USE


def _time_text(at: datetime) -> str:
    return f"{at.isoformat()}Z"


def _latest(*times: datetime | None) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def _key(fields: Mapping[str, Any]) -> str:
    """What a row is identified by: an interaction, an outcome, or a change of a memory."""
    key = (fields.get(name) for name in ("interaction_id", "outcome_id", "memory_id", "changed_at"))
    return _digest([part for part in key if part is not None])


def _digest(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return blake2b(json_text(value).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


# ------------------------------------------------------------------------------------------
# A kind of store: which tables are read, what tells it from others, and the change log that is made of it.

_UNCHANGED = "as it was when it was last read"


@dataclass(frozen=True)
class StoreTable:
    """A table that is read, and the columns without which it is not the one meant.

    `is_required`: without it the file is no such store. `left_out`: columns that are never read, such as vectors.
    `order`: columns to read it by, where the order in which rows were written will not do.
    """

    name: str
    needs: tuple[str, ...]
    is_required: bool = True
    left_out: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """The adapter of one kind of store; `called` is what people call it.

    `facts` takes records `{"table": …, "row": {column: value}}`, tables in the order of `tables`; of a store without
    tables, records as its own source gives them.
    """

    name: str
    version: int
    called: str
    facts: Callable[[Iterable[Located], Context], Iterator[Fact]]
    tables: tuple[StoreTable, ...] = ()

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """As in Adapter, of one record `{"tables": {table: [column, …]}}` of a file's schema."""
        schema = first[0].get("tables") if first else None
        return self.called if isinstance(schema, Mapping) and self.tables and not self.lacks(schema) else None

    def lacks(self, schema: Mapping[str, Sequence[str]]) -> str:
        """What a file with this schema lacks to be such a store, '' for nothing."""
        for table in self.tables:
            columns = schema.get(table.name)
            missing = [] if columns is None else [name for name in table.needs if name not in columns]
            if columns is None and table.is_required:
                return f"no table {table.name}"
            if missing:
                return f"no column {missing[0]} in its table {table.name}"
        return ""

    def kind_of_record(self, record: Record) -> str:
        """Return the table that a row is of."""
        table = record.get("table")
        return f"row of {table}" if isinstance(table, str) else "file"

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter: what is new beside `context.before`. All records of the store are taken, or none count.

        Raises ValueError without `context.before`.
        """
        if context.before is None:
            message = "a store is read beside what was seen of it before"
            raise ValueError(message)
        reading = StoreReading(context.before, self.version)
        yield from reading.make_rows(self.facts(records, context))
        if reading.unchanged:
            yield LeftOut(_UNCHANGED, reading.unchanged, is_settled=True)
        if reading.is_too_much and not context.before.accepts_vanished:
            yield Undecided(
                f"{len(reading.vanished):,} of its {reading.had:,} memories are gone at once, more than a fifth, so "
                "none was archived: if it is the right store and they are to go, import it with --accept-vanished"
            )
        else:
            yield from reading.archive_vanished()
