"""Reading delivered files: JSONL (plain, gzip, zstd), CSV and Parquet, in chunks, line by line, whatever is in them."""

from __future__ import annotations

import hashlib
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.land.formats.chunk import BadRow, Chunk, Collector
from slowwave.flows.land.formats.csv import csv_chunks
from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.json_rows import json_record
from slowwave.flows.land.formats.kind import FIELDS, is_document, text_kind
from slowwave.flows.land.formats.lines import (
    MOST_VALUES,
    Lines,
    LongLine,
    contradiction,
    has_too_many_values,
    text_stream,
    too_long,
    values_count,
)
from slowwave.transforms.landing.delivered_rows import RecordRows

_BLOCK = 2**20
_SPOOL_BYTES = 64 * 2**20


def file_hash(handle: BinaryIO, most: int = sys.maxsize) -> tuple[str, int]:
    """SHA-256 and size of the bytes from here on, at most so many."""
    state, size = hashlib.sha256(), 0
    while block := handle.read(min(_BLOCK, most - size)):
        state.update(block)
        size += len(block)
    return state.hexdigest(), size


def chunks(
    handle: BinaryIO, name: str, longest_row: int = LONGEST_ROW, others: frozenset[str] = frozenset()
) -> Iterator[Chunk]:
    """The rows of one delivered file; what no row may be longer than is `longest_row` bytes.

    `others`: names that the fields of the contract may have in it, which tell a header of CSV too.

    The content says the format. A file cut short yields its complete lines, then one BadRow without a number;
    one that contradicts its checksum, or of no kind that can be landed, that alone. Raises OSError as the disk does.
    """
    if handle.read(4) == b"PAR1":
        # loads numpy, which a night with nothing to land does not need
        from slowwave.flows.land.formats.parquet import parquet_chunks

        yield from parquet_chunks(handle, longest_row)
        return
    damage = contradiction(handle, longest_row)
    if damage:
        reason = f"the file is damaged, and which of its rows are intact is not known: {damage}"
        yield Chunk(RecordRows([], [], []), [BadRow(None, reason, b"")], 0, "unknown")
        return
    told = text_kind(Lines(text_stream(handle), longest_row), others)
    fields = FIELDS | others
    if told.may_be_document and is_document(
        Elements(text_stream(handle), min(longest_row, _BLOCK), fields), has_rows_in_lines=told.kind is not None
    ):
        yield from json_chunks(Elements(text_stream(handle), longest_row, fields), longest_row)
        return
    lines = Lines(text_stream(handle), longest_row)
    if name.lower().endswith(".parquet") and (told.kind is None or told.is_empty):
        reason = "the file cannot be read as Parquet: it does not begin as such a file does"
        yield Chunk(RecordRows([], [], []), [BadRow(None, reason, b"")], 0, "unknown")
    elif told.kind is None:
        yield Chunk(RecordRows([], [], []), [BadRow(None, told.reason, b"")], 0, "unknown")
    elif told.kind == "csv":
        yield from csv_chunks(lines, longest_row)
    else:
        yield from jsonl_chunks(lines, longest_row)


def jsonl_chunks(lines: Lines, longest_row: int) -> Iterator[Chunk]:
    """The rows of JSON lines."""
    gathered = Collector(lines, "jsonl")
    for number, line in lines.filled():
        _take_json(gathered, number, line, longest_row, "line")
        if gathered.is_full:
            yield gathered.chunk()
    yield gathered.last_chunk()


def json_chunks(elements: Elements, longest_row: int) -> Iterator[Chunk]:
    """The rows of a JSON document, numbered from 1 in the order in which they stand there."""
    gathered = Collector(elements, "json")
    for number, text in enumerate(elements, 1):
        _take_json(gathered, number, text, longest_row, "row")
        if gathered.is_full:
            yield gathered.chunk()
    if elements.wrapper is not None:
        reading = f'read as the list "{elements.wrapper}" of a JSON object; what stands beside the list is not taken'
    else:
        reading = "read as a JSON array" if elements.is_array else "read as JSON objects that follow each other"
    gathered.readings["file", reading] += 1
    yield gathered.last_chunk()


def json_row(number: int, text: bytes, longest_row: int) -> Iterator[Chunk]:
    """One row of a JSON document, from its text alone."""
    gathered = Collector(Lines(io.BytesIO(), longest_row), "json")
    _take_json(gathered, number, text, longest_row, "row")
    yield gathered.chunk()


def _take_json(gathered: Collector, number: int, text: bytes | LongLine, longest_row: int, what: str) -> None:
    if isinstance(text, LongLine):
        gathered.refuse(number, too_long(text.length, longest_row), text.head, is_whole=False)
        return
    if has_too_many_values(text):
        reason = f"the {what} holds about {values_count(text):,} values, more than a row may: {MOST_VALUES:,}"
        gathered.refuse(number, reason, text)
        return
    try:
        record, readings = json_record(text)
    except orjson.JSONDecodeError as error:
        gathered.refuse(number, _json_fault(text, error, what), text)
        return
    if isinstance(record, dict):
        gathered.add(number, record, text)
        gathered.readings.update(readings)
    else:
        gathered.refuse(number, f'the {what} is JSON but not an object such as {{"prompt": ...}}', text)


def _json_fault(text: bytes, error: orjson.JSONDecodeError, what: str) -> str:
    try:
        text.decode()
    except UnicodeDecodeError as fault:
        return f"the {what} is not valid UTF-8 (byte {fault.start + 1})"
    return f"the {what} is not JSON: {error.msg} (column {error.colno})"


def open_delivery(path: Path | None, stdin: BinaryIO) -> BinaryIO:
    """A seekable handle of a file, or of all that standard input (None), a pipe or a device holds.

    What cannot be read twice is held in memory, beyond 64 MB on the disk.
    """
    if path is not None and path.is_file():
        return path.open("rb")
    if path is not None:
        with path.open("rb") as stream:
            return open_delivery(None, stream)
    held = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(stdin, held)
    held.seek(0)
    return cast("BinaryIO", held)
