"""`[retention] texts_days`: the texts of old interactions go, once all that was found in them is kept.

What counts stays: ids, times, whose, which memories were given and cited, what it cost; of outcomes all but what the
user said of them, for strategies and errors are learned from every night. A day goes only as it was published last.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.run_ids import utc_now
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.formats import mark_taken_from
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.let_go.horizons import (
    CompletedRetention,
    Horizon,
    declare,
    horizon,
    note_done,
    read_completed_retention,
)
from slowwave.flows.lake.let_go.kept import keep_found
from slowwave.flows.lake.let_go.texts import texts_bytes, with_texts, write_without_texts
from slowwave.flows.lake.partitions import name_of
from slowwave.flows.lake.published import current_run
from slowwave.flows.nightly.retained.let_go import LetGo
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.evidence.kept.kept import kept_references, kept_statements
from slowwave.transforms.evidence.kept.tables import KeptReferences, KeptStatements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import DayInputs, MemoryReferences
from slowwave.transforms.landing.erased.let_go import TEXTS_OF
from slowwave.transforms.landing.ledger_tables import Runs
from slowwave.transforms.landing.tables import Interactions, Memories


def let_texts_go(settings: Settings, lake: Lake, days: int, *, rehearses: bool) -> LetGo:
    """Let go of the texts of days that ended so many days ago. `rehearses`: nothing goes.

    A day is left for a later night where rows or memories have landed since it was published.
    """
    published = _Published(settings, lake)
    before = (utc_now() - timedelta(days=days)).date()
    reached = horizon(lake.root, "texts")
    before = max(before, reached.before) if reached else before
    gone, again, waiting, is_declared = LetGo(), set[date](), set[date](), rehearses
    for table, day, files in _to_look_at(lake, before):
        if not published.is_as_now(table, day):
            waiting.add(day)
            continue
        for file in files:
            hashes, unseen = with_texts(table, file, published.as_of)
            again |= {day} if unseen else set()
            if hashes.is_empty():
                continue
            if not is_declared:
                mark_taken_from(lake.root)
                declare(lake.root, "texts", Horizon(before, published.as_of))
                is_declared = True
            size = texts_bytes(table, file) if rehearses else _take(lake, published, table, file, hashes)
            gone.note(f"texts of {table.name}", size, len(hashes))
    if not rehearses and horizon(lake.root, "texts"):
        note_done(lake.root, "texts", before, sorted(again | waiting))
    gone.waiting_days = len(waiting)
    return gone


def _to_look_at(lake: Lake, before: date) -> Iterator[tuple[type[Landed], date, list[LakeFile]]]:
    """Days before `before`, and their files that have not been looked at since they were written."""
    seen: CompletedRetention | None = read_completed_retention(lake.root, "texts")
    for table in TEXTS_OF:
        for day, files in lake.files(table.name).items():
            if day >= before:
                continue
            is_new = seen is None or day >= seen.before or day in seen.again
            fresh = [file for file in files if is_new or (seen and file.changed_at >= seen.at)]
            if fresh:
                yield table, day, fresh


def _take(lake: Lake, published: _Published, table: type[Landed], file: LakeFile, hashes: pl.Series) -> int:
    if table is Interactions:
        published.keep(lake, file.day, hashes)
    return write_without_texts(table, file, published.as_of)


class _Published:
    """What the current publish found on each day, and whether it would find the same now."""

    def __init__(self, settings: Settings, lake: Lake) -> None:
        current = current_run(settings)
        name = current.stem if current else ""
        run = lake.ledger(Runs).filter(pl.col("run_id") == name)
        inputs = lake.ledger(DayInputs).filter(pl.col("run_id") == name)
        self._days = {(row["landed_table"], row["day"]): row for row in inputs.iter_rows(named=True)}
        self.as_of: datetime = run["as_of"].item() if run.height else datetime.min  # noqa: DTZ901 - nothing is seen
        # a publish of the past saw less than there is
        self._is_of_now = run.height == 1 and self.as_of >= run["started_at"].item()
        self._log = LogAsOf(lake, self.as_of, settings.params())
        self._is_of_now = self._is_of_now and all(self._is_known(Memories, day) for day in self._log.files(Memories))

    def is_as_now(self, table: type[Landed], day: date) -> bool:
        """Whether the day was published as it is now; of outcomes nothing is found that a publish must have seen."""
        return self._is_of_now and (table is not Interactions or self._is_known(table, day))

    def _is_known(self, table: type[Landed], day: date) -> bool:
        row = self._days.get((table.name, day))
        return row is not None and row["rows_signature"] == self._log.signature(table, day)

    def keep(self, lake: Lake, day: date, hashes: pl.Series) -> None:
        """Keep what was found in the texts of these rows. Raises UserError where the evidence of the day is gone."""
        row = self._days[Interactions.name, day]
        names = {table: name_of(table, row) for table in (MemoryReferences, ExtractedStatements)}
        if row["fingerprint"] and not all(lake.has_evidence(table, day, name) for table, name in names.items()):
            message = f"the evidence of {day} is gone, and its texts were kept: run `slowwave nightly`"
            raise UserError(message)
        won = self._log.winners(Interactions, [day], ()).select("interaction_id", "row_hash").collect()
        won = won.filter(pl.col("row_hash").is_in(hashes.implode()))
        found = {
            table: lake.scan_evidence(table, {day: name} if row["fingerprint"] else {}).drop("day").collect()
            for table, name in names.items()
        }
        references = kept_references(found[MemoryReferences], won)  # pyright: ignore[reportArgumentType] - its rows
        keep_found(lake, KeptReferences, day, references, hashes)
        statements = kept_statements(found[ExtractedStatements], won)  # pyright: ignore[reportArgumentType] - its rows
        keep_found(lake, KeptStatements, day, statements, hashes)


def require_texts(root: Path, plan: BuildPlan) -> None:
    """Raises UserError where a publish of the past would have to look for what is in texts that have gone."""
    reached = horizon(root, "texts")
    if reached is None or plan.log.as_of >= reached.as_of:
        return
    days = [day.day for day in plan.to_build if day.day < reached.before]
    if days:
        message = (
            f"texts of days before {reached.before} were let go of ([retention] texts_days), and a publish as of "
            f"{plan.log.as_of}Z would have to read those of {days[0]} anew: from {reached.as_of}Z on any can be had"
        )
        raise UserError(message)
