"""The files in a zip archive, each to be read like a file of its own."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO, cast

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
_SPOOL_BYTES = 64 * 2**20
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
