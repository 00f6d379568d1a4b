"""The Prefect flows: the plain functions, with every stage a task that is watched, and the deployments of `serve`.

Importing this module sets Prefect up (quiet, no telemetry, its home in ours) and then loads it, which takes seconds.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import string
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial, wraps
from pathlib import Path
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from slowwave.flows.ask.connection import find_run
from slowwave.flows.ask.report import ensure_current_report, write_report
from slowwave.flows.care.alerts import watch_night
from slowwave.flows.engines.settings import engine_settings
from slowwave.flows.imports.connections import received_deliveries
from slowwave.flows.kernel.doors import home_doors
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.log_lines import log_form
from slowwave.flows.kernel.processes import STOPPED, StoppedExit
from slowwave.flows.kernel.progress import Lines, phase_of
from slowwave.flows.kernel.settings import Settings, settings_from_environment
from slowwave.flows.kernel.terminal import format_count, terminal_safe
from slowwave.flows.kernel.times import parse_as_of, utc_now
from slowwave.flows.lake.current import KEEP_RUNS
from slowwave.flows.lake.lake import landed_lake
from slowwave.flows.land.inbox import passed_over
from slowwave.flows.land.land import LandingReport
from slowwave.flows.nightly import nightly as plain
from slowwave.flows.nightly.nightly import NightlyResult
from slowwave.flows.nightly.notify import notify
from slowwave.flows.nightly.prune import describe_pruned
from slowwave.flows.nightly.prune import prune as remove_unneeded
from slowwave.flows.nightly.screen import landed_lines, result_lines, result_title
from slowwave.flows.publish.run import Progress, Run, no_progress, start_run
from slowwave.flows.publish_to.run import publish_as_settled, published_after_night
from slowwave.flows.schedule.flow_runs import cancel_late_runs, crash_killed_runs, mark_as_running
from slowwave.flows.schedule.server import configure
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.vocabularies import RunKind

configure(settings_from_environment())  # Prefect reads its environment once, when it is first imported

from prefect import Flow, State, Task, flow, get_run_logger, tags, task  # noqa: E402
from prefect.artifacts import (  # noqa: E402
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.client.orchestration import get_client  # noqa: E402
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, TaskRun  # noqa: E402
from prefect.deployments.runner import RunnerDeployment  # noqa: E402
from prefect.exceptions import CancelledRun, TerminationSignal  # noqa: E402
from prefect.runner import Runner  # noqa: E402
from prefect.runtime import deployment, flow_run  # noqa: E402
from prefect.schedules import Cron, Interval  # noqa: E402
from prefect.states import Cancelled, Scheduled  # noqa: E402
from prefect.types.entrypoint import EntrypointType  # noqa: E402

WAIT_SECONDS = 600
_RETRY_SECONDS = (1.0, 10.0)
_REPORT_EVERY_SECONDS = 2.0
_LINE_EVERY_SECONDS = 10.0
_STOP_SECONDS = 30.0
# How far a run is, in percent, when a phase begins; replaying is most of the work.
_PHASES = {"landing": 0.0, "asking": 20.0, "planning": 30.0, "replaying": 35.0, "publishing": 90.0}

# Told what a flow of this process is doing: the command that runs one sets it to its screen.
_watching: ContextVar[Progress] = ContextVar("watching", default=no_progress)
# The run that a command has entered in the ledger before Prefect started: its flow goes on with it.
_entered: ContextVar[Run | None] = ContextVar("entered", default=None)


@contextmanager
def called_by_command(settings: Settings, screen: Progress, run: Run | None) -> Iterator[None]:
    """Let the flows that a command calls tell its screen, and go on with the run that it has entered in the ledger.

    Raises StoppedExit where a signal has stopped one.
    """
    watched, entered = _watching.set(screen), _entered.set(run)
    try:
        with tags(*tags_of(settings.home)):
            yield
    except CancelledRun as error:
        raise StoppedExit from error
    finally:
        _watching.reset(watched)
        _entered.reset(entered)


# Of a line for Prefect's pages only: what the user has to know, the command or `serve` says in its own words.
_TO_PAGES = {"is_for_pages": True}


class _NoStackTrace(logging.Filter):
    """Takes Prefect's stack traces from faults the user can mend: the state and the command say them in a sentence."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; that of a fault is, without its stack trace, and to Prefect's pages only."""
        if record.exc_info and isinstance(record.exc_info[1], CancelledRun):  # the state has said it already
            return False
        if record.exc_info and isinstance(record.exc_info[1], UserError | OSError | TerminationSignal):
            record.exc_info, record.is_for_pages = None, True
        return True


class _NotForPages(logging.Filter):
    """Keeps from the console what is for Prefect's pages."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is for the console."""
        return not getattr(record, "is_for_pages", False)


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_NoStackTrace())
for _handler in logging.getLogger().handlers:
    _handler.addFilter(_NotForPages())


# ------------------------------------------------------------------------------------------------------------- tasks


def _is_io_fault(_task: Task[Any, Any], _run: TaskRun, state: State[Any]) -> bool:
    return isinstance(state.data, OSError)


@task(
    retries=len(_RETRY_SECONDS),
    retry_delay_seconds=list(_RETRY_SECONDS),
    retry_condition_fn=_is_io_fault,
    cache_policy=NO_CACHE,  # the default key would hash the plan of a lazy frame, not its data
    persist_result=False,
)
def stage(call: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the stage returns
    """One stage of a run; repeated twice when a disk or a network file system fails it."""
    return call()


def run_as_task(name: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any stage
    """Run one stage of a plain run as a task of that name.

    Landing is not repeated: what it landed before the fault has left the inbox. The next run lands the rest.
    """
    retries = 0 if function in {plain.land_inbox, plain.land_paths} else len(_RETRY_SECONDS)
    named = stage.with_options(name=function.__name__.replace("_", " "), task_run_name=name, retries=retries)
    return named(partial(function, *arguments))


# --------------------------------------------------------------------------------------------------------- reporting


class _Reporter:
    """Passes progress on to the screen, and every few seconds to a progress artifact."""

    def __init__(self, kind: str, screen: Progress) -> None:
        self.kind = kind
        self._screen = screen
        self._artifact: UUID | None = None
        self._last = self._last_line = time.monotonic()
        self._phase = ""
        self._costs: dict[str, list[float]] = {}  # of a stage: seconds, CPU seconds

    def __call__(self, label: str, done: int, total: int) -> None:
        self._screen(label, done, total)
        phase, now = phase_of(label), time.monotonic()
        if phase != self._phase or now - self._last_line >= _LINE_EVERY_SECONDS:
            self._phase, self._last_line = phase, now
            self.log(f"{phase}: {done:,} of {total:,}" if total else phase)
        if now - self._last < _REPORT_EVERY_SECONDS:
            return
        self._last = now
        starts = [*_PHASES.values(), 100.0]
        begin = _PHASES[phase]
        end = min(start for start in starts if start > begin)
        self.set(begin + (end - begin) * (min(done, total) / total if total else 0.0), phase)

    def set(self, percent: float, description: str) -> None:
        """Put the progress artifact to `percent`."""
        if self._artifact is None:
            key = f"{self.kind}-progress"
            # (a coroutine in an event loop only)
            self._artifact = cast("UUID", create_progress_artifact(percent, key=key, description=description))
        else:
            update_progress_artifact(self._artifact, percent, description)

    def run_stage(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any stage
        """Run one stage as a task, and note what it cost; stages such as `replay DAY` count together."""
        began, spent = time.monotonic(), sum(os.times()[:4])
        try:
            return run_as_task(name, function, *arguments)
        finally:
            cost = self._costs.setdefault(name.partition(" ")[0], [0.0, 0.0])
            seconds = time.monotonic() - began, sum(os.times()[:4]) - spent
            cost[:] = [cost[0] + seconds[0], cost[1] + seconds[1]]
            self.log(f"{name}: {seconds[0]:.1f} s, {seconds[1]:.1f} s of CPU time")

    def log(self, text: str, level: int = logging.INFO) -> None:
        """Put a line into the log that Prefect's pages show of this run."""
        get_run_logger().log(level, "%s", terminal_safe(text), extra=_TO_PAGES)

    def say(self, text: str) -> None:
        """Put a line into the log; of a scheduled run also on standard error."""
        self.log(text)
        _say(self.kind, text)

    def summary(self, title: str, lines: Lines, level: int = logging.INFO) -> None:
        """Write the summary into the log and as artifacts; a scheduled run also says on standard error how it ended."""
        for label, text in [("", title), *lines]:
            self.log(f"{label}: {text}" if label else text, level)
        create_markdown_artifact(summary_markdown(title, lines), key=f"{self.kind}-summary")
        if self._costs:
            costs = [
                {"stage": stage, "seconds": round(seconds, 2), "CPU seconds": round(spent, 2)}
                for stage, (seconds, spent) in self._costs.items()
            ]
            create_table_artifact(costs, key=f"{self.kind}-costs")
        _say(self.kind, title)

    def link_report(self, report: str) -> None:
        """Put a link to the report among the artifacts, where it was written."""
        if report and Path(report).is_absolute():
            create_link_artifact(Path(report).as_uri(), link_text=report, key=f"{self.kind}-report")


def summary_markdown(title: str, lines: Lines) -> str:
    """A summary as a Markdown table; texts are escaped, so that none of them becomes markup or a link."""
    rows = [f"| {_markdown_safe(label)} | {_markdown_safe(text)} |" for label, text in lines]
    return "\n".join([f"## {_markdown_safe(title)}", "", "| | |", "|---|---|", *rows, ""])


def _markdown_safe(text: str) -> str:
    entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    return "".join(
        entities.get(char, f"\\{char}" if char in string.punctuation else char) for char in terminal_safe(text)
    )


def _say(kind: str, text: str) -> None:
    """A line on the standard error of `slowwave serve`, for a scheduled run; a command has its own screen."""
    if deployment.id is not None:
        with log_form(kind) as is_json:
            at = "" if is_json else f"{utc_now():%Y-%m-%d %H:%M:%S}Z {kind}: "
            sys.stderr.write(f"{at}{terminal_safe(text)}\n")


@contextmanager
def _watched(home: str, kind: str) -> Iterator[tuple[Settings, _Reporter]]:
    """The settings of a home, and who reports on the run of a flow. A fault is reported and goes on."""
    settings = Settings(Path(home)) if home else settings_from_environment()
    reporter = _Reporter(kind, _watching.get())
    try:
        with home_doors():
            mark_as_running(settings, str(flow_run.id))
            _tidy_other_runs(settings, reporter)
            yield settings, reporter
    except (TerminationSignal, KeyboardInterrupt):
        _ignore_more_signals()
        reporter.summary(STOPPED, [], logging.WARNING)
        raise
    except (UserError, OSError) as error:
        lines = [("why", line) for line in str(error).splitlines()]
        reporter.summary(f"failed: {str(error).splitlines()[0]}", lines, logging.ERROR)
        _tell(settings, kind, "failed", str(error))
        raise
    except Exception as error:
        _tell(settings, kind, "failed", f"{type(error).__name__}: {error}")
        raise


def _tidy_other_runs(settings: Settings, reporter: _Reporter) -> None:
    """Mark as crashed the runs that were killed, and cancel those of this deployment that wait since an outage."""
    for name in crash_killed_runs(settings):
        reporter.say(f"marked as crashed: {name}, whose process was killed")
    if deployment.id is not None:
        late = cancel_late_runs(str(flow_run.id))
        if late:
            reporter.say(f"cancelled {format_count(late, 'run')} that waited for longer: this one does their work")


@contextmanager
def _run(home: str, kind: RunKind, **engine: Any) -> Iterator[tuple[Run, _Reporter]]:  # noqa: ANN401 - of a flow
    """A run under the writer lock, and who reports on it; stopped by a signal, the ledger says so."""
    with _watched(home, kind) as (settings, reporter), _lock(settings, reporter):
        run = _adopt_entered_run(start_run(settings, kind, reporter, reporter.run_stage))
        run.engine = engine_settings(settings, **engine)
        try:
            yield run, reporter
        except (TerminationSignal, KeyboardInterrupt):
            _ignore_more_signals()
            if run.reached:
                plain.record_failure(run, None, UserError(STOPPED))
            raise
        reporter.set(100.0, "done")


def _ignore_more_signals() -> None:
    """Let nothing interrupt the note of an interruption: a terminal sends one to all processes, and `serve` another."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _lock(settings: Settings, reporter: _Reporter) -> AbstractContextManager[None]:
    return writer_lock(settings, reporter.kind, wait_seconds=WAIT_SECONDS, waiting=reporter.say)


def _tell(settings: Settings, kind: str, status: str, message: str, **known: Any) -> None:  # noqa: ANN401 - JSON
    """Tell of a scheduled night that failed or left rows out; a command tells of its own."""
    if kind == "nightly" and deployment.id is not None:
        fault = notify(settings, status, message, **known)
        if fault:
            _say(kind, fault)


def _watch(home: str) -> AbstractContextManager[None]:
    """Ping and alert for a scheduled night; a command does it itself."""
    settings = Settings(Path(home)) if home else settings_from_environment()
    return watch_night(settings, partial(_say, "nightly")) if deployment.id is not None else nullcontext()


def _adopt_entered_run(run: Run) -> Run:
    """The run, under the name that the command has entered it by."""
    before = _entered.get()
    if before is not None and before.kind == run.kind and before.reached:
        run.run_id, run.started_at, before.reached = before.run_id, before.started_at, ""
        run.imported = before.imported
    return run


# ------------------------------------------------------------------------------------------------------------- flows


def name_run() -> str:
    """Return a name such as `nightly 2026-03-05 02:00 CET`: when the run was due, in the time zone of its schedule."""
    due = flow_run.scheduled_start_time or datetime.now(UTC)
    given = flow_run.parameters
    said = " as of {as_of}" if given.get("as_of") else " {first} to {last}" if "first" in given else ""
    at = "" if said else f" {due.astimezone(_schedule_zone()):%Y-%m-%d %H:%M %Z}"
    return f"{flow_run.flow_name}{said.format(**given)}{at}"


def _schedule_zone() -> tzinfo:
    if deployment.id is None:
        return UTC
    with get_client(sync_client=True) as client:
        schedules = client.read_deployment(deployment.id).schedules
    zones = [getattr(each.schedule, "timezone", None) for each in schedules]
    return ZoneInfo(next((zone for zone in zones if zone), "UTC"))


def _as_flow(name: str) -> Callable[[Callable[..., Any]], Flow[..., Any]]:
    """A function as a flow whose run, stopped by a signal, ends as cancelled instead of crashed."""

    def make_flow(function: Callable[..., Any]) -> Flow[..., Any]:
        @wraps(function)
        def run_or_cancel(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of any flow
            try:
                return function(*arguments, **options)
            except TerminationSignal:
                return Cancelled(message=STOPPED)
            except KeyboardInterrupt:
                if deployment.id is None:  # a command ends as interrupted
                    raise
                return Cancelled(message=STOPPED)

        return flow(name=name, flow_run_name=name_run, persist_result=False)(run_or_cancel)

    return make_flow


@_as_flow("land")
def land(home: str = "") -> LandingReport:
    """Land what producers have dropped into the inbox.

    Args:
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
    """
    with _run(home, "land") as (run, reporter):
        waiting = received_deliveries(run.settings, run.landed.unreadable.append)
        landed = run.stage("land", plain.land_paths, run, waiting)
        landed.passed_over = passed_over(run.settings.inbox)
        if landed.files or landed.unreadable:
            lines = landed_lines(landed)
            reporter.summary(f"landed {lines[0][1]}", lines)
        return landed


@_as_flow("nightly")
def nightly(
    home: str = "",
    as_of: str | None = None,
    full: bool = False,
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> NightlyResult:
    """Land the inbox, rebuild the days that changed, audit, publish. The state is Failed when an audit failed.

    Args:
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
        as_of: Publish what was known before this time, such as 2026-03-10 (midnight UTC); none is now.
        full: Build every day again, and compare with what is there.
        engine: local, dask or ray; none is what settings.toml says.
        address: A scheduler that runs already.
        workers: How many to start here.
    """
    with _watch(home), _run(home, "nightly", name=engine, address=address, workers=workers) as (run, reporter):
        result = plain.nightly(run, as_of=parse_as_of(as_of) if as_of else None, full=full)
        result = replace(result, report=run.stage("report", ensure_current_report, run.settings))
        reporter.link_report(result.report)
        reporter.summary(result_title(result), result_lines(run.settings, result))
        if result.is_incomplete:
            _tell(run.settings, "nightly", result.status, result_title(result), run_id=result.run_id)
    if deployment.id is not None:  # a command does it when its screen is done
        published_after_night(run.settings, reporter.say)
    return result


@_as_flow("backfill")
def backfill(
    first: date,
    last: date,
    home: str = "",
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> NightlyResult:
    """Build the evidence of some days; what is published stays.

    Args:
        first: The first of the days, such as 2026-03-01.
        last: The last of the days.
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
        engine: local, dask or ray; none is what settings.toml says.
        address: A scheduler that runs already.
        workers: How many to start here.
    """
    with _run(home, "backfill", name=engine, address=address, workers=workers) as (run, reporter):
        result = plain.backfill(run, first, last)
        reporter.summary(result_title(result), result_lines(run.settings, result))
        return result


@_as_flow("report")
def report(home: str = "") -> str:
    """Write the morning report of what is published again.

    Args:
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
    """
    with _watched(home, "report") as (settings, reporter):
        path = str(reporter.run_stage("report", write_report, settings, find_run(settings, "current")))
        reporter.link_report(path)
        reporter.summary(f"written: {path}", [])
        return path


@_as_flow("prune")
def prune(home: str = "", keep: int = KEEP_RUNS) -> None:
    """Remove old serving files, and the partitions that only they needed.

    Args:
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
        keep: Serving files kept besides current.
    """
    with _watched(home, "prune") as (settings, reporter), _lock(settings, reporter):
        pruned = reporter.run_stage("prune", remove_unneeded, settings, landed_lake(settings), keep)
        reporter.summary(f"removed {describe_pruned(pruned)}", [])


@_as_flow("publish-to")
def publish_to(home: str = "") -> None:
    """Copy what is published to the place that [publish_to] of settings.toml names.

    Args:
        home: The home folder; empty is $SLOWWAVE_HOME of the process.
    """
    with _watched(home, "publish-to") as (settings, reporter):
        done = reporter.run_stage("publish to", publish_as_settled, settings, reporter.say)
        reporter.summary(done, [])


def tags_of(home: Path) -> list[str]:
    """The tags of a home's flow runs: several homes may share a server."""
    return ["slowwave", f"home:{home}"]


# --------------------------------------------------------------------------------------------------------- schedules


def deployments(
    settings: Settings, timezone: str, nightly_cron: str, land_minutes: int, *, is_shared: bool = False
) -> list[RunnerDeployment]:
    """`land` every some minutes and `nightly` by cron, each at most once at a time; the others when somebody asks.

    A landing that is due while one still runs is left out, for the next one takes all that waits; a night is not.
    On a server that other homes may share (`is_shared`), the home is in their names: one would replace the other's.
    """
    of_home = f" {settings.home.name} {digest([str(settings.home.resolve())])[:6]}" if is_shared else ""
    common: dict[str, Any] = {
        "parameters": {"home": str(settings.home)},
        "tags": tags_of(settings.home),
        "entrypoint_type": EntrypointType.MODULE_PATH,
        "paused": False,
    }
    leave_out = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    every = Interval(timedelta(minutes=land_minutes), timezone=timezone)
    served = [
        nightly.to_deployment(
            f"schedule{of_home}", schedule=Cron(nightly_cron, timezone=timezone), concurrency_limit=1, **common
        ),
        land.to_deployment(f"inbox{of_home}", schedule=every, concurrency_limit=leave_out, **common),
        *(each.to_deployment(f"by-hand{of_home}", **common) for each in (backfill, report, prune, publish_to)),
    ]
    return cast("list[RunnerDeployment]", served)  # (coroutines in an event loop only)


class _Server(Runner):
    def handle_sigterm(self, *_args: object, **_options: object) -> None:
        """End the process once the flow runs that it has started have noted that they are stopped."""
        # a connection of a flow run that is cut on the way out would be shown as a traceback
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        handles = [self._process_manager.get(each) for each in self._process_manager.flow_run_ids()]
        _end_processes([handle.pid for handle in handles if handle and handle.pid])
        sys.exit(0)


def _end_processes(children: list[int]) -> None:
    """Stop child processes, and wait for those that do so; leaving the event loop kills the others."""
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while children and time.monotonic() < deadline:
        children = [pid for pid in children if _is_child_alive(pid)]
        time.sleep(0.05)


def _is_child_alive(pid: int) -> bool:
    """Whether a child has not ended; it is left to the event loop, which waits for it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def serve(served: list[RunnerDeployment], missed: datetime | None) -> None:
    """Run deployments by their schedules, in processes of their own, until interrupted; then pause the schedules.

    Paused they leave no runs waiting, which would all start at once when they are served again. `missed`: when the
    first of them was due while nothing was served, which is made up for now; None where it was not.
    """
    runner = _Server(pause_on_shutdown=False)  # its own pause does not outlive a signal
    signal.signal(signal.SIGINT, runner.handle_sigterm)
    added = [cast("UUID", runner.add_deployment(one)) for one in served]
    if missed is not None:
        with get_client(sync_client=True) as client:
            client.create_flow_run_from_deployment(added[0], state=Scheduled(scheduled_time=missed))
    try:
        asyncio.run(runner.start())
    finally:
        with get_client(sync_client=True) as client:
            for each in added:
                client.pause_deployment(each)
