"""Parts of traces, which may lie in several files: dealt out by what they belong to, and kept for what comes later."""

from __future__ import annotations

import hashlib
import io
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import zstandard

from slowwave.flows.imports.units import ReadRecord, Unit, UnreadableUnitError
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import (
    AGAIN,
    KEEP_DAYS,
    LeftOut,
    Located,
    Record,
    Refused,
    Repaired,
    days_stated,
)
from slowwave.transforms.imports.secrets import clean_record

# ------------------------------------------------------------------------------------------
# Parts of traces that were imported and may still grow: what comes later is read together with them.
# `lake/imports/ADAPTER.parts` holds them for some days, without secrets; where it is gone, a later file is read as
# if nothing had come before it.

_BLOCK = 2**20
_KEPT_LEVEL = 3
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
            with (
                aside.open("wb") as handle,
                zstandard.ZstdCompressor(level=_KEPT_LEVEL).stream_writer(handle) as packed,
            ):
                for line in lines:
                    if self._seconds and line.at >= oldest:
                        packed.write(_without_secrets(line).text())

        write_durably(self._path, write)


def _without_secrets(line: PartLine) -> PartLine:
    return replace(line, record=orjson.dumps(clean_record(orjson.loads(line.record))))


# ------------------------------------------------------------------------------------------
# Units whose records belong together across files, as the spans of a trace do: dealt out by what they tell of.
# What lies in many files becomes few units, each with all records of some of the keys, so that a unit fits into
# memory whatever the size of the files. What is dealt out lies in files without a name, which end with the program.

_UNIT_BYTES = 64 * 2**20
# Packed JSON lines unpack to about this many times their size.
_PACKED_TIMES = 10
_PACKED = (".gz", ".zst", ".parquet")
_DEALT_LEVEL = 1


@dataclass(frozen=True)
class TracePart:
    """A record, the key that it tells of, and when (seconds since 1970).

    One that `follows` goes where the record with the same `alias` is, if there is one.
    """

    key: str
    record: Record
    at: int
    alias: str = ""
    follows: bool = False


# The records that one is taken apart into, with what they tell of; or what of it makes no record.
DealParts = Callable[[Located], Iterator[TracePart | Refused | LeftOut]]


def join_units(
    units: Sequence[Unit], deal: DealParts, kept: KeptParts | None = None, unit_bytes: int = _UNIT_BYTES
) -> list[Unit]:
    """These units as one, or as several of about `unit_bytes` each. One that cannot be read on does not end the others.

    What was `kept` of earlier imports comes with what there is of the same keys now. The new units have changed when
    any of the old ones has.
    """
    if not units:
        return []
    size = sum(unit.size * (_PACKED_TIMES if unit.name.lower().endswith(_PACKED) else 1) for unit in units)
    count = max(math.ceil(size / unit_bytes), 1)
    folder = os.path.commonpath([Path(unit.name).absolute().parent for unit in units])
    name = units[0].name if len(units) == 1 else f"{folder} ({len(units)} files)"
    dealing = _Dealing(units, deal, kept, count)
    state = {"files": digest([orjson.dumps([unit.name, unit.state]).decode() for unit in units]), "parts": count}
    producers = sorted({unit.producer for unit in units})
    return [
        Unit(
            f"{name}, part {part + 1} of {count}" if count > 1 else name,
            lambda part=part: dealing.read_part(part),
            state,
            max(unit.modified_at for unit in units),
            " and ".join(producers),
            sum(unit.size for unit in units) // count,
        )
        for part in range(count)
    ]


class _Dealing:
    """The records of some units, dealt out when the first part is read."""

    def __init__(self, units: Sequence[Unit], deal: DealParts, kept: KeptParts | None, count: int) -> None:
        self._units = units
        self._deal = deal
        self._kept = kept
        self._count = count
        self._faults: list[str] = []
        self._beside: list[Refused | LeftOut | Repaired] = []
        self._dealt: dict[int, BinaryIO] = {}
        self._again: set[bytes] = set()

    def read_part(self, part: int) -> Iterator[ReadRecord]:
        """The records of a part. Raises UnreadableUnitError after all of them, where a unit could not be read on."""
        if part not in self._dealt:
            self._deal_out()
        if part == 0:
            yield from self._beside
        with self._dealt.pop(part) as dealt:
            dealt.seek(0)
            for line in part_lines(dealt):
                yield Located(AGAIN if line.identity in self._again else 0, orjson.loads(line.record))
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
        for left in self._dealt.values():
            left.close()
        self._faults, self._beside = [], []
        hands = _Hands(self._count)
        waiting: list[PartLine] = []
        for line in self._lines():
            if line.follows:
                waiting.append(line)
            else:
                hands.add_line(line)
        left_kept = self._with_kept(hands, waiting)
        self._dealt = hands.finish_files()
        if self._kept is not None:
            told = chain.from_iterable(map(_rewound_lines, self._dealt.values()))
            self._kept.replace(chain(told, left_kept), min(hands.newest, int(time.time())))

    def _with_kept(self, hands: _Hands, waiting: Sequence[PartLine]) -> Iterator[PartLine]:
        """Deal out what waits, and what was kept of what is found now; gives what else was kept."""
        kept = self._kept
        if kept is not None and any(line.alias not in hands.by_alias for line in waiting):
            for line in kept.lines():
                if line.alias and not line.follows:
                    hands.by_alias.setdefault(line.alias, line.key)
        for line in waiting:
            hands.add_line(replace(line, key=hands.by_alias.get(line.alias, line.key)))
        fresh = frozenset(hands.identities)
        keys = frozenset(hands.keys)

        def place(line: PartLine) -> bytes:
            return hands.by_alias.get(line.alias, line.key) if line.follows else line.key

        for line in kept.lines() if kept is not None else ():
            if line.identity not in fresh and place(line) in keys:
                self._again.add(line.identity)
                hands.add_line(replace(line, key=place(line)))
        if kept is None:
            return iter(())
        return (line for line in kept.lines() if line.identity not in fresh and place(line) not in keys)

    def _lines(self) -> Iterator[PartLine]:
        """The parts of all units."""
        for record in self._records():
            if not isinstance(record, Located):
                self._beside.append(record)
                continue
            for one in self._deal(record):
                if not isinstance(one, TracePart):
                    self._beside.append(one)
                    continue
                try:
                    text = orjson.dumps(one.record, default=str)
                except orjson.JSONEncodeError as error:
                    self._beside.append(Refused(record.number, f"the record cannot be read: {error}", ""))
                    continue
                alias = _short(one.alias.encode()) if one.alias else b""
                yield PartLine(_short(one.key.encode()), alias, one.follows, _short(text), one.at, text)


class _Hands:
    """Files without a name that parts are dealt into by their keys, and what was dealt."""

    def __init__(self, count: int) -> None:
        self._files = [tempfile.TemporaryFile(prefix="slowwave-") for _ in range(count)]  # noqa: SIM115 - read later
        # one of its own for each: it holds what its stream has not written yet
        self._packed = [
            zstandard.ZstdCompressor(level=_DEALT_LEVEL).stream_writer(file, closefd=False) for file in self._files
        ]
        self.by_alias: dict[bytes, bytes] = {}
        self.keys: set[bytes] = set()
        self.identities: set[bytes] = set()
        self.newest = 0

    def add_line(self, line: PartLine) -> None:
        """Deal out a part."""
        if line.alias and not line.follows:
            self.by_alias.setdefault(line.alias, line.key)
        self.keys.add(line.key)
        self.identities.add(line.identity)
        self.newest = max(self.newest, line.at)
        self._packed[int(line.key[:8], 16) % len(self._packed)].write(line.text())

    def finish_files(self) -> dict[int, BinaryIO]:
        """The files, by their numbers, to be read."""
        for packed in self._packed:
            packed.close()
        return dict(enumerate(self._files))


def _rewound_lines(dealt: BinaryIO) -> Iterator[PartLine]:
    dealt.seek(0)
    return part_lines(dealt)


def _short(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=12).hexdigest().encode()
