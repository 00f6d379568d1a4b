"""One writer per lake in a bucket: a lease that its holder renews, with a number that grows with every holder.

The lease is an object. It is taken, renewed and given back only where it is as it was seen last, so that of two who
want it one gets it. One whose holder has stopped may be taken by whoever has seen it unchanged for as long as it holds,
by the clock of who looks on, so that clocks need not agree. Who was paused meanwhile finds it changed: whatever it
still wants to write is refused (FencedError), for it asks before.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.client import BucketClient, BucketError, FencedError

HELD_SECONDS = 60.0
_POLL_SECONDS = 1.0
_RENEWED_TIMES = 4  # while it would hold


class Lease:
    """A lease that this process has taken. `number`: how many had it before, and this one."""

    def __init__(
        self, client: BucketClient, key: str, number: int, said: dict[str, Any], tag: str, seconds: float
    ) -> None:
        self.number = number
        self._client = client
        self._key = key
        self._said = said
        self._tag = tag
        self._seconds = seconds
        self._until = _now() + seconds
        self._is_lost = False
        self._turn = threading.RLock()
        self._ended = threading.Event()
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    def check(self) -> None:
        """Raises FencedError when the lease is another's; asks the bucket only when it would have run out."""
        if self._is_lost or _now() >= self._until - self._seconds / _RENEWED_TIMES:
            self.confirm()

    def confirm(self) -> None:
        """Renew the lease. Raises FencedError when it is another's, BucketError when the bucket cannot be asked."""
        with self._turn:
            self._write(self._said)

    def note(self, **more: object) -> None:
        """Say more in the lease of who holds it."""
        with self._turn:
            self._said = {**self._said, **more}
            self._write(self._said)

    def release(self) -> None:
        """Give the lease back; where the bucket does not answer, it runs out by itself."""
        self._ended.set()
        with self._turn, suppress(BucketError):
            self._write({})

    def _write(self, said: dict[str, Any]) -> None:
        asked = _now()
        tag = None
        if not self._is_lost:
            tag = self._client.write_if(self._key, _content(self.number, said, self._seconds), self._tag)
        if tag is None:
            self._is_lost = True
            message = (
                f"another writer has taken over the lake {self._client.url}, for this one was not heard of: nothing "
                "more of it is written; what it landed counts, and the other publishes it"
            )
            raise FencedError(message)
        self._tag, self._until = tag, asked + self._seconds

    def _keep(self) -> None:
        while not self._ended.wait(self._seconds / _RENEWED_TIMES):
            with suppress(BucketError), self._turn:
                if not self._ended.is_set():
                    self._write(self._said)


def lease_holder(client: BucketClient, key: str) -> dict[str, Any] | None:
    """What the holder of a lease says of itself; None when nobody has it, or has not been heard of for long."""
    try:
        content, entry = client.read(key)
    except FileNotFoundError:
        return None
    stated = _parse_lease(content)
    seconds = stated["seconds"]
    if not stated["holder"] or time.time() - entry.changed_at > 10 * seconds:  # clocks may differ by some minutes
        return None
    return stated["holder"]


@contextmanager
def hold_lease(
    client: BucketClient,
    key: str,
    said: dict[str, Any],
    *,
    deadline: float,
    is_dead: Callable[[dict[str, Any]], bool],
    refused: Callable[[dict[str, Any]], str],
    waiting: Callable[[dict[str, Any]], None],
    seconds: float = HELD_SECONDS,
) -> Iterator[Lease]:
    """Hold a lease. `is_dead`: whether a holder is known to have ended, so that its lease need not run out first.

    Raises UserError, in the words of `refused`, when another holds it still at the `deadline` (of the monotonic clock).
    """
    lease = _take_lease(client, key, said, deadline, is_dead, refused, waiting, seconds)
    try:
        yield lease
    finally:
        lease.release()


def _take_lease(
    client: BucketClient,
    key: str,
    said: dict[str, Any],
    deadline: float,
    is_dead: Callable[[dict[str, Any]], bool],
    refused: Callable[[dict[str, Any]], str],
    waiting: Callable[[dict[str, Any]], None],
    seconds: float,
) -> Lease:
    seen, since, was_told = "", 0.0, False
    while True:
        try:
            content, entry = client.read(key)
            tag, stated = entry.tag, _parse_lease(content)
        except FileNotFoundError:
            tag, stated = None, {"number": 0, "holder": {}, "seconds": seconds}
        if tag is not None and tag != seen:
            seen, since = tag, _now()
        holder = stated["holder"]
        if not holder or is_dead(holder) or _now() - since >= stated["seconds"]:
            number = stated["number"] + 1
            written = client.write_if(key, _content(number, said, seconds), tag)
            if written is not None:
                return Lease(client, key, number, said, written, seconds)
            continue
        if time.monotonic() >= deadline:
            raise UserError(refused(holder))
        if not was_told:
            waiting(holder)
            was_told = True
        time.sleep(_POLL_SECONDS)


def _content(number: int, said: dict[str, Any], seconds: float) -> bytes:
    return json.dumps({"number": number, "holder": said, "seconds": seconds, "written": uuid.uuid4().hex}).encode()


def _parse_lease(content: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        stated = json.loads(content)
        if isinstance(stated, dict) and {"number", "holder", "seconds"} <= stated.keys():
            return stated
    return {"number": 0, "holder": {}, "seconds": HELD_SECONDS}  # damaged: nobody can renew it either


def _now() -> float:
    """Seconds that go on while the process, or the machine, is paused."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
