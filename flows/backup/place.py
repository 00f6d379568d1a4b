"""Where backups are kept: a folder or a bucket. What is put there is whole or absent, and sealed where keys are named.

`files/ab/SHA256` holds bytes, `backups/ID.json` says what a backup is and is written last, `backups/ID.files` lists
its files, `backups/ID.uses` the bytes that it needs. With keys of age, only their owner can read `files`, `ID.files`.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from slowwave.flows.kernel.errors import UserError, WrongUsageError, not_installed
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.client import SCHEMES, BucketClient
from slowwave.flows.kernel.storage.folder import TEMPORARY
from slowwave.flows.kernel.storage.lease import hold_lease
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import quote_shortened

MARKER = "slowwave-backups.json"
_MARK = {"made_by": "slowwave backup", "format": 1}
_LOCK = ".lock"


class Place(Protocol):
    """Where files go by their key. What fails raises OSError, FileNotFoundError where there is nothing."""

    @property
    def url(self) -> str:
        """Return what a user names it by."""
        ...

    def keys(self, folder: str) -> dict[str, int]:
        """Return the bytes of what is there below a folder, by key."""
        ...

    def read(self, key: str) -> bytes:
        """Return what is there."""
        ...

    def put(self, key: str, write: Callable[[Path], object]) -> None:
        """Let `write` fill a file, and put it there, whole or not at all."""
        ...

    def fetch(self, key: str, to: Path) -> None:
        """Write what is there into a file."""
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Remove what is there; of what is gone nothing is said."""
        ...

    def is_empty(self) -> bool:
        """Return whether nothing is there, or nothing but what a backup left that was stopped at once."""
        ...

    def hold(self) -> Any:  # noqa: ANN401 - a context
        """Be the only one who writes there, until the end. Raises UserError where another does."""
        ...


def open_place(target: str, settings: Settings) -> Place:
    """Return the place that a target names. Raises WrongUsageError where it is none, or in or around the home."""
    scheme = target.partition("://")[0].lower() if "://" in target else ""
    if scheme in SCHEMES:
        url = target.rstrip("/")
        lake = settings.lake.rstrip("/")
        if f"{url}/".startswith(f"{lake}/") or f"{lake}/".startswith(f"{url}/"):
            message = f"{target} is where the lake is: name another place"
            raise WrongUsageError(message)
        return _Bucket(url)
    if scheme:
        known = " or ".join(f"{one}://BUCKET/PREFIX" for one in SCHEMES)
        message = f"no backup can be made to {quote_shortened(scheme)}://…: name a folder or {known}"
        raise WrongUsageError(message)
    if not target.strip() or "\x00" in target:
        message = "name a folder or a bucket for the backup"
        raise WrongUsageError(message)
    folder = Path(target).absolute()
    resolved = folder.resolve()
    lake = [] if "://" in settings.lake else [settings.lake_folder]
    for ours in (settings.home, *lake):
        own = ours.absolute().resolve()
        if resolved.is_relative_to(own) or own.is_relative_to(resolved):
            message = (
                f"{folder} is in {ours} or around it: what takes one takes both; name another place for the backup"
            )
            raise WrongUsageError(message)
    if folder.exists() and not folder.is_dir():
        message = f"{folder} is a file: name a folder for the backup"
        raise WrongUsageError(message)
    return _Folder(str(folder), folder)


def begin_place(place: Place) -> None:
    """Mark a new place as one of backups. Raises UserError where it holds what slowwave did not make."""
    if not is_marked(place):
        if not place.is_empty():
            message = f"{place.url} holds files and no {MARKER}: nothing was changed; name an empty place"
            raise UserError(message)
        text = json.dumps(_MARK)
        place.put(MARKER, lambda aside: aside.write_text(text))


def is_marked(place: Place) -> bool:
    """Return whether a place is one of backups. Raises UserError where another release made it, or somebody else."""
    try:
        said = json.loads(place.read(MARKER))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except ValueError:
        said = None
    if said != _MARK:
        message = f"{place.url} has a {MARKER} that this slowwave did not make: nothing was changed; name another place"
        raise UserError(message)
    return True


@dataclass(frozen=True)
class _Folder:
    url: str
    folder: Path

    def keys(self, folder: str) -> dict[str, int]:
        found = {}
        for root, _, names in os.walk(self.folder / folder):
            for name in names:
                if not name.startswith("."):
                    path = Path(root, name)
                    found[path.relative_to(self.folder).as_posix()] = path.stat().st_size
        return found

    def read(self, key: str) -> bytes:
        return (self.folder / key).read_bytes()

    def put(self, key: str, write: Callable[[Path], object]) -> None:
        write_durably(self.folder / key, write)

    def fetch(self, key: str, to: Path) -> None:
        with (self.folder / key).open("rb") as source, to.open("wb") as file:
            copy_bytes(source, file)

    def remove(self, keys: Sequence[str]) -> None:
        for key in keys:
            (self.folder / key).unlink(missing_ok=True)

    def is_empty(self) -> bool:
        if self.folder.exists() and not self.folder.is_dir():
            return False
        there = list(self.folder.iterdir()) if self.folder.is_dir() else []
        return all(path.name in {_LOCK, "lost+found"} or path.name.endswith(TEMPORARY) for path in there)

    @contextmanager
    def hold(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = f"another backup is being made to {self.folder}: run this again when it has finished"
                raise UserError(message) from error
            for left in self.folder.glob(f"**/.*{TEMPORARY}"):
                left.unlink(missing_ok=True)
            yield


@dataclass(frozen=True)
class _Bucket:
    url: str

    @property
    def _client(self) -> BucketClient:
        return BucketClient(self.url)

    def keys(self, folder: str) -> dict[str, int]:
        return {key: entry.size for key, entry in self._client.entries(folder)}

    def read(self, key: str) -> bytes:
        return self._client.read(key)[0]

    def put(self, key: str, write: Callable[[Path], object]) -> None:
        with tempfile.TemporaryDirectory(prefix="slowwave-backup-") as folder:
            aside = Path(folder, "aside")
            write(aside)
            self._client.upload(aside, key)

    def fetch(self, key: str, to: Path) -> None:
        self._client.download(key, to)

    def remove(self, keys: Sequence[str]) -> None:
        self._client.delete(keys, lambda: None)

    def is_empty(self) -> bool:
        return not any(True for _ in self._client.entries(""))

    @contextmanager
    def hold(self) -> Iterator[None]:
        said = {"command": "backup", "pid": os.getpid()}
        with hold_lease(
            self._client,
            _LOCK,
            said,
            deadline=time.monotonic() + 90,  # one that was killed lets go of it after a minute
            is_dead=lambda _: False,
            refused=lambda _: f"another backup is being made to {self.url}: run this again when it has finished",
            waiting=lambda _: None,
        ):
            yield


_BLOCK = 2**20


def copy_bytes(source: IO[bytes], to: IO[bytes]) -> None:
    """Copy all bytes of one open file to another."""
    while block := source.read(_BLOCK):
        to.write(block)


@dataclass(frozen=True)
class Seal:
    """Who can read what is put into a place: the owners of these keys of age; without any, everybody who can read it.

    `recipients`: public keys. `identities`: secret ones, to read.
    """

    recipients: Sequence[str] = ()
    identities: Sequence[Any] = field(default=(), repr=False)

    def seal(self, source: IO[bytes], to: Path) -> None:
        """Write what is read into a file, sealed where there are recipients."""
        with to.open("wb") as file:
            if self.recipients:
                pyrage = _load_age()
                keys = [_read_key(pyrage.x25519.Recipient.from_str, one) for one in self.recipients]
                pyrage.encrypt_io(source, file, keys)
            else:
                copy_bytes(source, file)

    def seal_bytes(self, content: bytes) -> Callable[[Path], object]:
        """Return what writes bytes into a file, as `seal` does."""
        return lambda aside: self.seal(io.BytesIO(content), aside)

    def open(self, source: IO[bytes], to: IO[bytes]) -> None:
        """Write what was sealed. Raises UserError where no identity can read it, or it was changed."""
        if not self.identities:
            message = "the backup is sealed: name the file of a secret key that can read it with --identity FILE"
            raise UserError(message)
        pyrage = _load_age()
        try:
            pyrage.decrypt_io(source, to, list(self.identities))
        except (pyrage.DecryptError, OSError) as error:
            message = f"the backup cannot be read with these keys, or was changed: {error}"
            raise UserError(message) from error


def read_identities(file: str | None) -> Seal:
    """Return the secret keys in a file of `age-keygen`. Raises UserError where it cannot be used."""
    if file is None:
        return Seal()
    try:
        lines = Path(file).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, RuntimeError) as error:  # no UTF-8, no path, no home of a user
        message = f"the file of keys {file} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UserError(message) from error
    texts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    from_str = _load_age().x25519.Identity.from_str
    return Seal(identities=[_read_key(from_str, one, of=f"a line of {file}") for one in texts])


def _read_key(from_str: Callable[[str], Any], text: str, of: str = "") -> Any:  # noqa: ANN401 - pyrage's
    try:
        return from_str(text)
    except Exception as error:
        shown = of or quote_shortened(text)
        message = f"{shown} is no key of age: name one as `age-keygen` writes it (age1…)"
        raise WrongUsageError(message) from error


def _load_age() -> Any:  # noqa: ANN401 - it has no types
    try:
        import pyrage
    except ImportError as error:
        raise not_installed("a sealed backup needs the package pyrage", "age") from error
    return pyrage
