"""What somebody is alerted to: each cause declared once, with how it is found in a home.

Most are lines of `slowwave status`, the rest rows of what is published. A finding that cannot be looked for is neither
there nor over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb

from slowwave.flows.care.status import WARN_REFUSED, Clock, status_lines
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import span, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.sql import Record, lake_rows
from slowwave.flows.nightly.nights import ENDED_WELL, ledger, running

_LINE = 240
_NAME = 60
# What turns a text into a mention, a link or markup where messages are shown.
_INERT = str.maketrans({"@": "(at)", "<": "(", ">": ")", "`": "'", "*": "·", "_": "-", "[": "(", "]": ")", "|": "/"})

_REFUSED_WHOLE = """
SELECT arg_max(source, landed_at) AS source, file_hash
FROM (SELECT *, max(landed_at) OVER () AS newest FROM (SELECT DISTINCT ON (run_id, file_number) * FROM {files}))
GROUP BY file_hash
HAVING sum(accepted) + sum(duplicate) = 0 AND sum(quarantined) > 0 AND max(landed_at) > max(newest) - $landings
ORDER BY file_hash
"""
_HARMFUL = "SELECT memory_id, project FROM memory_health WHERE is_harmful ORDER BY memory_id"
_AVOID = """
SELECT DISTINCT ON (project, agent, task_type, strategy_id) project, agent, task_type, strategy_id, pattern
FROM anti_patterns
WHERE kind = 'avoid' AND state = 'open'
ORDER BY ALL
"""
_SET_ASIDE = "SELECT count(*) AS rows FROM set_aside WHERE \"check\" <> 'left_out'"


@dataclass(frozen=True)
class Finding:
    """One thing that a cause is about: what recognises it and tells nothing of it, and a line for people."""

    subject: str
    says: str


@dataclass(frozen=True)
class Failure:
    """A night that failed: when, and why; it may have failed before the ledger knew of it."""

    at: datetime
    why: str = ""


@dataclass
class Seen:
    """A home as it is looked at once. `failure`: the last that is known besides the ledger."""

    settings: Settings
    now: datetime
    late_hours: float
    disk_days: float
    lines: dict[str, CheckLine]
    runs: list[Record] | None
    failure: Failure | None = None

    @property
    def is_lake_read(self) -> bool:
        """Whether the lake could be read."""
        return "last night" in self.lines

    def published_rows(self, query: str) -> list[dict[str, Any]] | None:
        """Rows of what is published; None where it cannot be read, [] where nothing is."""
        try:
            current = current_run(self.settings)
            if current is None:
                return []
            with duckdb.connect(current, read_only=True) as connection:
                answer = connection.execute(query)
                names = [column[0] for column in answer.description or []]
                return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        except (duckdb.Error, OSError, UserError):
            return None


@dataclass(frozen=True)
class Cause:
    """What somebody is alerted to. `find` returns None where it cannot be known.

    `is_fault`: something does not work, rather than that something was learned.
    """

    name: str
    title: str
    find: Callable[[Seen], Sequence[Finding] | None]
    todo: str
    is_fault: bool = True


def look_at_home(
    settings: Settings, now: datetime, late_hours: float, disk_days: float, failure: Failure | None
) -> Seen:
    """Read what the causes are found in."""
    lines = {line.name: line for line in status_lines(settings, Clock(now, late_hours, 2 * late_hours))}
    try:
        runs = ledger(settings.lake_folder)
    except (duckdb.Error, OSError, UserError):
        runs = None
    return Seen(settings, now, late_hours, disk_days, lines, runs, failure)


def make_inert(text: str, width: int = _LINE) -> str:
    """Return a text from logs as one short line that no chat or mail takes for a mention, a link or markup."""
    return shorten_to_width(terminal_safe(text.replace("://", ":")).translate(_INERT), width)


def _one(says: str) -> list[Finding]:
    return [Finding("", make_inert(says))]


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _find_unreadable(seen: Seen) -> list[Finding]:
    lake = seen.lines.get("lake")
    return [] if seen.is_lake_read or lake is None else _one(lake.says)


def _find_failed(seen: Seen) -> list[Finding] | None:
    """The last night, where it failed or stopped; a failure the ledger does not know, until a night goes well."""
    if not seen.is_lake_read:
        return None if seen.failure is None else _one(seen.failure.why or "the night failed")
    line = seen.lines["last night"]
    if line.state == "error":
        status = line.facts.get("status")
        says = f"run {line.facts['run_id']}: {line.facts['message']}" if status == "failed" else line.says
        return _one(says) if line.facts else None
    if seen.failure is None or seen.runs is None:
        return []
    well = [row["finished_at"] for row in seen.runs if row["kind"] == "nightly" and row["status"] in ENDED_WELL]
    is_over = any(at is not None and at > seen.failure.at for at in well)
    return [] if is_over else _one(seen.failure.why or "no night has gone well since it failed")


def _find_late(seen: Seen) -> list[Finding] | None:
    """A night that has not started, or not ended, for longer than is usual."""
    if not seen.is_lake_read or seen.runs is None:
        return None
    limit = timedelta(hours=seen.late_hours)
    starts: list[datetime] = [row["started_at"] for row in seen.runs if row["kind"] == "nightly"]
    if seen.failure is not None:  # on a full disk the ledger does not know of it
        starts.append(seen.failure.at)
    began = max(starts, default=None)
    if began is None:
        first = min((row["started_at"] for row in seen.runs), default=None)
        if first is None or seen.now - first <= limit:
            return []
        return _one(f"no night has ever started; rows have landed since {utc_text(first)}")
    if seen.now - began <= limit:
        return []
    now = running(seen.settings, seen.runs)
    is_running = now is not None and now["kind"] == "nightly"
    verb = "the night is still running that started" if is_running else "the last night started"
    return _one(f"{verb} {span(seen.now - began)} ago, at {utc_text(began)}")


def _find_incomplete(seen: Seen) -> list[Finding] | None:
    if not seen.is_lake_read:
        return None
    found = []
    if seen.lines["last night"].facts.get("status") == "published_incomplete":
        rows = seen.published_rows(_SET_ASIDE)
        count = format_count(rows[0]["rows"], "row") if rows else "rows"
        found.append(Finding("rows", f"{count} failed a check and count nowhere: slowwave sql 'FROM set_aside'"))
    try:
        files = [file for of_day in files_by_day(seen.settings.lake_folder, "run_files").values() for file in of_day]
        whole = lake_rows(_REFUSED_WHOLE, files, landings=timedelta(hours=24)) if files else []
    except (duckdb.Error, OSError, UserError):
        return None
    return found + [
        Finding(row["file_hash"][:16], f"refused whole: {make_inert(row['source'], _NAME)}") for row in whole
    ]


def _find_silent(seen: Seen) -> list[Finding] | None:
    line = seen.lines.get("producers")
    if line is None or line.state == "error":
        return None
    silent = line.facts.get("producers", [])
    return [Finding(_digest(one["agent"], one["client"]), make_inert(one["says"])) for one in silent]


def _find_refused(seen: Seen) -> list[Finding] | None:
    line = seen.lines.get("landings")
    if line is None or not line.facts:
        return None if line is None else []
    share = line.facts["quarantined_share"]
    says = (
        f"{line.facts['quarantined']:,} of {line.facts['delivered']:,} rows ({share:.1%}) in the last day of landings"
    )
    return _one(says) if share > WARN_REFUSED else []


def _find_harmful(seen: Seen) -> list[Finding] | None:
    rows = seen.published_rows(_HARMFUL)
    return (
        None
        if rows is None
        else [
            Finding(
                _digest(row["memory_id"]),
                f"memory {make_inert(row['memory_id'], _NAME)} of {make_inert(row['project'] or 'no project', _NAME)}",
            )
            for row in rows
        ]
    )


def _find_avoid(seen: Seen) -> list[Finding] | None:
    rows = seen.published_rows(_AVOID)
    return (
        None
        if rows is None
        else [
            Finding(
                _digest(row["project"], row["agent"], row["task_type"], row["strategy_id"]),
                " / ".join(make_inert(row[name], _NAME) for name in ("project", "agent", "task_type") if row[name])
                + f": “{make_inert(row['pattern'], _NAME)}”",
            )
            for row in rows
        ]
    )


def _find_erasure(seen: Seen) -> list[Finding] | None:
    if not seen.is_lake_read:
        return None
    line = seen.lines.get("erasure")
    return [] if line is None else _one(line.says)


def _find_full_disk(seen: Seen) -> list[Finding] | None:
    line = seen.lines.get("disk")
    if line is None or "free_bytes" not in line.facts:
        return None
    left = line.facts.get("days_left")
    return [] if left is None or left >= seen.disk_days else _one(line.says)


CAUSES: tuple[Cause, ...] = (
    Cause("unreadable_lake", "the lake cannot be read", _find_unreadable, "slowwave doctor"),
    Cause("failed_night", "a night failed", _find_failed, "slowwave status, then slowwave nightly"),
    Cause("late_night", "no night has started in time", _find_late, "see what starts it, then slowwave nightly"),
    Cause("incomplete_night", "rows or files were left out", _find_incomplete, "slowwave sql quarantine_reasons"),
    Cause("silent_producer", "a producer fell silent", _find_silent, "see whether it still runs"),
    Cause("refused_rows", "many rows are refused", _find_refused, "slowwave sql quarantine_reasons"),
    Cause(
        "harmful_memory", "a memory is harmful", _find_harmful, "slowwave review list --kind harmful", is_fault=False
    ),
    Cause(
        "failing_strategy",
        "a strategy is to be avoided",
        _find_avoid,
        "slowwave sql costliest_anti_patterns",
        is_fault=False,
    ),
    Cause("pending_erasure", "an erasure did not end", _find_erasure, "slowwave nightly"),
    Cause("full_disk", "the disk will be full soon", _find_full_disk, "make room, see slowwave lake disk"),
)
