"""The files in a zip archive, each to be read like a file of its own."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO, cast

from slowwave.flows.land.formats.foreign import office_kind

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
