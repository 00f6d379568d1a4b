"""A lake in a folder: every write is made aside, flushed to the disk, renamed, and its folder flushed."""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Range = tuple[int, int]
# What lies less far apart is fetched with one request.
_NEAR_BYTES = 2**20


class PartialCopies:
    """Files below `folder`, as long as what they are copies of, with holes where nothing was fetched.

    Each process of each machine has its own; `_there`: what of them it has fetched.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._there: dict[Path, list[Range]] = {}

    def holding(self, name: Path, size: int, wanted: Iterable[Range], fetch: Callable[[int, int], bytes]) -> Path:
        """The copy called `name` of `size` bytes, with at least these ranges of it.

        `fetch`: the bytes from a place on, and before another.
        """
        path = self._own() / name
        if path not in self._there or not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.truncate(size)
            self._there[path] = []
        missing = [one for one in wanted if not any(a <= one[0] and one[1] <= b for a, b in self._there[path])]
        with path.open("r+b") as file:
            for start, end in _together(missing):
                file.seek(start)
                file.write(fetch(start, end))
                self._there[path].append((start, end))
        return path

    def forget(self, name: Path) -> None:
        """Remove the copy called so, if there is one."""
        self._there.pop(self._own() / name, None)
        (self._own() / name).unlink(missing_ok=True)

    def clear(self, *, of_all: bool = False) -> None:
        """Remove this process's, and those that one of this machine left which has ended; `of_all`: those of any."""
        self._there.clear()
        for folder in self._folder.glob("*"):
            if of_all or folder == self._own() or not _is_running(folder.name):
                shutil.rmtree(folder, ignore_errors=True)

    def _own(self) -> Path:
        return self._folder / f"{platform.node()}-{os.getpid()}"


def _is_running(owner: str) -> bool:
    """Whether who owns a folder may be at work; of another machine, nobody here knows. Before, none was named."""
    machine, _, process = owner.rpartition("-")
    if machine and machine != platform.node():
        return True
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _together(ranges: Iterable[Range]) -> list[Range]:
    """In order, those that lie near each other as one."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start - found[-1][1] < _NEAR_BYTES:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


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
