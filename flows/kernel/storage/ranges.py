"""Copies of which only some bytes are there: who needs a part of a large object fetches no more."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterable
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
