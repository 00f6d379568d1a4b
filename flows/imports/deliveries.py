"""Writing a unit's rows into a folder as a delivery: aside, flushed, renamed, the folder flushed; never half of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from slowwave.flows.kernel.store import TEMPORARY, fsync_path, make_durable_folder
from slowwave.flows.kernel.terminal import shown_name
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused, Repaired
from slowwave.transforms.imports.forks import Outline
from slowwave.transforms.landing.delivered_rows import import_name

_PREFIX = ".import-"
_LEVEL = 3


class DeliveryWriter:
    """Lines written one by one; `finish` names the file after their digest and puts it into the folder.

    `packer`: used by one writer at a time; a new one for each would take longer than most deliveries do.
    """

    def __init__(self, folder: Path, adapter: str, packer: zstandard.ZstdCompressor) -> None:
        self._packer = packer
        self._folder = folder
        self._adapter = adapter
        self._digest = hashlib.sha256()
        self._aside: Path | None = None
        self._handle: BinaryIO | None = None
        self._packed: zstandard.ZstdCompressionWriter | None = None

    def write(self, line: bytes) -> None:
        """One row. Raises OSError as the disk does."""
        if self._packed is None:
            self._open()
        line += b"\n"
        self._digest.update(line)
        with _of(self._aside):
            self._packed.write(line)  # type: ignore[union-attr] - it was opened

    def _open(self) -> None:
        make_durable_folder(self._folder)
        self._aside = self._folder / f"{_PREFIX}{self._adapter}-{os.getpid()}-{id(self):x}{TEMPORARY}"
        handle = os.open(self._aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the umask
        self._handle = os.fdopen(handle, "wb")
        self._packed = self._packer.stream_writer(self._handle, closefd=False)

    def close(self) -> str | None:
        """What the delivery will be called, now that it is whole and durable; None where nothing was written.

        Raises OSError as the disk does.
        """
        if self._packed is None or self._handle is None:
            return None
        if not self._handle.closed:
            with _of(self._aside):
                self._packed.close()
                self._handle.flush()
                os.fsync(self._handle.fileno())
                self._handle.close()
        return import_name(self._adapter, self._digest.hexdigest())

    def finish(self) -> Path | None:
        """The delivery, in the folder; None where nothing was written. Raises OSError as the disk does."""
        name = self.close()
        if name is None or self._aside is None:
            return None
        path = self._folder / name
        self._aside.rename(path)
        fsync_path(self._folder)
        self._aside = None
        return path

    def abandon(self) -> None:
        """Remove what was written and not finished."""
        if self._aside is not None and self._handle is not None:
            self._handle.close()
            self._aside.unlink(missing_ok=True)
            self._aside = None


def delivery_packer() -> zstandard.ZstdCompressor:
    """What packs deliveries, of one writer after the other."""
    return zstandard.ZstdCompressor(level=_LEVEL)


@contextmanager
def delivery_writer(folder: Path, adapter: str, packer: zstandard.ZstdCompressor) -> Iterator[DeliveryWriter]:
    """A writer of which nothing stays when it does not come to `finish`."""
    writer = DeliveryWriter(folder, adapter, packer)
    try:
        yield writer
    finally:
        writer.abandon()


@contextmanager
def _of(path: Path | None) -> Iterator[None]:
    """What the disk refuses says of which file: a full disk is none of the source's."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def remove_left(folder: Path) -> None:
    """Remove what an import that was killed left half-written; only for the one that writes."""
    for left in folder.glob(f"{_PREFIX}*{TEMPORARY}"):
        left.unlink(missing_ok=True)


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
