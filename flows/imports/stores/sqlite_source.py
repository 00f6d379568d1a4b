"""Stores that are SQLite files, as sources of an import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from slowwave.flows.imports.kept_parts import KeptParts
from slowwave.flows.imports.stores.sqlite_copy import (
    columns_by_table,
    is_of_sqlite,
    is_sqlite,
    row_count,
    rows_of,
    sqlite_copy,
    sqlite_schema,
)
from slowwave.flows.imports.units import (
    Found,
    NotImported,
    ReadRecord,
    Unit,
    UnreadableUnitError,
    file_status,
    files_below,
    shown_name,
)
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.adapter import Adapter, LeftOut, Located
from slowwave.transforms.imports.stores.change_log import Store

_SUFFIXES = (".db", ".sqlite", ".sqlite3")
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

    def listed(self, path: Path) -> list[Path]:
        """The files under a path that may be such stores, by their names."""
        return self._files(path)[0]

    def _files(self, path: Path) -> tuple[list[Path], list[NotImported]]:
        if not path.is_dir():
            return [path], []
        return files_below(path, lambda name: Path(name).suffix.lower() in _SUFFIXES)

    def joined(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:  # noqa: ARG002
        """The units as they are: each is a store of its own."""
        return units

    def found(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> Found:
        """The stores under a file or folder; `others` name the stores of other programs. Raises OSError."""
        found, tellers = Found(), [*others]
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
        other = next((said for each in others if (said := each.detected([{"tables": schema}])) is not None), None)
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
