"""Landing: delivered files become rows of the lake, once; bad rows become rows of the quarantine, with a reason.

Order of writes: keys that moved between days, rows, quarantine, the file's ledger entry, and only then the delivered
file is removed from the inbox. Killed anywhere, the same landing run again leaves the same rows.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.delivery import PACKED_SUFFIXES, SUFFIXES, BadRow, chunks, file_hash, open_delivery
from slowwave.flows.errors import UserError
from slowwave.flows.inbox import Delivery
from slowwave.flows.lake import Lake
from slowwave.flows.run_ids import utc_now
from slowwave.flows.stage_costs import stage_cost
from slowwave.transforms.landed_tables import LANDED, Memories
from slowwave.transforms.landing import QUARANTINE_SCHEMA, ROW_NUMBER, Kind, readable_rows
from slowwave.transforms.schema import Landed, polars_schema
from slowwave.transforms.serving_tables import Quarantine, RunFiles

FLUSH_BYTES = 256 * 2**20
FLUSH_FILES = 500
_FILE_NUMBER = "file_number"


@dataclass
class FileCounts:
    """What became of one file; delivered = accepted + duplicate + quarantined."""

    file_number: int
    source: str
    file_hash: str
    bytes_count: int
    delivered: int = 0
    accepted: int = 0
    duplicate: int = 0
    quarantined: int = 0


@dataclass
class LandingReport:
    """Per file what became of its rows, and the days of each table that got new rows."""

    files: list[FileCounts] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    days: dict[str, set[date]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)  # of quarantined rows

    def total(self, name: str) -> int:
        """Sum of one count over the files."""
        return sum(getattr(file, name) for file in self.files)


def path_deliveries(paths: Sequence[str]) -> list[Delivery]:
    """The files that paths, folders, globs and `-` (standard input) name, sorted within each.

    Of a folder, what ends in .jsonl, .ndjson, .csv or .parquet, also with .gz or .zst, at any depth.
    Raises UserError for a path that is not there or cannot be read.
    """
    found: list[Delivery] = []
    for given in paths:
        if given == "-":
            found.append(Delivery("-", None))
            continue
        if not given:
            message = "an empty path was given: name a file, a folder or a glob, or give none to land the inbox"
            raise UserError(message)
        path = Path(given)
        try:
            if path.is_dir():
                found += [Delivery(str(file), file) for file in _files_below(path)]
                continue
            if path.exists():
                found.append(Delivery(given, path))
                continue
        except OSError as error:
            message = f"{given} cannot be read: {error.strerror}"
            raise UserError(message) from error
        matched = [Path(name) for name in sorted(glob.glob(given, recursive=True))]  # noqa: PTH207 - absolute globs too
        if not matched:
            message = f"{given}: no such file, folder or match"
            raise UserError(message)
        for match in matched:
            files = _files_below(match) if match.is_dir() else [match]
            found += [Delivery(str(file), file) for file in files]
    return found


def _files_below(folder: Path) -> list[Path]:
    def fail(error: OSError) -> None:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(message)

    found = []
    for root, folders, names in os.walk(folder, onerror=fail):
        folders.sort()
        for name in names:
            plain = name.lower()
            for packed in PACKED_SUFFIXES:
                plain = plain.removesuffix(packed)
            path = Path(root) / name
            # a broken link is listed, to be reported; a pipe would never end
            if plain.endswith(SUFFIXES) and not name.startswith(".") and (path.is_file() or path.is_symlink()):
                found.append(path)
    return sorted(found)


class _Batch:
    """Rows of several files, landed together so that many small files make few lake files."""

    def __init__(self) -> None:
        self.frames: dict[str, list[pl.DataFrame]] = {table.name: [] for table in LANDED}
        self.quarantine: list[pl.DataFrame] = []
        self.bytes = 0

    def add(self, file_number: int, frames: dict[str, pl.DataFrame], quarantine: pl.DataFrame) -> None:
        for name, frame in frames.items():
            if frame.height:
                self.frames[name].append(frame.with_columns(pl.lit(file_number, dtype=pl.Int64).alias(_FILE_NUMBER)))
                self.bytes += frame.estimated_size()
        if quarantine.height:
            self.quarantine.append(quarantine.with_columns(pl.lit(file_number, dtype=pl.Int64).alias(_FILE_NUMBER)))
            self.bytes += quarantine.estimated_size()


class Landing:
    """One landing into a lake (or, with `lake` None, a rehearsal that writes nothing)."""

    def __init__(
        self,
        lake: Lake | None,
        run_id: str,
        *,
        kind: Kind | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        stdin: BinaryIO | None = None,
        known: Lake | None = None,
    ) -> None:
        self.lake = lake
        self.known = lake or known
        self.run_id = run_id
        self.kind: Kind | None = kind
        self.progress = progress or (lambda *_: None)
        self.stdin = stdin or sys.stdin.buffer
        self.report = LandingReport(days={table.name: set() for table in LANDED})
        self._batch = _Batch()
        self._pending: list[tuple[FileCounts, Delivery, os.stat_result | None]] = []
        self._landed_files: dict[str, int] = {}
        self._seen: dict[str, set[str]] = {table.name: set() for table in LANDED}
        self._batches = 0

    @stage_cost("land")
    def land(self, deliveries: Iterable[Delivery]) -> LandingReport:
        """Land every delivery; a file that cannot be opened is noted in `unreadable` and the rest goes on.

        Raises OSError when the lake cannot be written; what was landed before stays landed.
        """
        if self.known is not None:
            ledger = self.known.ledger(RunFiles)
            self._landed_files = dict(ledger.select("file_hash", "delivered").iter_rows())
        for delivery in deliveries:
            try:
                handle = open_delivery(delivery.path, self.stdin)
                before = os.fstat(handle.fileno()) if delivery.from_inbox else None
                content, size = file_hash(handle)
                handle.seek(0)
            except OSError as error:
                self.report.unreadable.append(f"{delivery.source} cannot be read: {error.strerror}")
                continue
            with handle:
                self._read(delivery, handle, content, size, before)
            if self._batch.bytes >= FLUSH_BYTES or len(self._pending) >= FLUSH_FILES:
                self._flush()
        self._flush()
        return self.report

    def _read(
        self, delivery: Delivery, handle: BinaryIO, content: str, size: int, before: os.stat_result | None
    ) -> None:
        source = os.fsencode(delivery.source).decode("utf-8", "backslashreplace")  # a file's name need not be text
        file = FileCounts(len(self.report.files) + 1, source, content, size)
        self.report.files.append(file)
        if content in self._landed_files:
            file.delivered = file.duplicate = self._landed_files[content]
        else:
            for chunk in chunks(handle, source):
                landed = readable_rows(chunk.rows, self.kind)
                refused = pl.concat([landed.quarantine, _bad_rows(chunk.bad)])
                file.delivered += landed.delivered + len(chunk.bad)
                file.quarantined += refused.height
                self.report.reasons.update(refused["reason"])
                self._batch.add(file.file_number, {table.name: landed.table(table) for table in LANDED}, refused)
                self.progress(source, chunk.bytes_read, size)
                if self._batch.bytes >= FLUSH_BYTES:
                    self._flush_rows()
        self._landed_files[content] = file.delivered
        self._pending.append((file, delivery, before))

    def _flush(self) -> None:
        """Make everything read so far durable, then its ledger entries, then let go of the inbox files."""
        self._flush_rows()
        if self._pending and self.lake is not None:
            landed_at = utc_now()
            rows = [{**file.__dict__, "run_id": self.run_id, "landed_at": landed_at} for file, _, _ in self._pending]
            entries = pl.DataFrame(rows, schema_overrides={"landed_at": pl.Datetime("us")})
            self.lake.write_ledger(RunFiles, landed_at.date(), f"{self.run_id}-{self._batches}", entries)
            for _, delivery, before in self._pending:
                if delivery.from_inbox and delivery.path is not None and before is not None:
                    _remove_unchanged(delivery.path, before)
        self._pending = []

    def _flush_rows(self) -> None:
        batch, self._batch = self._batch, _Batch()
        self._batches += 1
        new_rows: list[pl.DataFrame] = []
        delivered: list[pl.DataFrame] = []
        for table in LANDED:
            if not batch.frames[table.name]:
                continue
            rows = pl.concat(batch.frames[table.name])
            delivered.append(rows.select(_FILE_NUMBER, ROW_NUMBER))
            fresh = self._fresh(table, rows)
            new_rows.append(fresh.select(_FILE_NUMBER, ROW_NUMBER))
            if self.lake is not None and fresh.height:
                self._write(table, fresh)
        if batch.quarantine and self.lake is not None:
            self._write_quarantine(pl.concat(batch.quarantine))
        if delivered:
            accepted = pl.concat(new_rows).unique().group_by(_FILE_NUMBER).len()
            total = pl.concat(delivered).unique().group_by(_FILE_NUMBER).len()
            for number, count in accepted.iter_rows():
                self.report.files[number - 1].accepted += count
            for number, count in (
                total.join(accepted, on=_FILE_NUMBER, how="left")
                .select(_FILE_NUMBER, pl.col("len") - pl.col("len_right").fill_null(0))
                .iter_rows()
            ):
                self.report.files[number - 1].duplicate += count

    def _fresh(self, table: type[Landed], rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that are not in the lake yet, each once, the first delivered of equal ones, with `day`."""
        rows = rows.with_columns(pl.col(table.event_time).dt.date().alias("day")).unique(
            subset="row_hash", keep="first", maintain_order=True
        )
        if self.known is not None:
            there = self.known.row_hashes(table, rows["day"].unique().to_list())
            rows = rows.join(there.to_frame(), on="row_hash", how="anti", maintain_order="left")
        if self.lake is None:
            seen = self._seen[table.name]
            rows = rows.filter(~pl.col("row_hash").is_in(pl.Series(list(seen), dtype=pl.String).implode()))
            seen.update(rows["row_hash"])
        return rows

    def _write(self, table: type[Landed], fresh: pl.DataFrame) -> None:
        lake = self.lake
        if lake is None:
            return
        if table is not Memories:  # a memory change is keyed by its own time, so it cannot stand on two days
            placed = fresh.select("key_hash", "day")
            days = pl.concat([placed, lake.days_of_keys(table, placed["key_hash"])]).unique()
            moved = days.filter(pl.len().over("key_hash") > 1)
            if moved.height:
                lake.add_moved_keys(table, moved)
        for (day,), rows in fresh.partition_by("day", as_dict=True, maintain_order=True).items():
            lake.write_rows(table, day, rows.select(*polars_schema(table)))
            self.report.days[table.name].add(day)

    def _write_quarantine(self, refused: pl.DataFrame) -> None:
        if self.lake is None:
            return
        landed_at = utc_now()
        files = pl.DataFrame(
            [(f.file_number, f.source, f.file_hash) for f in self.report.files],
            schema={_FILE_NUMBER: pl.Int64, "source": pl.String, "file_hash": pl.String},
            orient="row",
        )
        rows = refused.join(files, on=_FILE_NUMBER, maintain_order="left").with_columns(
            pl.format("{}-{}", "file_hash", pl.col(ROW_NUMBER).cast(pl.String).fill_null("file")).alias(
                "quarantine_id"
            ),
            pl.lit(self.run_id).alias("run_id"),
            pl.lit(landed_at).alias("landed_at"),
        )
        self.lake.write_ledger(Quarantine, landed_at.date(), f"{self.run_id}-{self._batches}", rows)


def _bad_rows(bad: Sequence[BadRow]) -> pl.DataFrame:
    return pl.DataFrame(
        [(row.row_number, "", row.reason, row.raw.decode("utf-8", "backslashreplace")) for row in bad],
        schema=QUARANTINE_SCHEMA,
        orient="row",
    )


def _remove_unchanged(path: Path, before: os.stat_result) -> None:
    """Remove a landed inbox file, unless it is no longer the one that was read."""

    def identity(of: os.stat_result) -> tuple[int, int, int, int]:
        return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns

    try:
        now = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(now.st_mode) and identity(now) == identity(before):
        path.unlink()


@stage_cost("land")
def compact_landed(lake: Lake, report: LandingReport, ledger_day: datetime) -> int:
    """Merge the small files of the days a landing touched; returns how many files went."""
    gone = sum(lake.compact(table, day) for table in LANDED for day in sorted(report.days[table.name]))
    return gone + sum(lake.compact(table, ledger_day.date()) for table in (RunFiles, Quarantine))
