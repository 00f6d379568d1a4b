"""What keeps one file from landing now: it cannot be read on, it changed, or we fail on it. It stays where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.land.formats.delivery import file_hash, open_delivery
from slowwave.flows.land.report import FileCounts
from slowwave.flows.land.same_file import holds_what_was_hashed

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
