"""Reading delivered CSV, row by row; a row may hold newlines, and a quote that is never closed ends somewhere."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import cast

from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.land.formats.chunk import Chunk, Collector
from slowwave.flows.land.formats.lines import BOM, EMPTY_LINES, Lines, LongLine, too_long

_SHOWN_OF_LONG = 1_000


def csv_chunks(lines: Lines, longest_row: int, delimiter: str = ",") -> Iterator[Chunk]:
    """The rows of a CSV text, after its header."""
    csv.field_size_limit(2**31 - 1)
    gathered = Collector(lines, "csv")
    header: list[str] | None = None
    header_fault = ""
    text = _RowText(lines, longest_row)
    for number, cells, fault in _csv_rows(text, delimiter):
        if header is None:
            header = [cell.strip() for cell in cells]
            header_fault = f"the header is broken: {fault}" if fault else _csv_header_fault(header)
            gathered.header = text.raw.removeprefix(BOM).decode("utf-8", "backslashreplace")
        elif row_fault := fault or header_fault or _csv_fault(header, cells):
            gathered.refuse(number, row_fault, text.raw, is_whole=not text.is_too_long)
        else:
            record = {name: cell for name, cell in zip(header, cells, strict=True) if cell != ""}
            gathered.add(number, cast("dict[str, object]", record), text.raw)
        if gathered.is_full:
            yield gathered.chunk()
    yield gathered.last_chunk()


class _RowText:
    """The lines of a row, for Python's reader of CSV; it keeps them as delivered, until `start` begins another row."""

    def __init__(self, lines: Lines, longest_row: int) -> None:
        self._lines = lines
        self._longest_row = longest_row
        self.number = 0
        self.start()

    def start(self) -> None:
        """Begin a row, behind lines that are empty."""
        self.number += self._lines.skip(EMPTY_LINES)
        self._kept: list[bytes] = []
        self._length = 0
        self.is_too_long = False

    @property
    def raw(self) -> bytes:
        """The row as delivered; of one that is too long, how it begins."""
        return b"\n".join(self._kept)[: _SHOWN_OF_LONG if self.is_too_long else None]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        text = line.head if isinstance(line, LongLine) else line
        self._length += bool(self._kept) + (line.length if isinstance(line, LongLine) else len(line))
        self._kept.append(text)
        if self._length > self._longest_row:
            self.is_too_long = True
            raise csv.Error(too_long(self._length, self._longest_row))
        return (text.removeprefix(BOM) if self.number == 1 else text).decode("utf-8", "surrogateescape") + "\n"


def _csv_rows(text: _RowText, delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """Line number, cells, and what is wrong with the row as CSV. Empty lines are no rows."""
    reader = csv.reader(text, strict=True, delimiter=delimiter)
    while True:
        text.start()
        number = text.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, [], str(error) if text.is_too_long else f"the line is not CSV: {error}"
        else:
            if cells:
                yield number, cells, ""


def _has_bad_bytes(cells: list[str]) -> bool:
    return any("\udc80" <= char <= "\udcff" for cell in cells if not cell.isascii() for char in cell)


def _csv_header_fault(header: list[str]) -> str:
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        return (
            f"the header names the column {quote_shortened(twice)} twice: rename one of them and deliver the file again"
        )
    return "the header is not valid UTF-8" if _has_bad_bytes(header) else ""


def _csv_fault(header: list[str], cells: list[str]) -> str | None:
    if len(cells) != len(header):
        return f"the row has {len(cells)} cells, the header {len(header)}"
    return "the row is not valid UTF-8" if _has_bad_bytes(cells) else None
