"""A lake in a bucket, mounted at a folder of copies: of what is read there is a copy on the disk, by its tag.

An object comes to be with one request, whole or not at all. Nothing is deleted at once: what nothing needs any more is
noted in `.removed`, is not listed from then on, and is deleted a day later by who holds the lease. Until then whoever
has listed it before can still read it.

Listings are taken at their word: the stores that this is for list what was written before they were asked. That it is
so, every writer looks at before what it published is seen, and before it lets go of the lease (`settle`): the next one
begins with a listing that has everything. What was written by who was killed, and is listed late, is seen by the night
after as rows that came late.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.flows.kernel.storage.client import BucketClient, BucketError, Entry, FencedError, Listing
from slowwave.flows.kernel.storage.folder import TEMPORARY, PartialCopies, Range

if TYPE_CHECKING:
    from slowwave.flows.kernel.storage.lease import Lease

_REMOVED = ".removed"
# For so long a listing answers, and what was noted as removed: what is asked table by table, day by day is one request.
_FRESH_SECONDS = 2.0
_GRACE_SECONDS = 24 * 3600.0
_AT_ONCE = 8
_TRIES = 10
_COPIES_BYTES = 20 * 10**9  # kept on a disk from one night to the next
_LISTED_WITHIN_SECONDS = 60.0
_IS_COPY = re.compile(r"~[0-9a-f]{16}$")
# Folders of folders of tables: of these one at a time is listed.
_DEEP = frozenset({"evidence", "moved_keys", "states"})


class Bucket:
    """The objects of a lake. What each method of `Storage` does is said there; `folder`: where it is mounted."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.client = BucketClient(url)
        self.lease: Lease | None = None  # set while this process is the lake's writer
        self._folder = folder
        self._listing = Listing()
        self._listed_at: dict[str, float] = {}
        self._removed: dict[str, float] = {}
        self._removed_tag: str | None = None
        self._removed_at = 0.0
        self._written: dict[str, str] = {}
        self._partial = PartialCopies(folder.with_name(f"{folder.name}-parts"))

    # ------------------------------------------------------------------------------------------------- as in Storage

    def folders(self, folder: Path) -> list[str]:
        """As in Storage."""
        key = self._key(folder)
        self._list(key)
        return self._listing.folders(key)

    def files(self, folder: Path) -> list[Path]:
        """As in Storage."""
        key = self._key(folder)
        self._list(key)
        return [folder / name for name in self._listing.names(key)]

    def is_folder(self, folder: Path) -> bool:
        """As in Storage."""
        if folder == self._folder:
            return self.client.holds_any()
        return bool(self.folders(folder) or self.files(folder))

    def exists(self, path: Path) -> bool:
        """As in Storage."""
        key = self._key(path)
        if "/" not in key:
            try:
                self.client.read(key)
            except FileNotFoundError:
                return False
            return True
        self._list(key.rpartition("/")[0])
        return self._listing.entry(key) is not None

    def size(self, path: Path) -> int:
        """As in Storage."""
        return self._entry(path).size

    def changed_at(self, path: Path) -> float:
        """As in Storage."""
        return self._entry(path).changed_at

    def on_disk(self, paths: Sequence[Path]) -> list[Path]:
        """As in Storage: copies, which are read as they are."""
        copies = [path if _IS_COPY.search(path.stem) else _copy(path, self._entry(path).tag) for path in paths]
        missing = [path for path, copy in zip(paths, copies, strict=True) if not copy.exists()]
        if not missing:
            return copies
        with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(missing))) as pool:
            fetched = dict(zip(missing, pool.map(self._fetch, missing), strict=True))
        return [fetched.get(path, copy) for path, copy in zip(paths, copies, strict=True)]

    def ranges_on_disk(self, path: Path, ranges: Sequence[Range]) -> Path:
        """As in Storage: the copy, or one with holes."""
        entry = self._entry(path)
        copy = _copy(path, entry.tag)
        if copy.exists():
            return copy
        key = self._key(path)

        def fetch(start: int, end: int) -> bytes:
            return self.client.read_range(key, start, end, entry.tag)

        return self._partial.holding(copy.relative_to(self._folder), entry.size, ranges, fetch)

    def read(self, path: Path) -> bytes:
        """As in Storage."""
        key = self._key(path)
        if key in self._removal_times():
            raise FileNotFoundError(2, "is not in the lake", str(path))
        return self.client.read(key)[0]

    def write(self, path: Path, write: Callable[[Path], object]) -> None:
        """As in Storage."""
        aside = _aside(path)
        try:
            write(aside)
            self.put(aside, path)
            aside.rename(_copy(path, self._written[self._key(path)]))
        finally:
            aside.unlink(missing_ok=True)

    def remove(self, paths: Iterable[Path]) -> None:
        """As in Storage: noted now, deleted a day later."""
        keys = [self._key(path) for path in paths]
        if not keys:
            return
        self.confirm()
        self._change_removed(lambda removed: {**removed, **dict.fromkeys(keys, time.time())})
        for key in keys:
            self._forget(key)

    def clear(self, folder: Path) -> None:
        """As in Storage; in the bucket nothing is ever half-written."""
        for left in folder.glob(f"**/.*{TEMPORARY}"):
            left.unlink(missing_ok=True)

    def purge(self) -> None:
        """As in Storage."""
        self._partial.clear(of_all=True)
        self._delete_removed(float("inf"))

    # ------------------------------------------------------------------------------------------ what only a bucket has

    def put(self, file: Path, path: Path) -> None:
        """Put a file of this disk into the bucket as `path`; no copy of it is kept."""
        if self.lease is not None:
            self.lease.check()
        key = self._key(path)
        self._take_back(key)
        tag = self.client.upload(file, key)
        before = self._listing.entry(key)
        if before is not None and before.tag != tag:
            self._forget(key)
        self._written[key] = tag
        self._listing.add(key, Entry(file.stat().st_size, time.time(), tag))

    def confirm(self) -> None:
        """Raises FencedError unless this process is the lake's writer still, by asking the bucket."""
        if self.lease is None:
            message = f"only the writer of the lake {self.url} may change what others read"
            raise FencedError(message)
        self.lease.confirm()

    def settle(self) -> None:
        """Wait until everything written is listed. Raises BucketError when some of it is not after a minute."""
        until = time.monotonic() + _LISTED_WITHIN_SECONDS
        pause = 0.1
        while self._written:
            for group in sorted({_group(key) for key in self._written if "/" in key}):
                listed = {key: entry.tag for key, entry in self.client.entries(group)}
                self._written = {
                    key: tag
                    for key, tag in self._written.items()
                    if "/" in key and (_group(key) != group or listed.get(key) != tag)
                }
            self._written = {key: tag for key, tag in self._written.items() if "/" in key}
            if self._written and time.monotonic() >= until:
                late = min(self._written)
                message = (
                    f"the lake {self.url} does not list what was written a minute ago ({late}): what was published "
                    "stays as it was; run this again when its listing has caught up"
                )
                raise BucketError(message)
            if self._written:
                time.sleep(pause)
                pause = min(2 * pause, 5.0)

    def sweep(self) -> int:
        """Delete what was removed a day ago or earlier, by whichever writer; returns how many objects went."""
        return self._delete_removed(time.time() - _GRACE_SECONDS)

    def _delete_removed(self, before: float) -> int:
        due = {key for key, at in self._removal_times().items() if at < before}
        if due:
            self.client.delete(sorted(due), self.confirm)
            self._change_removed(lambda removed: {key: at for key, at in removed.items() if key not in due})
        self.tidy_copies()
        return len(due)

    def tidy_copies(self, unused_seconds: float = 0.0) -> None:
        """Remove copies of what is no more, or was replaced, and of the rest those not used for longest.

        Those that were used within `unused_seconds` stay: another process may be reading them.
        """
        if not unused_seconds:
            self._partial.clear()
        kept: list[tuple[float, int, Path]] = []
        before = time.time() - unused_seconds
        for copy in list(self._folder.rglob("*~*")):
            try:
                status = copy.stat()
            except FileNotFoundError:  # another process has tidied
                continue
            if unused_seconds and max(status.st_atime, status.st_mtime) > before:
                continue
            stem, _, digest = copy.stem.rpartition("~")
            key = self._key(copy.with_name(f"{stem}{copy.suffix}"))
            self._list(key.rpartition("/")[0])
            entry = self._listing.entry(key)
            if entry is None or digest != _digest(entry.tag):
                copy.unlink(missing_ok=True)
            else:
                kept.append((max(status.st_atime, status.st_mtime), status.st_size, copy))
        room = _COPIES_BYTES
        for _, size, copy in sorted(kept, reverse=True):
            room -= size
            if room < 0:
                copy.unlink(missing_ok=True)

    def begin(self, lease: Lease) -> None:
        """This process is the lake's writer from now on: what it knows is listed anew, and then is true."""
        self.lease = lease
        self._written.clear()
        self._listed_at.clear()
        self._removed_at = 0.0

    def look_again(self) -> None:
        """List anew what is asked next: others have written for this process."""
        self._listed_at.clear()
        self._removed_at = 0.0

    def end(self) -> None:
        """This process is the lake's writer no more."""
        self.lease = None
        self._listed_at.clear()

    # -------------------------------------------------------------------------------------------------------- inside

    def _key(self, path: Path) -> str:
        key = path.relative_to(self._folder).as_posix()
        return "" if key == "." else key

    def _list(self, folder: str) -> None:
        """List what is below a folder, unless that is known: to a writer from its first listing on."""
        group = _group(f"{folder}/") if folder else ""
        now = time.monotonic()
        for covers in {"", group.split("/", 1)[0], group}:
            at = self._listed_at.get(covers)
            if at is not None and (self.lease is not None or now - at < _FRESH_SECONDS):
                return
        gone = self._removal_times()
        self._listing.forget(group)
        for key, entry in self.client.entries(group):
            if key not in gone:
                self._listing.add(key, entry)
        self._listed_at[group] = now

    def _entry(self, path: Path) -> Entry:
        key = self._key(path)
        entry = self._listing.entry(key)
        if entry is None:
            self._list(key.rpartition("/")[0])
            entry = self._listing.entry(key)
        if entry is None:
            raise FileNotFoundError(2, "is not in the lake", str(path))
        return entry

    def _fetch(self, path: Path) -> Path:
        key = self._key(path)
        aside = _aside(path)
        try:
            entry = self.client.download(key, aside)
            copy = _copy(path, entry.tag)
            aside.rename(copy)
        except FileNotFoundError:
            self._forget(key)
            raise
        finally:
            aside.unlink(missing_ok=True)
        self._listing.add(key, entry)
        return copy

    def _forget(self, key: str) -> None:
        path = self._folder / key
        entry = self._listing.entry(key)
        if entry is not None:
            copy = _copy(path, entry.tag)
            copy.unlink(missing_ok=True)
            self._partial.forget(copy.relative_to(self._folder))
        self._listing.drop(key)
        self._written.pop(key, None)

    def _removal_times(self) -> dict[str, float]:
        """What was removed, and when; it may still be in the bucket."""
        now = time.monotonic()
        if not self._removed_at or (self.lease is None and now - self._removed_at >= _FRESH_SECONDS):
            try:
                content, entry = self.client.read(_REMOVED)
                self._removed, self._removed_tag = json.loads(content)["removed"], entry.tag
            except FileNotFoundError:
                self._removed, self._removed_tag = {}, None
            self._removed_at = now
        return self._removed

    def _take_back(self, key: str) -> None:
        """Of what was removed and is written again: it is not deleted any more, before it is there again."""
        if key in self._removal_times():
            self._change_removed(lambda removed: {one: at for one, at in removed.items() if one != key})

    def _change_removed(self, changed: Callable[[dict[str, float]], dict[str, float]]) -> None:
        """Change what is noted as removed; again, where a worker has changed it meanwhile."""
        for _ in range(_TRIES):
            removed = changed(self._removal_times())
            content = json.dumps({"removed": removed, "written": uuid.uuid4().hex}).encode()
            tag = self.client.write_if(_REMOVED, content, self._removed_tag)
            if tag is not None:
                self._removed, self._removed_tag = removed, tag
                return
            if self.lease is not None:
                self.lease.confirm()
            self._removed_at = 0.0
        message = f"others write to the lake {self.url} all the time: run this again when they have ended"
        raise BucketError(message)


def _group(key: str) -> str:
    """The folder that is listed for an object: a table's."""
    parts = key.split("/")
    return "/".join(parts[:2]) if parts[0] in _DEEP and parts[1] else parts[0]


def _aside(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.parent / f".{path.name[:80]}.{uuid.uuid4().hex[:8]}{TEMPORARY}"


def _copy(path: Path, tag: str) -> Path:
    """Where the copy of an object with this tag is: it never changes."""
    return path.with_name(f"{path.stem}~{_digest(tag)}{path.suffix}")


def _digest(tag: str) -> str:
    return sha256(tag.encode()).hexdigest()[:16]
