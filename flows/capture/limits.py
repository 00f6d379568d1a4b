"""Which requests are heard, and what is taken at most of one request, of one sender and of all together.

Heard are those that name this host, come from no other site's page, and are let in.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

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


def is_addressed(host: str | None, names: Collection[str]) -> bool:
    """Whether a `Host` header names this server: by an address, by `localhost`, or by one of `names`.

    Any other name may have been made to lead here, by a page that wants to read what we answer.
    """
    name = _host_name(host or "")
    return bool(name) and (name == "localhost" or _is_address(name) or name in {one.lower() for one in names})


def is_of_other_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent this for a page of another site."""
    origin = headers.get("origin")
    if origin is not None and _place(origin) != headers.get("host", "").lower():
        return True
    return headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _place(origin: str) -> str | None:
    """Host and port of an origin; None where it names none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
