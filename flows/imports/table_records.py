"""The rows of exported tables: JSON lines, one JSON array, CSV or Parquet, plain or packed, by their content."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from slowwave.flows.imports.json_records import json_lines
from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.flows.kernel.storage.text_stream import DAMAGED, text_stream
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.csv import csv_chunks
from slowwave.flows.land.formats.lines import Lines, too_long
from slowwave.transforms.imports.adapter import Located, Refused

_BLOCK = 2**20
_SHOWN = 10_000
_BETWEEN = " \t\r\n,"


def table_rows(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """The rows of a file, with their numbers; one that is none is refused.

    Raises OSError as the disk does, and UnreadableUnitError, after the rows before it, where the file breaks off.
    """
    with path.open("rb") as handle:
        if handle.read(4) == b"PAR1":
            # loads numpy, which other files do not need
            from slowwave.flows.land.formats.parquet import parquet_chunks

            yield from _of_chunks(parquet_chunks(handle, longest_row))
            return
        begins = _first_character(text_stream(handle).stream)
        if begins == b"[":
            yield from _of_array(text_stream(handle).stream, longest_row)
        elif begins != b"{":
            yield from _of_chunks(csv_chunks(Lines(text_stream(handle).stream, longest_row), longest_row))
    if begins == b"{":
        yield from json_lines(path, longest_row, is_idle=is_idle)


def begins_array(path: Path) -> bool:
    """Whether a file, plain or packed, is a JSON array. Raises OSError, and UnreadableUnitError where it is damaged."""
    with path.open("rb") as handle:
        return _first_character(text_stream(handle).stream) == b"["


def _first_character(stream: BinaryIO) -> bytes:
    try:
        return stream.read(_SHOWN).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    except DAMAGED as error:
        message = f"the file is cut short or damaged: {error}"
        raise UnreadableUnitError(message) from error


def _of_chunks(chunks: Iterator[Chunk]) -> Iterator[ReadRecord]:
    for chunk in chunks:
        unreadable = chunk.rows.unreadable()
        kept = [position for position in range(len(chunk.rows)) if position not in unreadable]
        rows = chunk.rows.take(kept) if unreadable else chunk.rows
        yield from (Located(number, row) for number, row in zip(rows.row_numbers, rows.as_records(), strict=True))
        for position, why in unreadable.items():
            yield Refused(chunk.rows.row_numbers[position], why, chunk.rows.raw(position)[:_SHOWN])
        for bad in chunk.bad:
            if bad.row_number is None:
                raise UnreadableUnitError(bad.reason)
            yield Refused(bad.row_number, bad.reason, bad.raw[:_SHOWN].decode("utf-8", "backslashreplace"))


def _of_array(stream: BinaryIO, longest_row: int) -> Iterator[ReadRecord]:
    """The objects of one JSON array, one after the other: the whole of it need not fit into memory."""
    text = _Text(stream)
    decoder = json.JSONDecoder()
    number, at = 0, 1
    text.more()
    text.buffer = text.buffer.removeprefix("\ufeff").lstrip()
    while True:
        at = _next_at(text, at)
        if text.buffer[at : at + 1] == "]":
            text.more()  # what is packed may be cut behind it
            if text.fault:
                raise UnreadableUnitError(text.fault)
            return
        number += 1
        wanted = _BLOCK
        while True:
            try:
                row, at = decoder.raw_decode(text.buffer, at)
                break
            except (ValueError, RecursionError) as error:
                held = len(text.buffer) - at
                if text.is_ended or held > longest_row:
                    why = too_long(held, longest_row) if held > longest_row else f"it breaks off there: {error}"
                    message = f"row {number:,}: {text.fault or why}"
                    raise UnreadableUnitError(message) from error
            text.buffer, at = text.buffer[at:], 0
            while len(text.buffer) < wanted and not text.is_ended:
                text.more()
            wanted *= 2
        if isinstance(row, dict):
            yield Located(number, row)
        else:
            yield Refused(number, "the row is JSON but not an object", json.dumps(row)[:_SHOWN])


def _next_at(text: _Text, at: int) -> int:
    """Where the next value begins. Raises UnreadableUnitError where none does and the array has not ended."""
    while True:
        while at < len(text.buffer) and text.buffer[at] in _BETWEEN:
            at += 1
        if at < len(text.buffer):
            return at
        if text.is_ended:
            message = text.fault or "the array breaks off before its end"
            raise UnreadableUnitError(message)
        text.buffer, at = "", 0
        text.more()


class _Text:
    """Characters of a stream that may break off; `fault` then says how."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.buffer = ""
        self.is_ended = False
        self.fault = ""

    def more(self) -> None:
        """Read on."""
        try:
            block = self._stream.read(_BLOCK)
        except DAMAGED as error:
            self.fault = f"the file is cut short or damaged: {error}"
            block = b""
        self.is_ended = not block
        self.buffer += self._decoder.decode(block, final=not block)
