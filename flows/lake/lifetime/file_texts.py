"""The texts of any file, decoded: rows of Parquet, DuckDB and SQLite, members of archives, pages and plain text.

A row is one text to search: all that it says in words, nested and in JSON, joined.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import html
import lzma
import re
import shutil
import sqlite3
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import duckdb
import orjson
import polars as pl
import zstandard

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.storage.text_stream import WINDOWS, encoding_of
from slowwave.flows.lake.lifetime.raw_files import read_damaged_frames
from slowwave.transforms.language.text_windows import BETWEEN

_BATCH_ROWS = 2_000
# Plain text is looked at in blocks, each with the end of the one before: what is looked for is shorter.
_BLOCK, _OVERLAP = 2**22, 2**14
_DEPTH = 4
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DAMAGED = (
    *(ValueError, OverflowError, OSError, duckdb.Error, sqlite3.Error),
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException),
)
# What an archive raises; a password, or a way of packing that is not known, is a RuntimeError.
_CLOSED = (zipfile.BadZipFile, tarfile.TarError, RuntimeError)
_UNREADABLE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


def decode_texts(path: Path) -> Iterator[list[str]]:
    """Yield the texts of a file's rows, or of its blocks, some at a time. What cannot be decoded is read as plain text.

    Raises OSError where it cannot be read.
    """
    (path,) = storage_of(path).on_disk([path])
    with path.open("rb") as handle:
        first = handle.read(512)
    for is_it, texts in _TABLES:
        if is_it(first):
            try:
                yield from texts(path)
            except _DAMAGED:
                break  # damaged: what can be made out of its bytes
            else:
                return
    with path.open("rb") as handle:
        yield from _stream_texts(handle, _DEPTH)


def _parquet_texts(path: Path) -> Iterator[list[str]]:
    for frame in read_damaged_frames(path):
        yield join_row_texts(frame)


def _duckdb_texts(path: Path) -> Iterator[list[str]]:
    with closing(duckdb.connect(path, read_only=True)) as connection:
        tables = connection.execute(
            "SELECT schema_name, table_name, comment FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        for schema, table, _ in tables:
            named = ".".join('"' + name.replace('"', '""') + '"' for name in (schema, table))
            connection.execute(f"FROM {named}")
            while rows := connection.fetchmany(_BATCH_ROWS):
                yield [join_texts(row) for row in rows]


def _sqlite_texts(path: Path) -> Iterator[list[str]]:
    """Of a copy: a log that was not merged into it yet is read with it, and nothing beside it is written."""
    with tempfile.TemporaryDirectory(prefix="slowwave-looked-through-") as folder:
        for beside in (path, path.with_name(f"{path.name}-wal")):
            if beside.exists():
                shutil.copyfile(beside, Path(folder, beside.name))
        with closing(sqlite3.connect(Path(folder, path.name))) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                named = '"' + table.replace('"', '""') + '"'
                found = connection.execute(f"SELECT * FROM {named}")  # noqa: S608 - a name in quotes
                while rows := found.fetchmany(_BATCH_ROWS):
                    yield [join_texts(row) for row in rows]


_TABLES: tuple[tuple[Callable[[bytes], bool], Callable[[Path], Iterator[list[str]]]], ...] = (
    (lambda first: first.startswith(b"PAR1"), _parquet_texts),
    (lambda first: first[8:12] == b"DUCK", _duckdb_texts),
    (lambda first: first.startswith(b"SQLite format 3\0"), _sqlite_texts),
)


def _stream_texts(stream: IO[bytes], depth: int) -> Iterator[list[str]]:
    """The blocks of a stream; where it is packed, of what is in it, as far as that can be unpacked."""
    first = stream.read(512)
    stream.seek(0)
    if depth:
        unpacked = _open_decompressed(stream, first)
        if unpacked is not None:
            is_any = False
            with suppress(*_UNREADABLE), unpacked, _spool_stream(unpacked) as spool:
                for texts in _stream_texts(spool, depth - 1):
                    is_any = True
                    yield texts
            if is_any:
                return
            stream.seek(0)
        if first.startswith(b"PK") or b"ustar" in first[257:263]:
            is_whole = True
            with suppress(*_UNREADABLE, *_CLOSED):
                for name, member in _members(stream, first):
                    yield [name]
                    if member is None:
                        is_whole = False
                        continue
                    with _spool_stream(member) as spool:
                        yield from _stream_texts(spool, depth - 1)
                if is_whole:
                    return
            stream.seek(0)
    yield from _blocks(stream)


def _open_decompressed(stream: IO[bytes], first: bytes) -> Any:  # noqa: ANN401 - a stream of bytes, or None
    if first.startswith(b"\x1f\x8b"):
        return gzip.open(stream)
    if first.startswith(b"\x28\xb5\x2f\xfd") or first[1:4] == b"\x2a\x4d\x18":  # or a frame that is to be skipped
        return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=False)
    if first.startswith(b"BZh"):
        return bz2.open(stream)
    if first.startswith(b"\xfd7zXZ\0"):
        return lzma.open(stream)
    return None


def _members(stream: IO[bytes], first: bytes) -> Iterator[tuple[str, IO[bytes] | None]]:
    """What is in an archive, by name; None: it cannot be opened, for it has a password or is damaged."""
    if first.startswith(b"PK"):
        with zipfile.ZipFile(stream) as archive:
            for name in archive.namelist():
                try:
                    member = archive.open(name)
                except (*_UNREADABLE, *_CLOSED):
                    member = None
                yield name, member
        return
    with tarfile.open(fileobj=stream) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                yield member.name, content


@contextmanager
def _spool_stream(stream: Any) -> Iterator[IO[bytes]]:  # noqa: ANN401 - any stream that has read1
    """What can be read of a stream, where it can be gone back in: cut or damaged, as far as it goes."""
    with tempfile.SpooledTemporaryFile(max_size=_BLOCK) as spool:
        with suppress(*_UNREADABLE):
            while block := stream.read1(2**16):  # what there is: a cut stream fails at its end
                spool.write(block)
        spool.seek(0)
        yield spool


def _blocks(stream: IO[bytes]) -> Iterator[list[str]]:
    """The blocks of a text in the encodings that landing reads: what is no UTF-8 may be Windows-1252."""
    encoding = encoding_of(stream.read(4))
    for name in (encoding,) if encoding else ("UTF-8", WINDOWS):
        stream.seek(0)
        yield from _decoded_blocks(stream, name)


def _decoded_blocks(stream: IO[bytes], encoding: str) -> Iterator[list[str]]:
    decoder, before = codecs.getincrementaldecoder(encoding)("replace"), ""
    while block := stream.read(_BLOCK):
        if encoding == WINDOWS and block.isascii():
            continue  # looked through already
        text = before + decoder.decode(block)
        plain = unescape_text(text)
        yield [text] if plain == text else [text, plain]
        before = text[-_OVERLAP:]


def list_texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a row holds
    """Yield the texts in a value, in order; of a text that is JSON also those in it, and its keys."""
    waiting = [value]  # and not a call within a call: JSON may be nested deeper than these go
    while waiting:
        one = waiting.pop()
        if isinstance(one, (bytes, bytearray)):
            one = one.decode("utf-8", "replace")
        if isinstance(one, str):
            yield one
            if one[:1] in ("{", "["):
                with suppress(ValueError):
                    waiting.append(orjson.loads(one))
        elif isinstance(one, dict):
            waiting.extend(part for name, of in reversed(one.items()) for part in (of, str(name)))
        elif isinstance(one, (list, tuple)):
            waiting.extend(reversed(one))


def join_texts(values: Iterable[Any]) -> str:
    """Return the texts of one row as one."""
    return BETWEEN.join(["", *(text for value in values for text in list_texts(value)), ""])


def join_row_texts(rows: pl.DataFrame) -> list[str]:
    """Return the text of each row; columns that hold no words are passed over."""
    names = [
        name for name, dtype in rows.schema.items() if dtype.is_nested() or isinstance(dtype, pl.String | pl.Binary)
    ]
    if not names:
        return [""] * rows.height
    return [join_texts(values) for values in rows.select(names).iter_rows()]


def unescape_text(text: str) -> str:
    """Return a text without the escapes of pages and of JSON."""
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2]), text)
    plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs are one character
    return html.unescape(plain)
