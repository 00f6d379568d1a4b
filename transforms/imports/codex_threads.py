"""Threads of Codex: whose a rollout is, which of its turns come from another thread, and records without wrappers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slowwave.transforms.imports.adapter import Record
from slowwave.transforms.imports.record_values import (
    add_microseconds,
    list_in,
    moment_of,
    object_in,
    object_or_empty,
    text_in,
    text_or_empty,
    whole_number,
)

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_UUID_7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def time_text(value: object) -> str:
    """Return a time as text: as it stands, or of the seconds since 1970 that stand there; '' where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    try:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""


def milliseconds_of_id(name: str) -> int | None:
    """Return when an id of version 7 was drawn, in milliseconds since 1970; None where it is no such id."""
    found = _UUID_7.fullmatch(name)
    return int(found[1] + found[2], 16) if found else None


def milliseconds(time: str) -> int | None:
    """Return a time written as text in milliseconds since 1970; None where it is none."""
    try:
        stated = datetime.fromisoformat(time)
    except ValueError:
        return None
    if stated.tzinfo is None:
        stated = stated.replace(tzinfo=UTC)
    return int(stated.timestamp() * 1000)


def folder_path(value: object) -> str:
    """Return a path, also of a `file:` address."""
    path = text_or_empty(value)
    if not path.startswith("file://"):
        return path
    plain = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), path.removeprefix("file://").encode())
    return plain.decode(errors="replace")


# Threads that Codex starts for itself: nobody asked anything in them.
_OF_ITS_OWN = frozenset({"review", "compact", "memory_consolidation", "guardian"})


@dataclass(frozen=True)
class Thread:
    """What a `session_meta` record says.

    `own_purpose`: what Codex started the thread for, '' where a person or an agent did. `began_ms`: since 1970.
    `history_ends`: the ordinal of its first own record, None where that is not said.
    """

    thread_id: str = ""
    session_id: str = ""
    agent: str = "codex"
    client: str = ""
    version: str = ""
    directory: str = ""
    branch: str = ""
    own_purpose: str = ""
    forked_from: str = ""
    began_ms: int | None = None
    history_ends: int | None = None


def thread_of(meta: Record, written_at: str) -> Thread:
    """Return the thread that a `session_meta` payload, written at that time, describes."""
    source = object_in(meta, "source").get("subagent")
    spawned = object_or_empty(object_or_empty(source).get("thread_spawn"))
    thread_id = text_in(meta, "id") or text_in(meta, "session_id")
    version = text_in(meta, "cli_version")
    role, nickname = (text_in(meta, name) or text_in(spawned, name) for name in ("agent_role", "agent_nickname"))
    began = text_in(meta, "timestamp") or written_at
    return Thread(
        thread_id=thread_id,
        session_id=text_in(meta, "session_id") or text_in(spawned, "parent_thread_id") or thread_id,
        agent=role or nickname or "codex",
        client="/".join(part for part in (text_in(meta, "originator") or "codex", version) if part),
        version=version,
        directory=folder_path(meta.get("cwd")),
        branch=text_or_empty(object_in(meta, "git").get("branch")),
        own_purpose=_own_purpose(source, text_in(meta, "thread_source")),
        forked_from=text_in(meta, "forked_from_id")
        or text_in(meta, "parent_thread_id")
        or text_in(spawned, "parent_thread_id"),
        began_ms=milliseconds_of_id(thread_id) or milliseconds(began),
        history_ends=whole_number(meta.get("subagent_history_start_ordinal")),
    )


def _own_purpose(source: object, thread_source: str) -> str:
    stated = [thread_source, text_or_empty(source)]
    if isinstance(source, Mapping):
        stated += [text_in(source, "other"), *map(str, source)]
    return next((purpose for purpose in stated if purpose in _OF_ITS_OWN), "")


# Copies are written in one go when a thread is forked; a person needs longer than that to ask something.
_COPYING_MS = 2_000


class Lineage:
    """The thread of a rollout, and those whose records it begins with."""

    def __init__(self) -> None:
        self.thread = Thread()
        self._ancestors: dict[str, Thread] = {}
        self._first_ms: int | None = None
        self._at_ms: int | None = None
        self._ordinal: int | None = None
        self._is_past_copies = False

    def add_meta(self, payload: Record, at: str) -> None:
        """Add a `session_meta` record: the first is the thread's own, those of other threads were copied."""
        found = thread_of(payload, at)
        if not self.thread.thread_id:
            self.thread, self._first_ms = found, milliseconds(at)
        elif found.thread_id != self.thread.thread_id:
            self._ancestors[found.thread_id] = found

    def note_record(self, ordinal: int | None, at: str) -> None:
        """Note where any other record stands, and when it was written."""
        self._ordinal, self._at_ms = ordinal, milliseconds(at)

    def is_copied(self, turn_id: str, began: str) -> bool:
        """Whether a turn that begins with the last record is a copy; behind the first own one none is."""
        if not self._is_past_copies:
            self._is_past_copies = not self._is_before_own(turn_id, began)
        return not self._is_past_copies

    def _is_before_own(self, turn_id: str, began: str) -> bool:
        thread = self.thread
        if not (thread.forked_from or thread.history_ends or self._ancestors):
            return False
        if thread.history_ends is not None and self._ordinal is not None:
            return self._ordinal < thread.history_ends
        drawn, thread_drawn = milliseconds_of_id(turn_id), milliseconds_of_id(thread.thread_id)
        if drawn is not None and thread_drawn is not None:
            return drawn < thread_drawn
        began_ms = milliseconds(began)
        if began_ms is not None and thread.began_ms is not None:
            return began_ms < thread.began_ms // 1000 * 1000
        if not self._ancestors or self._at_ms is None or self._first_ms is None:
            return False
        return self._at_ms - self._first_ms < _COPYING_MS

    def thread_of_turn(self, *, is_copied: bool) -> Thread | None:
        """Return whose a turn is; None where that of a copy is not known."""
        if not is_copied:
            return self.thread
        first, *others = [*self._ancestors.values()] or [Thread(forked_from="unknown")]
        return None if others or first.forked_from else first


_HEADER = frozenset({"instructions", "git"})
_ITEMS = frozenset({"message", "reasoning"})
_CALLS = ("_call", "_call_output")
_DIRECTORY = re.compile(r"<cwd>([^<\n]+)</cwd>|^Current working directory: ([^\n]+)$", re.MULTILINE)
_CONTEXT = "<environment_context>"


class BareRecords:
    """Wraps the records of one rollout that has no wrappers.

    An item without a time gets the header's, later by its place in microseconds, so that turns keep their order.
    """

    def __init__(self) -> None:
        self._began: Any = None
        self._items = 0

    def wrap(self, record: Record) -> Record:
        """Return a record with `type` and `payload`; one that has them, or is of no known form, as it is."""
        if "payload" in record:
            return record
        if is_bare_header(record):
            self._began = moment_of(record.get("timestamp"))
            return {"type": "session_meta", "timestamp": record["timestamp"], "payload": record}
        if not is_bare_item(record):
            return record if "type" in record else {"type": text_in(record, "record_type"), "payload": record}
        self._items += 1
        at = text_in(record, "timestamp")
        if not at and self._began is not None:
            at = f"{add_microseconds(self._began, self._items).isoformat()}Z"
        return {"type": "response_item", "timestamp": at, "payload": record}


def is_bare_header(record: Record) -> bool:
    """Whether a record is the first of such a rollout."""
    is_stated = all(text_in(record, name) for name in ("id", "timestamp"))
    return is_stated and "type" not in record and not _HEADER.isdisjoint(record)


def is_bare_item(record: Record) -> bool:
    """Whether a record is a response item without a wrapper."""
    kind = text_in(record, "type")
    return "payload" not in record and (kind in _ITEMS or kind.endswith(_CALLS))


def is_bare_message(record: Record) -> bool:
    """Whether a record is a message that no other program writes so."""
    parts = [text_or_empty(object_or_empty(part).get("type")) for part in list_in(record, "content")]
    return is_bare_item(record) and any(part in {"input_text", "output_text"} for part in parts)


def directory_of(context: str) -> str:
    """Return the working directory that Codex states to the model; '' where it states none."""
    found = _DIRECTORY.search(context) if _CONTEXT in context else None
    return (found[1] or found[2]).strip() if found else ""
