"""`slowwave backup`: a copy of a home as it is at one instant, also while a night runs; only what is new is copied.

The instant is one at which all files were as they are listed: they are listed until two listings are the same, and what
changed before it was copied is listed again. What a kill at that instant would leave is what a restore brings back.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import zstandard

from slowwave import __version__ as VERSION  # noqa: N812 - a constant here
from slowwave.flows.backup.place import Place, Seal, begin_place, is_marked, open_place
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import print_lines
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import on_disk, storage_of
from slowwave.flows.kernel.terminal import format_count, size_shown, terminal_safe
from slowwave.flows.kernel.times import is_run_id, new_run_id, run_id_time, utc_iso, utc_now
from slowwave.flows.lake.current import bucket_of, linked_run
from slowwave.flows.lake.digests import NAME as DIGESTS
from slowwave.flows.lake.digests import walk_files
from slowwave.flows.lake.lake import landed_lake
from slowwave.transforms.landing.ledger_tables import RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED

AT_ONCE = 8  # to flush a file to a disk, or to ask a bucket, is to wait
_BACKUPS, _FILES = "backups", "files"
_LISTINGS, _PAUSE_SECONDS, _WAIT_SECONDS = 20, 0.2, 600.0
# No two homes have the same of these, unless one is a copy of the other.
_OWN_ROWS = tuple(f"lake/{table.name}/" for table in (*LANDED, RunFiles, Runs))
_LARGEST = 2**63
_SAID = dict.fromkeys(("made_at", "home", "run_id", "list_sha256", "uses_sha256"), str)
_SAID |= {"is_sealed": bool, **dict.fromkeys(("files", "bytes", "new_bytes"), int)}
_PUBLISHED = "lake/published/"  # of a lake in a bucket: the serving file itself is in the backup


@dataclass(frozen=True)
class ListedFile:
    """A file of a home: where it is, its bytes, when it changed (nanoseconds since 1970), and its permissions."""

    source: Path
    size: int
    changed_ns: int
    mode: int


class _ChangedError(Exception):
    """A file was changed, or removed, since it was listed."""


def run_backup(settings: Settings, target: str, *, keep: int | None, recipients: list[str], output: str) -> None:
    """Make a backup, print what was done, and remove all backups but the `keep` newest.

    Raises WrongUsageError or UserError where that makes no sense, OSError as disk or bucket do: then no backup is there
    that was not before, and the next one goes on with what was copied.
    """
    place = open_place(target, settings)
    landed_lake(settings)
    began = time.monotonic()
    with place.hold():
        begin_place(place)
        made = _make_backup(settings, place, Seal(tuple(recipients)))
        removed = _remove_old(place, keep)
    made |= {"seconds": round(time.monotonic() - began, 3), "removed": removed}
    if output == "json":
        sys.stdout.write(f"{json.dumps(made)}\n")
        return
    copied = f"{format_count(made['new_files'], 'file')} with {size_shown(made['new_bytes'])} copied"
    lines = [
        ("holds", f"{format_count(made['files'], 'file')} with {size_shown(made['bytes'])}"),
        ("new", f"{copied} in {made['seconds']:.1f} s"),
    ]
    lines += [("removed", format_count(len(removed), "older backup"))] if removed else []
    print_lines(f"backup {made['id']} is in {place.url}", lines)


def _make_backup(settings: Settings, place: Place, seal: Seal) -> dict[str, Any]:
    before = read_headers(place)
    known = _read_known(place, before[-1]) if before else {}
    copier = _Copier(place, seal, known)
    while True:
        listed = _list_instant(settings)
        if any(name.startswith("lake/erased/intent") for name in listed):
            message = "an erasure has begun and not ended: run `slowwave nightly`, then this again"
            raise UserError(message)
        if copier.copy_all(listed):
            break
    files = {name: [copier.done[name], one.size, one.changed_ns, one.mode] for name, one in sorted(listed.items())}
    used = sorted({of[0] for of in files.values()})
    _check_same_home(place, before, {of[0] for name, of in files.items() if name.startswith(_OWN_ROWS)})
    current = linked_run(settings)
    backup_id = _new_id(before)
    packed = zstandard.compress(json.dumps(files).encode())
    place.put(f"{_BACKUPS}/{backup_id}.files", seal.seal_bytes(packed))
    packed_uses = zstandard.compress("\n".join(used).encode())
    place.put(f"{_BACKUPS}/{backup_id}.uses", Seal().seal_bytes(packed_uses))
    header = {
        "id": backup_id,
        "made_at": utc_iso(utc_now()),
        "home": str(settings.home),
        "version": VERSION,
        "run_id": current.stem if current and f"serving/runs/{current.name}" in files else "",
        "files": len(files),
        "bytes": sum(of[1] for of in files.values()),
        "new_files": copier.new_files,
        "new_bytes": copier.new_bytes,
        "is_sealed": bool(seal.recipients),
        "list_sha256": hashlib.sha256(packed).hexdigest(),
        "uses_sha256": hashlib.sha256(packed_uses).hexdigest(),
    }
    place.put(f"{_BACKUPS}/{backup_id}.json", Seal().seal_bytes(json.dumps(header).encode()))
    return header


def _new_id(before: list[dict[str, Any]]) -> str:
    """Return an id that sorts last: under a clock that was set back, `--keep` would else remove the newest."""
    backup_id = new_run_id(utc_now())
    if before and backup_id <= before[-1]["id"]:
        return new_run_id(run_id_time(before[-1]["id"]) + timedelta(microseconds=1))
    return backup_id


def _read_known(place: Place, header: dict[str, Any]) -> dict[str, list[Any]]:
    """Read what the last backup holds, so that what did not change is not read again; nothing where it is sealed."""
    try:
        return {} if header["is_sealed"] else read_files(place, header, Seal())
    except (OSError, UserError):
        return {}


class _Copier:
    """Copies files; `done`: the digest of each by its name."""

    def __init__(self, place: Place, seal: Seal, known: Mapping[str, list[Any]]) -> None:
        self.done: dict[str, str] = {}
        self.new_files = self.new_bytes = 0
        self._place = place
        self._seal = seal
        self._as_listed: dict[str, ListedFile] = {}
        self._known = known
        self._there = place.keys(_FILES)

    def copy_all(self, listed: dict[str, ListedFile]) -> bool:
        """Copy what is not there; return False where a file changed meanwhile: then all are to be listed again.

        What is written to in the inbox is being delivered: it is left out.
        """
        waiting = {name: one for name, one in listed.items() if self._as_listed.get(name) != one}
        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            copied = dict(zip(waiting, pool.map(self._try_copy, waiting.items()), strict=True))
        for name, sha256 in copied.items():
            if sha256 is not None:
                self.done[name], self._as_listed[name] = sha256, waiting[name]
            elif name.startswith("inbox/") and waiting[name].source.exists():
                del listed[name]
            else:
                return False
        return True

    def _try_copy(self, named: tuple[str, ListedFile]) -> str | None:
        """Copy a file; return the digest of its bytes, None where they changed."""
        try:
            return self._copy(*named)
        except _ChangedError:
            return None

    def _copy(self, name: str, one: ListedFile) -> str:
        was = self._known.get(name)
        if was is not None and was[1:3] == [one.size, one.changed_ns] and self._has(was[0], one.size):
            return was[0]
        try:
            (path,) = on_disk([one.source])
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError as error:
            raise _ChangedError from error
        key = self._key(sha256)
        if not self._has(sha256, one.size):
            self._place.put(key, lambda aside: self._copy_checked(path, aside, sha256))
            self._there[key] = one.size
            self.new_files += 1
            self.new_bytes += one.size
        if _is_changed(one):
            raise _ChangedError
        return sha256

    def _copy_checked(self, path: Path, aside: Path, sha256: str) -> None:
        """Copy a file, sealed if wanted. Raises _ChangedError where its bytes have not this digest any more."""
        try:
            with path.open("rb") as file:
                reader = _DigestingReader(file)
                self._seal.seal(reader, aside)  # type: ignore[arg-type] - it reads as a file does
        except FileNotFoundError as error:
            raise _ChangedError from error
        if reader.sha256() != sha256:
            raise _ChangedError

    def _has(self, sha256: str, size: int) -> bool:
        """Return whether bytes are there, and as many as they should be, which is not told where they are sealed."""
        there = self._there.get(self._key(sha256))
        return there == size if not self._seal.recipients else there is not None

    def _key(self, sha256: str) -> str:
        return file_key(sha256, is_sealed=bool(self._seal.recipients))


class _DigestingReader:
    """Reads a file, and knows the digest of what was read."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - an open file
        self._file = file
        self._state = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Some bytes; none at the end."""
        block = self._file.read(size)
        self._state.update(block)
        return block

    def sha256(self) -> str:
        """Digest of all that was read."""
        return self._state.hexdigest()


def file_key(sha256: str, *, is_sealed: bool) -> str:
    """Return where bytes with this digest are in a place."""
    return f"{_FILES}/{sha256[:2]}/{sha256}{'.age' if is_sealed else ''}"


def _check_same_home(place: Place, before: list[dict[str, Any]], ours: set[str]) -> None:
    """Raises UserError where the last backup there is another home's: then it shares no file of the lake with this."""
    if before and ours and not ours & _read_used(place, before[-1]):
        message = (
            f"{place.url} has backups of {before[-1]['home']}, which shares no file with this home: "
            "nothing was changed; name another place"
        )
        raise UserError(message)


def _read_used(place: Place, header: dict[str, Any]) -> set[str]:
    """Return the digests that a backup needs. Raises UserError unless they are those that were written."""
    key = f"{_BACKUPS}/{header['id']}.uses"
    try:
        packed = place.read(key)
    except FileNotFoundError:
        packed = b""
    if hashlib.sha256(packed).hexdigest() != header["uses_sha256"]:
        message = (
            f"{place.url}/{key} is damaged or gone, so nobody knows which bytes may go: nothing was removed; "
            f"name another place, or remove {_BACKUPS}/{header['id']}.json there, and that backup is gone"
        )
        raise UserError(message)
    return set(zstandard.ZstdDecompressor().decompress(packed).decode().splitlines())


def read_headers(place: Place) -> list[dict[str, Any]]:
    """Return what is said of each whole backup, the oldest first; those that were not ended are none."""
    found = []
    for key in sorted(place.keys(_BACKUPS)):
        backup_id = Path(key).stem
        if key == f"{_BACKUPS}/{backup_id}.json" and is_run_id(backup_id):
            try:
                found.append(_checked_header({**json.loads(place.read(key)), "id": backup_id}))
            except (ValueError, TypeError, KeyError) as error:
                message = f"{place.url}/{key} is damaged: remove it, and that backup is gone ({error})"
                raise UserError(message) from error
    return found


def _checked_header(header: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a backup. Raises KeyError or ValueError where somebody else has written it."""
    for name, kind in _SAID.items():
        said = header[name]
        if type(said) is not kind or (isinstance(said, int) and not 0 <= said < _LARGEST):
            message = f"{name} is not as it was written"
            raise ValueError(message)
    return header


def read_files(place: Place, header: dict[str, Any], seal: Seal) -> dict[str, list[Any]]:
    """Return what a backup holds: by its name each file's digest, bytes, time of change and permissions.

    Raises UserError where that is damaged, or sealed for others.
    """
    import io

    key = f"{_BACKUPS}/{header['id']}.files"
    try:
        packed = place.read(key)
        if header["is_sealed"]:
            opened = io.BytesIO()
            seal.open(io.BytesIO(packed), opened)
            packed = opened.getvalue()
        if hashlib.sha256(packed).hexdigest() == header["list_sha256"]:
            files = json.loads(zstandard.ZstdDecompressor().decompress(packed))
            if isinstance(files, dict) and all(map(_is_entry, files.values())):
                return files
    except (FileNotFoundError, ValueError, zstandard.ZstdError):
        pass
    message = f"{place.url}/{key} is damaged or gone: restore another backup (`slowwave backup TARGET --list`)"
    raise UserError(message)


def _is_entry(of: Any) -> bool:  # noqa: ANN401 - of JSON
    """Return whether this can be a file's digest, bytes, time of change and permissions."""
    if not isinstance(of, list) or [type(one) for one in of] != [str, int, int, int]:
        return False
    return all(-_LARGEST <= number < _LARGEST for number in of[1:])


def _remove_old(place: Place, keep: int | None) -> list[str]:
    """Remove all backups but the newest, then the bytes that none uses; return the ids of those that went."""
    headers = read_headers(place)
    gone = [] if keep is None else [one["id"] for one in headers[:-keep]]
    for suffix in ("json", "files", "uses"):  # what makes it one first
        place.remove([f"{_BACKUPS}/{one}.{suffix}" for one in gone])
    left = [one for one in headers if one["id"] not in gone]
    used = {sha256 for one in left for sha256 in _read_used(place, one)}
    place.remove([key for key in place.keys(_FILES) if Path(key).stem not in used])
    return gone


def list_backups(settings: Settings, target: str, *, output: str) -> None:
    """Print the backups in a place, the newest last. Raises UserError where it is no place of backups."""
    place = open_place(target, settings)
    headers = read_marked_headers(place)
    if output == "json":
        sys.stdout.write(f"{json.dumps(headers, indent=2)}\n")
        return
    for one in headers:
        sealed = ", sealed" if one["is_sealed"] else ""
        holds = f"{format_count(one['files'], 'file')}, {size_shown(one['bytes'])}"
        text = f"{one['id']}  {one['made_at']}  {holds}, {size_shown(one['new_bytes'])} new{sealed}, of {one['home']}"
        sys.stdout.write(f"{terminal_safe(text)}\n")


def read_marked_headers(place: Place) -> list[dict[str, Any]]:
    """Return `read_headers`. Raises UserError where none are there."""
    headers = read_headers(place) if is_marked(place) else []
    if not headers:
        message = f"there is no backup in {place.url}: `slowwave backup` makes one"
        raise UserError(message)
    return headers


# ------------------------------------------------------------------------------------------------------ what is listed


def _list_instant(settings: Settings) -> dict[str, ListedFile]:
    """Return every file to be copied, as they were at one instant; while the lake changes all the time, wait for it."""
    before = _list_home(settings)
    for _ in range(_LISTINGS):
        now = _list_home(settings)
        if _without_inbox(now) == _without_inbox(before):
            return now  # what had left the inbox before this listing began is in the lake that both have
        before = now
        time.sleep(_PAUSE_SECONDS)
    with writer_lock(settings, "backup", wait_seconds=_WAIT_SECONDS):
        return _list_home(settings)


def _without_inbox(listed: Mapping[str, ListedFile]) -> dict[str, ListedFile]:
    return {name: one for name, one in listed.items() if not name.startswith("inbox/")}


def _list_home(settings: Settings) -> dict[str, ListedFile]:
    found: dict[str, ListedFile] = {}
    for folder, names in _home_files(settings):
        for name, status in names:
            found[f"{folder}{name}"] = status
    current = linked_run(settings)
    if current is not None and current.parent.name == "runs":
        _add_file(found, f"serving/runs/{current.name}", current)
    for name, one in _lake_files(settings):
        found[f"lake/{name}"] = one
    return found


def _home_files(settings: Settings) -> Iterator[tuple[str, list[tuple[str, ListedFile]]]]:
    """Yield the files of the inbox, and those a person wrote or chose, by folder."""
    for folder, root in (("inbox/", settings.inbox), ("mappings/", settings.mappings)):
        yield folder, [(name, _listed(root / name, status)) for name, status in walk_files(root)]
    own: dict[str, ListedFile] = {}
    for path in sorted([*settings.home.glob("*.toml"), *settings.home.glob("*.json")]):
        _add_file(own, path.name, path)
    yield "", list(own.items())


def _add_file(found: dict[str, ListedFile], name: str, path: Path) -> None:
    try:
        path = Path(os.path.realpath(path))  # settings may be a link to what another tool keeps
        status = path.stat()
    except FileNotFoundError:
        return
    if path.is_file():
        found[name] = _listed(path, status)


def _listed(path: Path, status: os.stat_result) -> ListedFile:
    return ListedFile(path, status.st_size, status.st_mtime_ns, status.st_mode & 0o777)


def _lake_files(settings: Settings) -> Iterator[tuple[str, ListedFile]]:
    root, bucket = settings.lake_folder, bucket_of(settings)
    if bucket is None:
        yield from ((name, _listed(root / name, status)) for name, status in walk_files(root))
        notes: dict[str, ListedFile] = {}
        _add_file(notes, DIGESTS, root / DIGESTS)
        yield from notes.items()
        return
    bucket.look_again()
    storage, folders = storage_of(root), [root]
    while folders:
        folder = folders.pop()
        folders += [folder / name for name in storage.folders(folder)]
        for path in storage.files(folder):
            name = path.relative_to(root).as_posix()
            if not f"lake/{name}".startswith(_PUBLISHED):
                yield name, ListedFile(path, storage.size(path), int(storage.changed_at(path) * 10**9), 0o600)


def _is_changed(one: ListedFile) -> bool:
    """Return whether a file is not as it was listed. In a bucket what was read is what was listed, by its tag."""
    try:
        status = one.source.lstat()
    except FileNotFoundError:
        return not _is_in_bucket(one.source)
    if one.source.is_symlink():
        return True
    return (status.st_size, status.st_mtime_ns) != (one.size, one.changed_ns)


def _is_in_bucket(path: Path) -> bool:
    from slowwave.flows.kernel.storage.mounts import bucket_at

    return bucket_at(path) is not None
