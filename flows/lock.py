"""One writer per lake: a lock that the kernel frees when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from slowwave.flows.errors import UserError
from slowwave.flows.settings import Settings

_held: dict[Path, int] = {}
# `holder` itself has the lock for an instant: nobody is refused because somebody looked.
_GLANCE_SECONDS = 0.2
_POLL_SECONDS = 0.02


def ensure_home(settings: Settings) -> None:
    """Make the home folder and try to write in it.

    Raises UserError, in one sentence, when it cannot be written.
    """
    probe = settings.home / ".probe"  # one name: what a killed command leaves is removed by the next
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        message = (
            f"the home folder {settings.home} cannot be written ({error.strerror}): "
            "set SLOWWAVE_HOME to a folder you can write to"
        )
        raise UserError(message) from error


def holder(settings: Settings) -> str | None:
    """Who holds the lock, in words, or None when nobody does."""
    if settings.home in _held or not settings.lock_file.exists():
        return None
    try:
        handle = os.open(settings.lock_file, os.O_RDONLY)  # a read-only home can be asked too
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _described(handle)
    else:
        return None
    finally:
        os.close(handle)


def _described(handle: int) -> str:
    try:
        said = json.loads(os.pread(handle, 4096, 0))
        return f"`slowwave {said['command']}` (process {said['pid']}, since {said['since']})"
    except (ValueError, KeyError, TypeError):
        return "another slowwave command"


@contextmanager
def writer_lock(
    settings: Settings, command: str, *, wait_seconds: float = 0, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lake's writer lock; a caller in the same process that already holds it just goes on.

    Waits up to `wait_seconds` for another writer, telling `waiting` once whom it waits for.
    Raises UserError when the lock is still held then.
    """
    ensure_home(settings)
    if settings.home in _held:
        yield
        return
    handle = os.open(settings.lock_file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _acquire(handle, settings, wait_seconds, waiting)
        said = {"command": command, "pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())}
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(said).encode(), 0)
        _held[settings.home] = handle
        yield
    finally:
        _held.pop(settings.home, None)
        os.close(handle)


def _acquire(handle: int, settings: Settings, wait_seconds: float, waiting: Callable[[str], None] | None) -> None:
    deadline = time.monotonic() + max(wait_seconds, _GLANCE_SECONDS)
    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                message = f"{_described(handle)} is writing to {settings.home}: run this again when it has finished"
                raise UserError(message) from error
            if waiting and not told:
                waiting(f"waiting for {_described(handle)} to finish")
                told = True
            time.sleep(_POLL_SECONDS)
        else:
            return
