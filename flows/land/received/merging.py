"""Merging the receiver's files, and claiming them for a landing. A killed merge leaves rows twice until the next."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from slowwave.flows.kernel.access.private_files import flush_folder, write_private
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.received.file_names import ReceivedFile, Stage, held_elsewhere, received_files

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
