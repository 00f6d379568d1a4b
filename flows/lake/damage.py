"""What is wrong with the files of a lake: each is held against what was noted of it, its name, and its rows.

A landed file's name is the digest of its rows' hashes, and a row's hash that of its values: so what no night has noted
yet is known to be whole too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import polars as pl
import zstandard

from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.folder import Folder
from slowwave.flows.kernel.storage.storage import on_disk, storage_of
from slowwave.flows.lake.digests import (
    NAME,
    REWRITTEN,
    FileNotes,
    Noted,
    Spans,
    digest_file,
    is_written_by_run,
    missing_rows,
    read_notes,
    walk_files,
    written_spans,
)
from slowwave.flows.lake.files import microseconds
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.lifetime.raw_files import RETAINED, read_damaged_frames
from slowwave.flows.lake.run_ledger import partition_names
from slowwave.transforms.core.hashing import rows_digest
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, STATES
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.erasure import TEXTS_OF
from slowwave.transforms.landing.ledger_tables import LEDGER, CheckedFiles, Quarantine, QuarantineResolved, Runs
from slowwave.transforms.landing.schema_changes import EXTRA_BEFORE, from_extra
from slowwave.transforms.landing.tables import LANDED
from slowwave.transforms.landing.versions import with_row_hash

Problem = Literal["damaged", "truncated", "missing", "swapped", "foreign"]
Mend = Literal["night", "backup", "owner"]

_DIGEST = re.compile(r"[0-9a-f]{32}")
_LANDED_NAME = re.compile(r"([0-9a-f]{32})-(-?\d+)")
_LEDGER_NAME = re.compile(r"\d{8}T\d{12}-[0-9a-f]{4}(-\d+)?|[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_STATE_NAME = re.compile(r"[^/]+-([0-9a-f]{32})")
_ROWS: Mapping[str, type[Landed]] = {table.name: table for table in (*LANDED, Decisions)}
_EVIDENCE = {table.name: table for table in EVIDENCE}
_STATES = {table.name for table in STATES}
_BY_DAY = {table.name for table in (*_ROWS.values(), *LEDGER, DayInputs, CheckedFiles, *RETAINED.values())}
# Of these a night makes anew what it needs.
_DERIVED = frozenset({"evidence", CheckedFiles.name, DayInputs.name, "kept_runs"})
_PACKED = (".zst", ".parts")
_BLOCK = 2**20


@dataclass(frozen=True)
class Damage:
    """Something wrong with a file, by its path in the lake or home; `mend`: who can, a night, a backup or the owner."""

    path: str
    problem: Problem
    says: str
    mend: Mend


class _WrongFileError(Exception):
    """What a file holds is not what it should."""


def find_lake_damage(lake: Lake, kept_runs: Collection[str]) -> Iterator[Damage]:
    """Yield what is wrong with the files of a lake; nothing is changed.

    `kept_runs`: the runs whose evidence must be there.
    """
    try:
        lake.check_format()
    except UserError as error:
        yield Damage("FORMAT", "damaged", str(error), "backup")
    try:
        notes = read_notes(lake.root) if isinstance(storage_of(lake.root), Folder) else None
    except ValueError as error:
        notes = None
        yield Damage(NAME, "damaged", str(error), "night")
    there = list(_list_files(lake))
    judge = _Judge(lake, notes or FileNotes(), _read_spans(lake))
    for name in there:
        found = judge.judge_file(name)
        if found is not None:
            yield found
    yield from _find_missing(lake, kept_runs, notes, set(there))


def _list_files(lake: Lake) -> Iterator[str]:
    """Yield every file by its path in the lake."""
    if isinstance(storage_of(lake.root), Folder):
        yield from (name for name, _ in walk_files(lake.root))
        return
    storage, folders = storage_of(lake.root), [lake.root]
    while folders:
        folder = folders.pop()
        yield from (path.relative_to(lake.root).as_posix() for path in storage.files(folder))
        folders += [folder / name for name in storage.folders(folder)]


def _read_spans(lake: Lake) -> Spans:
    """Return when runs wrote, as far as their ledger can be read."""
    try:
        return written_spans(lake.ledger(Runs))
    except (pl.exceptions.PolarsError, OSError):
        return []


class _Judge:
    """Holds files against what was noted of them, and of others."""

    def __init__(self, lake: Lake, notes: FileNotes, spans: Spans) -> None:
        self._lake = lake
        self._notes = notes
        self._spans = spans
        self._named = {(one.size, one.digest): name for name, one in notes.files.items()}
        horizon = read_horizon(lake.root, "texts")
        self._texts_from = horizon.before if horizon else date.min

    def judge_file(self, name: str) -> Damage | None:
        """Return what is wrong with a file, None where nothing is."""
        if not _is_of_lake(name):
            return Damage(name, "foreign", "slowwave writes no file of that name", "owner")
        mend: Mend = "night" if name.split("/", maxsplit=1)[0] in _DERIVED else "backup"
        was = self._notes.files.get(name)
        path = self._lake.root / name
        try:
            (path,) = on_disk([path])
            if was is not None and (found := self._held_against(was, path, name, mend)) is not None:
                return None if found == "whole" else found
            self._check_content(path, name)
            if was is None and (found := self._stranger(path, name)) is not None:
                return found
        except FileNotFoundError:  # a landing has merged it
            return None
        except (_WrongFileError, OSError, ValueError, pl.exceptions.PolarsError, zstandard.ZstdError) as error:
            return self._wrong(name, str(error).strip().splitlines()[0], mend, path)
        return None

    def _held_against(self, was: Noted, path: Path, name: str, mend: Mend) -> Damage | Literal["whole"] | None:
        """Return what a file is, held against what was noted of it; None where a run may have rewritten it since."""
        digest, status = digest_file(path), path.stat()
        if digest == was.digest:
            return "whole"
        is_as_written = status.st_mtime_ns == was.changed_ns  # a disk changes no time
        is_rewritten = name.split("/", maxsplit=1)[0] in REWRITTEN or is_written_by_run(status.st_mtime_ns, self._spans)
        if not is_as_written and is_rewritten and (status.st_size, digest) not in self._named:
            return None
        if status.st_size < was.size and (status.st_size, digest) not in self._named:
            return Damage(name, "truncated", f"it has {status.st_size:,} of {was.size:,} bytes", mend)
        return self._wrong(name, "its bytes are not those that were written", mend, path)

    def _wrong(self, name: str, says: str, mend: Mend, path: Path) -> Damage:
        other = self._named.get((path.stat().st_size, digest_file(path)))
        if other is not None and other != name:
            return Damage(name, "swapped", f"it holds what {other} should", mend)
        return Damage(name, "damaged", says, mend)

    def _stranger(self, path: Path, name: str) -> Damage | None:
        """Return that a file is none of this lake's: no night has seen it, and none wrote it."""
        changed_ns = path.stat().st_mtime_ns
        is_known = not self._notes.noted_ns or is_written_by_run(changed_ns, self._spans)
        first = name.split("/", maxsplit=1)[0]
        if is_known or (changed_ns > self._notes.noted_ns and first != "evidence") or first in REWRITTEN:
            return None
        return Damage(name, "foreign", "no night has seen it, and none wrote it", "owner")

    def _check_content(self, path: Path, name: str) -> None:
        """Raises what is wrong with a file that no night has noted, or that was rewritten since."""
        parts, stem = name.split("/"), Path(name).stem
        if parts[0] in _ROWS:
            self._check_rows(_ROWS[parts[0]], path, stem, date.fromisoformat(parts[1][4:]))
        elif parts[:2] == [Quarantine.name, "files"]:
            with path.open("rb") as file:
                _require(
                    hashlib.file_digest(file, "sha256").hexdigest() == parts[2], "its bytes are not those it names"
                )
        elif name.endswith(".parquet"):
            if parts[0] == "evidence" and parts[1] in _STATES:
                _require(digest_file(path) == stem.rpartition("-")[2], "its bytes are not those it names")
            for frame in read_damaged_frames(path):
                _require(pl.Binary not in frame.dtypes, "a text in it is not UTF-8")
        elif name.endswith(_PACKED):
            with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
                while stream.read(_BLOCK):
                    pass
        elif name.endswith(".json"):
            json.loads(path.read_bytes())

    def _check_rows(self, table: type[Landed], path: Path, stem: str, day: date) -> None:
        found = _LANDED_NAME.fullmatch(stem)
        frame = pl.concat([*read_damaged_frames(path)])
        newest = frame.select(pl.max_horizontal(pl.col(table.event_time).max(), pl.col("recorded_at").max())).item()
        named = (rows_digest(frame["row_hash"]), str(microseconds(newest)))
        _require(found is not None and named == found.groups(), "its rows are not those it names")
        _require(
            frame[table.event_time].dt.date().unique().to_list() == [day], f"it holds rows of another day than {day}"
        )
        if table in TEXTS_OF and day < self._texts_from:
            return  # rows whose texts have expired keep the hash they had
        # of a row with columns that stood in `extra` before, the hash is of how they were delivered
        later = [c.name for c in from_extra(table)]
        plain = frame.filter(
            pl.all_horizontal(pl.lit(value=True), pl.col([n for n in later if n in frame.columns]).is_null())
        )
        if "clears" in frame.columns:
            plain = plain.filter(pl.col("clears").is_null())
        if "extra" in frame.columns:
            mentions = (
                pl.col("extra").str.contains_any([f'"{n}"' for n in later]).fill_null(value=False)
                if later
                else pl.lit(value=False)
            )
            plain = plain.filter(~mentions).with_columns(pl.col("extra").alias(EXTRA_BEFORE))
        again = with_row_hash(table, plain)
        is_same = (again["row_hash"] == plain["row_hash"]).all() and (again["key_hash"] == plain["key_hash"]).all()
        _require(is_same, "a row in it is not what its hash says")


def _require(is_so: bool, says: str) -> None:
    if not is_so:
        raise _WrongFileError(says)


def _is_of_lake(name: str) -> bool:
    """Return whether slowwave names a file so."""
    parts, stem = name.split("/"), Path(name).stem
    if len(parts) == 1:
        return name == "FORMAT"
    if parts[:2] == [Quarantine.name, "files"]:
        return len(parts) == 3 and _SHA256.fullmatch(parts[2]) is not None  # noqa: PLR2004 - its two folders, and it
    if parts[0] in REWRITTEN or parts[0] in {"moved_keys", "published"}:
        return True
    if parts[0] == "evidence" and len(parts) == 4 and _is_day(parts[2]):  # noqa: PLR2004 - evidence/TABLE/DAY/FILE
        of = _STATE_NAME if parts[1] in _STATES else _DIGEST
        return name.endswith(".parquet") and of.fullmatch(stem) is not None and parts[1] in _STATES | _EVIDENCE.keys()
    is_by_day = parts[0] in _BY_DAY and len(parts) == 3 and _is_day(parts[1])  # noqa: PLR2004 - TABLE/DAY/FILE
    of = _LANDED_NAME if parts[0] in _ROWS else _LEDGER_NAME
    return is_by_day and name.endswith(".parquet") and of.fullmatch(stem) is not None


def _is_day(name: str) -> bool:
    try:
        return name.startswith("day=") and bool(date.fromisoformat(name[4:]))
    except ValueError:
        return False


def _find_missing(lake: Lake, kept_runs: Collection[str], notes: FileNotes | None, there: set[str]) -> Iterator[Damage]:
    try:
        inputs = lake.ledger(DayInputs).filter(pl.col("run_id").is_in(list(kept_runs)))
        # a release before this one had other tables
        ours = lake.ledger(Runs).filter(pl.col("code_hash") == code_hash())["run_id"].implode()
        resolved = set(lake.ledger(QuarantineResolved, without=("raw_text", "header"))["quarantine_id"])
        refused = lake.ledger(Quarantine, without=("raw_text", "header"))
    except (pl.exceptions.PolarsError, OSError):  # said of the file itself
        return
    sure = set(partition_names(inputs.filter(pl.col("run_id").is_in(ours))).iter_rows())
    noted = notes.files if notes else {}
    yield from _find_missing_evidence(lake, partition_names(inputs), sure, noted, there)
    kept = refused.filter(~pl.col("quarantine_id").is_in(list(resolved)))["kept_file"].drop_nulls().unique().sort()
    for one in kept:
        name = f"{Quarantine.name}/files/{one}"
        if name not in there:
            yield Damage(name, "missing", "the bytes of refused rows are gone", "backup")
    if notes is not None:
        yield from _find_missing_noted(lake, notes, there)


def _find_missing_evidence(
    lake: Lake,
    named: pl.DataFrame,
    sure: Collection[tuple[str, date, str]],
    noted: Collection[str],
    there: Collection[str],
) -> Iterator[Damage]:
    """Yield evidence that runs name and is gone: if it was `noted`, or surely was written (`sure`)."""
    expired = read_horizon(lake.root, "evidence")
    for table, day, stem in sorted(set(named.iter_rows())):
        name = f"evidence/{table}/day={day}/{stem}.parquet"
        was_there = name in noted or (table, day, stem) in sure
        if was_there and name not in there and not (expired is not None and day < expired.before):
            yield Damage(name, "missing", "a run that is kept names it", "night")


def _find_missing_noted(lake: Lake, notes: FileNotes, there: set[str]) -> Iterator[Damage]:
    for day, (rows, gone) in missing_rows(lake, notes, dict.fromkeys(there)).items():
        for name in gone:
            yield Damage(name, "missing", f"{rows:,} rows that {day} had are gone", "backup")
    for name in sorted(notes.files.keys() - there):
        parts = name.split("/")
        if parts[0] == "evidence" and parts[1] in _STATES and not _has_later_state(name, there):
            yield Damage(name, "missing", "a state that a night would begin with is gone", "night")
        elif parts[0] in {"moved_keys", "FORMAT", "erased", "let_go"} and not _is_passing(name):
            yield Damage(name, "missing", "it was there after the last night", "backup")


def _has_later_state(name: str, there: set[str]) -> bool:
    """Return whether another state of its table is there of that month, from the same day or a later one."""
    _, table, day, _ = name.split("/")
    month = f"evidence/{table}/{day[: len('day=2026-03')]}"
    return any(one.startswith(month) and one.split("/")[2] >= day for one in there)


def _is_passing(name: str) -> bool:
    """Return whether a file is there for as long as an erasure takes."""
    return name.startswith("erased/intent")
