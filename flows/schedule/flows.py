"""The Prefect flows `land`, `nightly` and `backfill`: the plain functions, with every stage a task that is watched.

Importing this module sets Prefect up (quiet, no telemetry, its home in ours) and then loads it, which takes seconds.
"""

from __future__ import annotations

import asyncio
import logging
import string
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from slowwave.flows.ask.report import ensure_current_report
from slowwave.flows.engines.settings import engine_settings
from slowwave.flows.imports.connections import received_deliveries
from slowwave.flows.kernel.doors import home_doors
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import Lines, phase_of
from slowwave.flows.kernel.settings import Settings, settings_from_environment
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.kernel.times import parse_as_of, utc_now
from slowwave.flows.land.inbox import passed_over
from slowwave.flows.land.land import LandingReport
from slowwave.flows.nightly import nightly as plain
from slowwave.flows.nightly.nightly import NightlyResult
from slowwave.flows.nightly.notify import notify
from slowwave.flows.nightly.screen import landed_lines, result_lines, result_title
from slowwave.flows.publish.run import Progress, Run, no_progress, start_run
from slowwave.flows.publish_to.run import published_after_night
from slowwave.flows.schedule.server import configure
from slowwave.transforms.core.vocabularies import RunKind

configure(settings_from_environment())  # Prefect reads its environment once, when it is first imported

from prefect import State, Task, flow, task  # noqa: E402
from prefect.artifacts import create_markdown_artifact, create_progress_artifact, update_progress_artifact  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.client.orchestration import get_client  # noqa: E402
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, TaskRun  # noqa: E402
from prefect.deployments.runner import RunnerDeployment  # noqa: E402
from prefect.runner import Runner  # noqa: E402
from prefect.runtime import deployment, flow_run  # noqa: E402
from prefect.schedules import Cron, Interval  # noqa: E402
from prefect.types.entrypoint import EntrypointType  # noqa: E402

WAIT_SECONDS = 600
_RETRY_SECONDS = (1.0, 10.0)
_REPORT_EVERY_SECONDS = 2.0
# How far a run is, in percent, when a phase begins; replaying is most of the work.
_PHASES = {"landing": 0.0, "asking": 20.0, "planning": 30.0, "replaying": 35.0, "publishing": 90.0}

# Told what a flow of this process is doing: the command that runs one sets it to its screen.
watching: ContextVar[Progress] = ContextVar("watching", default=no_progress)
# The run that a command has entered in the ledger before Prefect started: its flow goes on with it.
entered: ContextVar[Run | None] = ContextVar("entered", default=None)


class _NoStackTrace(logging.Filter):
    """Drops Prefect's stack traces of faults the user can mend: the state and the command say them in a sentence."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        return not (record.exc_info and isinstance(record.exc_info[1], UserError | OSError))


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_NoStackTrace())


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

    def __init__(self, kind: RunKind, screen: Progress) -> None:
        self.kind = kind
        self._screen = screen
        self._artifact: UUID | None = None
        self._last = time.monotonic()

    def __call__(self, label: str, done: int, total: int) -> None:
        self._screen(label, done, total)
        if time.monotonic() - self._last < _REPORT_EVERY_SECONDS:
            return
        self._last = time.monotonic()
        phase = phase_of(label)
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

    def summary(self, title: str, lines: Lines) -> None:
        """Write the summary artifact; a scheduled run also says on standard error how it ended."""
        create_markdown_artifact(summary_markdown(title, lines), key=f"{self.kind}-summary")
        _say(self.kind, title)


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
        sys.stderr.write(f"{utc_now():%Y-%m-%d %H:%M:%S}Z {kind}: {terminal_safe(text)}\n")


@contextmanager
def _run(home: str, kind: RunKind, **engine: Any) -> Iterator[tuple[Run, _Reporter]]:  # noqa: ANN401 - of a flow
    """A run under the writer lock, and who reports on it. A fault is reported and goes on."""
    settings = Settings(Path(home)) if home else settings_from_environment()
    reporter = _Reporter(kind, watching.get())
    try:
        with home_doors(), writer_lock(settings, kind, wait_seconds=WAIT_SECONDS, waiting=partial(_say, kind)):
            run = _adopt_entered_run(start_run(settings, kind, reporter, run_as_task))
            run.engine = engine_settings(settings, **engine)
            yield run, reporter
            reporter.set(100.0, "done")
    except (UserError, OSError) as error:
        reporter.summary(f"failed: {str(error).splitlines()[0]}", [("why", line) for line in str(error).splitlines()])
        _tell(settings, kind, "failed", str(error))
        raise
    except Exception as error:
        _tell(settings, kind, "failed", f"{type(error).__name__}: {error}")
        raise


def _tell(settings: Settings, kind: RunKind, status: str, message: str, **known: Any) -> None:  # noqa: ANN401 - JSON
    """Tell of a scheduled night that failed or left rows out; a command tells of its own."""
    if kind == "nightly" and deployment.id is not None:
        fault = notify(settings, status, message, **known)
        if fault:
            _say(kind, fault)


def _adopt_entered_run(run: Run) -> Run:
    """The run, under the name that the command has entered it by."""
    before = entered.get()
    if before is not None and before.kind == run.kind and before.reached:
        run.run_id, run.started_at, before.reached = before.run_id, before.started_at, ""
        run.imported = before.imported
    return run


# ------------------------------------------------------------------------------------------------------------- flows


def _name_of_land() -> str:
    return f"land of {utc_now():%Y-%m-%d %H:%M:%S}Z"


def _name_of_nightly() -> str:
    return f"nightly as of {flow_run.parameters.get('as_of') or f'{utc_now():%Y-%m-%d %H:%M:%S}Z'}"


@flow(name="land", flow_run_name=_name_of_land, persist_result=False)
def land(home: str = "") -> LandingReport:
    """Land what producers have dropped into the inbox of `home` (default: $SLOWWAVE_HOME)."""
    with _run(home, "land") as (run, reporter):
        waiting = received_deliveries(run.settings, run.landed.unreadable.append)
        landed = run.stage("land", plain.land_paths, run, waiting)
        landed.passed_over = passed_over(run.settings.inbox)
        if landed.files or landed.unreadable:
            lines = landed_lines(landed)
            reporter.summary(f"landed {lines[0][1]}", lines)
        return landed


@flow(name="nightly", flow_run_name=_name_of_nightly, persist_result=False)
def nightly(
    home: str = "",
    as_of: str | None = None,
    full: bool = False,
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> NightlyResult:
    """Land the inbox, rebuild the days that changed, audit, publish. The state is Failed when an audit failed."""
    with _run(home, "nightly", name=engine, address=address, workers=workers) as (run, reporter):
        result = plain.nightly(run, as_of=parse_as_of(as_of) if as_of else None, full=full)
        result = replace(result, report=run.stage("report", ensure_current_report, run.settings))
        reporter.summary(result_title(result), result_lines(run.settings, result))
        if result.is_incomplete:
            _tell(run.settings, "nightly", result.status, result_title(result), run_id=result.run_id)
    if deployment.id is not None:  # a command does it when its screen is done
        published_after_night(run.settings, partial(_say, "nightly"))
    return result


@flow(name="backfill", flow_run_name="backfill {first} to {last}", persist_result=False)
def backfill(
    first: date,
    last: date,
    home: str = "",
    engine: str | None = None,
    address: str | None = None,
    workers: int | None = None,
) -> NightlyResult:
    """Build the evidence of the days from `first` to `last`; what is published stays."""
    with _run(home, "backfill", name=engine, address=address, workers=workers) as (run, reporter):
        result = plain.backfill(run, first, last)
        reporter.summary(result_title(result), result_lines(run.settings, result))
        return result


# --------------------------------------------------------------------------------------------------------- schedules


def deployments(settings: Settings, timezone: str, nightly_cron: str, land_minutes: int) -> list[RunnerDeployment]:
    """`land` every some minutes and `nightly` by cron, each at most once at a time.

    A landing that is due while one still runs is left out, for the next one takes all that waits; a night is not.
    """
    common: dict[str, Any] = {
        "parameters": {"home": str(settings.home)},
        "entrypoint_type": EntrypointType.MODULE_PATH,
        "paused": False,
    }
    leave_out = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)
    every, at = Interval(timedelta(minutes=land_minutes)), Cron(nightly_cron, timezone=timezone)
    served = [
        land.to_deployment("inbox", schedule=every, concurrency_limit=leave_out, **common),
        nightly.to_deployment("schedule", schedule=at, concurrency_limit=1, **common),
    ]
    return cast("list[RunnerDeployment]", served)  # (coroutines in an event loop only)


class _Server(Runner):
    def handle_sigterm(self, *_args: object, **_options: object) -> None:
        """End the process: leaving the event loop stops the runner and the flow runs it has started."""
        # a connection of a flow run that is cut on the way out would be shown as a traceback
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        sys.exit(0)


def serve(served: list[RunnerDeployment]) -> None:
    """Run deployments by their schedules, in processes of their own, until interrupted; then pause the schedules.

    Paused they leave no runs waiting, which would all start at once when they are served again.
    """
    runner = _Server(pause_on_shutdown=False)  # its own pause does not outlive a signal
    added = [cast("UUID", runner.add_deployment(one)) for one in served]
    try:
        asyncio.run(runner.start())
    finally:
        with get_client(sync_client=True) as client:
            for each in added:
                client.pause_deployment(each)
