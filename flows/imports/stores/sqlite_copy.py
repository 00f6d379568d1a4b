"""Reading another program's SQLite file: a copy is taken with SQLite's own backup, and nothing else is read.

The backup sees what is in the write-ahead log, waits for a writer, and copies one state of the store. The file and what
lies in its log stay byte for byte as they were; SQLite may put `-wal` and `-shm` beside a store in WAL mode.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slowwave.flows.imports.units import UnreadableUnitError
from slowwave.transforms.imports.stores.cells import TooLong

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
        with _told(), closing(_opened(path)) as source:
            _back_up(source, copy, wait_seconds)
        with _told():
            copy.execute("PRAGMA trusted_schema = OFF")
            if copy.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise UnreadableUnitError(_DAMAGED)
        copy.text_factory = _text
        yield copy


def _opened(path: Path) -> sqlite3.Connection:
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
def _told() -> Iterator[None]:
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
    with _told(), closing(_opened(path)) as source:
        source.execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
        source.text_factory = _text
        return columns_by_table(source)


def columns_by_table(copy: sqlite3.Connection) -> dict[str, list[str]]:
    """The ordinary tables of a copy, and their columns; no view, and no table that a module makes up."""
    with _told():
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
    with _told():
        return copy.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()[0]  # noqa: S608 - a quoted name


def rows_of(
    copy: sqlite3.Connection, table: str, columns: Sequence[str], order: Sequence[str], longest: int
) -> Iterator[dict[str, Any]]:
    """The rows of a table, as a mapping each; in place of a value longer than `longest` stands how long it is.

    Raises UnreadableUnitError.
    """
    names = [_quoted(column) for column in columns]
    is_long = "length({0}) > :longest"
    pairs = f"iif({is_long}, NULL, {{0}}), iif({is_long}, length({{0}}), NULL)"
    values = ", ".join(pairs.format(name) for name in names)
    by = ", ".join(_quoted(column) for column in order if column in columns) or "rowid"
    with _told():
        # by no index, which may lack rows that the table has
        query = f"SELECT {values} FROM {_quoted(table)} NOT INDEXED ORDER BY {by}"  # noqa: S608 - names of the store's own, quoted
        for row in copy.execute(query, {"longest": longest}):
            yield {
                column: row[2 * at] if row[2 * at + 1] is None else TooLong(row[2 * at + 1])
                for at, column in enumerate(columns)
            }


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
