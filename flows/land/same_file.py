"""Whether a delivered file is still what was read of it: producers may write while we read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from slowwave.flows.land.formats.delivery import file_hash


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
