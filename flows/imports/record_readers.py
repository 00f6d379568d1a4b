"""Records of files, one at a time, whatever is in them: JSON lines, JSON documents, CSV and Parquet, packed or not."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from slowwave.flows.imports.units import ReadRecord, UnreadableUnitError
from slowwave.flows.kernel.storage.text_stream import DAMAGED, text_stream
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.csv import csv_chunks
from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.lines import Lines, LongLine, has_too_many_values, too_long
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused, Repaired

# ------------------------------------------------------------------------------------------
# The records of JSON lines, plain or packed, one at a time, whatever is in the file.

_SHOWN = 10_000
Line = bytes | LongLine
UNFINISHED = "a last line that was still being written"
HALF_CHARACTER = "half a character (of a surrogate pair) became U+FFFD"
NULS = "a run of NUL bytes was left out"
SEVERAL = "records on one line were read one by one"
# An escape in JSON: a whole pair, half of one, or any other.
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.")
_LENGTH_OF_HALF = 6
_NUL_RUN = re.compile(rb"\x00+")
_BEGINS = re.compile(rb'\{\s*"[^"\\]*"\s*:')
_MOST_BEGINNINGS = 2_000


def json_lines(
    path: Path, longest_row: int, *, is_idle: bool = True, only: Callable[[bytes], bool] | None = None
) -> Iterator[ReadRecord]:
    """The objects of a file of JSON lines (also gzip or zstd), with the numbers of their lines.

    A line that is none is refused; the last one of a file that is being written (`is_idle` false) is left out. `only`
    tells the lines that are read, where not all are wanted. Raises OSError as the disk does, and UnreadableUnitError,
    after all lines before it, where a packed file ends early.
    """
    with path.open("rb") as handle:
        lines = Lines(text_stream(handle).stream, longest_row)
        wanted = (
            lines.non_blank_lines()
            if only is None
            else (one for one in lines.non_blank_lines() if _is_wanted(one[1], only))
        )
        yield from _read_lines(wanted, longest_row, is_idle=is_idle)
        if lines.fault is not None:
            raise UnreadableUnitError(lines.fault)


def _is_wanted(line: Line, only: Callable[[bytes], bool]) -> bool:
    return isinstance(line, bytes) and only(line)


def json_objects(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """As `json_lines`, of a file whose objects may also be spread over several lines, indented for people."""
    with path.open("rb") as handle:
        lines = Lines(text_stream(handle).stream, longest_row)
        yield from _read_lines(_join_object_lines(lines.non_blank_lines(), longest_row), longest_row, is_idle=is_idle)
        if lines.fault is not None:
            raise UnreadableUnitError(lines.fault)


def json_elements(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """As `json_lines`, of a file whose objects may stand in an array or after each other, over however many lines.

    They are numbered in their order.
    """
    with path.open("rb") as handle:
        elements = Elements(text_stream(handle).stream, longest_row, frozenset())
        yield from _read_lines(enumerate(elements, start=1), longest_row, is_idle=is_idle)
        if elements.fault is not None:
            raise UnreadableUnitError(elements.fault)


def _join_object_lines(lines: Iterable[tuple[int, Line]], longest_row: int) -> Iterator[tuple[int, Line]]:
    """Lines as they are, and those from one that is `{` alone to one that is `}` alone, in the first column, as one."""
    begun, parts, length = 0, list[bytes](), 0
    for number, line in lines:
        if not begun and not (isinstance(line, bytes) and line.rstrip() == b"{"):
            yield number, line
            continue
        begun = begun or number
        length += line.length if isinstance(line, LongLine) else len(line)
        if length <= longest_row and isinstance(line, bytes):
            parts.append(line)
        if isinstance(line, bytes) and line.rstrip() == b"}":
            whole = b"\n".join(parts)
            yield begun, whole if length <= longest_row else LongLine(whole[:_SHOWN], length)
            begun, parts, length = 0, [], 0
    if begun:
        yield begun, b"\n".join(parts)


def _read_lines(lines: Iterable[tuple[int, Line]], longest_row: int, *, is_idle: bool) -> Iterator[ReadRecord]:
    broken: Refused | None = None
    for number, line in lines:
        if broken is not None:
            yield broken
            broken = None
        if isinstance(line, LongLine):
            yield Refused(number, too_long(line.length, longest_row), _shown_text(line.head))
            continue
        if has_too_many_values(line):
            yield Refused(number, "the line holds more values than a row may", _shown_text(line[:_SHOWN]))
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            repaired = repair_line(line)
            if not repaired.records:
                broken = Refused(number, f"the line is not JSON: {error}", _shown_text(line[:_SHOWN]))
                continue
            yield from (Repaired(sort, count) for sort, count in repaired.what.items())
            if repaired.cut:
                yield Refused(
                    number, "the record is cut off, and another one follows", _shown_text(repaired.cut[:_SHOWN])
                )
            yield from (Located(number, one) for one in repaired.records)
            continue
        if isinstance(record, dict):
            yield Located(number, record)
        else:
            yield Refused(number, "the line is JSON but not an object", _shown_text(line[:_SHOWN]))
    if broken is not None:
        yield broken if is_idle else LeftOut(UNFINISHED, is_settled=True)


def _shown_text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


# -------------------------------------------------------------------------------- lines that are no JSON as they stand


@dataclass
class RepairedLine:
    """The records of a line, what was repaired for that by sort, and the record before them that is cut off."""

    records: list[dict[str, Any]] = field(default_factory=list)
    what: Counter[str] = field(default_factory=Counter)
    cut: bytes = b""


def repair_line(line: bytes) -> RepairedLine:
    """Return the records that can be read in a line that is no JSON; none where nothing in it can be."""
    found = RepairedLine()
    runs = _NUL_RUN.findall(line)
    if runs:
        found.what[NULS] = len(runs)
        line = _NUL_RUN.sub(b"", line)
    halves = sum(map(_is_half, _ESCAPE.findall(line)))
    if halves:
        found.what[HALF_CHARACTER] = halves
        line = _ESCAPE.sub(_whole, line)
    while line.strip():
        record, rest = _first_record(line, found)
        if record is None:
            break
        found.records.append(record)
        line = rest
    if len(found.records) + bool(found.cut) > 1:
        found.what[SEVERAL] += 1
    if line.strip() and found.records:
        found.cut = found.cut or line
    return found


def _first_record(line: bytes, found: RepairedLine) -> tuple[dict[str, Any] | None, bytes]:
    """The first record that is whole, and what follows it; what stands before it is noted as cut off.

    Behind a record that is cut off one begins with the same name as that, or after a bracket that closes it.
    """
    first = _BEGINS.match(line.lstrip())
    for number, begin in enumerate(_BEGINS.finditer(line)):
        if number > _MOST_BEGINNINGS:
            break
        is_own = line[: begin.start()].rstrip()[-1:] in (b"", b"}")
        if not is_own and (first is None or begin[0] != first[0]):
            continue  # an object within the record that is cut off
        for end in _ends(line, begin.start()):
            record = _object(line[begin.start() : end])
            if record is not None:
                if line[: begin.start()].strip():
                    found.cut = found.cut or line[: begin.start()]
                return record, line[end:]
    return None, line


def _ends(line: bytes, begin: int) -> list[int]:
    """Where a record that begins somewhere may end: with the line, or before the next one."""
    follows = line.find(b'}{"', begin)
    return [len(line)] if follows < 0 else [len(line), follows + 1]


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _is_half(escape: bytes) -> bool:
    return len(escape) == _LENGTH_OF_HALF


def _whole(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if _is_half(escape[0]) else escape[0]


# ------------------------------------------------------------------------------------------
# The rows of exported tables: JSON lines, one JSON array, CSV or Parquet, plain or packed, by their content.

_BLOCK = 2**20

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
    text = _StreamText(stream)
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


def _next_at(text: _StreamText, at: int) -> int:
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


class _StreamText:
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
