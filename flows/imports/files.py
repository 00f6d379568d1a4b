"""Units that are files: found under a path by the ends of their names, distinguished by what is in them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol, overload

from slowwave.flows.imports.record_readers import json_lines
from slowwave.flows.imports.trace_parts import DealParts, KeptParts, join_units
from slowwave.flows.imports.units import (
    FoundUnits,
    NotImported,
    ReadRecord,
    Unit,
    UnreadableUnitError,
    file_status,
    files_below,
)
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.kernel.terminal import shown_name
from slowwave.transforms.imports.adapter import Adapter, Forking, Located, Record
from slowwave.transforms.imports.forks import Outline, hash_outline

PACKED = (".gz", ".zst")
IDLE_SECONDS = 3600.0
_HEAD_BYTES = 4096
# Enough to be past what the client writes about itself before the first message.
_FIRST_RECORDS = 50


class Reader(Protocol):
    """How the records of a file are had, as `json_lines` does."""

    def __call__(self, path: Path, longest_row: int, *, is_idle: bool) -> Iterator[ReadRecord]:
        """The records of a file."""
        ...


@dataclass(frozen=True)
class FileSource:
    """Transcripts or exports in files.

    `suffixes`: how names of its files end, packed ones also with .gz or .zst; `matches` looks at the whole name where
    that does not do. `described`: for people, such as `transcripts of Claude Code`. `roots`: where they usually lie.
    `deal`: how records that belong together are found, where they may lie in several files. `misfit`: what a file is,
    by its first bytes and records, that looks like one of these and cannot be read, as the rest of a sentence.
    `beside`: what stands beside a file, as a record before its own.
    """

    adapter: Adapter
    described: str
    suffixes: tuple[str, ...] = (".jsonl",)
    roots: tuple[str, ...] = ()
    reader: Reader = json_lines
    beside: Callable[[Path], Record | None] = lambda _: None
    matches: Callable[[str], bool] | None = None
    deal: DealParts | None = None
    misfit: Callable[[bytes, Sequence[Record]], str | None] | None = None

    @property
    def name(self) -> str:
        """What the source is called on the command line."""
        return self.adapter.name

    def list_files(self, path: Path) -> list[Path]:
        """The files under a path that may be its, by their names alone. Raises OSError."""
        return self._files(path)[0]

    def find_units(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> FoundUnits:
        """The units under a file or folder, in the order of their paths; `others` name files of other programs.

        Raises OSError where the path cannot be listed.
        """
        found = FoundUnits()
        is_folder = path.is_dir()
        files, closed = self._files(path)
        found.others.extend(closed)
        for file in files:
            one = self._looked_at(file, [*others], longest_row, is_named=not is_folder)
            (found.units if isinstance(one, Unit) else found.others).append(one)  # type: ignore[arg-type] - by its type
        return found

    def group_units(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:
        """The units as they are read: as they were found, unless records of several, and `kept` ones, go together."""
        return join_units(units, self.deal, kept) if self.deal is not None else units

    def _files(self, path: Path) -> tuple[list[Path], list[NotImported]]:
        if not path.is_dir():
            return [path], []
        return files_below(path, lambda name: self._is_named_so(name) and not name.startswith("."))

    def _is_named_so(self, name: str) -> bool:
        if self.matches is not None:
            return self.matches(name)
        plain = name.lower()
        for packed in PACKED:
            plain = plain.removesuffix(packed)
        return plain.endswith(self.suffixes)

    def _looked_at(self, path: Path, others: list[Adapter], longest_row: int, *, is_named: bool) -> Unit | NotImported:
        name = shown_name(path)
        try:
            status = file_status(path)
            state = {"size": status.st_size, "modified_ns": status.st_mtime_ns, "head": _head(path)}
            is_idle = time.time() - status.st_mtime >= IDLE_SECONDS
            first = _FirstRecords(self.reader(path, longest_row, is_idle=True))
            misfit = self._misfit(path, first)
            if misfit is not None:
                return NotImported(name, misfit, is_fault=True, is_recognised=True)
            if not first:
                why = f"cannot be read: {first.broken}" if first.broken else "holds no record"
                return NotImported(name, why, is_fault=bool(first.broken) or (is_named and status.st_size > 0))
            producer = self.adapter.detect_producer(first)
            if producer is None:
                other = next((said for each in others if (said := each.detect_producer(first)) is not None), None)
                why = f"was written by {other}" if other else f"is none of the {self.described}"
                return NotImported(name, why, is_fault=is_named)
        except OSError as error:
            return NotImported(name, f"cannot be read: {error.strerror or error}", is_fault=True)
        return Unit(
            name,
            lambda: self._records(path, longest_row, is_idle),
            state,
            status.st_mtime,
            producer,
            status.st_size,
            outline=(lambda: self._outline(path, longest_row, status.st_mtime))
            if isinstance(self.adapter, Forking)
            else None,
        )

    def _misfit(self, path: Path, first: Sequence[Record]) -> str | None:
        if self.misfit is None:
            return None
        with path.open("rb") as handle:
            return self.misfit(handle.read(_HEAD_BYTES), first)

    def _records(self, path: Path, longest_row: int, is_idle: bool) -> Iterator[ReadRecord]:
        beside = self.beside(path)
        if beside is not None:
            yield Located(0, beside)
        yield from self.reader(path, longest_row, is_idle=is_idle)

    def _outline(self, path: Path, longest_row: int, modified_at: float) -> Outline:
        """The turns in a file; of one that cannot be read to its end, those before that."""
        adapter = self.adapter
        if not isinstance(adapter, Forking):
            return Outline("")

        def read_wanted_records(is_wanted: Callable[[bytes], bool]) -> Iterator[Located]:
            records = _readable(json_lines(path, longest_row, only=is_wanted))
            return (one for one in records if isinstance(one, Located))

        return replace(hash_outline(adapter.outline(read_wanted_records)), modified_at=modified_at)


class _FirstRecords(Sequence[Record]):
    """The first records of a file, read as far as they are looked at: the first tells most.

    `broken`: why there are not more, where the file breaks off among them.
    """

    def __init__(self, records: Iterator[ReadRecord]) -> None:
        self._records = islice(records, _FIRST_RECORDS)
        self._read: list[Record] = []
        self.broken = ""

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | Sequence[Record]:
        while not isinstance(place, int) or not 0 <= place < len(self._read):
            if not self._more():
                break
        return self._read[place]

    def __len__(self) -> int:
        while self._more():
            pass
        return len(self._read)

    def __bool__(self) -> bool:
        return bool(self._read) or self._more()

    def _more(self) -> bool:
        """Read one more, if there is one. Raises OSError as the disk does."""
        try:
            one = next((one for one in self._records if isinstance(one, Located)), None)
        except UnreadableUnitError as error:
            self.broken, one = str(error), None
        if one is not None:
            self._read.append(one.record)
        return one is not None


def _readable(records: Iterator[ReadRecord]) -> Iterator[ReadRecord]:
    with suppress(UnreadableUnitError, OSError):  # reading it to import it tells
        yield from records


def _head(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.sha256(handle.read(_HEAD_BYTES)).hexdigest()
