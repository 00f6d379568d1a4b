"""What `status` and `doctor` say of what brings logs: the receiver, and connected sources; nothing slow is loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from slowwave.flows.imports.connections import Connection, LastRead, connections, last_reads
from slowwave.flows.kernel.checks import CheckLine, State, run_check
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import in_words
from slowwave.flows.land.received_files import Latest, latest_receiver, received_files

_NAME = "receiver"
# As of landed rows: one in two is a broken producer.
_WARN_REFUSED = 1 / 2


def receiver_lines(settings: Settings, now: datetime) -> list[CheckLine]:
    """One line for a home into which rows were ever taken over the network, else none."""
    if not settings.capture_lock_file.exists():
        return []
    return [run_check(_NAME, lambda: _line(settings, now))]


def _line(settings: Settings, now: datetime) -> CheckLine:
    latest = latest_receiver(settings)
    waiting = len(received_files(settings.inbox))
    if latest is None:
        return CheckLine(_NAME, "ok", "none has begun yet", "", {"running": False, "waiting_files": waiting})
    noted = latest.noted
    received_at, stopped_at = _time(noted.received_at), _time(noted.stopped_at)
    facts: dict[str, Any] = {
        "running": latest.is_running,
        "process": latest.process,
        "since": latest.since,
        "address": noted.address,
        "received_at": received_at,
        "rows_taken": noted.taken,
        "rows_refused": noted.refused,
        "waiting_files": waiting,
    }
    last = f"last row {in_words(now - received_at)}" if received_at else "no row yet"
    counts = (
        f"{last}; {noted.taken:,} taken, {noted.refused:,} refused; {format_count(waiting, 'file')} of its own waiting"
    )
    state, says, todo = _judge_receiver(latest, stopped_at, now)
    return CheckLine(_NAME, state, f"{says}; {counts}", todo, facts)


def _judge_receiver(latest: Latest, stopped_at: datetime | None, now: datetime) -> tuple[State, str, str]:
    """How it is, in words, and what to do about it."""
    noted = latest.noted
    if not latest.is_running:
        if stopped_at or not latest.since:
            return "ok", f"not running; stopped {in_words(now - stopped_at)}" if stopped_at else "not running", ""
        todo = "start `slowwave capture` again: what it answered 200 is in the inbox"
        return "warn", f"the one that began {latest.since} has ended without being told to", todo
    says = f"takes rows at {noted.address} (process {latest.process}, since {latest.since})"
    if noted.failing:
        return "error", f"{says}, and cannot keep any: {noted.failing}", "mend that: its senders are told to try again"
    if noted.refused > _WARN_REFUSED * (noted.taken + noted.refused):
        return "warn", says, "see `refused` in what its senders are answered: it says why, row by row"
    return "ok", says, ""


def _time(stated: str) -> datetime | None:
    """A time as the receiver notes it, naive UTC as every time here; None where it says none."""
    try:
        return datetime.fromisoformat(stated).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None


# What `status` says of the connected sources; nothing that imports is loaded for it.

_SOURCES = "connections"


def connected_lines(settings: Settings, now: datetime) -> list[CheckLine]:
    """A line for each connected source; none where nothing is connected."""
    try:
        there = connections(settings)
    except UserError as error:
        return [CheckLine(_SOURCES, "error", str(error), "correct the file: until then no connected source is read")]
    reads = last_reads(settings.lake_folder)
    return [_connection_line(one, reads.get(one.key, LastRead()), now) for one in there]


def _connection_line(one: Connection, last: LastRead, now: datetime) -> CheckLine:
    facts = {"source": one.source, "path": one.path, "read_at": last.read_at or None, "warnings": last.warnings}
    if not last.read_at:
        return CheckLine(
            one.source, "ok", f"{one.path} is connected and not read yet: the next nightly does", "", facts
        )
    age = now - datetime.fromisoformat(last.read_at).astimezone(UTC).replace(tzinfo=None)
    says = f"{one.path}, its last change read {in_words(age)}"
    if last.warnings:
        says += "".join(f"\nnot imported: {said}" for said in last.warnings)
        return CheckLine(one.source, "warn", says, "mend what it says; every nightly tries again", facts)
    return CheckLine(one.source, "ok", says, "", facts)
