"""Alert somebody while nobody watches: one message when a cause begins, one when it is over.

What is open, and which target was told of it, is kept in `alerts.json` of the home, which holds no text of any log.
What a target did not take is sent again by the next night.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import typer

from slowwave.flows.care.alert_causes import CAUSES, Cause, Failure, Finding, look_at_home, make_inert
from slowwave.flows.care.alert_targets import AlertRules, Message, Target, alert_rules, call_url, send_to_each
from slowwave.flows.care.home_metrics import write_textfile
from slowwave.flows.kernel.checks import CheckLine, print_check_lines, worst
from slowwave.flows.kernel.doors import home_doors
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import alerts_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import format_count, terminal_safe
from slowwave.flows.kernel.times import utc_iso, utc_now, utc_text

_SHOWN = 5
_PING_SECONDS = 5.0
_LOCK_SECONDS = 20.0
_BLOCK = 4096
# A target that failed is not tried for so long, except by a night: who asks every minute causes no storm.
_AGAIN = timedelta(hours=4)

Say = Callable[[str], None]
Pinged = Literal["/start", "", "/fail"]


@dataclass
class OpenAlert:
    """A finding that began, by its digest; `told` and `told_over`: the targets that took the message of it."""

    cause: str
    subject: str
    began_at: str
    ended_at: str = ""
    told: list[str] = field(default_factory=list)
    told_over: list[str] = field(default_factory=list)


@dataclass
class AlertState:
    """What `alerts.json` holds: findings, and since when a target takes nothing."""

    alerts: list[OpenAlert] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def update(self, found: dict[str, Sequence[Finding] | None], now: datetime) -> None:
        """Note what began and what ended, where it is known (not None)."""
        known = {name: {one.subject for one in findings} for name, findings in found.items() if findings is not None}
        noted = {(alert.cause, alert.subject): alert for alert in self.alerts}
        for name, subjects in known.items():
            for subject in sorted(subjects):
                alert = noted.get((name, subject))
                if alert is None:
                    self.alerts.append(OpenAlert(name, subject, utc_iso(now)))
                elif alert.ended_at:  # it is back before all were told that it is over
                    alert.ended_at = ""
                    alert.told = [target for target in alert.told if target not in alert.told_over]
                    alert.told_over = []
        for alert in self.alerts:
            if not alert.ended_at and alert.cause in known and alert.subject not in known[alert.cause]:
                alert.ended_at = utc_iso(now)

    def forget_told(self, targets: Sequence[Target]) -> None:
        """Drop what is over and has nobody left to be told so."""
        left = {target.target_id for target in targets}
        self.failed = {target: at for target, at in self.failed.items() if target in left}
        self.alerts = [one for one in self.alerts if not one.ended_at or (left & {*one.told}) - {*one.told_over}]


@dataclass(frozen=True)
class Checked:
    """What a check found open, by cause, and what went wrong in telling of it."""

    found: list[tuple[Cause, list[Finding]]]
    faults: list[str]

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong, and whoever is to know does."""
        return not self.faults and not any(cause.is_fault for cause, _ in self.found)


def read_rules(settings: Settings) -> AlertRules:
    """What `[alerts]` states. Raises UserError when it cannot be understood."""
    return alert_rules(settings, [cause.name for cause in CAUSES])


def check_home(
    settings: Settings, rules: AlertRules, now: datetime, *, failure: str = "", is_night: bool = False
) -> Checked:
    """Look for causes, and send what began and what is over; `failure`: why the night failed that has just ended.

    Raises UserError where another process sends alerts for too long.
    """
    with alerts_lock(settings, _LOCK_SECONDS):
        state = _read_state(settings)
        seen = look_at_home(settings, now, rules.late_hours, rules.disk_days, _last_failure(state, failure, now))
        causes = [cause for cause in CAUSES if cause.name not in rules.without]
        found = {cause.name: cause.find(seen) for cause in causes}
        state.alerts = [one for one in state.alerts if one.cause in found]
        state.update(found, now)
        open_causes = [(cause, [*findings]) for cause in causes if (findings := found[cause.name])]
        fault = _write_state(settings, state)
        if fault and not is_night:  # they would be sent again at each look
            return Checked(open_causes, [fault])
        faults = [fault] if fault else []
        if not rules.is_quiet(now):
            faults += _send(settings, rules, state, found, now, is_night=is_night)
            state.forget_told(rules.targets)
            _write_state(settings, state)
    return Checked(open_causes, faults)


def _last_failure(state: AlertState, failure: str, now: datetime) -> Failure | None:
    if failure:
        return Failure(now, failure)
    began = [one.began_at for one in state.alerts if one.cause == "failed_night" and not one.ended_at]
    return Failure(_time(began[0])) if began else None


def _read_state(settings: Settings) -> AlertState:
    """What is noted; nothing where the file is not there, or is not what was written."""
    try:
        noted = json.loads(settings.alerts_file.read_bytes())
        failed = dict(noted["failed"])
        for at in failed.values():
            _time(at)
        return AlertState(list(map(_read_alert, noted["alerts"])), failed)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return AlertState()


def _read_alert(noted: dict[str, Any]) -> OpenAlert:
    """Return an alert as it was noted. Raises TypeError or ValueError where it cannot have been."""
    alert = OpenAlert(**noted)
    for at in (alert.began_at, alert.ended_at or alert.began_at):
        _time(at)
    told, told_over = [*alert.told], [*alert.told_over]
    if not all(isinstance(text, str) for text in (alert.cause, alert.subject, *told, *told_over)):
        message = "an alert is noted in texts"
        raise TypeError(message)
    return replace(alert, told=told, told_over=told_over)


def _write_state(settings: Settings, state: AlertState) -> str:
    """Write it; return what went wrong, '' for nothing.

    A full disk is what people are alerted to: the file fills whole blocks, into which it is then written anew.
    """
    content = json.dumps(asdict(state)).encode()
    content = content.ljust(-(-len(content) // _BLOCK) * _BLOCK)
    try:
        write_durably(settings.alerts_file, lambda aside: aside.write_bytes(content))
    except OSError as error:
        if _overwrite(settings.alerts_file, content):
            return ""
        return f"{settings.alerts_file} cannot be written ({error.strerror}): alerts wait for the next night"
    return ""


def _overwrite(path: Path, content: bytes) -> bool:
    """Write into the blocks that a file has; return whether they were enough."""
    with suppress(OSError):
        if path.stat().st_size == len(content):
            with path.open("r+b") as file:
                file.write(content)
            return True
    return False


# ------------------------------------------------------------------------------------------------------------- messages


def _send(
    settings: Settings,
    rules: AlertRules,
    state: AlertState,
    found: dict[str, Sequence[Finding] | None],
    now: datetime,
    *,
    is_night: bool,
) -> list[str]:
    """Send each target what it was not told; note what it took. Return what went wrong."""
    waits = {
        target
        for target in rules.targets
        if not is_night and (at := state.failed.get(target.target_id)) and now - _time(at) < _AGAIN
    }
    targets = [target for target in rules.targets if target not in waits]
    batches = {target: _untold(state, target.target_id) for target in rules.targets}
    faults = [f"{target.label} failed before: the next night tries again" for target in waits if batches[target]]

    def messages(target: Target) -> list[Message]:
        return [_message(settings, state, found, batch, now) for batch in batches[target]]

    for target, answers in send_to_each(targets, messages, rules.timeout_seconds).items():
        for batch, answer in zip(batches[target], answers, strict=True):
            for alert in batch if not answer else []:
                (alert.told_over if alert.ended_at else alert.told).append(target.target_id)
        wrong = [answer for answer in answers if answer]
        if wrong:
            faults.append(f"an alert could not be sent to {target.label}: {wrong[0]}; the next night tries again")
            state.failed[target.target_id] = utc_iso(now)
        elif answers:
            state.failed.pop(target.target_id, None)
    return faults


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _untold(state: AlertState, target_id: str) -> list[list[OpenAlert]]:
    """What a target is to be told of, a message each: by cause, what began and then what is over."""
    begun = [one for one in state.alerts if not one.ended_at and target_id not in one.told]
    over = [one for one in state.alerts if one.ended_at and target_id in one.told and target_id not in one.told_over]
    batches = [[one for one in some if one.cause == cause.name] for some in (begun, over) for cause in CAUSES]
    return [batch for batch in batches if batch]


def _message(
    settings: Settings,
    state: AlertState,
    found: dict[str, Sequence[Finding] | None],
    batch: Sequence[OpenAlert],
    now: datetime,
) -> Message:
    cause = next(cause for cause in CAUSES if cause.name == batch[0].cause)
    is_over = bool(batch[0].ended_at)
    if is_over:
        left = sum(one.cause == cause.name and not one.ended_at for one in state.alerts)
        says = [f"{len(batch):,} over, {left:,} still open; it began at {min(one.began_at for one in batch)}"]
    else:
        subjects = {one.subject for one in batch}
        lines = [one.says for one in found[cause.name] or () if one.subject in subjects]
        says = lines[:_SHOWN] or [f"since {batch[0].began_at}"]  # it began earlier, and cannot be looked at now
        says += [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    title = f"Slowwave: {'over: ' if is_over else ''}{cause.title}{f' ({len(batch):,})' if len(batch) > 1 else ''}"
    return _make_message(settings, now, "over" if is_over else "open", cause.name, title, says, cause.todo)


def _make_message(
    settings: Settings, now: datetime, state: str, cause: str, title: str, says: Sequence[str], todo: str
) -> Message:
    todo = "" if state == "over" else todo
    at = f"{now:%Y-%m-%dT%H:%M:%S}Z"
    return Message(state, cause, title, tuple(says), todo, str(settings.home), socket.gethostname(), at)


# ------------------------------------------------------------------------------------------------------------- a night


@contextmanager
def watch_night(settings: Settings, say: Say) -> Iterator[None]:
    """Ping at the start and the end of a night, send the alerts that follow from it, and write its metrics.

    What goes wrong with that is said only.

    A night that is stopped from outside pings nothing more: whoever waits for the ping notices.
    """
    try:
        rules = read_rules(settings)
    except UserError as error:
        say(f"nobody is alerted: {error}")
        rules = AlertRules()
    _ping(rules, "/start", "", say)
    failure, is_over = "", True
    try:
        yield
    except typer.Exit:  # it ended, and what was left out is a cause of its own
        raise
    except Exception as error:
        failure = str(error) or type(error).__name__
        raise
    except BaseException:
        is_over = False
        raise
    finally:
        if is_over:
            _look_after_night(settings, rules, failure, say)


def _look_after_night(settings: Settings, rules: AlertRules, failure: str, say: Say) -> None:
    _ping(rules, "/fail" if failure else "", failure, say)

    def alert() -> list[str]:
        return check_home(settings, rules, utc_now(), failure=failure, is_night=True).faults if rules.targets else []

    for what, look in (("alerts", alert), ("metrics", lambda: [write_textfile(settings, utc_now())])):
        try:
            with home_doors():
                faults = look()
        except Exception as error:  # noqa: BLE001 - the night is over, and how it ended is not to be hidden by this
            faults = [f"{what}: {error or type(error).__name__}"]
        for fault in filter(None, faults):
            say(fault)


def _ping(rules: AlertRules, which: Pinged, failure: str, say: Say) -> None:
    """Call the address of `[alerts] ping`, which notices when nobody does."""
    if not rules.ping:
        return
    parts = urlsplit(rules.ping)
    url = parts._replace(path=f"{parts.path.rstrip('/')}{which}").geturl() if which else rules.ping
    seconds = min(_PING_SECONDS, rules.timeout_seconds)
    answers: list[str] = []

    def call() -> None:
        answers.append(call_url(url, make_inert(failure).encode() if failure else None, "text/plain", seconds))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    fault = answers[0] if answers else f"no answer within {seconds:g} s"
    if fault:
        say(f"the ping to {Target(rules.ping).label} failed: {fault}")


# ------------------------------------------------------------------------------------------------------------- commands


def alert_now(settings: Settings) -> bool:
    """Look, and send, as a night does; say what went wrong on standard error. Return whether all is well.

    Raises UserError where `[alerts]` cannot be understood.
    """
    checked = check_home(settings, read_rules(settings), utc_now())
    for said in [*checked.faults, *(f"{cause.title}: {found[0].says}" for cause, found in checked.found)]:
        sys.stderr.write(f"slowwave: {terminal_safe(said)}\n")
    return checked.is_well


def run_alerts(settings: Settings, *, output: str) -> None:
    """Print the causes that are open now, as `text` or `json`, with since when; nothing is sent."""
    rules, state, now = read_rules(settings), _read_state(settings), utc_now()
    seen = look_at_home(settings, now, rules.late_hours, rules.disk_days, _last_failure(state, "", now))
    since = {(one.cause, one.subject): one for one in state.alerts if not one.ended_at}
    lines: list[CheckLine] = []
    for cause in (cause for cause in CAUSES if cause.name not in rules.without):
        found = cause.find(seen) or []
        noted = [since[key] for one in found if (key := (cause.name, one.subject)) in since]
        more = [f"and {len(found) - _SHOWN:,} more"] if len(found) > _SHOWN else []
        facts: dict[str, Any] = {
            "cause": cause.name,
            "count": len(found),
            "began_at": min((one.began_at for one in noted), default=None),
            "told_targets": len({target for one in noted for target in one.told}),
        }
        if found:
            says = "\n".join([*(one.says for one in found[:_SHOWN]), *more])
            lines.append(CheckLine(cause.title, "error" if cause.is_fault else "warn", says, cause.todo, facts))
    if output == "json":
        targets = [target.label for target in rules.targets]
        typer.echo(json.dumps({"targets": targets, "open": [line.as_json() for line in lines]}, indent=2))
        return
    to = ", ".join(one.label for one in rules.targets) or "nobody: [alerts] targets in settings.toml names whom"
    print_check_lines(f"{format_count(len(lines), 'open cause')} · alerts go to {to} · {utc_text(now)}", lines)


def run_test(settings: Settings, *, output: str) -> None:
    """Send a message to each target and print what became of it, as `text` or `json`.

    Raises UserError where no target is named, typer.Exit with code 1 where one did not take it.
    """
    rules = read_rules(settings)
    if not rules.targets:
        message = f'nobody is alerted: name targets = ["…"] in [alerts] of {settings.settings_file}'
        raise UserError(message)
    says = ["This is a test: nothing is wrong."]
    message = _make_message(settings, utc_now(), "test", "test", "Slowwave: test", says, "")
    answers = send_to_each(rules.targets, lambda _: [message], rules.timeout_seconds)
    lines = [
        CheckLine(target.label, "error" if fault else "ok", fault or "took the message", "")
        for target, (fault,) in answers.items()
    ]
    if output == "json":
        typer.echo(json.dumps([line.as_json() for line in lines], indent=2))
    else:
        print_check_lines(f"{format_count(len(lines), 'target')} · {settings.home}", lines)
    if worst(line.state for line in lines) == "error":
        raise typer.Exit(1)
