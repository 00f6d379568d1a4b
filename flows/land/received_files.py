"""The files of a receiver in the inbox: how they are named, merged and claimed by a landing; what it notes of itself.

`capture-FIRST-LAST` may still be merged with others; `received-FIRST-LAST` is a landing's. Merging and claiming exclude
each other by a lock, so that a row is in one file only whenever a landing looks. A killed merge leaves rows twice until
the next.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from slowwave.flows.kernel.lock import note_receiver, receiver
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import flush_folder, write_private

Lane = Literal["rows", "otlp"]
Stage = Literal["capture", "received"]
SUFFIXES: dict[Lane, str] = {"rows": ".jsonl", "otlp": ".otlp.jsonl"}
_LANES: dict[str, Lane] = {suffix: lane for lane, suffix in SUFFIXES.items()}
_NAME = re.compile(r"(capture|received)-([0-9]{17})-([0-9]{17})((?:\.otlp)?\.jsonl)")


@dataclass(frozen=True)
class ReceivedFile:
    """A file with the writes numbered from `first` to `last` of one lane."""

    folder: Path
    stage: Stage
    lane: Lane
    first: int
    last: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.stage}-{self.first:017d}-{self.last:017d}{SUFFIXES[self.lane]}"

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.name

    def holds(self, other: ReceivedFile) -> bool:
        """Whether all that is in another file is in this one too."""
        return self != other and self.lane == other.lane and self.first <= other.first and other.last <= self.last


def is_received(name: str) -> bool:
    """Whether a file of the inbox was written by the receiver."""
    return _NAME.fullmatch(name) is not None


def is_unclaimed(name: str) -> bool:
    """Whether a file of the inbox is the receiver's still, which may merge it with others at any moment."""
    stated = _NAME.fullmatch(name)
    return stated is not None and stated[1] == "capture"


def is_otlp(name: str) -> bool:
    """Whether a file of the inbox holds OTLP, which is imported before what comes of it lands."""
    return name.lower().endswith(SUFFIXES["otlp"])


def received_files(inbox: Path) -> list[ReceivedFile]:
    """The receiver's files in the inbox, oldest first. Raises OSError where it cannot be listed."""
    try:
        names = os.listdir(inbox)  # noqa: PTH208 - a thousand names, again and again
    except FileNotFoundError:
        return []
    found = [_parse_received_file(inbox, stated) for name in names if (stated := _NAME.fullmatch(name))]
    return sorted(found, key=lambda one: (one.lane, one.first, -one.last, one.stage))


def _parse_received_file(folder: Path, stated: re.Match[str]) -> ReceivedFile:
    stage: Stage = "capture" if stated[1] == "capture" else "received"
    return ReceivedFile(folder, stage, _LANES[stated[4]], int(stated[2]), int(stated[3]))


def held_elsewhere(files: Iterable[ReceivedFile]) -> list[ReceivedFile]:
    """Of files in the order of `received_files`, those that a larger one holds: a merge was killed before they went."""
    gone: list[ReceivedFile] = []
    largest: ReceivedFile | None = None
    for file in files:
        if largest is not None and largest.holds(file) and file.stage == "capture":
            gone.append(file)
        elif largest is None or largest.lane != file.lane or file.last > largest.last:
            largest = file
    return gone


# A merged file, and what is not worth merging any more.
_MOST_BYTES = 64 * 2**20
_LARGE_BYTES = 16 * 2**20
_BLOCK = 2**20


def claim(settings: Settings) -> None:
    """Make the receiver's files the landing's, which holds the writer lock: nobody merges them any more.

    Raises OSError as the disk does.
    """
    if not any(one.stage == "capture" for one in received_files(settings.inbox)):
        return
    with _merging(settings, waits=True):
        _clear(settings)
        waiting = [one for one in received_files(settings.inbox) if one.stage == "capture"]
        with suppress(OSError):  # there may be no room for that: then they are taken as they are
            _merge(waiting, "received")
        _clear(settings)
        for one in received_files(settings.inbox):
            if one.stage == "capture":
                one.path.rename(replace(one, stage="received").path)
        flush_folder(settings.inbox)


def merge(settings: Settings, *, before: int, waits: bool) -> None:
    """Merge the files that no landing has claimed into larger ones; where one claims them now, only if it `waits`.

    `before`: of the writes before this one, for a later one may be under way. Raises OSError as the disk does.
    """
    with _merging(settings, waits=waits) as is_alone:
        if is_alone:
            _clear(settings)
            there = received_files(settings.inbox)
            _merge([one for one in there if one.stage == "capture" and one.last < before], "capture")


@contextmanager
def _merging(settings: Settings, *, waits: bool) -> Iterator[bool]:
    """Be the only one who merges or claims; whether that is so."""
    handle = os.open(settings.merge_lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _locks(handle, waits=waits)
    finally:
        os.close(handle)


def _locks(handle: int, *, waits: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _clear(settings: Settings) -> None:
    """Remove what a larger file holds too, and what a claim that was killed left half-written."""
    for left in settings.inbox.glob(".received-*.tmp"):
        left.unlink(missing_ok=True)
    for one in held_elsewhere(received_files(settings.inbox)):
        one.path.unlink(missing_ok=True)


def _merge(files: Sequence[ReceivedFile], stage: Stage) -> None:
    """Write runs of small files as one each, make it durable, and let go of them."""
    for run in _runs(files):
        merged = replace(run[0], stage=stage, last=run[-1].last)
        write_private(merged.path, _blocks(run))
        for one in run:
            one.path.unlink()


def _runs(files: Sequence[ReceivedFile]) -> Iterator[list[ReceivedFile]]:
    run: list[ReceivedFile] = []
    total = 0
    for one in files:
        size = one.path.stat().st_size
        fits = run and run[0].lane == one.lane and total + size <= _MOST_BYTES
        if not fits or size > _LARGE_BYTES:
            if len(run) > 1:
                yield run
            run, total = [], 0
        if size <= _LARGE_BYTES:
            run.append(one)
            total += size
    if len(run) > 1:
        yield run


def _blocks(files: Sequence[ReceivedFile]) -> Iterator[bytes]:
    for one in files:
        with one.path.open("rb") as handle:
            while block := handle.read(_BLOCK):
                yield block


@dataclass(frozen=True)
class Noted:
    """Rows since it began; times as ISO 8601, '' for none.

    `address`: where it listens. `taken`, `refused`: rows, spans and log records. `received_at`: of the last that was
    taken. `failing`: why nothing can be kept now. `stopped_at`: it was told to end then.
    """

    address: str = ""
    taken: int = 0
    refused: int = 0
    received_at: str = ""
    failing: str = ""
    stopped_at: str = ""


@dataclass(frozen=True)
class Latest:
    """The receiver that began last: its process, since when (as text), what it noted, and whether it runs."""

    process: int
    since: str
    noted: Noted
    is_running: bool


def note(settings: Settings, noted: Noted) -> None:
    """Note it, where this process is the home's receiver. Raises OSError."""
    note_receiver(settings, {"noted": asdict(noted)})


def latest_receiver(settings: Settings) -> Latest | None:
    """The receiver that began last in a home; None where there never was one. Raises OSError."""
    said, is_running = receiver(settings)
    if not said and not is_running:
        return None
    stated = said.get("noted")
    known: dict[str, Any] = stated if isinstance(stated, dict) else {}
    noted = {one.name: known[one.name] for one in fields(Noted) if type(known.get(one.name)) is type(one.default)}
    return Latest(int(said.get("pid", 0)), str(said.get("since", "")), Noted(**noted), is_running)
