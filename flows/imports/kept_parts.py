"""Parts of traces that were imported and may still grow: what comes later is read together with them.

`lake/imports/ADAPTER.parts` holds them for some days, without secrets; where it is gone, a later file is read as if
nothing had come before it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import zstandard

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.transforms.imports.adapter import KEEP_DAYS, days_stated
from slowwave.transforms.imports.secrets import clean_record

_BLOCK = 2**20
_LEVEL = 3
_DAYS, _DAY_SECONDS = 7, 86_400


@dataclass(frozen=True)
class PartLine:
    """A part as a line: what it tells of (`key`, or what has the same `alias` if it `follows`), when, and its record.

    `identity` tells it from others as it was before secrets were taken out; `at`: seconds since 1970.
    """

    key: bytes
    alias: bytes
    follows: bool
    identity: bytes
    at: int
    record: bytes

    def text(self) -> bytes:
        """The line, with its end."""
        follows = b"1" if self.follows else b""
        return b"\t".join((self.key, self.alias, follows, self.identity, b"%d" % self.at, self.record)) + b"\n"


def part_lines(packed: BinaryIO) -> Iterator[PartLine]:
    """The lines of packed parts."""
    with zstandard.ZstdDecompressor().stream_reader(packed, closefd=False) as unpacked:
        for line in io.BufferedReader(unpacked, _BLOCK):
            key, alias, follows, identity, at, record = line.rstrip(b"\n").split(b"\t", 5)
            yield PartLine(key, alias, bool(follows), identity, int(at), record)


def kept_parts(folder: Path, adapter: str, options: Mapping[str, Any], *, is_written: bool) -> KeptParts:
    """What is kept of an adapter in a folder, for as long as its options say. Raises OptionsError where they cannot."""
    return KeptParts(folder / f"{adapter}.parts", days_stated(options, KEEP_DAYS, _DAYS), is_written=is_written)


class KeptParts:
    """The parts kept of one adapter for `days`; they are replaced only where `is_written`."""

    def __init__(self, path: Path, days: float, *, is_written: bool = True) -> None:
        self._path = path
        self._seconds = days * _DAY_SECONDS
        self._is_written = is_written

    def lines(self) -> Iterator[PartLine]:
        """What is kept; of a damaged file what can be read."""
        with suppress(FileNotFoundError, ValueError, zstandard.ZstdError):
            (copy,) = storage_of(self._path).on_disk([self._path])
            with copy.open("rb") as handle:
                yield from part_lines(handle)

    def replace(self, lines: Iterable[PartLine], newest: int) -> None:
        """Keep these parts instead, of the days before `newest`, in seconds. Raises OSError as the disk does."""
        if not self._is_written:
            return
        oldest = newest - self._seconds

        def write(aside: Path) -> None:
            with aside.open("wb") as handle, zstandard.ZstdCompressor(level=_LEVEL).stream_writer(handle) as packed:
                for line in lines:
                    if self._seconds and line.at >= oldest:
                        packed.write(_without_secrets(line).text())

        write_durably(self._path, write)


def _without_secrets(line: PartLine) -> PartLine:
    return replace(line, record=orjson.dumps(clean_record(orjson.loads(line.record))))
