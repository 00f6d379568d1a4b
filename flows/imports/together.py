"""Units whose records belong together across files, as the spans of a trace do: dealt out by what they tell of.

What lies in many files becomes few units, each with all records of some of the keys, so that a unit fits into memory
whatever the size of the files. What is dealt out lies in files without a name, which end with the program.
"""

from __future__ import annotations

import io
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson
import zstandard

from slowwave.flows.imports.units import ReadRecord, Unit, UnreadableUnitError
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.made import LeftOut, Located, Record, Refused

_UNIT_BYTES = 64 * 2**20
# Packed JSON lines unpack to about this many times their size.
_PACKED_TIMES = 10
_PACKED = (".gz", ".zst", ".parquet")
_LEVEL = 1
_BLOCK = 2**20


@dataclass(frozen=True)
class Dealt:
    """A record and the key that it tells of; one that `follows` goes where that with the same `alias` is, if any."""

    key: str
    record: Record
    alias: str = ""
    follows: bool = False


# The records that one is taken apart into, with what they tell of; or what of it makes no record.
Deal = Callable[[Located], Iterator[Dealt | Refused | LeftOut]]


def together(units: Sequence[Unit], deal: Deal, unit_bytes: int = _UNIT_BYTES) -> list[Unit]:
    """These units as one, or as several of about `unit_bytes` each. One that cannot be read on does not end the others.

    The new ones have changed when any of the old ones has.
    """
    if not units:
        return []
    size = sum(unit.size * (_PACKED_TIMES if unit.name.lower().endswith(_PACKED) else 1) for unit in units)
    count = max(math.ceil(size / unit_bytes), 1)
    folder = os.path.commonpath([Path(unit.name).absolute().parent for unit in units])
    name = units[0].name if len(units) == 1 else f"{folder} ({len(units)} files)"
    dealing = _Dealing(units, deal, count)
    state = {"files": digest([orjson.dumps([unit.name, unit.state]).decode() for unit in units]), "parts": count}
    producers = sorted({unit.producer for unit in units})
    return [
        Unit(
            f"{name}, part {part + 1} of {count}" if count > 1 else name,
            lambda part=part: dealing.read(part),
            state,
            max(unit.modified_at for unit in units),
            " and ".join(producers),
            sum(unit.size for unit in units) // count,
        )
        for part in range(count)
    ]


class _Dealing:
    """The records of some units, dealt out when the first part is read."""

    def __init__(self, units: Sequence[Unit], deal: Deal, count: int) -> None:
        self._units = units
        self._deal = deal
        self._count = count
        self._faults: list[str] = []
        self._beside: list[Refused | LeftOut] = []
        self._parts: dict[int, BinaryIO] = {}

    def read(self, part: int) -> Iterator[ReadRecord]:
        """The records of a part. Raises UnreadableUnitError after all of them, where a unit could not be read on."""
        if self._count == 1:
            self._faults = []
            yield from self._records()
        else:
            if part not in self._parts:
                self._deal_out()
            if part == 0:
                yield from self._beside
            with self._parts.pop(part) as dealt:
                yield from _dealt_records(dealt)
        if self._faults:
            raise UnreadableUnitError("; ".join(self._faults))

    def _records(self) -> Iterator[ReadRecord]:
        for unit in self._units:
            try:
                yield from unit.read()
            except UnreadableUnitError as error:
                self._faults.append(f"{unit.name}: {error}")
            except OSError as error:
                self._faults.append(f"{unit.name} cannot be read: {error.strerror or error}")

    def _deal_out(self) -> None:
        for left in self._parts.values():
            left.close()
        self._faults, self._beside = [], []
        parts = [tempfile.TemporaryFile(prefix="slowwave-") for _ in range(self._count)]  # noqa: SIM115 - read later
        self._parts = dict(enumerate(parts))
        packed = [zstandard.ZstdCompressor(level=_LEVEL).stream_writer(part, closefd=False) for part in parts]
        by_alias: dict[str, str] = {}
        waiting: list[tuple[int, Dealt]] = []
        for number, one in self._dealt():
            if one.follows:
                waiting.append((number, one))
                continue
            if one.alias:
                by_alias.setdefault(one.alias, one.key)
            self._put(packed, number, one.key, one.record)
        for number, one in waiting:
            self._put(packed, number, by_alias.get(one.alias, one.key), one.record)
        for writer in packed:
            writer.close()

    def _dealt(self) -> Iterator[tuple[int, Dealt]]:
        for record in self._records():
            for one in self._deal(record) if isinstance(record, Located) else (record,):
                if isinstance(one, Dealt):
                    yield record.number, one  # type: ignore[union-attr] - what was dealt out is of a record
                elif isinstance(one, Refused | LeftOut):
                    self._beside.append(one)

    def _put(self, packed: Sequence[zstandard.ZstdCompressionWriter], number: int, key: str, record: Record) -> None:
        try:
            line = orjson.dumps([number, record], default=str)
        except orjson.JSONEncodeError as error:
            self._beside.append(Refused(number, f"the record cannot be read: {error}", ""))
        else:
            packed[int(digest([key])[:8], 16) % self._count].write(line + b"\n")


def _dealt_records(part: BinaryIO) -> Iterator[Located]:
    part.seek(0)
    with zstandard.ZstdDecompressor().stream_reader(part, closefd=False) as unpacked:
        for line in io.BufferedReader(unpacked, _BLOCK):
            number, record = orjson.loads(line)
            yield Located(number, record)
