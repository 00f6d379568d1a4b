"""What an import reads: units, such as a transcript or a store, with their records and their state on the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from slowwave.flows.kernel.terminal import shown_name
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused, Repaired
from slowwave.transforms.imports.forks import Outline

# What reading gives: records, and what of a unit is no record.
ReadRecord = Located | Refused | LeftOut | Repaired


class UnreadableUnitError(Exception):
    """A unit cannot be read, or not to its end; the message says why. What was read before it counts."""


@dataclass(frozen=True)
class Unit:
    """One transcript, export or store.

    `name`: for messages, its path. `read`: its records from the beginning, anew with each call; raises
    UnreadableUnitError and OSError. `state`: what is the same as long as nothing was written to it. `modified_at`:
    seconds since 1970. `producer`: who wrote it, such as `Claude Code 2.1.38`. `size`: bytes, for the progress.
    `is_one_piece`: what cannot be read to its end was not read at all.
    `outline`: of sessions that can be forked, the turns in it.
    """

    name: str
    read: Callable[[], Iterator[ReadRecord]]
    state: dict[str, Any]
    modified_at: float
    producer: str = ""
    size: int = 0
    is_one_piece: bool = False
    outline: Callable[[], Outline] | None = None

    @cached_property
    def key(self) -> str:
        """What cursors tell it by: a digest of its path."""
        return digest([str(Path(self.name).absolute())])


@dataclass(frozen=True)
class NotImported:
    """A file that is none of the source's, or that cannot be read, and why.

    `is_fault`: it was to be imported. `is_recognised`: it is of the source's own program, and `why` says what to do.
    """

    name: str
    why: str
    is_fault: bool = False
    is_recognised: bool = False


@dataclass(frozen=True)
class FoundUnits:
    """What a source finds under a path."""

    units: list[Unit] = field(default_factory=list)
    others: list[NotImported] = field(default_factory=list)


def file_status(path: Path) -> os.stat_result:
    """The status of a file. Raises OSError, also of a pipe or a device, on which reading would wait for ever."""
    status = path.stat()
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return status
    message = "it is a pipe or a device, which can be read only once: write what comes of it to a file"
    raise OSError(message)


def home_shortened(path: Path) -> str:
    """A path with `~` for the home of whoever runs this."""
    absolute = path.absolute()
    home = Path.home()
    return f"~/{shown_name(absolute.relative_to(home))}" if absolute.is_relative_to(home) else shown_name(absolute)


def files_below(folder: Path, is_named_so: Callable[[str], bool]) -> tuple[list[Path], list[NotImported]]:
    """The files of such names below a folder, in the order of their paths, and folders in it that cannot be listed.

    Links to folders are not followed, pipes and devices are no files; one of which nothing is known may be a file.
    Raises OSError where `folder` itself cannot be listed.
    """
    found: list[Path] = []
    closed: list[OSError] = []
    for root, _, names in os.walk(folder, onerror=closed.append):
        found += [path for name in names if is_named_so(name) and _may_be_file(path := Path(root) / name)]
    if closed and Path(closed[0].filename) == folder:
        raise closed[0]
    return sorted(found), [
        NotImported(shown_name(error.filename), f"cannot be listed: {error.strerror or error}", is_fault=True)
        for error in closed
    ]


def _may_be_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:  # a link to nothing
        return False
    except OSError:
        return True
