"""Conversations in Cursor's database, `state.vscdb`: a table of keys and JSON values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from slowwave.flows.imports.json_records import json_elements
from slowwave.flows.imports.stores.sqlite_copy import is_sqlite, sqlite_copy
from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused
from slowwave.transforms.imports.chats.cursor import BUBBLES

_TABLE = "cursorDiskKV"
# `;` is the sign after `:`
_CONVERSATIONS = (
    "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key"
)
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_HEADERS, _INLINE = "fullConversationHeadersOnly", "conversation"
_RAW = 2_000


def cursor_records(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """The conversations of a database, each with its messages in order; of another file the objects in it.

    Raises OSError as the disk does, and UnreadableUnitError where the database cannot be read or is none of Cursor's.
    """
    if not is_sqlite(path):
        yield from json_elements(path, longest_row, is_idle=is_idle)
        return
    with sqlite_copy(path) as copy:
        if copy.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (_TABLE,)).fetchone()[0] == 0:
            message = "is an SQLite database, but none in which Cursor keeps conversations"
            raise UnreadableUnitError(message)
        for number, (key, value) in enumerate(copy.execute(_CONVERSATIONS), start=1):
            held = _object(value, longest_row)
            if held is None:
                yield Refused(number, "a conversation of Cursor's that is no JSON object, or too long", str(key)[:_RAW])
            elif not (bubbles := _bubbles(copy, held, longest_row)):
                yield LeftOut("a conversation without messages")
            else:
                yield Located(number, held | {BUBBLES: bubbles})


def _bubbles(copy: sqlite3.Connection, conversation: Mapping[str, Any], longest_row: int) -> list[Any]:
    """The messages of a conversation: in it, as earlier versions had them, or under keys of their own."""
    inline, headers = conversation.get(_INLINE), conversation.get(_HEADERS)
    if isinstance(inline, list) and inline:
        return inline
    name, found = conversation.get("composerId"), list[Any]()
    for header in headers if isinstance(headers, list) else []:
        bubble = header.get("bubbleId") if isinstance(header, dict) else None
        row = copy.execute(_VALUE, (f"bubbleId:{name}:{bubble}",)).fetchone()
        held = _object(row[0], longest_row) if row is not None else None
        if isinstance(header, dict):
            found.append({"bubbleId": bubble, "type": header.get("type")} | (held or {}))
    return found


def _object(value: object, longest_row: int) -> dict[str, Any] | None:
    """A JSON object from a cell, which may be bytes or text."""
    if not isinstance(value, (str, bytes)) or len(value) > longest_row:
        return None
    try:
        held = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return held if isinstance(held, dict) else None
