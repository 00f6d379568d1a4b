"""The producers' writer: records go into memory at once and reach the inbox as whole files, behind the caller's back.

An agent must never slow down or fail because its log cannot be written. So `record_…` only serialises the row and
buffers it; a daemon thread writes batches as `<utc>-<pid>-<random>.jsonl.tmp`, syncs, and renames to `.jsonl`. A disk
that is full, read-only, missing or hanging is counted, logged to `slowwave.writer` and retried with backoff.
"""

import atexit
import json
import logging
import math
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from slowwave.flows.kernel.home import home_from_environment, umask_from_environment

MAX_ROWS = 100_000
MAX_BYTES = 256 * 1024 * 1024
EXIT_SECONDS = 5.0

_FILE_ROWS = 10_000
_FILE_BYTES = 16 * 1024 * 1024
_BACKOFF_SECONDS, _BACKOFF_LIMIT_SECONDS = 0.1, 30.0
_WARNING_SECONDS = 60.0
_MAX_DEPTH = 100
_MAX_INT_BITS = 2_000  # Python may refuse to print integers of more than 640 digits

_log = logging.getLogger("slowwave.writer")

_registry_lock = threading.Lock()
_writers: "weakref.WeakSet[Writer]" = weakref.WeakSet()
_default_writers: dict[str, "Writer"] = {}


class WriterStats(NamedTuple):
    """What a Writer has done so far, in rows and attempts; a forked child starts again from zero."""

    buffered: int
    """Rows in memory, not yet in the inbox."""
    written: int
    """Rows in files renamed into the inbox."""
    failed_attempts: int
    """Attempts to write a file that failed; their rows stay buffered and are tried again."""
    dropped: int
    """Rows refused for good: the buffer was full, or the writer closed."""


class Writer:
    """A bounded buffer of rows and the thread that empties it into `<home>/inbox/`. Safe across threads and forks.

    home: the Slowwave home; None takes `home_from_environment()`, once.
    flush_seconds: how long rows gather before a file is written.
    max_rows, max_bytes: bounds of the buffer (bytes as serialised); rows beyond either are dropped and counted.

    No file is touched and no thread started before the first row. Raises FileNotFoundError for a relative `home` when
    the working directory has been removed.
    """

    def __init__(
        self,
        home: str | os.PathLike[str] | None = None,
        flush_seconds: float = 1.0,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._home: Path | None = None
        if home is not None:
            self._home = Path(home).absolute()
        else:
            with suppress(OSError):  # the working directory is gone: the thread asks again at each attempt
                self._home = home_from_environment()
        self._flush_seconds = flush_seconds
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._closed = False  # takes no more rows
        self._start_empty()
        with _registry_lock:
            _writers.add(self)

    def _start_empty(self) -> None:
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False  # the thread has been told to end
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._accepted = self._written = self._failed_attempts = self._dropped = 0
        self._flush_target = 0  # rows to write without waiting for more to gather
        self._is_urgent = False  # try now, even during a backoff
        self._warned_at: dict[str, float] = {}

    def record(self, row: Mapping[str, Any]) -> None:
        """Buffer one row, serialised here and now; returns at once, whatever the state of the disk.

        Raises TypeError when `row` is not a mapping. Values JSON cannot hold become text, NaN and infinities null.
        """
        line = _line(row)
        with self._changed:
            is_full = len(self._lines) >= self._max_rows or self._bytes + len(line) > self._max_bytes
            is_taken = not (is_full or self._closed)
            if is_taken:
                self._lines.append(line)
                self._bytes += len(line)
                self._accepted += 1
                if len(self._lines) == 1 or self._has_full_file():
                    self._changed.notify_all()
            else:
                self._dropped += 1
            is_started = not is_taken or self._start_thread()
            dropped = self._dropped
        if not is_taken:
            self._warn("drop", "%s: %d rows dropped so far", "buffer full" if is_full else "writer closed", dropped)
        if not is_started:
            self._warn("thread", "no thread can be started; rows wait in memory until one can")

    def flush(self, timeout: float | None = None) -> bool:
        """Have every row recorded so far written; True when all of them are in the inbox.

        timeout: seconds to wait, retrying meanwhile; None waits as long as writing goes on and gives up at the first
        failure. Rows not written in time stay buffered and are retried.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._changed:
            target, failed = self._accepted, self._failed_attempts
            if self._written < target and self._start_thread():
                self._flush_target, self._is_urgent = target, True
                self._changed.notify_all()
                while self._written < target and (left := deadline - time.monotonic()) > 0:
                    if self._stopped or (timeout is None and self._failed_attempts > failed):
                        break
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
            return self._written >= target

    def close(self, timeout: float = EXIT_SECONDS) -> bool:
        """Take no more rows, write what is buffered for up to `timeout` seconds, and end the thread.

        True when every row was written. Rows recorded afterwards are dropped and counted, never an error.
        """
        with self._changed:
            self._closed = True
        is_done = self.flush(timeout)
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            thread = self._thread
        if not is_done:
            self._warn("close", "closed with %d rows not written", self.stats().buffered)
        elif thread is not None:
            thread.join(timeout)
        return is_done

    def stats(self) -> WriterStats:
        """Count the rows buffered, written and dropped, and the attempts that failed, so far."""
        with self._changed:
            return WriterStats(len(self._lines), self._written, self._failed_attempts, self._dropped)

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the writer."""
        self.close()

    def _start_thread(self) -> bool:
        """Start the thread unless it runs or was stopped; False when it cannot be (limits, interpreter shutdown)."""
        if self._thread is None and not self._stopped:
            thread = threading.Thread(target=self._run, name="slowwave-writer", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return False
            self._thread = thread
            # A forked worker of multiprocessing ends with os._exit: no atexit there, but multiprocessing's own hook.
            workers = sys.modules.get("multiprocessing")
            if workers is not None and workers.parent_process() is not None:
                workers.util.Finalize(None, self.flush, args=(EXIT_SECONDS,), exitpriority=0)
        return True

    def _has_full_file(self) -> bool:
        return len(self._lines) >= _FILE_ROWS or self._bytes >= _FILE_BYTES

    def _run(self) -> None:
        failures = 0
        while batch := self._next_batch(failures):
            try:
                self._deliver(batch)
            except Exception as error:  # noqa: BLE001 - whatever went wrong, the thread must live to retry
                failures += 1
                with self._changed:
                    self._failed_attempts += 1
                    waiting = len(self._lines)
                    self._changed.notify_all()
                self._warn("fail", "cannot write to %s: %s; %d rows wait for a retry", self._home, error, waiting)
            else:
                with self._changed:
                    for _ in batch:
                        self._bytes -= len(self._lines.popleft())
                    self._written += len(batch)
                    self._changed.notify_all()
                if failures:
                    self._warn("recovery", "writing to %s again after %d failed attempts", self._home, failures)
                failures = 0

    def _next_batch(self, failures: int) -> list[bytes]:
        """Wait for rows and the right moment; return the oldest rows, left in the buffer until delivered. [] = end."""
        with self._changed:
            while not self._lines and not self._stopped:
                self._changed.wait()
            pause = min(_BACKOFF_SECONDS * 2.0 ** min(failures - 1, 30), _BACKOFF_LIMIT_SECONDS)
            deadline = time.monotonic() + (pause if failures else self._flush_seconds)
            while not self._stopped and not self._is_urgent and (left := deadline - time.monotonic()) > 0:
                if not failures and (self._written < self._flush_target or self._has_full_file()):
                    break
                self._changed.wait(left)
            self._is_urgent = False
            if self._stopped:
                return []
            batch: list[bytes] = []
            room = _FILE_BYTES >> min(failures, 10)  # a nearly full disk may still hold a smaller file
            for line in islice(self._lines, _FILE_ROWS):
                room -= len(line)
                if batch and room < 0:
                    break
                batch.append(line)
            return batch

    def _deliver(self, batch: list[bytes]) -> None:
        """Put the batch into the inbox as one file. An exception means it is not there, so that it may be retried."""
        home = self._home = self._home or home_from_environment()
        inbox = home / "inbox"
        _make_folder(inbox, home)
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{os.getpid()}-{os.urandom(8).hex()}.jsonl"
        temporary = inbox / f"{name}.tmp"
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _file_mode(inbox)), "wb") as file:
            try:
                file.writelines(batch)
                file.flush()
                os.fsync(file.fileno())
                temporary.rename(inbox / name)
            finally:
                with suppress(OSError):  # after the rename there is nothing left to remove
                    temporary.unlink()
        try:
            _sync_folder(inbox)
        except OSError as error:  # the rows are delivered: writing them again would deliver them twice
            self._warn("sync", "cannot sync %s: %s; a power cut now may lose its newest file", inbox, error)

    def _warn(self, kind: str, message: str, *args: object) -> None:
        """Log a warning, at most one of its kind per minute. Never holding the lock: a log handler may block."""
        now = time.monotonic()
        if now - self._warned_at.get(kind, -math.inf) >= _WARNING_SECONDS:
            self._warned_at[kind] = now
            with suppress(Exception):  # a broken log handler is no reason to fail the caller or end the thread
                _log.warning(message, *args)


def _make_folder(folder: Path, home: Path) -> None:
    """Make the folder and those above it; each that is new is synced into its parent, for the files in it to last.

    From the home on they are the owner's alone, unless `SLOWWAVE_UMASK` lets others in.
    """
    if not folder.is_dir():
        _make_folder(folder.parent, home)
        folder.mkdir(0o777 & ~_home_umask() if folder.is_relative_to(home) else 0o777, exist_ok=True)
        with suppress(OSError):  # a folder one may not read cannot be synced, but can be written to
            _sync_folder(folder.parent)


def _home_umask() -> int:
    try:
        return umask_from_environment()
    except ValueError:  # commands say what is wrong with it
        return 0o077


def _file_mode(inbox: Path) -> int:
    """Closed to others in an inbox of our own that is; where others drop files or land them, as our umask says."""
    status = inbox.stat()
    return 0o600 if status.st_uid == os.geteuid() and not status.st_mode & 0o077 else 0o666


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush(timeout: float | None = None) -> bool:
    """Have every row recorded so far by the `record_…` functions written; True when all of them are in the inbox.

    timeout: seconds to wait in all; None gives up at the first failure, as `Writer.flush` does.
    """
    with _registry_lock:
        writers = list(_default_writers.values())
    return _flush_all(writers, timeout)


def default_writer() -> Writer:
    """Return the writer for `$SLOWWAVE_HOME` as it stands, so that a program that changes it is taken at its word."""
    chosen = os.environ.get("SLOWWAVE_HOME", "")
    writer = _default_writers.get(chosen)
    if writer is None:
        fresh = Writer()
        with _registry_lock:
            writer = _default_writers.setdefault(chosen, fresh)
    return writer


def _flush_all(writers: Iterable[Writer], timeout: float | None) -> bool:
    deadline = None if timeout is None else time.monotonic() + timeout
    is_done = True
    for writer in writers:
        is_done &= writer.flush(None if deadline is None else deadline - time.monotonic())
    return is_done


@atexit.register
def _flush_at_exit() -> None:
    with _registry_lock:
        writers = list(_writers)
    if not _flush_all(writers, EXIT_SECONDS):
        with suppress(Exception):
            _log.warning("exiting with %d rows not written", sum(w.stats().buffered for w in writers))


def _start_again_in_child() -> None:
    """The parent writes its own rows; its threads do not exist here, and its locks may be held by them for ever."""
    global _registry_lock  # noqa: PLW0603 - the old lock cannot be used
    _registry_lock = threading.Lock()
    for writer in list(_writers):
        writer._start_empty()  # noqa: SLF001 - same module


os.register_at_fork(after_in_child=_start_again_in_child)


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(_plain(dict(row), ()), ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate is not Unicode text: U+FFFD stands for it, a pair is joined
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _plain(value: object, ancestors: tuple[int, ...]) -> object:
    """Return what JSON can hold of a value; `ancestors` are the containers around it, to stop at a cycle."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and value.bit_length() < _MAX_INT_BITS:
        return value
    if isinstance(value, dict | list | tuple) and id(value) not in ancestors and len(ancestors) < _MAX_DEPTH:
        inside = (*ancestors, id(value))
        if isinstance(value, dict):
            keys = ((k if isinstance(k, str) else _text(k), v) for k, v in list(value.items()))
            return {key: _plain(item, inside) for key, item in keys}
        return [_plain(item, inside) for item in list(value)]
    return _text(value)


def _text(value: object) -> str:
    try:
        if isinstance(value, datetime):
            with suppress(OverflowError):  # UTC would be outside the years 1–9999: kept as it is given
                aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
                return aware.isoformat(timespec="microseconds").replace("+00:00", "Z")
        return str(value)
    except Exception:  # noqa: BLE001 - whatever a foreign object does, the rest of its row is recorded
        return f"<{type(value).__name__}>"
