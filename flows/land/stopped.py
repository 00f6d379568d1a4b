"""What keeps one file from landing now: it cannot be read on, it changed, or we fail on it. It stays where it is."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.land.formats.delivery import file_hash, open_delivery
from slowwave.flows.land.report import FileCounts

# Whether a delivered file is still what was read of it: producers may write while we read.


def holds_what_was_hashed(handle: BinaryIO, before: os.stat_result, sha256: str, size: int) -> bool:
    """Whether the first `size` bytes of an open file still have that hash; what only grew may go on growing."""
    now = os.fstat(handle.fileno())
    if (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
        return True
    handle.seek(0)
    return file_hash(handle, size)[0] == sha256


def remove_unchanged(path: Path, before: os.stat_result) -> None:
    """Remove a landed inbox file, unless it is no longer the one that was read."""

    def identity(of: os.stat_result) -> tuple[int, int, int, int]:
        return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns

    try:
        now = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(now.st_mode) and identity(now) == identity(before):
        path.unlink()


CHANGED = "changed while it was read; it stays where it is"


class StoppedError(Exception):
    """One file cannot be landed now and stays where it is; the message says why."""


@contextmanager
def stopping() -> Iterator[None]:
    """Raises StoppedError where a file cannot be read on, or where we fail on it: no row is to blame for that."""
    try:
        yield
    except StoppedError:
        raise
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise StoppedError(message) from error
    except (Exception, pl.exceptions.PanicException) as error:  # whatever it is, the other files land
        said = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
        message = f"stays where it is: slowwave failed on it, which is a fault of slowwave ({said[:300]})"
        raise StoppedError(message) from error


def opened_again(path: Path | None, content: str) -> tuple[BinaryIO, os.stat_result]:
    """A file that was read before, and its state. Raises StoppedError when its hash is not `content` any more."""
    handle = open_delivery(path, sys.stdin.buffer)
    before = os.fstat(handle.fileno())
    if file_hash(handle)[0] != content:
        raise StoppedError(CHANGED)
    handle.seek(0)
    return handle, before


def check_unchanged(file: FileCounts, handle: BinaryIO, before: os.stat_result | None) -> None:
    """Raise StoppedError when the rows that were read may not be those of the bytes that were hashed.

    Else the file would count as landed, and be passed over when it is delivered again.
    """
    if before is not None and not holds_what_was_hashed(handle, before, file.file_hash, file.bytes_count):
        raise StoppedError(CHANGED)
