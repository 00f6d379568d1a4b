"""What is taken at most, of one request, of one sender, and of all together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Bytes of a body as it comes and unpacked, and of all bodies at once; seconds in which a request must have come.

    `rate`: requests per second of one sender; 0 is any number. `connections`: open at once.
    """

    body_bytes: int = 8 * MEGABYTE
    unpacked_bytes: int = 64 * MEGABYTE
    held_bytes: int = 256 * MEGABYTE
    body_seconds: float = 30.0
    head_seconds: float = 10.0
    rate: float = 1000.0
    connections: int = 800


class FullError(Exception):
    """So much is being taken in right now that no more can be held."""


class BufferedBytes:
    """The bytes of all bodies that are being taken in; safe across threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.bytes = 0

    def add(self, size: int) -> None:
        """Hold some more. Raises FullError where that would be too much."""
        with self._lock:
            if self.bytes + size > self._most:
                raise FullError
            self.bytes += size

    def release(self, size: int) -> None:
        """Hold them no more."""
        with self._lock:
            self.bytes -= size


class Rates:
    """How fast each sender may post: `rate` requests per second, and as many at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def is_too_fast(self, sender: str) -> bool:
        """Whether a request of this sender now is one too many; else it is counted."""
        if not self._rate:
            return False
        now, most = self._clock(), max(self._rate, 1.0)
        left, since = self._left.get(sender, (most, now))
        left = min(most, left + (now - since) * self._rate)
        is_over = left < 1
        self._left[sender] = (left if is_over else left - 1, now)
        return is_over
