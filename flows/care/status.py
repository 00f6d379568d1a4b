"""`slowwave status`: how fresh each source and the publish are, and what waits; for a person and for a monitor.

Ages are by the machine's clock. Judged are the age of the last publish (since it finished), of the last landing,
of the newest interactions (since they landed), and of the oldest file that waits in the inbox. Outcomes and memories
may rest, so their age is a warning at most. Event times are shown and not judged: old logs landed today are fresh.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import typer

from slowwave.flows.care import early_warnings
from slowwave.flows.care.setup_lines import connected_lines, receiver_lines
from slowwave.flows.kernel.checks import CheckLine, State, at_most, print_check_lines, run_check, worst
from slowwave.flows.kernel.lock import holder
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.kernel.times import in_words, span, utc_iso, utc_now, utc_text
from slowwave.flows.lake.current import ask_once, current_run, report_file
from slowwave.flows.lake.files import LakeFile, check_format, files_by_day, folders_of_no_day, microseconds
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lake.sql import Record, lake_rows
from slowwave.flows.land.demo_home import sample_end
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.nightly.nights import ledger, running, stopped_night, stopped_others
from slowwave.transforms.core.vocabularies import EVENT_TIME, ROW_FATES

# More than one refused row in twenty is worth a look (as in the audit refused_rows); one in two is a broken producer.
_WARN_REFUSED, _ERROR_REFUSED = 1 / 20, 1 / 2
_LANDINGS = timedelta(hours=24)
_SHOWN_FINDINGS = 3
_INTERACTIONS = "interactions"
_SHOWN_CHARACTERS = 240
_START = "run `slowwave land PATH` for your own logs, or `slowwave demo`"
_PUBLISH = "run `slowwave nightly`"


@dataclass(frozen=True)
class Clock:
    """The time of the question, and from which age in hours on an answer is a warning or an error."""

    now: datetime
    warn_hours: float
    error_hours: float

    def hours(self, time: datetime) -> float:
        """Age of a time, in hours."""
        return (self.now - time) / timedelta(hours=1)

    def judge_age(self, time: datetime) -> State:
        """How bad the age of a time is."""
        if self.hours(time) >= self.error_hours:
            return "error"
        return "warn" if self.hours(time) >= self.warn_hours else "ok"

    def ago(self, time: datetime) -> str:
        """The age of a time in words."""
        return in_words(self.now - time)


def run_status(settings: Settings, *, output: str, warn_hours: float, error_hours: float) -> None:
    """Print the status as `text` or `json`.

    Raises typer.Exit with code 1 when any line is an error, typer.BadParameter when the thresholds are in disorder.
    """
    if not warn_hours <= error_hours:
        message = f"{warn_hours:g} is not at most --error-hours, {error_hours:g}"
        raise typer.BadParameter(message, param_hint="--warn-hours")
    clock = Clock(utc_now(), warn_hours, error_hours)
    lines = status_lines(settings, clock)
    state = worst(line.state for line in lines)
    if output == "json":
        report = {
            "state": state,
            "home": str(settings.home),
            "checked_at": utc_iso(clock.now),
            "warn_hours": warn_hours,
            "error_hours": error_hours,
            "lines": [line.as_json() for line in lines],
        }
        typer.echo(json.dumps(report, indent=2))
    else:
        print_check_lines(f"{state} · {settings.home} · {utc_text(clock.now)}", lines)
    if state == "error":
        raise typer.Exit(1)


def status_lines(settings: Settings, clock: Clock) -> list[CheckLine]:
    """Every line of the status. Nothing is written; what cannot be read is an error line, the rest is still shown."""
    ask_once(settings)
    lake = settings.lake_folder
    runs = cache(lambda: ledger(lake))
    lines = [run_check("lake", lambda: _lake(lake))]
    is_readable = lines[0].state == "ok"
    if is_readable:
        lines = [run_check(table, lambda table=table: _source(lake, table, clock)) for table in EVENT_TIME]
        lines.append(run_check("landings", lambda: _landings(lake, clock)))
    lines.append(run_check("inbox", lambda: _inbox(settings, clock)))
    lines += receiver_lines(settings, clock.now)
    lines += connected_lines(settings, clock.now)
    lines.append(run_check("publish", lambda: _publish(settings, runs if is_readable else None, clock)))
    lines.append(run_check("report", lambda: _report(settings)))
    if is_readable:
        lines.append(run_check("last night", lambda: _last_night(settings, runs(), clock)))
        lines += _others(settings, runs)
        lines += _erasing(settings)
        lines.append(run_check("audits", lambda: _audits(settings, runs())))
        lines += _warning_lines(settings, runs, clock)
    lines.append(run_check("writer", lambda: _writer(settings)))
    return lines + _unusable(settings)


def _unusable(settings: Settings) -> list[CheckLine]:
    """What of the two files of settings no command can use; to read them takes long, so only where one is there."""
    if not settings.params_file.exists() and not settings.settings_file.exists():
        return []
    from slowwave.flows.care.surroundings import unusable_lines

    return unusable_lines(settings)


def _warning_lines(settings: Settings, runs: Callable[[], list[Record]], clock: Clock) -> list[CheckLine]:
    """What may go wrong."""
    lake = settings.lake_folder
    memories = [file for files in files_by_day(lake, "memories").values() for file in files]
    return [
        run_check("producers", lambda: early_warnings.producers(lake, clock.now)),
        run_check("memory states", lambda: early_warnings.memory_states(memories)),
        run_check("clock", lambda: early_warnings.clock(runs(), clock.now)),
        run_check("disk", lambda: early_warnings.growth(settings, clock.now)),
    ]


def _lake(lake: Path) -> CheckLine:
    if not storage_of(lake).is_folder(lake):
        return CheckLine("lake", "error", f"nothing has been landed yet: there is no folder {lake}", _START)
    check_format(lake)
    return CheckLine("lake", "ok", "")


def _source(lake: Path, table: str, clock: Clock) -> CheckLine:
    """Rows, days, newest times that have come, and how many rows lie in the future."""
    strange = folders_of_no_day(lake, table)
    if strange:
        says = f"{strange[0]} is named like a day and is none: what lies in it is not read"
        return CheckLine(table, "error", says, "move it out of the lake, or rename it to the day that its rows are of")
    days = files_by_day(lake, table)
    files = [file for of_day in days.values() for file in of_day]
    if not files:
        return CheckLine(table, "ok", "nothing landed yet", "", {"rows": 0, "days": 0, "landed_at": None})
    landed_at = datetime.fromtimestamp(max(file.changed_at for file in files), UTC).replace(tzinfo=None)
    limit = "error" if table == _INTERACTIONS else "warn"
    rows = _asked_one("count(*)", files)
    future = _future_rows(files, table, clock.now)
    event_at = _newest_event(days, table, clock.now)
    recorded_at = _newest_recorded(files, clock.now)
    facts = {
        "rows": rows,
        "days": len(days),
        "landed_at": landed_at,
        "landed_hours": round(clock.hours(landed_at), 3),
        "newest_event_at": event_at,
        "newest_recorded_at": recorded_at,
        "future_rows": future,
    }
    said = [f"{format_count(rows, 'row')} on {format_count(len(days), 'day')}, last landed {clock.ago(landed_at)}"]
    if event_at is not None:
        said.append(f"newest event {utc_text(event_at)} ({clock.ago(event_at)})")
    if recorded_at is not None and recorded_at != event_at:
        said.append(f"newest version written {utc_text(recorded_at)}")
    if future:
        said.append(f"{format_count(future, 'row')} in the future, not seen until then")
    return CheckLine(table, at_most(limit, clock.judge_age(landed_at)), "; ".join(said), "", facts)


def _asked_one(what: str, files: Iterable[LakeFile], **params: object) -> Any:  # noqa: ANN401 - any value
    """The one value that `SELECT what` has."""
    (row,) = lake_rows(f"SELECT {what} AS found FROM {{files}}", files, **params)  # noqa: S608 - our own SQL
    return row["found"]


def _future_rows(files: list[LakeFile], table: str, now: datetime) -> int:
    """Rows whose time is yet to come; only files whose name says that they hold one are opened."""
    ahead = [file for file in files if file.newest_us > microseconds(now)]
    if not ahead:
        return 0
    is_future = f"greatest({EVENT_TIME[table]}, recorded_at) > $now"
    return _asked_one(f"count(DISTINCT row_hash) FILTER ({is_future})", ahead, now=now)


def _newest_event(days: dict[date, list[LakeFile]], table: str, now: datetime) -> datetime | None:
    """The newest event time that has come, from the newest day that has one."""
    time = EVENT_TIME[table]
    for day in sorted((day for day in days if day <= now.date()), reverse=True):
        newest = _asked_one(f"max({time}) FILTER ({time} <= $now)", days[day], now=now)
        if newest is not None:
            return newest
    return None


def _newest_recorded(files: list[LakeFile], now: datetime) -> datetime | None:
    """The newest `recorded_at` that has come; a file named older than what was found cannot hold a newer one."""
    newest: datetime | None = None
    for file in sorted(files, key=lambda file: file.newest_us, reverse=True):
        if newest is not None and file.newest_us <= microseconds(newest):
            break
        found = _asked_one("max(recorded_at) FILTER (recorded_at <= $now)", [file], now=now)
        newest = max((time for time in (newest, found) if time is not None), default=None)
    return newest


# Of a ledger each key once: a killed compaction may have left a row in two files. What passed later counts below zero.
_LANDED_LATELY = """
SELECT
    max(newest) AS landed_at, count(*) AS files, sum(delivered)::BIGINT AS delivered, sum(accepted)::BIGINT AS accepted,
    sum(duplicate)::BIGINT AS duplicate, sum(greatest(quarantined, 0))::BIGINT AS quarantined
FROM (
    SELECT *, max(landed_at) OVER () AS newest
    FROM (SELECT DISTINCT ON (run_id, file_number) * FROM {files})
)
WHERE landed_at > newest - $landings
"""


def _landings(lake: Path, clock: Clock) -> CheckLine:
    """What became of the rows delivered in the day up to the last landing."""
    files = [file for of_day in files_by_day(lake, "run_files").values() for file in of_day]
    lately: Record = lake_rows(_LANDED_LATELY, files, landings=_LANDINGS)[0] if files else {"files": 0}
    if not lately["files"]:
        return CheckLine("landings", "error", "no file has been landed yet", _START)
    landed_at: datetime = lately["landed_at"]
    counts = {name: lately[name] for name in ROW_FATES}
    share = counts["quarantined"] / counts["delivered"] if counts["delivered"] else 0.0
    refused: State = "error" if share > _ERROR_REFUSED else "warn" if share > _WARN_REFUSED else "ok"
    says = (
        f"last landing {clock.ago(landed_at)}; in the 24 hours up to it {format_count(lately['files'], 'file')}, "
        f"{format_count(counts['delivered'], 'row')}: {counts['accepted']:,} accepted, "
        f"{counts['duplicate']:,} duplicate, "
        f"{counts['quarantined']:,} quarantined ({share:.1%})"
    )
    todo = (
        "see what was refused: slowwave sql 'SELECT source, field, reason FROM quarantine'" if refused != "ok" else ""
    )
    facts = {
        "landed_at": landed_at,
        "landed_hours": round(clock.hours(landed_at), 3),
        "files": lately["files"],
        **counts,
        "quarantined_share": round(share, 6),
    }
    return CheckLine("landings", worst([clock.judge_age(landed_at), refused]), says, todo, facts)


def _inbox(settings: Settings, clock: Clock) -> CheckLine:
    """Files that producers have dropped and no landing has taken."""
    waiting = [at for delivery in inbox_deliveries(settings.inbox) if (at := _changed_at(delivery.path)) is not None]
    if not waiting:
        return CheckLine("inbox", "ok", "nothing waits", "", {"files": 0, "oldest_at": None})
    oldest, state = min(waiting), clock.judge_age(min(waiting))
    says = f"{format_count(len(waiting), 'file')} waiting, the oldest dropped {clock.ago(oldest)}"
    todo = "run `slowwave land`, or keep `slowwave serve` running" if state != "ok" else ""
    facts = {"files": len(waiting), "oldest_at": oldest, "oldest_hours": round(clock.hours(oldest), 3)}
    return CheckLine("inbox", state, says, todo, facts)


def _changed_at(path: Path | None) -> datetime | None:
    """When a file last changed; None when it has just been landed."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None) if path else None
    except FileNotFoundError:
        return None


def _publish(settings: Settings, runs: Callable[[], list[Record]] | None, clock: Clock) -> CheckLine:
    """What current shows and since when. Without a ledger, only that it is there."""
    current = current_run(settings)
    if current is None:
        if settings.current.is_symlink():
            return CheckLine("publish", "error", "current.duckdb points to a file that is gone", _PUBLISH)
        if settings.current.exists():
            return CheckLine("publish", "error", "current.duckdb is a file where a link should be", f"{_PUBLISH} anew")
        return CheckLine("publish", "error", "nothing is published yet", _PUBLISH)
    if current.is_dir():
        return CheckLine("publish", "error", "current.duckdb points to a folder", f"remove it; {_PUBLISH} anew")
    facts: dict[str, Any] = {"run_id": current.stem}
    if runs is None:
        return CheckLine(
            "publish", "warn", f"run {current.stem}; its age stands in the lake, which cannot be read", "", facts
        )
    row = next((row for row in runs() if row["run_id"] == current.stem and row["status"] != "started"), None)
    if row is None:
        says = f"run {current.stem}, which is not in the ledger: it was killed after it published"
        return CheckLine("publish", "warn", says, f"{_PUBLISH}, which enters it", facts)
    finished, as_of = row["finished_at"], row["as_of"]
    state = clock.judge_age(finished)
    says = (
        f"run {current.stem}, published {utc_text(finished)} ({clock.ago(finished)}); shows what was known "
        f"before {utc_text(as_of)}; {format_count(row['days_count'], 'day')} of evidence"
    )
    todo = _PUBLISH if state != "ok" else ""
    if as_of < row["started_at"] and clock.judge_age(as_of) != "ok":
        why, todo = earlier_instant(settings, as_of, clock.now)
        says += f"; {why}"
        state = "warn" if state == "ok" and todo else state
    elif ahead := later_instant(settings, as_of, clock.now):
        says, todo = f"{says}; {ahead}", f"{_PUBLISH} to publish what is known now"
        state = "warn" if state == "ok" else state
    facts |= {
        "as_of": as_of,
        "finished_at": finished,
        "finished_hours": round(clock.hours(finished), 3),
        "days": row["days_count"],
    }
    return CheckLine("publish", state, says, todo, facts)


def earlier_instant(settings: Settings, as_of: datetime, now: datetime) -> tuple[str, str]:
    """Why a publish as of an earlier instant than its run shows no more, and what to do, '' where nothing is missed.

    Raises OSError or UserError where the lake cannot be read, duckdb.Error where a file of it is damaged.
    """
    if as_of == sample_end(settings):
        return "the sample logs end here", ""
    days = files_by_day(settings.lake_folder, _INTERACTIONS)
    is_later = any(file.newest_us >= microseconds(as_of) for files in days.values() for file in files)
    newest = _newest_event(days, _INTERACTIONS, now) if is_later else None
    if newest is not None and newest >= as_of:
        return "as asked for", f"{_PUBLISH} to publish what is known now"
    return "as asked for; no interaction is newer", ""


def later_instant(settings: Settings, as_of: datetime, now: datetime) -> str:
    """How far ahead of now a publish's `as_of` is, and what follows; '' where it is not, or sample logs end then."""
    if as_of <= now + timedelta(days=1) or as_of == sample_end(settings):
        return ""
    return f"that is {span(as_of - now)} ahead: memories and strategies are shown as old as they will be then"


def _report(settings: Settings) -> CheckLine:
    """Whether the morning report of current is there."""
    current = current_run(settings)
    if current is None:
        return CheckLine("report", "ok", "nothing to report on yet", "", {"path": None})
    path = report_file(settings, current.stem)
    if path.exists():
        return CheckLine("report", "ok", str(path), "", {"path": str(path)})
    says = f"run {current.stem} has none yet"
    return CheckLine("report", "warn", says, "run `slowwave report`, which writes it", {"path": None})


def _last_night(settings: Settings, rows: list[Record], clock: Clock) -> CheckLine:
    """How the last nightly run ended, or that it did not."""
    now = running(settings, rows)
    is_night = now is not None and now["kind"] == "nightly"
    since = f"; one is running since {utc_text(now['started_at'])}" if now is not None and is_night else ""
    nights = [row for row in rows if row["kind"] == "nightly" and row is not now]
    nights.sort(key=lambda row: (row["started_at"], row["run_id"]), reverse=True)
    if not nights:
        state: State = "ok" if is_night else "warn"
        return CheckLine("last night", state, f"no nightly run has ended yet{since}", "" if is_night else _PUBLISH)
    row = nights[0]
    facts = {name: row[name] for name in ("run_id", "status", "started_at", "finished_at", "message")}
    stopped = stopped_night(settings, rows)
    if stopped is not None:
        todo = f"{_PUBLISH}, which does all again that was not done; the previous tables stay live"
        return CheckLine("last night", "error", f"{stopped}{since}", todo, facts)
    says = f"{row['status']} {clock.ago(row['started_at'])} (run {row['run_id']}){since}"
    if row["status"] != "failed":
        reason = f": {row['message']}" if row["status"] == "skipped" and row["message"] else ""
        state = "warn" if row["status"] == "published_incomplete" else "ok"
        todo = "see what was set aside: slowwave sql 'FROM set_aside'" if state == "warn" else ""
        return CheckLine("last night", state, says + reason, todo, facts)
    failed = [night["status"] for night in nights]
    in_a_row = next((count for count, status in enumerate(failed) if status != "failed"), len(failed))
    again = f", {in_a_row} times in a row" if in_a_row > 1 else ""
    says = f"{says}{again}:\n{shorten_to_width(row['message'] or 'no reason given', _SHOWN_CHARACTERS)}"
    todo = f"mend what it says, then {_PUBLISH}; the previous tables stay live"
    return CheckLine("last night", "error", says, todo, {**facts, "failed_in_a_row": in_a_row})


def _others(settings: Settings, runs: Callable[[], list[Record]]) -> list[CheckLine]:
    """A line for landings and backfills that did not end, where there are any."""

    def look() -> CheckLine:
        stopped = stopped_others(settings, runs())
        says = "\n".join(f"{one.kind}: {one}" for one in stopped[:_SHOWN_FINDINGS])
        todo = "run it again: what had landed is recognised" if stopped else ""
        return CheckLine("stopped runs", "warn" if stopped else "ok", says, todo, {"runs": len(stopped)})

    line = run_check("stopped runs", look)
    return [line] if line.state != "ok" else []


def _erasing(settings: Settings) -> list[CheckLine]:
    """A line for an erasure that has begun and not ended, where there is one and nobody is at it."""
    if not is_erasing(settings.lake_folder) or holder(settings) is not None:
        return []
    return [CheckLine("erasure", "error", "one has begun and did not end: a part of it may still be there", _PUBLISH)]


def _audits(settings: Settings, ledger: list[Record]) -> CheckLine:
    """What the audits of current warned of."""
    current = current_run(settings)
    messages = [row["message"] for row in ledger if current is not None and row["run_id"] == current.stem]
    findings = [finding for message in messages if message for finding in message.splitlines()]
    if not findings:
        return CheckLine("audits", "ok", "no warnings" if current else "nothing to audit yet", "", {"warnings": []})
    says = [f"{format_count(len(findings), 'warning')} on what is published"]
    says += [shorten_to_width(finding, _SHOWN_CHARACTERS) for finding in findings[:_SHOWN_FINDINGS]]
    if len(findings) > _SHOWN_FINDINGS:
        says.append(f"and {len(findings) - _SHOWN_FINDINGS} more, in `message` of the run in `runs`")
    return CheckLine("audits", "warn", "\n".join(says), "", {"warnings": findings})


def _writer(settings: Settings) -> CheckLine:
    writer = holder(settings)
    return CheckLine("writer", "ok", f"{writer} is writing" if writer else "nobody is writing", "", {"holder": writer})
