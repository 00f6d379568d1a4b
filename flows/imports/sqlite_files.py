"""Stores and conversations in SQLite files, read from a copy, as sources of an import."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any
from urllib.parse import quote

import orjson

from slowwave.flows.imports.record_readers import json_elements
from slowwave.flows.imports.trace_parts import KeptParts
from slowwave.flows.imports.units import (
    FoundUnits,
    NotImported,
    ReadRecord,
    Unit,
    UnreadableUnitError,
    file_status,
    files_below,
)
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.kernel.terminal import shown_name
from slowwave.transforms.imports.adapter import Adapter, LeftOut, Located, Refused
from slowwave.transforms.imports.chats.cursor import BUBBLES
from slowwave.transforms.imports.stores.cells import TooLong
from slowwave.transforms.imports.stores.change_log import Store

# ------------------------------------------------------------------------------------------
# Reading another program's SQLite file: a copy is taken with SQLite's own backup, and nothing else is read.
# The backup sees what is in the write-ahead log, waits for a writer, and copies one state of the store. The file and
# what lies in its log stay byte for byte as they were; SQLite may put `-wal` and `-shm` beside a store in WAL mode.

_MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 10.0
_BETWEEN_TRIES = 0.05
_KIND = 0xFF  # of an error code; what is above says more
_CANNOT_WRITE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = "is damaged: restore it from a backup, or recover it with `sqlite3 FILE .recover`"
_CLOSED = "cannot be opened: its folder cannot be written to, which SQLite must where a store has a log"
_SAID: dict[int | None, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another program: import it again when that program rests",
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY_ROLLBACK: (
        "was left half-written by a program that died: open it once with the program that it belongs to"
    ),
    sqlite3.SQLITE_FULL: "is too large to be copied: there is no room left for temporary files",
    sqlite3.SQLITE_TOOBIG: "has a row that is larger than SQLite can read",
}


def is_sqlite(path: Path) -> bool:
    """Whether a file is an SQLite database by its first bytes. Raises OSError."""
    with path.open("rb") as handle:
        return handle.read(len(_MAGIC)) == _MAGIC


@contextmanager
def sqlite_copy(path: Path, wait_seconds: float = _WAIT_SECONDS) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the database, as it stood at one moment; the copy goes with the connection.

    Raises UnreadableUnitError with a sentence for people: locked, damaged, half-written, no database.
    """
    # an empty name: a database of SQLite's own in memory, and from some size on in a nameless temporary file
    with closing(sqlite3.connect("")) as copy:
        with _translate_errors(), closing(_open_read_only(path)) as source:
            _back_up(source, copy, wait_seconds)
        with _translate_errors():
            copy.execute("PRAGMA trusted_schema = OFF")
            if copy.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise UnreadableUnitError(_DAMAGED)
        copy.text_factory = _text
        yield copy


def _open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that can only read.

    SQLite needs a file beside a store in WAL mode, also to read it. Where it can make none, and there is no log, the
    file alone is all of the store.
    """
    if not is_sqlite(path):
        message = "is no SQLite database" if path.stat().st_size else "is empty"
        raise UnreadableUnitError(message)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    source = sqlite3.connect(address, uri=True, timeout=0)
    try:
        source.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & _KIND in _BUSY:
            return source  # the backup waits
        source.close()
        has_log = any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal"))
        if error.sqlite_errorcode & _KIND not in _CANNOT_WRITE or has_log:
            raise
        source = sqlite3.connect(f"{address}&immutable=1", uri=True, timeout=0)
    return source


def _back_up(source: sqlite3.Connection, copy: sqlite3.Connection, wait_seconds: float) -> None:
    """SQLite itself would wait for a lock for ever."""
    until = time.monotonic() + wait_seconds

    def look(status: int, _remaining: int, _total: int) -> None:
        if status & _KIND in _BUSY and time.monotonic() > until:
            message = (
                f"is locked by another program, which has not let go of it for {wait_seconds:.0f} s: import it again "
                "when that program rests"
            )
            raise UnreadableUnitError(message)

    source.backup(copy, progress=look, sleep=_BETWEEN_TRIES)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """What SQLite says, in a sentence for people."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        kind = None if code is None else code & _KIND
        why = _SAID.get(code) or _SAID.get(kind) or f"cannot be read: {error}"
        raise UnreadableUnitError(why) from error


def _text(raw: bytes) -> str:
    """Text of SQLite's, which need not be UTF-8."""
    return raw.decode("utf-8", "backslashreplace")


def sqlite_schema(path: Path, wait_seconds: float = _WAIT_SECONDS) -> dict[str, list[str]]:
    """The tables of the database itself, which is opened for it, and their columns. Raises UnreadableUnitError."""
    with _translate_errors(), closing(_open_read_only(path)) as source:
        source.execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
        source.text_factory = _text
        return columns_by_table(source)


def columns_by_table(copy: sqlite3.Connection) -> dict[str, list[str]]:
    """The ordinary tables of a copy, and their columns; no view, and no table that a module makes up."""
    with _translate_errors():
        tables = copy.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ).fetchall()
        return {
            name: [column for (column,) in copy.execute("SELECT name FROM pragma_table_info(?)", (name,))]
            for (name,) in tables
        }


def is_of_sqlite(copy: sqlite3.Connection, table: str) -> bool:
    """Whether a table is SQLite's own, or holds what a virtual table, such as an index of texts, is made of."""
    virtual = copy.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'").fetchall()
    return table.startswith(("sqlite_", *(f"{name}_" for (name,) in virtual)))


def row_count(copy: sqlite3.Connection, table: str) -> int:
    """The number of rows of a table. Raises UnreadableUnitError."""
    with _translate_errors():
        return copy.execute(f"SELECT count(*) FROM {_quote_name(table)}").fetchone()[0]  # noqa: S608 - a quoted name


def rows_of(
    copy: sqlite3.Connection, table: str, columns: Sequence[str], order: Sequence[str], longest: int
) -> Iterator[dict[str, Any]]:
    """The rows of a table, as a mapping each; in place of a value longer than `longest` stands how long it is.

    Raises UnreadableUnitError.
    """
    names = [_quote_name(column) for column in columns]
    is_long = "length({0}) > :longest"
    pairs = f"iif({is_long}, NULL, {{0}}), iif({is_long}, length({{0}}), NULL)"
    values = ", ".join(pairs.format(name) for name in names)
    by = ", ".join(_quote_name(column) for column in order if column in columns) or "rowid"
    with _translate_errors():
        # by no index, which may lack rows that the table has
        query = f"SELECT {values} FROM {_quote_name(table)} NOT INDEXED ORDER BY {by}"  # noqa: S608 - names of the store's own, quoted
        for row in copy.execute(query, {"longest": longest}):
            yield {
                column: row[2 * at] if row[2 * at + 1] is None else TooLong(row[2 * at + 1])
                for at, column in enumerate(columns)
            }


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ------------------------------------------------------------------------------------------
# Stores that are SQLite files, as sources of an import.

_SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_PICKLED = (
    "is a vector store of Qdrant's, whose points are pickled objects, which are never read: import the history of "
    "mem0 (history.db) in its place"
)


@dataclass(frozen=True)
class SqliteSource:
    """The stores of one program, each a unit that is read whole or not at all."""

    adapter: Store
    described: str
    roots: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the source is called on the command line."""
        return self.adapter.name

    def list_files(self, path: Path) -> list[Path]:
        """The files under a path that may be such stores, by their names."""
        return self._files(path)[0]

    def _files(self, path: Path) -> tuple[list[Path], list[NotImported]]:
        if not path.is_dir():
            return [path], []
        return files_below(path, lambda name: Path(name).suffix.lower() in _SQLITE_SUFFIXES)

    def group_units(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:  # noqa: ARG002
        """The units as they are: each is a store of its own."""
        return units

    def find_units(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> FoundUnits:
        """The stores under a file or folder; `others` name the stores of other programs. Raises OSError."""
        found, tellers = FoundUnits(), [*others]
        files, closed = self._files(path)
        found.others.extend(closed)
        for file in files:
            try:
                found.units.append(self._unit(file, tellers, longest_row))
            except _NotOursError as error:
                why = str(error)
                is_fault = not path.is_dir()
                found.others.append(NotImported(shown_name(file), why, is_fault, is_recognised=why == _PICKLED))
            except UnreadableUnitError as error:
                found.others.append(NotImported(shown_name(file), str(error), is_fault=True))
            except OSError as error:
                why = f"cannot be read: {error.strerror or error}"
                found.others.append(NotImported(shown_name(file), why, is_fault=True))
        return found

    def _unit(self, file: Path, others: list[Adapter], longest_row: int) -> Unit:
        state, size = _state(file)
        if not is_sqlite(file):
            message = "is no SQLite database" if file.stat().st_size else "is empty"
            raise _NotOursError(message)
        schema = sqlite_schema(file)
        lacks = self.adapter.lacks(schema)
        if lacks:
            raise _NotOursError(self._why_not(schema, lacks, others))
        return Unit(
            shown_name(file),
            lambda: self._records(file, longest_row),
            state,
            modified_at=0.0,  # it is never in the middle of a turn
            producer=self.adapter.called,
            size=size,
            is_one_piece=True,
        )

    def _why_not(self, schema: Mapping[str, Sequence[str]], lacks: str, others: list[Adapter]) -> str:
        if "points" in schema and "point" in schema["points"]:
            return _PICKLED
        other = next(
            (said for each in others if (said := each.detect_producer([{"tables": schema}])) is not None), None
        )
        return f"is a store of {other}" if other else f"is no store of {self.adapter.called}: it has {lacks}"

    def _records(self, file: Path, longest_row: int) -> Iterator[ReadRecord]:
        number = 0
        with sqlite_copy(file) as copy:
            schema = columns_by_table(copy)
            lacks = self.adapter.lacks(schema)
            if lacks:
                message = f"was changed while it was read: it has {lacks}"
                raise UnreadableUnitError(message)
            yield from self._not_read(copy, schema)
            for table in self.adapter.tables:
                columns = [name for name in schema.get(table.name, ()) if name not in table.left_out]
                for row in rows_of(copy, table.name, columns, table.order, longest_row) if columns else ():
                    number += 1
                    yield Located(number, {"table": table.name, "row": row})

    def _not_read(self, copy: Connection, schema: Mapping[str, Sequence[str]]) -> Iterator[LeftOut]:
        """The rows of the tables that the adapter does not read, by table; SQLite's own are none."""
        known = {table.name for table in self.adapter.tables}
        for name in schema:
            if name not in known and not is_of_sqlite(copy, name) and (count := row_count(copy, name)):
                yield LeftOut(f"a row of the table {name}, which is not read", count)


class _NotOursError(Exception):
    """A file is none of the source's; the message says what it is."""


def _state(file: Path) -> tuple[dict[str, Any], int]:
    """What changes whenever the store does, and its size. An empty log is no news: reading alone may make one."""
    status = file_status(file)
    log = Path(f"{file}-wal")
    beside = log.stat() if log.exists() else None
    written = [beside.st_size, beside.st_mtime_ns] if beside is not None and beside.st_size else None
    size = status.st_size + (beside.st_size if beside is not None else 0)
    return {"size": status.st_size, "modified_ns": status.st_mtime_ns, "log": written}, size


# ------------------------------------------------------------------------------------------
# Conversations in Cursor's database, `state.vscdb`: a table of keys and JSON values.

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
