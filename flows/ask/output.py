"""Rows on stdout or in a file: as JSON, CSV or Parquet for programs, as a table, Markdown or a workbook for people.

Times print as ISO-8601 in UTC ending in Z, with microseconds where they are not zero; dates as YYYY-MM-DD.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from slowwave.flows.ask.cells import cell_text, json_bytes
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, spreadsheet_safe, terminal_safe

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


# What a sheet of Excel has room for, a header of one row with it, and a cell (in UTF-16).
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 2**20 - 1, 2**14, 32_767
# Excel keeps 15 digits of a number; a longer one is text.
_DIGITS = 15
# Before, Excel counts a day that never was.
_FIRST_YEAR = 1901
_WIDEST = 60


def write_workbook(names: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]], to: BinaryIO) -> None:
    """Write all rows below their names. Times are in UTC; what Excel has no type for is text, as in CSV.

    A text that a cell has no room for is cut, and how many were is said on stderr.

    Raises UserError when there are more rows or columns than a sheet holds; then nothing is written.
    """
    from xlsxwriter import Workbook  # slow to load

    if len(names) > MOST_COLUMNS:
        message = f"a sheet holds {MOST_COLUMNS:,} columns and this result has {len(names):,}: name those you need"
        raise UserError(message)
    # rows wait in files there until the workbook is whole
    with tempfile.TemporaryDirectory(prefix="slowwave-xlsx-") as aside:
        book = Workbook(to, {"constant_memory": True, "tmpdir": aside})
        sheet = _Sheet(book, names)
        try:
            sheet.write(batches)
        except BaseException:
            sheet.drop()
            raise
        book.close()
    if sheet.cut_count:
        said = format_count(sheet.cut_count, "text was", "texts were")
        sys.stderr.write(f"slowwave: {said} cut to the {MOST_CHARACTERS:,} characters that a cell of Excel holds\n")


class _Sheet:
    """The one sheet of a workbook, written row by row from the top."""

    def __init__(self, book: Any, names: Sequence[str]) -> None:  # noqa: ANN401 - xlsxwriter's are not typed
        self.cut_count = 0
        self._names = names
        self._sheet = book.add_worksheet("result")
        self._bold = book.add_format({"bold": True})
        self._formats = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }

    def write(self, batches: Iterable[Sequence[Sequence[Any]]]) -> None:
        """Write the names, and the rows below them."""
        count = 0
        for rows in batches:
            if not count:
                self._begin(rows)
            if count + len(rows) > MOST_ROWS:
                message = f"a sheet holds {MOST_ROWS:,} rows and this result has more: --format parquet or csv has room"
                raise UserError(message)
            for row in rows:
                count += 1
                for column, value in enumerate(row):
                    self._write_cell(count, column, value)

    def drop(self) -> None:
        """Close the file in which rows wait: the workbook is not to be written."""
        self._sheet.row_data_fh.close()

    def _begin(self, rows: Sequence[Sequence[Any]]) -> None:
        """Widths follow the first rows: what is written cannot be changed any more."""
        for column, name in enumerate(self._names):
            lengths = [
                len(name),
                *(19 if isinstance(row[column], datetime) else len(cell_text(row[column])) for row in rows),
            ]
            self._sheet.set_column(column, column, min(_WIDEST, max(lengths) + 2))
        self._sheet.freeze_panes(1, 0)
        for column, name in enumerate(self._names):
            self._sheet.write_string(0, column, self._text(name), self._bold)

    def _write_cell(self, row: int, column: int, value: object) -> None:
        if value is None:
            return
        if isinstance(value, bool):
            self._sheet.write_boolean(row, column, value)
        elif isinstance(value, (int, float, Decimal)) and _is_kept_whole(value):
            self._sheet.write_number(row, column, value)
        elif isinstance(value, date) and value.year >= _FIRST_YEAR:
            self._sheet.write_datetime(row, column, _in_utc(value), self._formats[type(value)])
        else:
            self._sheet.write_string(row, column, self._text(cell_text(value)))

    def _text(self, text: str) -> str:
        if len(text) * 2 <= MOST_CHARACTERS:
            return text
        encoded = text.encode("utf-16-le")
        if len(encoded) <= 2 * MOST_CHARACTERS:
            return text
        self.cut_count += 1
        return encoded[: 2 * (MOST_CHARACTERS - 1)].decode("utf-16-le", errors="ignore") + "…"


def _is_kept_whole(number: float | Decimal) -> bool:
    """Whether Excel shows the same number, to the last digit that DuckDB has of it."""
    if isinstance(number, float):
        return math.isfinite(number)
    if isinstance(number, int):
        return abs(number) < 10**_DIGITS
    return number.is_finite() and len(number.normalize().as_tuple().digits) <= _DIGITS


def _in_utc(value: date) -> date:
    """A date as it is, a time as UTC without a zone, which Excel has not."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
