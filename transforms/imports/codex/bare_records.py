"""Rollouts of 2025 without wrappers: a header, then response items that have no time, as records of today's form."""

from __future__ import annotations

import re
from typing import Any

from slowwave.transforms.imports.made import Record
from slowwave.transforms.imports.record_values import (
    add_microseconds,
    list_in,
    moment_of,
    object_or_empty,
    text_in,
    text_or_empty,
)

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
    """Return the working directory that Codex tells the model of; '' where it tells none."""
    found = _DIRECTORY.search(context) if _CONTEXT in context else None
    return (found[1] or found[2]).strip() if found else ""
