"""The steps of an erasure: previewed, taken from the lake, and, once a night has published without it, completed.

From the lake go row versions, decisions, moved keys, refused rows, notes of files, and notes of imports. An erasure
that was killed in the midst is continued by the next night, or by the same command.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import zstandard

from slowwave.flows.imports.import_state import FOLDER as IMPORTS
from slowwave.flows.imports.trace_parts import PartLine, part_lines
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON
from slowwave.flows.lake.lifetime.file_texts import decode_texts, join_row_texts, join_texts
from slowwave.flows.lake.lifetime.raw_files import RETAINED, read_raw_frames, remove_rows, rewrite_rows
from slowwave.flows.lake.lifetime.tombstones import ERASE, ensure_hash_key, read_tombstones
from slowwave.flows.land.quarantine import kept_path
from slowwave.flows.lifetime.erasure import (
    Erasure,
    ErasureTargets,
    RepeatedRows,
    SearchTerms,
    end_erasure,
    make_tombstones,
    plan_erasure,
    read_unfinished_erasure,
)
from slowwave.flows.lifetime.home_erasure import HomeErasure, erase_from_home, find_superseded_files
from slowwave.flows.publish.run import Run
from slowwave.transforms.decisions.effects import decision_rows
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import CheckedFiles, Quarantine, QuarantineResolved, RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED


@dataclass(frozen=True)
class ErasurePreview:
    """What would go: rows by landed table in `erasure`, all else by place in `removed`; and what rows of others repeat.

    `erased_at`: when all of it was erased before, if nothing of it is there.
    """

    erasure: Erasure
    repeated: RepeatedRows
    removed: Counter[str]
    erased_at: datetime | None = None


@dataclass(frozen=True)
class CompletedErasure:
    """What came of an erasure: rows removed from each table of the lake, and what came of the rest of the home."""

    erasure: Erasure
    removed: Counter[str]
    home: HomeErasure


def preview_erasure(settings: Settings, lake: Lake, targets: ErasureTargets) -> ErasurePreview:
    """Return what would go. Raises UserError where nothing of it was ever here."""
    erasure, repeated = plan_erasure(lake, targets)
    removed = erase_from_lake(lake, erasure, rehearses=True)
    if not removed and not erasure.rows:
        at = _read_erasure_time(lake, targets)
        if at is None:
            message = (
                f"nothing of {describe_targets(targets)} has landed (nothing was changed): name an id as rows state it"
            )
            raise UserError(message)
        if not _has_older_files(settings, at):
            return ErasurePreview(erasure, repeated, removed, at)
        # another home over the lake erased it, and what this one published may still hold it
    removed += Counter(sort for sort, path in find_superseded_files(settings) if not path.is_symlink())
    return ErasurePreview(erasure, repeated, removed)


def continue_erasure(run: Run) -> Counter[str]:
    """Take from the lake what an erasure takes that has begun. Raises OSError as the disk does."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return Counter()
    _land_tombstones(run.lake, erasure)
    return erase_from_lake(run.lake, erasure)


def complete_erasure(run: Run, removed: Counter[str]) -> CompletedErasure | None:
    """Once it is published without: take it from the rest of the home, search all files, and end the erasure."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return None
    home = erase_from_home(run.settings, run.lake, erasure)
    end_erasure(run.lake)
    return CompletedErasure(erasure, removed, home)


def describe_targets(targets: Sequence[tuple[str, str]]) -> str:
    """Return what was named, in words."""
    return ", ".join(f"{kind} {quote_shortened(name)}" for kind, name in targets)


def _land_tombstones(lake: Lake, erasure: Erasure) -> None:
    rows = decision_rows(make_tombstones(erasure, ensure_hash_key(lake.root)))
    day = erasure.begun_at.date()
    there = lake.row_hashes(Decisions, [day])
    fresh = rows.filter(~pl.col("row_hash").is_in(there.implode()))
    if fresh.height:
        lake.write_rows(Decisions, day, fresh)
        lake.compact(Decisions, day)


def _read_erasure_time(lake: Lake, targets: ErasureTargets) -> datetime | None:
    """Return when the last of them was erased; None where one was not."""
    tombstones = read_tombstones(lake.root)
    times = [tombstones.erased_at(kind, name) if tombstones else None for kind, name in targets]
    found = [time for time in times if time is not None]
    return max(found) if len(found) == len(times) else None


def _has_older_files(settings: Settings, at: datetime) -> bool:
    """Return whether anything that this home published, or made of it, is from before an instant."""
    current = current_run(settings)
    paths = [path for _, path in find_superseded_files(settings)] + ([current] if current else [])
    return any(path.lstat().st_mtime < at.replace(tzinfo=UTC).timestamp() for path in paths)


_IN_PLACE = "erased"


def erase_from_lake(lake: Lake, erasure: Erasure, *, rehearses: bool = False) -> Counter[str]:
    """Take what goes out of a lake; return how many rows of each table, kept files and entries of imports.

    Whatever has gone before counts no more, so that a killed one is followed by another. `rehearses`: only counts.
    Raises OSError as the disk does.
    """
    sought, gone = erasure.sought, Counter[str]()
    if not rehearses:
        for table in LANDED:
            gone[table.name] += _erase_landed(lake, erasure, table.name)
        gone["moved_keys"] += _erase_moved_keys(lake, erasure)
        for table in RETAINED.values():
            gone[table.name] += _erase_retained(lake, table.name, sought)
    gone["decisions"] += _erase_decisions(lake, sought, rehearses=rehearses)
    kept = _erase_kept_files(lake, sought, rehearses=rehearses)
    gone["quarantine/files"] += len(kept)
    for table in (Quarantine, QuarantineResolved):
        gone[table.name] += _blank_refused(lake, table.name, sought, kept, rehearses=rehearses)
    gone["run_files"] += _blank(lake, RunFiles.name, sought, ("source",), rehearses=rehearses)
    gone["runs"] += _blank(lake, Runs.name, sought, ("message",), rehearses=rehearses)
    gone["imports"] += _erase_from_imports(lake, sought, rehearses=rehearses)
    if not rehearses:
        _forget_checked_files(lake)
    return +gone


def _erase_landed(lake: Lake, erasure: Erasure, name: str) -> int:
    (table,) = (table for table in LANDED if table.name == name)
    ids = pl.Series(sorted(erasure.keys[name]), dtype=pl.String).implode()
    gone = 0
    for files in lake.files(name).values() if erasure.keys[name] else ():
        for file in files:
            found = [frame.filter(pl.col(table.key[0]).is_in(ids))["row_hash"] for frame in read_raw_frames(file.path)]
            hashes = pl.concat(found) if found else pl.Series(dtype=pl.String)
            gone += remove_rows(table, file, hashes) if len(hashes) else 0
    return gone


def _erase_moved_keys(lake: Lake, erasure: Erasure) -> int:
    gone = 0
    for table in LANDED:
        hashes = pl.Series(erasure.key_hashes[table.name], dtype=pl.Int64).implode()
        for path in _list_files(lake.root / "moved_keys" / table.name):
            rows = _read_whole(path)
            gone += _keep_rows(path, rows, ~rows["key_hash"].is_in(hashes))
    return gone


def _erase_retained(lake: Lake, name: str, sought: SearchTerms) -> int:
    """Erase the evidence retained of texts that have expired."""
    gone = 0
    for path, rows in _read_ledger(lake, name):
        gone += _keep_rows(path, rows, ~pl.Series(sought.match_rows(join_row_texts(rows)), dtype=pl.Boolean))
    return gone


def _erase_decisions(lake: Lake, sought: SearchTerms, *, rehearses: bool) -> int:
    gone = 0
    for files in lake.files(Decisions.name).values():
        for file in files:
            rows = _read_whole(file.path)
            is_hit = pl.Series(sought.match_rows(join_row_texts(rows.drop("row_hash", "key_hash")))) & (
                rows["command"] != ERASE
            )
            hashes = rows.filter(is_hit)["row_hash"]
            gone += len(hashes) if rehearses or not len(hashes) else remove_rows(Decisions, file, hashes)
    return gone


def _erase_kept_files(lake: Lake, sought: SearchTerms, *, rehearses: bool) -> set[str]:
    """Remove the kept bytes in which it stands, whole: which of them are whose is not known."""
    found = set()
    for path in _list_files(kept_path(lake, "")):
        if any(sought.match_rows(texts).any() for texts in decode_texts(path)):
            found.add(path.name)
    if not rehearses:
        storage_of(lake.root).remove(kept_path(lake, name) for name in found)
    return found


def _blank_refused(lake: Lake, name: str, sought: SearchTerms, kept: set[str], *, rehearses: bool) -> int:
    """Blank refused rows: they stay as counts, and cannot be tried again."""
    blanked = 0
    for path, rows in _read_ledger(lake, name):
        is_hit = pl.Series("is_hit", sought.match_rows(join_row_texts(rows)), pl.Boolean)
        is_kept = rows["kept_file"].is_in(list(kept)) if "kept_file" in rows.columns and kept else is_hit & False
        is_named = pl.Series(sought.match_rows(join_row_texts(rows.select("source"))), dtype=pl.Boolean)
        blanked += int(is_hit.sum())
        if rehearses or not (is_hit | is_kept.fill_null(value=False)).any():
            continue
        hit = pl.lit(is_hit)
        changed = {
            "raw_text": pl.when(hit).then(pl.lit("")).otherwise("raw_text"),
            "reason": pl.when(hit).then(pl.lit(ERASED_REASON)).otherwise("reason"),
            "source": pl.when(pl.lit(is_named)).then(pl.lit(_IN_PLACE)).otherwise("source"),
            "header": pl.when(hit).then(None).otherwise("header"),
            "kept_file": pl.when(hit | pl.lit(is_kept.fill_null(value=False))).then(None).otherwise("kept_file"),
        }
        rewrite_rows(path, rows.with_columns(**{name: of for name, of in changed.items() if name in rows.columns}))
    return blanked


def _blank(lake: Lake, name: str, sought: SearchTerms, columns: tuple[str, ...], *, rehearses: bool) -> int:
    """Put `erased` in place of these texts of a ledger."""
    blanked = 0
    for path, rows in _read_ledger(lake, name):
        is_hit = pl.Series("is_hit", sought.match_rows(join_row_texts(rows.select(columns))), pl.Boolean)
        blanked += int(is_hit.sum())
        if is_hit.any() and not rehearses:
            changed = [pl.when(pl.lit(is_hit)).then(pl.lit(_IN_PLACE)).otherwise(one).alias(one) for one in columns]
            rewrite_rows(path, rows.with_columns(changed))
    return blanked


def _forget_checked_files(lake: Lake) -> None:
    """Remove what was found out about files that are gone: it names rows."""
    there = {
        (table.name, file.day, file.path.name)
        for table in LANDED
        for files in lake.files(table.name).values()
        for file in files
    }
    for path, rows in _read_ledger(lake, CheckedFiles.name):
        keys = rows.select("landed_table", "day", "file_name").iter_rows()
        _keep_rows(path, rows, pl.Series([key in there for key in keys], dtype=pl.Boolean))


def _list_files(folder: Path) -> list[Path]:
    return storage_of(folder).files(folder)


def _read_ledger(lake: Lake, name: str) -> Iterator[tuple[Path, pl.DataFrame]]:
    for files in lake.files(name).values():
        for file in files:
            yield file.path, _read_whole(file.path)


def _read_whole(path: Path) -> pl.DataFrame:
    return pl.concat(read_raw_frames(path))


def _keep_rows(path: Path, rows: pl.DataFrame, stays: pl.Series) -> int:
    left = rows.filter(stays)
    if left.height < rows.height:
        rewrite_rows(path, left)
    return rows.height - left.height


# --------------------------------------------------------------------------------------------------- notes of imports


def _erase_from_imports(lake: Lake, sought: SearchTerms, *, rehearses: bool) -> int:
    """Take out of `lake/imports` what names what goes; return how many entries.

    A file that is damaged is left, and found when all is searched.
    """
    folder, gone = lake.root / IMPORTS, 0
    for path in storage_of(folder).files(folder):
        if path.suffix == ".parts":
            gone += _erase_parts(path, sought, rehearses=rehearses)
        elif path.suffix == ".json":
            gone += _erase_entries(path, sought, rehearses=rehearses)
        elif path.name.endswith(".zst"):
            gone += _erase_seen(path, sought, rehearses=rehearses)
    return gone


def _erase_parts(path: Path, sought: SearchTerms, *, rehearses: bool) -> int:
    try:
        lines = list(part_lines(io.BytesIO(storage_of(path).read(path))))
    except (ValueError, zstandard.ZstdError):
        return 0
    is_hit = sought.match_rows([join_texts([line.record]) + _join_record_texts(line) for line in lines])
    if is_hit.any() and not rehearses:
        left = b"".join(line.text() for line, hit in zip(lines, is_hit, strict=True) if not hit)
        write_durably(path, lambda aside: aside.write_bytes(zstandard.compress(left)))
    return int(is_hit.sum())


def _join_record_texts(line: PartLine) -> str:
    return join_texts([orjson.loads(line.record)])


def _erase_entries(path: Path, sought: SearchTerms, *, rehearses: bool) -> int:
    try:
        entries = json.loads(storage_of(path).read(path))
    except ValueError:
        return 0
    left = _drop_entries(entries, sought) if isinstance(entries, dict) else entries
    if len(left) < len(entries) and not rehearses:
        text = json.dumps(left)
        write_durably(path, lambda aside: aside.write_text(text, encoding="utf-8"))
    return len(entries) - len(left)


def _erase_seen(path: Path, sought: SearchTerms, *, rehearses: bool) -> int:
    try:
        stated = orjson.loads(zstandard.decompress(storage_of(path).read(path)))
    except (ValueError, zstandard.ZstdError):
        return 0
    left = {name: _drop_entries(one, sought) if isinstance(one, dict) else one for name, one in stated.items()}
    gone = sum(len(one) - len(left[name]) for name, one in stated.items() if isinstance(one, dict))
    if gone and not rehearses:
        packed = zstandard.compress(orjson.dumps(left))
        write_durably(path, lambda aside: aside.write_bytes(packed))
    return gone


def _drop_entries(entries: Mapping[str, Any], sought: SearchTerms) -> dict[str, Any]:
    is_hit = sought.match_rows([join_texts([name, one]) for name, one in entries.items()])
    return {name: one for (name, one), hit in zip(entries.items(), is_hit, strict=True) if not hit}
