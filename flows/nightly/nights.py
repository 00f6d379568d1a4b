"""Runs that did not end, inferred from the ledger: the lock says which one is being made right now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from slowwave.flows.kernel.lock import running_run
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.sql import Record, lake_rows

_ENDED_WELL = ("published", "published_incomplete", "skipped")
# Of a run that a killed compaction has left in two files, how it ended counts.
_LEDGER = "SELECT DISTINCT ON (run_id) * FROM {files} ORDER BY run_id, status = 'started'"


@dataclass(frozen=True)
class Stopped:
    """A run that has begun and not ended: killed, or stopped by a power cut."""

    run_id: str
    kind: str
    started_at: datetime
    stage: str  # and since when, in words

    def __str__(self) -> str:
        at = f": it had come to {self.stage}" if self.stage else ""
        return f"run {self.run_id}, started {self.started_at:%Y-%m-%d %H:%M:%S}Z, did not end{at}"


def ledger(lake: Path) -> list[Record]:
    """The rows of `runs`, by run_id. Raises duckdb.Error when a file cannot be read."""
    files = [file for of_day in files_by_day(lake, "runs").values() for file in of_day]
    return lake_rows(_LEDGER, files) if files else []


def running(settings: Settings, rows: Sequence[Record]) -> Record | None:
    """The run that is being made right now, if it has begun."""
    run_id = running_run(settings)
    return next((row for row in rows if row["run_id"] == run_id and row["status"] == "started"), None)


def stopped_night(settings: Settings, rows: Sequence[Record]) -> Stopped | None:
    """The last night, if it did not end and none has ended well since."""
    now = running(settings, rows)
    nights = sorted((row for row in rows if row["kind"] == "nightly" and row is not now), key=_order)
    for row in reversed(nights):
        if row["status"] in _ENDED_WELL:
            return None
        if row["status"] == "started":
            return _row_to_stopped(row)
    return None


def stopped_others(settings: Settings, rows: Sequence[Record]) -> list[Stopped]:
    """Landings and backfills that did not end, since when neither one like it nor a night has."""
    now = running(settings, rows)
    found: list[Stopped] = []
    for row in sorted(rows, key=_order, reverse=True):
        if row["kind"] == "nightly" and row["status"] in _ENDED_WELL:
            break
        if row["kind"] not in {"land", "backfill"} or row is now:
            continue
        ended = any(
            other["kind"] == row["kind"] and _has_ended(other) and _order(other) > _order(row) for other in rows
        )
        if row["status"] == "started" and not ended:
            found.append(_row_to_stopped(row))
    return found


def _has_ended(row: Record) -> bool:
    return row["status"] not in {"started", "failed"}


def _order(row: Record) -> tuple[datetime, str]:
    return row["started_at"], row["run_id"]


def _row_to_stopped(row: Record) -> Stopped:
    return Stopped(row["run_id"], row["kind"], row["started_at"], row["message"] or "")
