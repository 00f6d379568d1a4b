"""`slowwave inspect export`: published tables as Parquet or CSV files for other tools, one file a table.

A file holds the table's rows sorted by key, so that two exports of one run are the same bytes, on whatever machine
with the locked versions. Rows pass through in small batches, however many there are.
"""

from __future__ import annotations

import csv
import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.ask.connection import (
    OTHER_RELEASE,
    DuckDBConfig,
    error_lines,
    find_run,
    is_of_another_release,
    locked_connection,
)
from slowwave.flows.kernel.doors import outside
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import format_count, quote_shortened, spreadsheet_safe, terminal_safe
from slowwave.transforms.core.schema import Table
from slowwave.transforms.graph import SERVING

# What DuckDB may hold while it sorts; more is spilled to the disk.
_LIMITS: DuckDBConfig = {"memory_limit": "512MB"}
_BATCH_ROWS = 1_024
# A row group is what a reader holds at once.
_GROUP_ROWS = 32 * _BATCH_ROWS
_GROUP_BYTES = 32 * 2**20


def run_export(
    settings: Settings,
    tables: Sequence[str],
    *,
    output: Literal["parquet", "csv"],
    to: str,
    run: str = "current",
    force: bool,
) -> None:
    """Write `tables` (none named: all) of a run into the folder `to`, which is made, and print what was written.

    Raises UserError when nothing is published, the run or a table is not known, `to` is a file, or a file is there
    already and `force` is not given: then nothing is written; and when the run's file is damaged or of another version.
    OSError when the folder cannot be written.
    """
    path = find_run(settings, run)
    folder = Path(to)
    if (folder.exists() or folder.is_symlink()) and not folder.is_dir():
        message = f"{to} is no folder: name one, or one that is to be made"
        raise UserError(message)
    try:
        _export(path, tables, output, folder, force=force)
    except duckdb.Error as error:
        said = OTHER_RELEASE if is_of_another_release(error) else f"{error_lines(error)}; `slowwave doctor` says more"
        message = f"the tables of run {path.stem} cannot be read: {said}"
        raise UserError(message) from error


def _export(path: Path, tables: Sequence[str], output: Literal["parquet", "csv"], folder: Path, *, force: bool) -> None:
    with locked_connection(path, limits=_LIMITS) as connection:
        held = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        targets = {table: folder / f"{table.name}.{output}" for table in _choose_tables(tables, held, path.stem)}
        there = [target for target in targets.values() if target.is_symlink() or target.exists()]
        if there and not force:
            message = f"{there[0]} is there already{_and_more(there)}: --force writes over it"
            raise UserError(message)
        for table, target in targets.items():
            rows = write_table(connection, table, target, output)
            _tell(
                f"{terminal_safe(str(target))}  {format_count(rows, 'row')}  "
                f"{format_count(target.stat().st_size, 'byte')}\n"
            )
    sys.stderr.write(f"slowwave: exported {format_count(len(targets), 'table')} of run {path.stem}\n")


def _tell(line: str) -> None:
    """Print a line. What was asked for are the files: that nobody reads any more, as with `| head`, ends nothing."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _choose_tables(named: Sequence[str], held: set[str], run_id: str) -> list[type[Table]]:
    """The declared tables that are named, each once; none named: all that the run has."""
    declared = {table.name: table for table in SERVING}
    for name in named:
        if name not in declared:
            near = difflib.get_close_matches(name, declared, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(declared)}"
            message = f"{quote_shortened(name)} is no published table: {hint}"
            raise UserError(message)
        if name not in held:
            message = f"run {run_id} has no table {name}: it was published by another version"
            raise UserError(message)
    return [declared[name] for name in dict.fromkeys(named)] or [table for table in SERVING if table.name in held]


def _and_more(there: Sequence[Path]) -> str:
    return f", and {len(there) - 1} more" if len(there) > 1 else ""


def write_table(
    connection: duckdb.DuckDBPyConnection, table: type[Table], target: Path, output: Literal["parquet", "csv"]
) -> int:
    """Write one table into a file, sorted by its key; returns how many rows."""
    key = ", ".join(f'"{name}"' for name in table.key)
    relation = connection.sql(f'SELECT * FROM "{table.name}" ORDER BY {key}')  # noqa: S608 - declared names
    reader = relation.to_arrow_reader(_BATCH_ROWS)
    write = _write_parquet if output == "parquet" else _write_csv
    written = [0]
    with outside():
        write_durably(target, lambda aside: write(aside, reader.schema, _counting(reader, written)))
    return written[0]


def _counting(batches: Iterator[pa.RecordBatch], written: list[int]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        written[0] += batch.num_rows
        yield batch


def _write_parquet(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    with path.open("wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(batches):
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=_GROUP_ROWS)


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The batches gathered into row groups."""
    group: list[pa.RecordBatch] = []
    rows = held = 0
    for batch in batches:
        group.append(batch)
        rows += batch.num_rows
        held += batch.nbytes
        if rows >= _GROUP_ROWS or held >= _GROUP_BYTES:
            yield group
            group, rows, held = [], 0, 0
    if group:
        yield group


def _write_csv(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    """A header and one record a row: NULL is empty, a list is JSON, what a spreadsheet would run begins with '."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(schema.names)
        for batch in batches:
            writer.writerows(zip(*map(_csv_cells, batch.columns), strict=True))


def _csv_cells(column: pa.Array) -> list[Any]:
    values = column.to_pylist()
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return values  # the writer takes them, and None, as they are
    if pa.types.is_nested(column.type):
        return [cell_text(value) for value in values]
    # of few distinct times or texts, each is converted once
    text = {value: spreadsheet_safe(value) if isinstance(value, str) else cell_text(value) for value in set(values)}
    return [text[value] for value in values]
