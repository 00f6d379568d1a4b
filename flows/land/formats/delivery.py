"""Reading delivered files: JSON, CSV and Parquet, packed or not, in chunks, row by row, whatever is in them.

Each file in a zip archive is read like a file of its own.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.kernel.storage.text_stream import WINDOWS, encoding_of, is_packed, text_stream
from slowwave.flows.land.formats.chunk import BadRow, Chunk, Collector
from slowwave.flows.land.formats.csv import csv_chunks
from slowwave.flows.land.formats.json_documents import Elements, json_record
from slowwave.flows.land.formats.kind import (
    DELIMITERS,
    FIELDS,
    is_document,
    partition_values,
    text_kind,
    with_contract_names,
)
from slowwave.flows.land.formats.lines import (
    MOST_VALUES,
    Lines,
    LongLine,
    contradiction,
    has_too_many_values,
    too_long,
    values_count,
)
from slowwave.transforms.landing.delivered_rows import RecordRows

# What a file is that cannot be landed, by its first bytes, and what to do about it.

# First bytes, what such a file is, and what to do.
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"SQLite format 3\0", "an SQLite database: `slowwave import` reads those of known stores, else export its tables"),
    (b"%PDF", "a PDF document: land the log that it was made from"),
    (b"\xd0\xcf\x11\xe0", "a document of an old Office: save it as CSV"),
    (b"ARROW1", "an Arrow (Feather) file: write it as Parquet"),
    (b"ORC", "an ORC file: write it as Parquet"),
    (b"Obj\x01", "an Avro file: write it as Parquet or JSON lines"),
    (b"BZh", "packed with bzip2: unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ\0", "packed with xz: unpack it, or pack it with gzip or zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it, or make it a zip"),
    (b"Rar!", "a RAR archive: unpack it, or make it a zip"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"<?xml", "XML: convert it to JSON lines"),
    (b"<!DOCTYPE", "a web page: land the log that it was made from"),
    (b"<html", "a web page: land the log that it was made from"),
)
_TAR_AT, _DUCKDB_AT = 257, 8
LOOKED_AT_BYTES = 512


def foreign_kind(first: bytes) -> str:
    """Return what a file is whose first bytes these are, and what to do; '' where that is not known."""
    if first[_TAR_AT:].startswith(b"ustar"):
        return "a tar archive: unpack it, or make it a zip"
    if first[_DUCKDB_AT:].startswith(b"DUCK"):
        return "a DuckDB database: export its tables as Parquet"
    known = next((said for begins, said in _KINDS if first.startswith(begins)), "")
    if known:
        return known
    nulls = first.count(b"\0")
    if nulls > len(first) // 4 and (first[::2].count(b"\0") == 0 or first[1::2].count(b"\0") == 0):
        return "UTF-16 text without a byte order mark: write it as UTF-8"
    return "binary data of a kind that is not known" if nulls else ""


def office_kind(archive: zipfile.ZipFile) -> str:
    """Return what a zip is where it is one document; '' for an archive of files."""
    names = set(archive.namelist())
    if "[Content_Types].xml" not in names:
        return ""
    if any(name.startswith("xl/") for name in names):
        return "an Excel workbook: save its sheet as CSV"
    return "an Office document: land the log that it was made from"


ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# No names: where a member's path leads does not matter, since nothing is written there.
_UP = (".", "..")
_HAS_PASSWORD = 0x1


class UnreadableZipError(Exception):
    """A zip, or what is in it, cannot be read; the message says why and what to do."""


def zip_members(handle: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """Yield name and content of each file in an archive, in the order in which they stand there.

    What operating systems add, and what is hidden, is passed over. Of a file little is held, beyond 64 MB on the disk.
    Raises UnreadableZipError for a document that is a zip, a password, and what is damaged or packed in another way.
    """
    try:
        archive = zipfile.ZipFile(handle)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        message = f"the zip is cut short or damaged: {error}"
        raise UnreadableZipError(message) from error
    with archive:
        document = office_kind(archive)
        if document:
            message = f"the file is {document}"
            raise UnreadableZipError(message)
        for info in archive.infolist():
            parts = info.filename.split("/")
            is_hidden = any(part.startswith(".") and part not in _UP for part in parts)
            if info.is_dir() or "__MACOSX" in parts or is_hidden:
                continue
            with closing(_content(archive, info)) as content:
                yield info.filename, content


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """A copy that can be gone back in: a packed member would be unpacked anew each time."""
    if info.flag_bits & _HAS_PASSWORD:
        message = "the file is a zip with a password: unpack it, and land what was in it"
        raise UnreadableZipError(message)
    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - the caller closes it
    try:
        with archive.open(info) as packed:
            shutil.copyfileobj(packed, spool)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        spool.close()
        message = f"{info.filename} in the zip cannot be unpacked: {error}"
        raise UnreadableZipError(message) from error
    spool.seek(0)
    return cast("BinaryIO", spool)


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
    one that contradicts its checksum, or of no kind that can be landed, that alone. The rows of files in a zip are
    numbered on. Raises OSError as the disk does.
    """
    first = handle.read(LOOKED_AT_BYTES)
    if first.startswith(ZIP):
        yield from _zip_chunks(handle, longest_row, others)
        return
    stated = partition_values(name)
    for chunk in _file_chunks(handle, first, name, longest_row, others):
        yield with_contract_names(chunk, stated, others)


def _zip_chunks(handle: BinaryIO, longest_row: int, others: frozenset[str]) -> Iterator[Chunk]:
    """The rows of all files in a zip; of one that cannot be read, or not on, one numbered BadRow."""
    last, readings = 0, Counter({("file", "unpacked from a zip"): 1})
    try:
        for name, member in zip_members(handle):
            first, before = member.read(LOOKED_AT_BYTES), last
            if first.startswith(ZIP):
                message = f"{name} in the zip is a zip too: unpack it, and land what is in it"
                raise UnreadableZipError(message)  # noqa: TRY301 - said as what else cannot be read
            for chunk in _file_chunks(member, first, name, longest_row, others):
                chunk.rows.row_numbers = [before + number for number in chunk.rows.row_numbers]
                last = max([last, *chunk.rows.row_numbers, *(before + (row.row_number or 0) for row in chunk.bad)])
                bad = []
                for row in chunk.bad:
                    last += row.row_number is None
                    number, why = (
                        (last, f"{name}: {row.reason}")
                        if row.row_number is None
                        else (before + row.row_number, row.reason)
                    )
                    bad.append(BadRow(number, why, row.raw, row.is_whole and row.row_number is not None))
                renumbered = replace(chunk, bad=bad, readings=chunk.readings + readings)
                yield with_contract_names(renumbered, partition_values(name), others)
                readings = Counter()
    except UnreadableZipError as error:
        yield _unreadable_file_chunk(str(error))


def _unreadable_file_chunk(reason: str) -> Chunk:
    """Of a file that cannot be read, or not on, why."""
    return Chunk(RecordRows([], [], []), [BadRow(None, reason, b"")], 0, "unknown")


def _file_chunks(
    handle: BinaryIO, first: bytes, name: str, longest_row: int, others: frozenset[str]
) -> Iterator[Chunk]:
    """The rows of one file that begins with `first`."""
    if first.startswith(b"PAR1"):
        # loads numpy, which a night with nothing to land does not need
        from slowwave.flows.land.formats.parquet import parquet_chunks

        yield from parquet_chunks(handle, longest_row)
        return
    damage = contradiction(handle, longest_row)
    if damage:
        yield _unreadable_file_chunk(f"the file is damaged, and which of its rows are intact is not known: {damage}")
        return
    kind = foreign_kind(first) if not is_packed(first) and not encoding_of(first) else ""
    told = text_kind(Lines(text_stream(handle).stream, longest_row), others)
    encoding = WINDOWS if told.is_windows else ""
    text = text_stream(handle, encoding)
    readings = Counter({("file", f"read as {text.encoding} text"): 1} if text.encoding else {})
    readings.update({("file", "packed more than once"): 1} if text.layers > 1 else {})
    fields = FIELDS | others
    if told.may_be_document and is_document(
        Elements(text.stream, min(longest_row, _BLOCK), fields), has_rows_in_lines=told.kind is not None
    ):
        rows = json_chunks(Elements(text_stream(handle, encoding).stream, longest_row, fields), longest_row)
    elif name.lower().endswith(".parquet") and (told.kind is None or told.is_empty):
        rows = iter(
            [_unreadable_file_chunk("the file cannot be read as Parquet: it does not begin as such a file does")]
        )
    elif told.kind is None:
        rows = iter([_unreadable_file_chunk(f"the file is {kind}" if kind else told.reason)])
    elif told.kind == "csv":
        rows = csv_chunks(Lines(text_stream(handle, encoding).stream, longest_row), longest_row, told.delimiter)
        said = DELIMITERS[told.delimiter]
        readings.update({("file", f"read as CSV with {said}"): 1} if said else {})
    else:
        rows = jsonl_chunks(Lines(text_stream(handle, encoding).stream, longest_row), longest_row)
    for chunk in rows:
        yield replace(chunk, readings=chunk.readings + readings) if readings else chunk
        readings = Counter()


def jsonl_chunks(lines: Lines, longest_row: int) -> Iterator[Chunk]:
    """The rows of JSON lines."""
    gathered = Collector(lines, "jsonl")
    for number, line in lines.non_blank_lines():
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
