"""Files that are their owner's alone, whole or absent: tokens, and what was taken in over the wire."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_MODE = 0o600


def write_private(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file aside, flush it, give it its name and flush the folder; nobody else may read it, whatever the umask.

    Raises OSError as the system does: then there is no such file, unless the folder alone could not be flushed and the
    file not be taken away again either.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    try:
        flush_folder(path.parent)
    except OSError:
        with suppress(OSError):  # it is not known to last
            path.unlink()
        raise


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
