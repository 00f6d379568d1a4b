"""What goes from the tables of a lake: row versions, decisions, keys that moved, refused rows, notes about files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.erased.decoded import decoded_texts
from slowwave.flows.lake.erased.hashes import ERASE
from slowwave.flows.lake.erased.raw_files import raw_frames, rewritten, without_rows
from slowwave.flows.lake.erased.row_texts import row_texts
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.let_go.kept import KEPT
from slowwave.flows.land.erased import ERASED
from slowwave.flows.land.quarantine import kept_path
from slowwave.flows.life.erasure import Erasure
from slowwave.flows.life.texts import Sought
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles, Runs
from slowwave.transforms.landing.set_aside_tables import CheckedFiles
from slowwave.transforms.landing.tables import LANDED

GONE = "erased"


def take_from_lake(lake: Lake, erasure: Erasure, *, rehearses: bool = False) -> Counter[str]:
    """Take what goes out of the lake's tables; returns how many rows of each, kept files among them.

    Whatever has gone before counts no more, so that a killed one is followed by another. `rehearses`: only counts.
    """
    sought, gone = erasure.sought, Counter[str]()
    if not rehearses:
        for table in LANDED:
            gone[table.name] += _take_landed(lake, erasure, table.name)
        gone["moved_keys"] += _take_moved_keys(lake, erasure)
        for table in KEPT:
            gone[table.name] += _take_found(lake, table.name, sought)
    gone["decisions"] += _take_decisions(lake, sought, rehearses=rehearses)
    kept = _take_kept_files(lake, sought, rehearses=rehearses)
    gone["quarantine/files"] += len(kept)
    for table in (Quarantine, QuarantineResolved):
        gone[table.name] += _blank_refused(lake, table.name, sought, kept, rehearses=rehearses)
    gone["run_files"] += _blank(lake, RunFiles.name, sought, ("source",), rehearses=rehearses)
    gone["runs"] += _blank(lake, Runs.name, sought, ("message",), rehearses=rehearses)
    if not rehearses:
        _forget_checked_files(lake)
    return +gone


def _take_landed(lake: Lake, erasure: Erasure, name: str) -> int:
    (table,) = (table for table in LANDED if table.name == name)
    ids = pl.Series(sorted(erasure.keys[name]), dtype=pl.String).implode()
    gone = 0
    for files in lake.files(name).values() if erasure.keys[name] else ():
        for file in files:
            found = [frame.filter(pl.col(table.key[0]).is_in(ids))["row_hash"] for frame in raw_frames(file.path)]
            hashes = pl.concat(found) if found else pl.Series(dtype=pl.String)
            gone += without_rows(table, file, hashes) if len(hashes) else 0
    return gone


def _take_moved_keys(lake: Lake, erasure: Erasure) -> int:
    gone = 0
    for table in LANDED:
        hashes = pl.Series(erasure.key_hashes[table.name], dtype=pl.Int64).implode()
        for path in _files(lake.root / "moved_keys" / table.name):
            rows = _whole(path)
            gone += _keep(path, rows, ~rows["key_hash"].is_in(hashes))
    return gone


def _take_found(lake: Lake, name: str, sought: Sought) -> int:
    """What was found in texts that have gone since."""
    gone = 0
    for path, rows in _ledger(lake, name):
        gone += _keep(path, rows, ~pl.Series(sought.match_rows(row_texts(rows)), dtype=pl.Boolean))
    return gone


def _take_decisions(lake: Lake, sought: Sought, *, rehearses: bool) -> int:
    gone = 0
    for files in lake.files(Decisions.name).values():
        for file in files:
            rows = _whole(file.path)
            is_hit = pl.Series(sought.match_rows(row_texts(rows.drop("row_hash", "key_hash")))) & (
                rows["command"] != ERASE
            )
            hashes = rows.filter(is_hit)["row_hash"]
            gone += len(hashes) if rehearses or not len(hashes) else without_rows(Decisions, file, hashes)
    return gone


def _take_kept_files(lake: Lake, sought: Sought, *, rehearses: bool) -> set[str]:
    """The kept bytes in which it stands go whole: which of them are whose is not known."""
    found = set()
    for path in _files(kept_path(lake, "")):
        if any(sought.match_rows(texts).any() for texts in decoded_texts(path)):
            found.add(path.name)
    if not rehearses:
        storage_of(lake.root).remove(kept_path(lake, name) for name in found)
    return found


def _blank_refused(lake: Lake, name: str, sought: Sought, kept: set[str], *, rehearses: bool) -> int:
    """Refused rows stay as counts: their texts go, and with them what could be tried again."""
    blanked = 0
    for path, rows in _ledger(lake, name):
        is_hit = pl.Series("is_hit", sought.match_rows(row_texts(rows)), pl.Boolean)
        is_kept = rows["kept_file"].is_in(list(kept)) if "kept_file" in rows.columns and kept else is_hit & False
        is_named = pl.Series(sought.match_rows(row_texts(rows.select("source"))), dtype=pl.Boolean)
        blanked += int(is_hit.sum())
        if rehearses or not (is_hit | is_kept.fill_null(value=False)).any():
            continue
        hit = pl.lit(is_hit)
        changed = {
            "raw_text": pl.when(hit).then(pl.lit("")).otherwise("raw_text"),
            "reason": pl.when(hit).then(pl.lit(ERASED)).otherwise("reason"),
            "source": pl.when(pl.lit(is_named)).then(pl.lit(GONE)).otherwise("source"),
            "header": pl.when(hit).then(None).otherwise("header"),
            "kept_file": pl.when(hit | pl.lit(is_kept.fill_null(value=False))).then(None).otherwise("kept_file"),
        }
        rewritten(path, rows.with_columns(**{name: of for name, of in changed.items() if name in rows.columns}))
    return blanked


def _blank(lake: Lake, name: str, sought: Sought, columns: tuple[str, ...], *, rehearses: bool) -> int:
    """Rows of a ledger of whose texts nothing stays."""
    blanked = 0
    for path, rows in _ledger(lake, name):
        is_hit = pl.Series("is_hit", sought.match_rows(row_texts(rows.select(columns))), pl.Boolean)
        blanked += int(is_hit.sum())
        if is_hit.any() and not rehearses:
            changed = [pl.when(pl.lit(is_hit)).then(pl.lit(GONE)).otherwise(one).alias(one) for one in columns]
            rewritten(path, rows.with_columns(changed))
    return blanked


def _forget_checked_files(lake: Lake) -> None:
    """What was found out about files that are gone: it names rows."""
    there = {
        (table.name, file.day, file.path.name)
        for table in LANDED
        for files in lake.files(table.name).values()
        for file in files
    }
    for path, rows in _ledger(lake, CheckedFiles.name):
        keys = rows.select("landed_table", "day", "file_name").iter_rows()
        _keep(path, rows, pl.Series([key in there for key in keys], dtype=pl.Boolean))


def _files(folder: Path) -> list[Path]:
    return storage_of(folder).files(folder)


def _ledger(lake: Lake, name: str) -> Iterator[tuple[Path, pl.DataFrame]]:
    for files in lake.files(name).values():
        for file in files:
            yield file.path, _whole(file.path)


def _whole(path: Path) -> pl.DataFrame:
    frames: Iterable[pl.DataFrame] = list(raw_frames(path))
    return pl.concat(frames)


def _keep(path: Path, rows: pl.DataFrame, stays: pl.Series) -> int:
    left = rows.filter(stays)
    if left.height < rows.height:
        rewritten(path, left)
    return rows.height - left.height
