"""Requests to a bucket: tried again where that may help, with a sentence where it did not.

The library waits between tries, twice as long each time and a random part of it. What may be written only where nothing
has changed is asked back when its answer is lost: it may have been written all the same.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slowwave.flows.kernel.errors import UserError, not_installed

if TYPE_CHECKING:
    from obstore.store import ObjectStore


class BucketError(OSError):
    """What a bucket refused, or did not answer; the message says what to do. Nothing half-written is seen."""


class FencedError(BucketError):
    """Another writer has taken over: what this one would still write, or remove, is not its own any more."""


# By what servers and the library say, the first that fits: a pattern, and what it means for {url}.
_MEANINGS = {
    "NoSuchBucket|ContainerNotFound": (
        "there is no bucket for {url}: make it, or correct the address (a lake has it from SLOWWAVE_LAKE)"
    ),
    "ExpiredToken|TokenExpired|TokenRefreshRequired|RequestExpired": (
        "the credentials for {url} have expired: renew them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
        "AWS_SESSION_TOKEN) and run this again"
    ),
    "InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|AuthenticationFailed|401 Unauthorized|InvalidClient": (
        "the credentials for {url} are not accepted: correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ),
    "AccessDenied|403 Forbidden|AuthorizationPermissionMismatch": (
        "the credentials for {url} do not allow {doing}: give them that right, or use others"
    ),
    "SlowDown|503 Service|429 Too Many|TooManyRequests|ServerBusy|Throttl": (
        "{url} asks to be asked less (503), and did so for as long as it was tried: run this again later"
    ),
    "InstanceCredential|credential|169.254": (
        "there are no credentials for {url}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ),
    "dns error|Connect|connect|refused|timed out|timeout|error sending request|closed before|reset": (
        "{url} does not answer: see whether {endpoint} can be reached from here (AWS_ENDPOINT_URL), then run this again"
    ),
    "500 Internal|502 Bad|504 Gateway|InternalError": (
        "the server of {url} failed (an error of its own): run this again later"
    ),
}
_FULL = (
    "the disk of this machine is full: what is read of {url} is copied into the home first, and nothing of "
    "what did not fit is left: free some and run this again"
)
_STATES = re.compile(r"<Message>([^<]*)</Message>")


def is_disk_full(error: Exception) -> bool:
    """Whether it was this machine's disk that had no room."""
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}


def make_bucket_error(error: Exception, url: str, doing: str, endpoint: str) -> BucketError:
    """What an error of the library means for what lies at a URL: `doing` names what was tried, such as "writing"."""
    if is_disk_full(error):
        return BucketError(_FULL.format(url=url))
    said = str(error)
    for pattern, meaning in _MEANINGS.items():
        if re.search(pattern, said):
            return BucketError(meaning.format(url=url, doing=doing, endpoint=endpoint))
    stated = _STATES.search(said)
    why = stated[1] if stated else said.splitlines()[0] if said else type(error).__name__
    return BucketError(f"{doing} in {url} failed: {why}")


# What is known of the objects of a lake: sizes, times and tags by folder, as last listed or written.


@dataclass(frozen=True)
class Entry:
    """One object: bytes, when it was written (seconds since 1970, by the server's clock), and its entity tag."""

    size: int
    changed_at: float
    tag: str


class Listing:
    """Objects by folder and name."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, Entry]] = {}

    def add(self, key: str, entry: Entry) -> None:
        """Note an object, in place of what was known of it."""
        folder, _, name = key.rpartition("/")
        self._folders.setdefault(folder, {})[name] = entry

    def drop(self, key: str) -> None:
        """Forget an object."""
        folder, _, name = key.rpartition("/")
        self._folders.get(folder, {}).pop(name, None)

    def forget(self, prefix: str) -> None:
        """Forget all that lies below a folder; '': everything."""
        for folder in [folder for folder in self._folders if _is_below(folder, prefix)]:
            del self._folders[folder]

    def entry(self, key: str) -> Entry | None:
        """What is known of an object."""
        folder, _, name = key.rpartition("/")
        return self._folders.get(folder, {}).get(name)

    def names(self, folder: str) -> list[str]:
        """The objects right in a folder, sorted."""
        return sorted(self._folders.get(folder, ()))

    def folders(self, folder: str) -> list[str]:
        """The names of the folders right in a folder that hold anything, sorted."""
        start = f"{folder}/" if folder else ""
        below = (each[len(start) :] for each, held in self._folders.items() if held and each.startswith(start))
        return sorted({each.split("/", 1)[0] for each in below if each})

    def keys(self) -> Iterable[str]:
        """Every object."""
        return (f"{folder}/{name}" if folder else name for folder, held in self._folders.items() for name in held)


def _is_below(folder: str, prefix: str) -> bool:
    return not prefix or folder == prefix or folder.startswith(f"{prefix}/")


SCHEMES = ("s3", "gs", "az")
_TRIES = 4
_PART_BYTES = 8 * 2**20
_DELETED_AT_ONCE = 1_000
_BLOCK = 4 * 2**20
_SILENT_SECONDS = 60.0

T = TypeVar("T")


class BucketClient:
    """The objects under one URL, such as s3://bucket/prefix. Credentials and endpoint are the environment's."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._made: ObjectStore | None = None
        self._process = 0
        self.asks_once = False  # whether for some time nothing is asked where nothing was answered
        self._unanswered: tuple[float, BucketError] | None = None

    @property
    def endpoint(self) -> str:
        """Where requests go, in words."""
        return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "the endpoint"

    def entries(self, prefix: str) -> Iterator[tuple[str, Entry]]:
        """Every object below a prefix; what begins with a dot is ours, and is not listed."""
        import obstore

        found = self._retry_request("listing", lambda: [*obstore.list(self._store, prefix or None)])
        for meta in (meta for some in found for meta in some):
            key = meta["path"]
            if not key.startswith("."):
                yield key, Entry(meta["size"], meta["last_modified"].timestamp(), meta["e_tag"] or "")

    def holds_any(self) -> bool:
        """Whether any object is there."""
        import obstore

        return bool(self._retry_request("listing", lambda: next(iter(obstore.list(self._store, chunk_size=1)), [])))

    def read(self, key: str) -> tuple[bytes, Entry]:
        """An object whole. Raises FileNotFoundError."""
        import obstore

        def get() -> tuple[bytes, Entry]:
            got = obstore.get(self._store, key)
            meta = got.meta
            return bytes(got.bytes()), Entry(meta["size"], meta["last_modified"].timestamp(), meta["e_tag"] or "")

        return self._retry_request("reading", get, key)

    def read_range(self, key: str, start: int, end: int, tag: str) -> bytes:
        """Of an object with this tag the bytes from `start` on, and before `end`.

        Raises FileNotFoundError, and BucketError where it was replaced.
        """
        import obstore
        from obstore.exceptions import PreconditionError

        def get() -> bytes:
            options: Any = {"range": (start, end), "if_match": tag}
            content = bytes(obstore.get(self._store, key, options=options).bytes())
            if len(content) != end - start:
                message = f"timed out: {key} ended after {len(content):,} of {end - start:,} bytes"
                raise ConnectionError(message)
            return content

        try:
            return self._retry_request("reading", get, key)
        except PreconditionError as error:
            message = f"{self.url}/{key} was replaced while it was read: run this again"
            raise BucketError(message) from error

    def download(self, key: str, to: Path) -> Entry:
        """Fetch an object into a file; what was cut off is gone on with, unless it was replaced since.

        Raises FileNotFoundError, and BucketError also where the disk is full.
        """
        try:
            return self._download_object(key, to)
        except OSError as error:
            if is_disk_full(error):
                raise make_bucket_error(error, self.url, "reading", self.endpoint) from error
            raise

    def _download_object(self, key: str, to: Path) -> Entry:
        import obstore
        from obstore.exceptions import PreconditionError

        with to.open("wb") as file:
            tag = ""

            def get() -> Entry:
                nonlocal tag
                begun = file.tell()
                options: Any = {"range": {"offset": begun}, "if_match": tag} if begun else None
                try:
                    got = obstore.get(self._store, key, options=options)
                except PreconditionError as error:
                    file.seek(0)
                    file.truncate()
                    message = f"timed out: {key} was replaced while it was read"
                    raise ConnectionError(message) from error
                meta = got.meta
                tag = meta["e_tag"] or ""
                if meta["size"] > begun:
                    for block in got.stream(min_chunk_size=_BLOCK):
                        file.write(block)
                if file.tell() != meta["size"]:
                    message = f"timed out: {key} ended after {file.tell():,} of {meta['size']:,} bytes"
                    raise ConnectionError(message)
                return Entry(meta["size"], meta["last_modified"].timestamp(), tag)

            entry = self._retry_request("reading", get, key)
            file.flush()
            os.fsync(file.fileno())
        return entry

    def upload(self, file: Path, key: str) -> str:
        """Put a file in place of an object, in parts where it is large; returns its tag. It is seen whole, or not."""
        import obstore

        def put_object() -> str:
            with file.open("rb") as handle:
                done = obstore.put(self._store, key, handle, chunk_size=_PART_BYTES)
            return done["e_tag"] or ""

        return self._retry_request("writing", put_object)

    def write_if(self, key: str, content: bytes, tag: str | None) -> str | None:
        """Write an object where it has this tag, or with None where there is none; None where that is not so.

        `content` must be unlike all that was ever written there: so it is known again where an answer was lost.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        mode: Any = "create" if tag is None else {"e_tag": tag}
        try:
            put = lambda: obstore.put(self._store, key, content, mode=mode, use_multipart=False)  # noqa: E731 - tried
            return self._retry_request("writing", put, tries=1)["e_tag"]
        except (AlreadyExistsError, PreconditionError):
            return self._tag_of(key, content)
        except BucketError:
            written = self._tag_of(key, content)
            if written is None:
                raise
            return written

    def _tag_of(self, key: str, content: bytes) -> str | None:
        try:
            there, entry = self.read(key)
        except FileNotFoundError:
            return None
        return entry.tag if there == content else None

    def delete(self, keys: Sequence[str], check: Callable[[], None]) -> None:
        """Delete objects, some at a time; `check` before each time. Of those that are gone nothing is said."""
        import obstore

        for start in range(0, len(keys), _DELETED_AT_ONCE):
            some = list(keys[start : start + _DELETED_AT_ONCE])
            check()
            self._retry_request("deleting", lambda some=some: obstore.delete(self._store, some))

    @property
    def _store(self) -> ObjectStore:
        if self._made is None or self._process != os.getpid():  # threads of the library do not outlive a fork
            self._made, self._process = _make_store(self.url), os.getpid()
        return self._made

    def _retry_request(self, doing: str, request: Callable[[], T], key: str = "", tries: int = _TRIES) -> T:
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        if self.asks_once and self._unanswered and time.monotonic() - self._unanswered[0] < _SILENT_SECONDS:
            raise self._unanswered[1]
        for again in range(tries, 0, -1):
            try:
                return request()
            except (AlreadyExistsError, PreconditionError):
                raise
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
                    raise make_bucket_error(error, self.url, doing, self.endpoint) from error
                raise FileNotFoundError(2, "is not in the lake", f"{self.url}/{key}") from error
            except (BaseError, OSError) as error:
                fault = make_bucket_error(error, self.url, doing, self.endpoint)
                if again == 1 or not _may_pass(error):
                    self._unanswered = time.monotonic(), fault
                    raise fault from error
        raise AssertionError  # every try returns or raises


def _may_pass(error: Exception) -> bool:
    """Whether another try may succeed where the library's own have not: a body that was cut off is not tried by it."""
    return "body" in str(error) or isinstance(error, ConnectionError)


def _make_store(url: str) -> ObjectStore:
    try:
        from obstore.store import from_url
    except ImportError as error:
        raise not_installed("a lake in a bucket needs the package obstore", "s3") from error
    seconds = _patience()
    options: Any = {
        "allow_http": os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT_URL_S3", "")).startswith("http:"),
        "connect_timeout": timedelta(seconds=min(5.0, seconds)),
        "timeout": timedelta(seconds=max(30.0, seconds)),
    }
    again: Any = {
        "max_retries": 10,
        "retry_timeout": timedelta(seconds=seconds),
        "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=10), "base": 2},
    }
    try:
        return from_url(url, client_options=options, retry_config=again)
    except Exception as error:
        raise make_bucket_error(error, url, "opening", "the endpoint") from error


def _patience() -> float:
    """For how many seconds a request is tried: `$SLOWWAVE_LAKE_SECONDS`, else 60.

    Raises UserError when that is no such number.
    """
    said = os.environ.get("SLOWWAVE_LAKE_SECONDS", "").strip() or "60"
    try:
        seconds = float(said)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:  # noqa: PLR2004 - an hour
        message = f"SLOWWAVE_LAKE_SECONDS is {said!r}: use seconds, from 1 to 3600"
        raise UserError(message)
    return seconds
