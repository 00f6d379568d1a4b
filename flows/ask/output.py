"""Rows on stdout or in a file: as JSON, CSV or Parquet for programs, as a table, Markdown or a workbook for people.

Times print as ISO-8601 in UTC ending in Z, with microseconds where they are not zero; dates as YYYY-MM-DD.
"""

from __future__ import annotations

import csv
import io
import itertools
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from slowwave.flows.ask.cells import cell_text, json_bytes
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import shorten_to_width, spreadsheet_safe, terminal_safe

if TYPE_CHECKING:
    import duckdb

Format = Literal["table", "csv", "json", "md", "parquet", "xlsx"]
Row = Sequence[Any]

BATCH_ROWS = 10_000
_TOO_WIDE = ("UHUGEINT", "BIGNUM")  # Arrow has no such integers, and takes others for them


def distinct_names(names: Sequence[str]) -> list[str]:
    """Column names with `_2`, `_3` … added where one is taken already, so that no column hides another."""
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found or (number > 1 and unique in names):
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found


def write_rows(
    names: Sequence[str],
    batches: Iterable[Sequence[Row]],
    output: Format,
    to: BinaryIO | None = None,
    *,
    can_cut_all: bool = False,
) -> None:
    """Write rows to `to` (None: stdout) in any format but Parquet; nothing is written before the first batch is there.

    A table is written to stdout; with `can_cut_all` each row takes one line, as another command shows it whole.

    Raises whatever `batches` raises, BrokenPipeError when nobody reads, UserError for more than a workbook holds.
    """
    rest = iter(batches)
    batches = itertools.chain([next(rest, [])], rest)
    if output == "table":
        from slowwave.flows.ask.output_table import write_table  # rich is slow to load

        write_table(names, batches, can_cut_all=can_cut_all)
    else:
        _WRITERS[output](names, batches, sys.stdout.buffer if to is None else to)
    sys.stdout.flush()


def _write_json(names: Sequence[str], batches: Iterable[Sequence[Row]], to: BinaryIO) -> None:
    """One array, one object per line."""
    keys = distinct_names(names)
    before = b"["
    for rows in batches:
        if rows:
            lines = [json_bytes(dict(zip(keys, row, strict=True))) for row in rows]
            to.write(before + b",\n".join(lines))
            before = b",\n"
    to.write(b"[]\n" if before == b"[" else b"]\n")


def _write_csv(names: Sequence[str], batches: Iterable[Sequence[Row]], to: BinaryIO) -> None:
    """A header and one record per row; on a terminal, controls are written out."""
    shown = terminal_safe if to.isatty() else str
    header = [[spreadsheet_safe(name) for name in names]]
    for rows in itertools.chain([header], batches):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [shown(spreadsheet_safe(value)) if isinstance(value, str) else cell_text(value) for value in row]
            for row in rows
        )
        to.write(text.getvalue().encode())


def _write_markdown(names: Sequence[str], batches: Iterable[Sequence[Row]], to: BinaryIO) -> None:
    from slowwave.flows.ask.output_table import write_markdown  # as a table

    write_markdown(names, batches, to)


def _write_workbook(names: Sequence[str], batches: Iterable[Sequence[Row]], to: BinaryIO) -> None:
    from slowwave.flows.ask.workbook import write_workbook  # slow to load

    write_workbook(names, batches, to)


_WRITERS = {"json": _write_json, "csv": _write_csv, "md": _write_markdown, "xlsx": _write_workbook}


def write_parquet_result(relation: duckdb.DuckDBPyRelation, to: BinaryIO | None = None) -> None:
    """Write a query's result to `to` (None: stdout) as a Parquet file.

    Raises UserError for a type that Parquet has not, duckdb.Error when the query fails.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, dtype in zip(relation.columns, map(str, relation.types), strict=True):
        if any(wide in dtype for wide in _TOO_WIDE):
            message = (
                f"Parquet cannot hold column {shorten_to_width(terminal_safe(name), 100)} ({dtype}): cast it to VARCHAR"
            )
            raise UserError(message)
    reader = relation.to_arrow_reader(BATCH_ROWS)
    names = distinct_names(reader.schema.names)
    schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
    first = next(reader, None)
    try:
        with pq.ParquetWriter(sys.stdout.buffer if to is None else to, schema, compression="zstd") as writer:
            for batch in itertools.chain([first] if first is not None else [], reader):
                writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    except pa.ArrowNotImplementedError as error:
        message = f"this result has a column that Parquet cannot hold: cast it ({error})"
        raise UserError(message) from error
    sys.stdout.flush()
