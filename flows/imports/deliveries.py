"""Writing a unit's rows into a folder as a delivery: aside, flushed, renamed, the folder flushed; never half of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

from slowwave.flows.kernel.store import TEMPORARY, fsync_path, make_durable_folder
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
