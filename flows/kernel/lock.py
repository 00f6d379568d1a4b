"""One writer per lake: a lock that the kernel frees when its holder dies, however it dies.

The lock lies in the lake, so that two homes over one lake keep each other out; in a bucket it is a lease (see
`storage.lease`). The one in the home, which is all that releases before this one know, is taken first: while some of a
home's commands are not upgraded yet, both still exclude each other.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.flows.kernel.doors import make_home
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import utc_now, utc_text

if TYPE_CHECKING:
    from slowwave.flows.kernel.storage.bucket import Bucket
    from slowwave.flows.kernel.storage.lease import Lease

_held: dict[Path, int] = {}
_leases: dict[Path, Lease] = {}
# `holder` itself has the lock for an instant: nobody is refused because somebody looked.
_GLANCE_SECONDS = 0.2
_POLL_SECONDS = 0.02
_BLOCK = 512


def ensure_home(settings: Settings) -> None:
    """Make the home folder and try to write in it.

    Raises UserError, in one sentence, when it cannot be written.
    """
    probe = settings.home / ".probe"  # one name: what a killed command leaves is removed by the next
    try:
        make_home(settings.home)
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        message = (
            f"the home folder {settings.home} cannot be written ({error.strerror}): "
            "set SLOWWAVE_HOME to a folder you can write to"
        )
        raise UserError(message) from error


def holder(settings: Settings) -> str | None:
    """Who is writing, in words, or None when nobody is; of this process itself, None."""
    said = _holder_of(settings.lock_file, settings)
    if said is None:
        said = _holder_of(settings.home_lock_file, settings)
    return None if said is None else _in_words(said, settings)


def running_run(settings: Settings) -> str | None:
    """The id of the run that is being made right now, by whatever process; None when there is none."""
    said = _holder_of(settings.lock_file, settings)
    return said.get("run_id") if said else None


def server(settings: Settings) -> str | None:
    """Who runs the schedules of this lake, in words, or None when nobody does."""
    said = _holder_of(settings.serve_lock_file, settings)
    return None if said is None else _in_words(said, settings)


def _holder_of(path: Path, settings: Settings) -> dict[str, Any] | None:
    """What the holder of a lock file has written into it, {} when that is no sense; None when nobody holds it."""
    if path in _held or path in _leases:
        return None
    bucket = _bucket_of(path, settings)
    if bucket is not None:
        from slowwave.flows.kernel.storage.lease import lease_holder

        said = lease_holder(bucket.client, path.name)
        return None if said is None or (_is_ours(said, settings) and not _is_locked(settings)) else said
    try:
        handle = os.open(path, os.O_RDONLY)  # a read-only home can be asked too
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(handle)
    else:
        return None
    finally:
        os.close(handle)


def _bucket_of(path: Path, settings: Settings) -> Bucket | None:
    if "://" not in settings.lake or path == settings.home_lock_file:
        return None
    from slowwave.flows.kernel.storage.mounts import bucket_at

    return bucket_at(path)


def _is_ours(said: dict[str, Any], settings: Settings) -> bool:
    """Whether a lease was taken from this home, by whichever process: its lock tells whether that lives."""
    return (said.get("host"), said.get("home")) == (socket.gethostname(), str(settings.home.absolute()))


def _is_locked(settings: Settings) -> bool:
    return _holder_of(settings.home_lock_file, settings) is not None


def _read_holder(handle: int) -> dict[str, Any]:
    with suppress(ValueError):
        said = json.loads(os.pread(handle, 4096, 0))
        if isinstance(said, dict):
            return said
    return {}


def _in_words(said: dict[str, Any], settings: Settings) -> str:
    """Who the holder says it is; its home where that is another one."""
    try:
        where = f" on {said['host']}" if "host" in said else ""
        homes = (None, str(settings.home), str(settings.home.absolute()))
        home = f", from {said['home']}" if said.get("home") not in homes else ""
        return f"`slowwave {said['command']}` (process {said['pid']}{where}, since {said['since']}{home})"
    except KeyError:
        return "another slowwave command"


@contextmanager
def writer_lock(
    settings: Settings, command: str, *, wait_seconds: float = 0, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lake's writer lock; a caller in the same process that already holds it just goes on.

    Waits up to `wait_seconds` for another writer, telling `waiting` once whom it waits for.
    Raises UserError when the lock is still held then, or when home or lake cannot be written.
    """
    ensure_home(settings)
    if (settings.lock_file in _held or settings.lock_file in _leases) and settings.home_lock_file in _held:
        yield
        return
    refusal = f"is writing to {settings.lake}: run this again when it has finished"
    deadline = time.monotonic() + max(wait_seconds, _GLANCE_SECONDS)
    with ExitStack() as stack:
        # in this order everywhere, so that none waits for one who waits for it
        stack.enter_context(_hold_lock_file(settings.home_lock_file, settings, command, deadline, waiting, refusal))
        bucket = _bucket_of(settings.lock_file, settings)
        if bucket is None:
            stack.enter_context(_hold_lock_file(settings.lock_file, settings, command, deadline, waiting, refusal))
        else:
            stack.enter_context(
                _hold_bucket_lease(bucket, settings.lock_file, settings, command, deadline, waiting, refusal)
            )
            stack.enter_context(_writing(bucket, _leases[settings.lock_file]))
        yield


@contextmanager
def serve_lock(settings: Settings) -> Iterator[None]:
    """Be the one who runs the schedules of this lake.

    Raises UserError, saying who is, when somebody does already.
    """
    ensure_home(settings)
    refusal = f"runs the schedules of {settings.lake} already: stop it first"
    path, deadline = settings.serve_lock_file, time.monotonic() + _GLANCE_SECONDS
    bucket = _bucket_of(path, settings)
    if bucket is None:
        held = _hold_lock_file(path, settings, "serve", deadline, None, refusal)
    else:
        held = _hold_bucket_lease(bucket, path, settings, "serve", deadline, None, refusal)
    with held:
        yield


@contextmanager
def capture_lock(settings: Settings) -> Iterator[None]:
    """Be the one who takes rows into this home over the network: the names of its files are counted.

    Raises UserError, saying who is, when somebody does already.
    """
    ensure_home(settings)
    refusal = f"takes rows into {settings.home} already: stop it first"
    deadline = time.monotonic() + _GLANCE_SECONDS
    with _hold_lock_file(settings.capture_lock_file, settings, "capture", deadline, None, refusal):
        yield


def note_receiver(settings: Settings, facts: dict[str, Any]) -> None:
    """Say in the lock of who takes rows in, which this process holds, how that goes. Raises OSError."""
    handle = _held.get(settings.capture_lock_file)
    if handle is not None:
        _write(handle, {**_read_holder(handle), **facts})


def receiver(settings: Settings) -> tuple[dict[str, Any], bool]:
    """What the latest who took rows in says of itself, {} where there was none; and whether it does so now.

    Raises OSError.
    """
    path = settings.capture_lock_file
    said = _holder_of(path, settings)
    if said is not None:
        return said, True
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return {}, False
    try:
        return _read_holder(handle), path in _held
    finally:
        os.close(handle)


def note_run(settings: Settings, run_id: str) -> None:
    """Say in the lock that this process holds which run it makes."""
    handle, lease = _held.get(settings.lock_file), _leases.get(settings.lock_file)
    if handle is not None:
        _write(handle, {**_read_holder(handle), "run_id": run_id})
    elif lease is not None:
        lease.note(run_id=run_id)


@contextmanager
def _hold_lock_file(
    path: Path,
    settings: Settings,
    command: str,
    deadline: float,
    waiting: Callable[[str], None] | None,
    refusal: str,
) -> Iterator[None]:
    """Hold one lock file, made where there is none, and say in it who does."""
    try:
        if not path.parent.is_dir():
            from slowwave.flows.kernel.store import make_durable_folder  # loads Polars, which a reader does without

            make_durable_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # less the umask
    except OSError as error:
        message = f"the lock {path} cannot be made ({error.strerror}): see `slowwave doctor`"
        raise UserError(message) from error
    try:
        _acquire(handle, settings, deadline, waiting, refusal)
        _write(handle, {**_who(command), "home": str(settings.home)})
        _held[path] = handle
        yield
    finally:
        if _held.get(path) == handle:
            del _held[path]
        os.close(handle)


def _who(command: str) -> dict[str, Any]:
    since = utc_text(utc_now())
    return {"command": command, "pid": os.getpid(), "host": socket.gethostname(), "since": since}


@contextmanager
def _hold_bucket_lease(
    bucket: Bucket,
    path: Path,
    settings: Settings,
    command: str,
    deadline: float,
    waiting: Callable[[str], None] | None,
    refusal: str,
) -> Iterator[None]:
    """Hold the lease of a lake in a bucket; the home's own lock is held, so a holder from this home has ended."""
    from slowwave.flows.kernel.storage.lease import hold_lease

    is_writer = path == settings.lock_file
    with hold_lease(
        bucket.client,
        path.name,
        {**_who(command), "home": str(settings.home.absolute())},
        deadline=deadline,
        is_dead=lambda said: is_writer and _is_ours(said, settings),
        refused=lambda said: f"{_in_words(said, settings)} {refusal}",
        waiting=lambda said: waiting(f"waiting for {_in_words(said, settings)} to finish") if waiting else None,
    ) as lease:
        _leases[path] = lease
        try:
            yield
        finally:
            del _leases[path]


@contextmanager
def _writing(bucket: Bucket, lease: Lease) -> Iterator[None]:
    """Be the writer of a lake in a bucket: at the end, what was written is listed."""
    bucket.begin(lease)
    try:
        yield
        bucket.settle()
    finally:
        bucket.end()


def _write(handle: int, said: dict[str, Any]) -> None:
    """In blocks, so that what is written anew all the time is never seen cut, and mostly has the size it had."""
    text = json.dumps(said).encode()
    size = -(-len(text) // _BLOCK) * _BLOCK
    os.pwrite(handle, text.ljust(size), 0)
    if os.fstat(handle).st_size != size:
        os.ftruncate(handle, size)


def _acquire(
    handle: int, settings: Settings, deadline: float, waiting: Callable[[str], None] | None, refusal: str
) -> None:
    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            who = _in_words(_read_holder(handle), settings)
            if time.monotonic() >= deadline:
                message = f"{who} {refusal}"
                raise UserError(message) from error
            if waiting and not told:
                waiting(f"waiting for {who} to finish")
                told = True
            time.sleep(_POLL_SECONDS)
        else:
            return
