"""Digests of the files of a folder, as the last night left them: what a disk has changed since is found by them.

A file is noted when it is first seen, and again where a run rewrote it: what changed while no run wrote keeps the
digest it had. In a bucket nothing is noted, for a store checks what it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import zstandard

from slowwave.flows.kernel.storage.folder import Folder
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import TEMPORARY, write_durably
from slowwave.flows.lake.lake import Lake, scan_declared
from slowwave.flows.lake.lifetime.horizons import FOLDER as LET_GO
from slowwave.transforms.core.hashing import DIGEST_BYTES
from slowwave.transforms.core.schema import Landed, Table
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED

NAME = ".digests"
# Of these a night makes nothing again, and no row of them ever goes but by an erasure.
COUNTED: tuple[type[Table], ...] = (*LANDED, Decisions, Runs, RunFiles, Quarantine, QuarantineResolved)
# What is in these folders is rewritten by commands that are no run.
REWRITTEN = frozenset({"FORMAT", "erased", "imports", "kept_runs", LET_GO})
_SLACK_NS = 10**8  # a file system's clock may be behind the machine's
_NS = 10**9


@dataclass(frozen=True)
class Noted:
    """A file as it was: bytes, when it changed (nanoseconds since 1970), and the digest of its bytes."""

    size: int
    changed_ns: int
    digest: str


@dataclass
class FileNotes:
    """What is known of the files of a folder. `rows`: of `TABLE/day=…` how many rows there are, each counted once."""

    noted_ns: int = 0
    files: dict[str, Noted] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


Spans = Sequence[tuple[int, int]]


def read_notes(root: Path) -> FileNotes | None:
    """Read what was noted of a folder; None where nothing was. Raises ValueError where the notes are damaged."""
    path = root / NAME
    try:
        packed = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        said = json.loads(zstandard.ZstdDecompressor().decompress(packed))
        files = {name: Noted(*of) for name, of in said["files"].items()}
        return FileNotes(said["noted_ns"], files, said["rows"])
    except (zstandard.ZstdError, ValueError, TypeError, KeyError) as error:
        message = f"{root / NAME} is damaged: {error}"
        raise ValueError(message) from error


def digest_file(path: Path) -> str:
    """Return the digest of a file's bytes. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST_BYTES)).hexdigest()


def walk_files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every regular file below a folder but hidden ones, by its path from there."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or name.endswith(TEMPORARY):
                continue
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield path.relative_to(root).as_posix(), status


def written_spans(runs: pl.DataFrame) -> Spans:
    """Return when runs wrote, in nanoseconds since 1970: one that did not end may have until the next began."""
    rows = runs.sort("started_at").select("started_at", "finished_at", "status").rows()
    starts = [*(row[0] for row in rows[1:]), None]
    ends = [
        following if status == "started" or ended is None else ended
        for (_, ended, status), following in zip(rows, starts, strict=True)
    ]
    return [(_ns(began) - _SLACK_NS, _ns(end) + _SLACK_NS) for (began, _, _), end in zip(rows, ends, strict=True)]


def is_written_by_run(changed_ns: int, spans: Spans) -> bool:
    """Return whether a run wrote at that time."""
    return any(began <= changed_ns <= ended for began, ended in spans)


def note_lake(lake: Lake, started_at: datetime, *, is_erasing: bool = False) -> None:
    """Note the files of a lake in a folder, at the end of a run; of a bucket nothing.

    `is_erasing`: rows have gone, so that nothing of before is held against what is there. A lake with a file that
    cannot be read keeps the notes it had.

    Raises OSError where the notes cannot be written.
    """
    if not isinstance(storage_of(lake.root), Folder):
        return
    _note_files(lake.root, _spans_until_now(lake, started_at), rows_of=_DayRows(lake), is_erasing=is_erasing)


def note_folder(folder: Path, lake: Lake, started_at: datetime) -> None:
    """Note the files of another folder that runs write, as `note_lake` does."""
    _note_files(folder, _spans_until_now(lake, started_at))


def remove_half_noted(folder: Path) -> None:
    """Remove what a killed run has left of its notes; the caller holds the writer lock."""
    for left in folder.glob(f".{NAME}.*{TEMPORARY}"):
        left.unlink(missing_ok=True)


def _spans_until_now(lake: Lake, started_at: datetime) -> Spans:
    return [*written_spans(lake.ledger(Runs)), (_ns(started_at) - _SLACK_NS, _ns(None))]


def _note_files(root: Path, spans: Spans, *, rows_of: _DayRows | None = None, is_erasing: bool = False) -> None:
    """Note the files of a folder; those that changed while no run wrote keep their digest."""
    try:
        before = (None if is_erasing else read_notes(root)) or FileNotes()
    except ValueError:
        before = FileNotes()
    now = FileNotes(noted_ns=_ns(datetime.now(UTC).replace(tzinfo=None)))
    try:
        for name, status in walk_files(root):
            now.files[name] = _note_file(root / name, name, status, before.files.get(name), spans)
        if rows_of is not None:
            rows_of.count_days(before, now)
    except (OSError, pl.exceptions.PolarsError):  # the night is published: what is wrong with a file, others say
        return
    text = json.dumps(
        {
            "noted_ns": now.noted_ns,
            "files": {name: [one.size, one.changed_ns, one.digest] for name, one in now.files.items()},
            "rows": now.rows,
        }
    )
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(text.encode())
    write_durably(root / NAME, lambda aside: aside.write_bytes(packed))


def _note_file(path: Path, name: str, status: os.stat_result, was: Noted | None, spans: Spans) -> Noted:
    if was is not None and (was.size, was.changed_ns) == (status.st_size, status.st_mtime_ns):
        return was
    digest = digest_file(path)
    is_ours = was is None or name.split("/", maxsplit=1)[0] in REWRITTEN or is_written_by_run(status.st_mtime_ns, spans)
    if was is not None and digest != was.digest and not is_ours:
        return was
    return Noted(status.st_size, status.st_mtime_ns, digest)


class _DayRows:
    """Counts the rows of days whose files are not those that were noted."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def count_days(self, before: FileNotes, now: FileNotes) -> None:
        """Count; where rows are missing, what was noted of the day stays."""
        was, there = _names_by_day(before.files), _names_by_day(now.files)
        for table in COUNTED:
            for day in sorted(key for key in was.keys() | there.keys() if key.partition("/")[0] == table.name):
                names = there.get(day, [])
                is_same = was.get(day) == names and day in before.rows
                count = before.rows[day] if is_same else count_rows(self._lake, table, names)
                if count < before.rows.get(day, 0):
                    now.files |= {name: before.files[name] for name in was[day] if name not in now.files}
                    count = before.rows[day]
                now.rows[day] = count


def count_rows(lake: Lake, table: type[Table], names: Iterable[str]) -> int:
    """Return how many rows files of a table hold, each counted once. Raises PolarsError where one cannot be read."""
    paths = [lake.root / name for name in names]
    if not paths:
        return 0
    key = ("row_hash",) if issubclass(table, Landed) else table.stored_key or table.key
    return scan_declared(table, paths).select(key).unique().select(pl.len()).collect().item()


def _names_by_day(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        parts = name.split("/")
        if len(parts) == 3 and parts[1].startswith("day="):  # noqa: PLR2004 - TABLE/DAY/FILE
            found.setdefault(f"{parts[0]}/{parts[1]}", []).append(name)
    return {day: sorted(of) for day, of in found.items()}


def missing_rows(lake: Lake, notes: FileNotes, there: Mapping[str, object]) -> dict[str, tuple[int, list[str]]]:
    """Return by TABLE/DAY how many rows fewer there are than were noted, and the noted files that are gone."""
    tables = {table.name: table for table in COUNTED}
    found, now = {}, _names_by_day(there)
    for day, names in _names_by_day(notes.files).items():
        gone = [name for name in names if name not in there]
        table = tables.get(day.partition("/")[0])
        if gone and table is not None:
            try:
                count = count_rows(lake, table, now.get(day, []))
            except pl.exceptions.PolarsError:  # another file of the day is damaged: what is gone cannot be looked for
                count = 0
            if count < notes.rows.get(day, 0):
                found[day] = (notes.rows[day] - count, gone)
    return found


def _ns(time: datetime | None) -> int:
    """Nanoseconds since 1970; of None, as far away as there is."""
    return 2**63 - 1 if time is None else int(time.replace(tzinfo=UTC).timestamp() * _NS)
