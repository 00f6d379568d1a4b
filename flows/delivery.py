"""Reading delivered files: JSONL (plain, gzip, zstd), CSV and Parquet, in chunks, line by line, whatever is in them."""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import orjson
import polars as pl
import zstandard

from slowwave.transforms.delivered_rows import DeliveredRows, FrameRows, RecordRows

if TYPE_CHECKING:
    import pyarrow.parquet as pq

CHUNK_ROWS = 20_000
CHUNK_BYTES = 32 * 2**20
_BLOCK = 2**20
_SPOOL_BYTES = 64 * 2**20
_BOM = b"\xef\xbb\xbf"
SUFFIXES = (".jsonl", ".ndjson", ".csv", ".parquet")
PACKED_SUFFIXES = (".gz", ".zst")
_CORRUPT = (OSError, EOFError, zlib.error, zstandard.ZstdError)


@dataclass(frozen=True)
class BadRow:
    """A delivered row that is no row: `row_number` None says the file cannot be read on from here."""

    row_number: int | None
    reason: str
    raw: bytes


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, and the broken lines among them."""

    rows: DeliveredRows
    bad: list[BadRow]
    bytes_read: int


def file_hash(handle: BinaryIO) -> tuple[str, int]:
    """SHA-256 and size of the bytes from here on."""
    state, size = hashlib.sha256(), 0
    while block := handle.read(_BLOCK):
        state.update(block)
        size += len(block)
    return state.hexdigest(), size


def chunks(handle: BinaryIO, name: str) -> Iterator[Chunk]:
    """The rows of one delivered file.

    The format is told from the first bytes (gzip, zstd, Parquet), then from the name (CSV), then from the text: what
    starts with `{` is JSONL. A file cut short yields its complete lines, then one BadRow without a number.
    """
    head = handle.read(4)
    handle.seek(0)
    if head == b"PAR1" or name.lower().endswith(".parquet"):
        yield from _parquet_chunks(handle)
        return
    stream: BinaryIO = handle
    if head[:2] == b"\x1f\x8b":
        stream = cast("BinaryIO", gzip.GzipFile(fileobj=handle))
    elif head == b"\x28\xb5\x2f\xfd":
        stream = cast("BinaryIO", _ZstdReader(handle))
    lines = _Lines(stream)
    if _is_csv(name, lines):
        yield from _csv_chunks(lines)
    else:
        yield from _jsonl_chunks(lines)


class _ZstdReader:
    """Like zstandard's own reader, but a stream that ends inside a frame is an error, as with gzip."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._started = False

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end of the last frame."""
        out = b""
        while not out:
            block = self._handle.read(size)
            if not block:
                if self._started and not self._frame.eof:
                    message = "the compressed stream ends before its end marker"
                    raise EOFError(message)
                return b""
            while block:
                if self._frame.eof:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                self._started = True
                out += self._frame.decompress(block)
                block = self._frame.unused_data if self._frame.eof else b""
        return out


def _is_csv(name: str, lines: _Lines) -> bool:
    plain = name.lower()
    for suffix in PACKED_SUFFIXES:
        plain = plain.removesuffix(suffix)
    if plain.endswith((".csv", ".jsonl", ".ndjson")):
        return plain.endswith(".csv")
    first = lines.peek().lstrip()
    return bool(first) and not first.startswith((b"{", b"[")) and b"," in first


class _Lines:
    """Lines of a stream that may break off; `fault` then says how, and `rest` holds the cut line."""

    def __init__(self, stream: BinaryIO) -> None:
        # one system read at a time: a damaged stream must not take what was unpacked before the damage with it
        self._read = getattr(stream, "read1", stream.read)
        self._buffer = bytearray()
        self._searched = 0
        self._ended = False
        self.fault: str | None = None
        self.bytes_read = 0
        self._peeked: list[bytes] = []

    def _more(self) -> None:
        try:
            block = self._read(_BLOCK)
        except _CORRUPT as error:
            self.fault = f"the file is cut short or damaged: {error}"
            block = b""
        if block:
            self._buffer += block
        else:
            self._ended = True

    def peek(self) -> bytes:
        """The first line, which is then read again."""
        self._peeked = list(itertools.islice(self, 1))
        return self._peeked[0] if self._peeked else b""

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._peeked:
            return self._peeked.pop()
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                self.bytes_read += len(line) + 1
                return line
            if self._ended:
                break
            self._searched = len(self._buffer)
            self._more()
        if self.fault is None and self._buffer:
            line = bytes(self._buffer)
            self._buffer.clear()
            self.bytes_read += len(line)
            return line
        raise StopIteration

    @property
    def rest(self) -> bytes:
        """What was read of a line that never ended."""
        return bytes(self._buffer)


class _Collector:
    """Rows gathered until they are worth a chunk."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._start()

    def _start(self) -> None:
        self._records: list[dict[str, object]] = []
        self._numbers: list[int] = []
        self._raws: list[bytes] = []
        self._bad: list[BadRow] = []
        self._held = 0

    def add(self, number: int, record: dict[str, object], raw: bytes) -> None:
        """A row."""
        self._records.append(record)
        self._numbers.append(number)
        self._raws.append(raw)
        self._held += len(raw)

    def refuse(self, number: int | None, reason: str, raw: bytes) -> None:
        """A line that is no row."""
        self._bad.append(BadRow(number, reason, raw))
        self._held += len(raw)

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand over a chunk."""
        return len(self._records) + len(self._bad) >= CHUNK_ROWS or self._held >= CHUNK_BYTES

    def chunk(self) -> Chunk:
        """What was gathered; gathering starts anew."""
        done = Chunk(RecordRows(self._records, self._numbers, self._raws), self._bad, self._lines.bytes_read)
        self._start()
        return done

    def last_chunk(self) -> Chunk:
        """What was gathered, and the fault the lines ended with, if any."""
        if self._lines.fault is not None:
            self.refuse(None, self._lines.fault, self._lines.rest)
        return self.chunk()


def _jsonl_chunks(lines: _Lines) -> Iterator[Chunk]:
    gathered = _Collector(lines)
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix(_BOM) if number == 1 else line
        if not text.strip():
            continue
        try:
            record = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            gathered.refuse(number, _json_fault(text, error), text)
        else:
            if isinstance(record, dict):
                gathered.add(number, record, text)
            else:
                gathered.refuse(number, 'the line is JSON but not an object such as {"prompt": ...}', text)
        if gathered.is_full:
            yield gathered.chunk()
    yield gathered.last_chunk()


def _json_fault(line: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        line.decode()
    except UnicodeDecodeError as fault:
        return f"the line is not valid UTF-8 (byte {fault.start + 1})"
    return f"the line is not JSON: {error.msg} (column {error.colno})"


def _csv_chunks(lines: _Lines) -> Iterator[Chunk]:
    csv.field_size_limit(2**31 - 1)
    gathered = _Collector(lines)
    header: list[str] | None = None
    header_fault = ""
    for number, cells, raw, fault in _csv_rows(lines):
        if fault and header is None:
            header, header_fault = [], f"the header is broken: {fault}"
        elif fault:
            gathered.refuse(number, fault, raw)
        elif header is None:
            header = [cell.strip() for cell in cells]
            header_fault = _csv_header_fault(header)
        elif row_fault := header_fault or _csv_fault(header, cells):
            gathered.refuse(number, row_fault, raw)
        else:
            record = {name: cell for name, cell in zip(header, cells, strict=True) if cell != ""}
            gathered.add(number, cast("dict[str, object]", record), raw)
        if gathered.is_full:
            yield gathered.chunk()
    yield gathered.last_chunk()


def _csv_rows(lines: _Lines) -> Iterator[tuple[int, list[str], bytes, str]]:
    """Line number, cells, the row as delivered, and what is wrong with it as CSV. Empty lines are no rows."""
    kept: list[bytes] = []

    def text_lines() -> Iterator[str]:
        for number, line in enumerate(lines, start=1):
            kept.append(line)
            yield (line.removeprefix(_BOM) if number == 1 else line).decode("utf-8", "surrogateescape") + "\n"

    reader = csv.reader(text_lines(), strict=True)
    while True:
        kept.clear()
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, [], b"\n".join(kept), f"the line is not CSV: {error}"
        else:
            if cells:
                yield number, cells, b"\n".join(kept), ""


def _has_bad_bytes(cells: list[str]) -> bool:
    return any("\udc80" <= char <= "\udcff" for cell in cells if not cell.isascii() for char in cell)


def _csv_header_fault(header: list[str]) -> str:
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        return f"the header names the column {twice!r} twice: rename one of them and deliver the file again"
    return "the header is not valid UTF-8" if _has_bad_bytes(header) else ""


def _csv_fault(header: list[str], cells: list[str]) -> str | None:
    if len(cells) != len(header):
        return f"the row has {len(cells)} cells, the header {len(header)}"
    return "the row is not valid UTF-8" if _has_bad_bytes(cells) else None


def _refuse_wide_decimals(file: pq.ParquetFile) -> None:
    import pyarrow as pa

    too_wide = next((one.name for one in file.schema_arrow if pa.types.is_decimal256(one.type)), None)
    if too_wide is not None:
        message = f"the column {too_wide!r} holds decimals of more than 38 digits: deliver it as text"
        raise ValueError(message)


def _parquet_chunks(handle: BinaryIO) -> Iterator[Chunk]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 1
    none = RecordRows([], [], [])
    try:
        file = pq.ParquetFile(handle)
        _refuse_wide_decimals(file)
        per_row = max(1, sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)))
        per_row = max(1, per_row // max(1, file.metadata.num_rows))
        rows = max(1, min(CHUNK_ROWS, CHUNK_BYTES // per_row))
        for batch in file.iter_batches(batch_size=rows):
            batch.validate(full=True)  # text that is not UTF-8 would panic further on
            frame = cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches([batch])))
            yield Chunk(FrameRows(frame, range(number, number + frame.height)), [], handle.tell())
            number += frame.height
    except (pa.ArrowException, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        reason = f"the file cannot be read as Parquet: {first_line}"
        yield Chunk(none, [BadRow(None, reason, b"")], 0)


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
