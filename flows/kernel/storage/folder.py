"""A lake in a folder: every write is made aside, flushed to the disk, renamed, and its folder flushed."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from slowwave.flows.kernel.storage.ranges import Range

TEMPORARY = ".tmp"


def fsync_path(path: Path) -> None:
    """Flush a file or a folder to the disk. Raises OSError, naming the path."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)


def make_durable_folder(folder: Path) -> None:
    """Make a folder and its parents, so that none of them is lost when the power goes."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        fsync_path(new.parent)


class Folder:
    """Files as they are. What each method does is said in `storage.Storage`."""

    def folders(self, folder: Path) -> list[str]:
        """As in Storage."""
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def files(self, folder: Path) -> list[Path]:
        """As in Storage."""
        try:
            return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        except FileNotFoundError:
            return []

    def is_folder(self, folder: Path) -> bool:
        """As in Storage."""
        return folder.is_dir()

    def exists(self, path: Path) -> bool:
        """As in Storage."""
        return path.exists()

    def size(self, path: Path) -> int:
        """As in Storage."""
        return path.stat().st_size

    def changed_at(self, path: Path) -> float:
        """As in Storage."""
        return path.stat().st_mtime

    def on_disk(self, paths: Sequence[Path]) -> list[Path]:
        """As in Storage."""
        return list(paths)

    def ranges_on_disk(self, path: Path, ranges: Sequence[Range]) -> Path:  # noqa: ARG002 - all of it is there
        """As in Storage."""
        return path

    def read(self, path: Path) -> bytes:
        """As in Storage."""
        return path.read_bytes()

    def write(self, path: Path, write: Callable[[Path], object]) -> None:
        """As in Storage. Raises OSError as the system does; what was written aside is then removed."""
        make_durable_folder(path.parent)
        aside = path.parent / f".{path.name[:80]}.{uuid.uuid4().hex[:8]}{TEMPORARY}"
        try:
            write(aside)
            fsync_path(aside)
            aside.rename(path)
        except BaseException as error:
            aside.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename in (None, str(aside), aside):
                error.filename = str(path)  # what was asked for, not the file beside it
                error.filename2 = None
            raise
        fsync_path(path.parent)

    def remove(self, paths: Iterable[Path]) -> None:
        """As in Storage."""
        for path in paths:
            path.unlink(missing_ok=True)

    def purge(self) -> None:
        """As in Storage: it is gone already."""

    def clear(self, folder: Path) -> None:
        """As in Storage."""
        for left in folder.glob(f"**/.*{TEMPORARY}"):
            left.unlink(missing_ok=True)
