"""Rows as an Excel workbook of one sheet: texts stay texts, times are Excel's own, no number is rounded."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, BinaryIO

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count

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
