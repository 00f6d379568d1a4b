"""Landing: delivered files become rows of the lake, once; bad rows become rows of the quarantine, with a reason.

Order of writes: bytes that cannot be read, keys that moved between days, rows, quarantine, the file's ledger entry, and
only then the delivered file is removed from the inbox. Killed anywhere, landing again leaves the same rows.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import BinaryIO

import polars as pl

from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON, NONE_ERASED, ErasedRows
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.formats.delivery import chunks, file_hash, open_delivery
from slowwave.flows.land.inbox import Delivery, path_deliveries
from slowwave.flows.land.quarantine import (
    MOST_REFUSED,
    MOST_SHOWN,
    ChangedFileError,
    keep_bytes,
    not_read_on,
    refused_frame,
    shown_rows,
)
from slowwave.flows.land.readings import Readings
from slowwave.flows.land.report import FileCounts, LandingReport
from slowwave.flows.land.retry import Attempt, attempts, file_identity, rows_of_placed_files
from slowwave.flows.land.small_files import FILE_NUMBER, SMALL_BYTES, Batch, SmallFiles, landed_together
from slowwave.flows.land.stopped import CHANGED, StoppedError, check_unchanged, opened_again, remove_unchanged, stopping
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.landed_rows import FORMER_HASH, ROW_NUMBER, LandedRows, readable_rows
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.mapping.shape import LEFT_OUT
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields
from slowwave.transforms.landing.tables import LANDED, Memories

__all__ = ["Delivery", "FileCounts", "Landing", "LandingReport", "compact_landed", "path_deliveries"]

FLUSH_BYTES = 128 * 2**20  # about seven times as much is taken while it is written
FLUSH_FILES = 5_000


@dataclass
class _Pending:
    """A file that was read and waits for its ledger entry: where it came from, or what of it was tried again."""

    file: FileCounts
    delivery: Delivery | None = None
    before: os.stat_result | None = None
    attempt: Attempt | None = None


class Landing:
    """One landing into a lake (or, with `lake` None, a rehearsal that writes nothing)."""

    def __init__(
        self,
        lake: Lake | None,
        run_id: str,
        *,
        kind: LandedTable | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        stdin: BinaryIO | None = None,
        known: Lake | None = None,
        longest_row: int = LONGEST_ROW,
        readings: Readings | None = None,
    ) -> None:
        self.lake = lake
        self.known = lake or known
        self.run_id = run_id
        self.kind: LandedTable | None = kind
        self.progress = progress or (lambda *_: None)
        self.stdin = stdin or sys.stdin.buffer
        self.longest_row = longest_row
        self.readings = readings or Readings()
        self.report = LandingReport(days={table.name: set() for table in LANDED})
        self._batch = Batch()
        self._pending: list[_Pending] = []
        self._landed_files: dict[str, int] = {}
        self._files: dict[int, FileCounts] = {}
        self._small = SmallFiles()
        self._seen: dict[str, set[str]] = {table.name: set() for table in LANDED}
        self._batches = 0
        erased = read_tombstones(self.known.root) if self.known is not None else None
        self._erased = ErasedRows(erased) if erased else NONE_ERASED

    @stage_cost("land")
    def land(self, deliveries: Iterable[Delivery]) -> LandingReport:
        """Land every delivery; a file that cannot be opened, or that trips us, is noted in `unreadable` and stays.

        Raises OSError when the lake cannot be written; what was landed before stays landed.
        """
        if self.known is not None:
            self._landed_files = rows_of_placed_files(self.known.ledger(RunFiles))
        for delivery in deliveries:
            try:
                handle = open_delivery(delivery.path, self.stdin)
                is_file = delivery.path is not None and delivery.path.is_file()
                before = os.fstat(handle.fileno()) if is_file else None  # what else there is was copied first
                content, size = file_hash(handle)
                handle.seek(0)
            except OSError as error:
                self.report.unreadable.append(f"{delivery.source} cannot be read: {error.strerror}")
                continue
            source = os.fsencode(delivery.source).decode("utf-8", "backslashreplace")  # a file's name need not be text
            pending = _Pending(self._file(source, content, size), delivery, before)
            with handle:
                self._take(pending, lambda pending=pending, handle=handle: self._read_file(pending, handle))
            if self._small.is_full:
                self._land_small()
        self._flush()
        return self.report

    def _file(self, source: str, content: str, size: int) -> FileCounts:
        """A file of this run, by the next number."""
        file = FileCounts(len(self._files) + 1, source, content, size)
        self._files[file.file_number] = file
        self.report.files.append(file)
        return file

    def retry(self) -> LandingReport:
        """Try again what is in quarantine: kept files from their bytes, other rows from their texts.

        A row that passes leaves the quarantine. Raises OSError when the lake cannot be read or written.
        """
        for attempt in attempts(self.known) if self.known is not None else []:
            file = self._file(attempt.source, attempt.file_hash, attempt.bytes_count)
            file.retried = attempt.tried.height
            pending = _Pending(file, attempt=attempt)
            self._take(pending, lambda file=file, attempt=attempt: self._reread(file, attempt))
        self._flush()
        return self.report

    def _take(self, pending: _Pending, read: Callable[[], None]) -> None:
        """Read a file; where that cannot go on, nothing of it stays in the batch, and the next one is read."""
        self._pending.append(pending)
        try:
            read()
        except StoppedError as stopped:
            self._leave(pending.file, stopped)
        if self._batch.bytes >= FLUSH_BYTES or len(self._pending) >= FLUSH_FILES:
            self._flush()

    def _leave(self, file: FileCounts, why: StoppedError) -> None:
        """Nothing of a file counts, and it stays where it is."""
        self._batch.drop(file.file_number)
        self.report.files.remove(file)
        self._pending = [each for each in self._pending if each.file is not file]
        self.report.unreadable.append(f"{file.source} {why}")

    def _read_file(self, pending: _Pending, handle: BinaryIO) -> None:
        file = pending.file
        if file.file_hash in self._small.hashes:
            self._land_small()
        place = file_identity(file.file_hash, file.source)
        if place in self._landed_files:
            file.delivered = file.duplicate = self._landed_files[place]
            self.report.already.append(file.source)
            if self.known is not None and self._erased.may_hold_erased(self.known, file.file_hash):
                self._refuse_erased(pending, handle)
            return
        reading = self._reading(pending)
        pieces = chunks(handle, file.source, self.longest_row, reading.names)
        shows = self.lake is None and reading.mapping is not None
        if file.bytes_count <= SMALL_BYTES and pending.delivery and pending.delivery.path and not shows:
            with stopping():
                first = list(itertools.islice(pieces, 2))
                check_unchanged(file, handle, pending.before)
            if len(first) == 1 and self._small.takes(file, first[0], reading):
                return
            pieces = itertools.chain(first, pieces)
        self._land_small()
        self._read_pieces(pending, handle, pieces, pending.before)

    def _refuse_erased(self, pending: _Pending, handle: BinaryIO) -> None:
        """Of a file that landed before something was erased, its rows of that are refused; all others are there."""
        file, reading = pending.file, self._reading(pending)
        pieces = chunks(handle, file.source, self.longest_row, reading.names)
        for _, refused in self._land_chunks(file, pieces, self.kind, reading):
            rows = self._erased.select_newly_refused(refused)
            file.quarantined += rows.height
            file.duplicate -= rows.height
            self._count(Counter(rows["reason"]))
            self._batch.add_refused(file.file_number, rows)

    def _count(self, reasons: Counter[str]) -> None:
        self.report.count_reasons(reasons)
        self.report.erased += reasons[ERASED_REASON]
        self.report.left_out += sum(count for reason, count in reasons.items() if reason.startswith(LEFT_OUT))

    def _land_small(self) -> None:
        """Land the small files that wait; those with refused rows, or all where we fail on them, one by one."""
        small, self._small = self._small, SmallFiles()
        if not small.files:
            return
        try:
            frames, alone, unknown = landed_together(small, self.kind, self._erased)
        except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - each is read alone, which finds the one at fault
            frames, alone, unknown = {}, {file.file_number for file, _, _ in small.files}, UnknownFields()
        self.report.unknown.merge(unknown)
        self._batch.add_together(frames)
        pending = {each.file.file_number: each for each in self._pending}
        for file, rows, _ in small.files:
            if file.file_number in alone:
                self._read_again(pending[file.file_number])
            else:
                file.delivered = self._landed_files[file_identity(file.file_hash, file.source)] = len(rows)

    def _read_again(self, pending: _Pending) -> None:
        file = pending.file
        try:
            with stopping():
                handle, before = opened_again(pending.delivery.path if pending.delivery else None, file.file_hash)
            with handle:
                pieces = chunks(handle, file.source, self.longest_row, self._reading(pending).names)
                self._read_pieces(pending, handle, pieces, before)
        except StoppedError as stopped:
            self._leave(file, stopped)

    def _read_pieces(
        self, pending: _Pending, handle: BinaryIO, pieces: Iterator[Chunk], before: os.stat_result | None
    ) -> None:
        file, unknown = pending.file, UnknownFields()
        reasons: Counter[str] = Counter()
        must_be_kept = holds_erased = False
        reading = self._reading(pending)
        for landed, refused in self._land_chunks(file, pieces, self.kind, reading):
            if not reading.is_import:
                unknown.add(landed.parts)
            file.delivered += landed.delivered
            file.quarantined += refused.height
            reasons.update(refused["reason"])
            file.is_refused_whole = file.delivered == refused[ROW_NUMBER].null_count() == 1
            must_be_kept = must_be_kept or refused["kept_file"].count() > 0
            holds_erased = holds_erased or self._erased.has_erased(refused)
            self._add(file, landed, refused)
        with stopping():
            check_unchanged(file, handle, before)
        is_found = must_be_kept and not holds_erased and self._erased.is_in_file(handle)
        if holds_erased or is_found:
            self._batch.without_bytes(file.file_number, is_whole=is_found)
        elif must_be_kept and self.lake is not None:
            try:
                keep_bytes(self.lake, handle, file.file_hash)
            except ChangedFileError:
                raise StoppedError(CHANGED) from None
        self._count(reasons)
        self.report.unknown.merge(unknown)
        self._landed_files[file_identity(file.file_hash, file.source)] = file.delivered

    def _reread(self, file: FileCounts, attempt: Attempt) -> None:
        reading = self.readings.of(attempt.source)
        pieces = attempt.chunks(self.longest_row, reading.names)
        for landed, refused in self._land_chunks(file, pieces, self.kind or attempt.kind, reading):
            if not reading.is_import:
                self.report.unknown.add(landed.parts)
            file.delivered += landed.delivered
            if attempt.is_worse(refused):
                message = f"could be read when it landed and cannot be now: {refused['reason'][0]}"
                raise StoppedError(message)
            self._add(file, landed, attempt.newly_refused(refused))

    def _reading(self, pending: _Pending) -> ReadingOptions:
        is_of_inbox = pending.delivery is not None and pending.delivery.from_inbox
        return self.readings.of(pending.file.source, from_inbox=is_of_inbox)

    def _add(self, file: FileCounts, landed: LandedRows, refused: pl.DataFrame) -> None:
        self._batch.add(file.file_number, landed, refused)
        if self._batch.bytes >= FLUSH_BYTES:
            self._flush_rows()

    def _land_chunks(
        self, file: FileCounts, pieces: Iterator[Chunk], kind: LandedTable | None, reading: ReadingOptions
    ) -> Iterator[tuple[LandedRows, pl.DataFrame]]:
        """Landed rows of each chunk, with all that were delivered counted, and the refused ones.

        A file of which too many are refused is not read on.
        """
        before = refused_count = 0
        kind = None if reading.is_import else kind
        while True:
            with stopping():
                chunk = next(pieces, None)
                if chunk is None:
                    return
                self.report.readings.update(chunk.readings)
                landed = self._erased.refuse_erased(readable_rows(chunk.rows, kind, reading))
                refused = self._erased.blank_erased(refused_frame(file, chunk, landed.quarantine, kind))
                if self.lake is None and reading.mapping is not None:
                    self.report.shown += shown_rows(landed, MOST_SHOWN - len(self.report.shown))
            yield replace(landed, delivered=landed.delivered + len(chunk.bad)), refused
            before, refused_count = refused_count, refused_count + refused.height
            if before <= MOST_REFUSED < refused_count:
                pieces = iter([not_read_on(chunk, refused_count)])
            self.progress(file.source, chunk.bytes_read, file.bytes_count)

    def _flush(self) -> None:
        """Make everything read so far durable, then its ledger entries, then let go of the inbox files."""
        self._land_small()
        self._flush_rows()
        pending, self._pending = self._pending, []
        for each in pending:
            if each.attempt is not None:
                each.attempt.settle(each.file)
        if not pending or self.lake is None:
            return
        landed_at = utc_now()
        name = f"{self.run_id}-{self._batches}"
        passed = [each.attempt.passed for each in pending if each.attempt is not None]
        if sum(rows.height for rows in passed):
            rows = pl.concat(passed).with_columns(
                resolved_run_id=pl.lit(self.run_id), resolved_at=pl.lit(landed_at, dtype=pl.Datetime("us"))
            )
            self.lake.write_ledger(QuarantineResolved, landed_at.date(), name, rows)
        changed = [each.file for each in pending if each.attempt is None or each.attempt.has_changed]
        if changed:
            rows = [{**asdict(file), "run_id": self.run_id, "landed_at": landed_at} for file in changed]
            entries = pl.DataFrame(rows, schema_overrides={"landed_at": pl.Datetime("us"), "retried": pl.Int64})
            self.lake.write_ledger(RunFiles, landed_at.date(), name, entries)
        for each in pending:
            if each.delivery is not None and each.delivery.from_inbox and each.delivery.path and each.before:
                remove_unchanged(each.delivery.path, each.before)

    def _flush_rows(self) -> None:
        batch, self._batch = self._batch, Batch()
        self._batches += 1
        new_rows: list[pl.DataFrame] = []
        delivered: list[pl.DataFrame] = []
        for table in LANDED:
            if not batch.frames[table.name]:
                continue
            rows = pl.concat(batch.frames[table.name], how="diagonal").sort(FILE_NUMBER, ROW_NUMBER)
            delivered.append(rows.select(FILE_NUMBER, ROW_NUMBER))
            fresh = self._fresh(table, rows)
            new_rows.append(fresh.select(FILE_NUMBER, ROW_NUMBER))
            if self.lake is not None and fresh.height:
                self._write(table, fresh)
        if batch.quarantine and self.lake is not None:
            refused = pl.concat(batch.quarantine).with_columns(
                run_id=pl.lit(self.run_id), landed_at=pl.lit(utc_now(), dtype=pl.Datetime("us"))
            )
            self.lake.write_ledger(Quarantine, utc_now().date(), f"{self.run_id}-{self._batches}", refused)
        if delivered:
            accepted = pl.concat(new_rows).unique().group_by(FILE_NUMBER).len()
            total = pl.concat(delivered).unique().group_by(FILE_NUMBER).len()
            for number, count in accepted.iter_rows():
                self._files[number].accepted += count
            for number, count in (
                total.join(accepted, on=FILE_NUMBER, how="left")
                .select(FILE_NUMBER, pl.col("len") - pl.col("len_right").fill_null(0))
                .iter_rows()
            ):
                self._files[number].duplicate += count

    def _fresh(self, table: type[Landed], rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that are not in the lake yet, each once, the first delivered of equal ones, with `day`."""
        rows = rows.with_columns(pl.col(table.event_time).dt.date().alias("day")).unique(
            subset="row_hash", keep="first", maintain_order=True
        )
        if self.known is not None:
            there = self.known.row_hashes(table, rows["day"].unique().to_list())
            rows = rows.join(there.to_frame(), on="row_hash", how="anti", maintain_order="left")
            if FORMER_HASH in rows.columns and rows.height:
                before = self.known.row_hashes(table, rows["day"].unique().to_list(), of_before=True)
                is_there = pl.col(FORMER_HASH).is_in(before.implode()).fill_null(value=False)
                rows = rows.filter(~is_there)
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
            lake.write_rows(table, day, rows)
            self.report.days[table.name].add(day)


@stage_cost("land")
def compact_landed(lake: Lake, report: LandingReport, ledger_day: datetime) -> int:
    """Merge the small files of the days a landing touched; returns how many files went."""
    gone = sum(lake.compact(table, day) for table in LANDED for day in sorted(report.days[table.name]))
    return gone + sum(lake.compact(table, ledger_day.date()) for table in (RunFiles, Quarantine, QuarantineResolved))
