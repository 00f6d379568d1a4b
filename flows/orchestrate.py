"""The Prefect flows `land`, `nightly` and `backfill`: the plain functions, with every stage a task that is watched.

Importing this module sets Prefect up (quiet, no telemetry, its home in ours) and then loads it, which takes seconds.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from slowwave.flows import nightly as plain
from slowwave.flows.errors import UserError
from slowwave.flows.land import LandingReport, inbox_deliveries
from slowwave.flows.lock import writer_lock
from slowwave.flows.nightly import NightlyResult, Progress, Run, RunKind, no_progress, parse_as_of
from slowwave.flows.prefect_server import configure
from slowwave.flows.run_ids import utc_now
from slowwave.flows.screen import landed_lines, phase_of, result_lines
from slowwave.flows.settings import Settings, settings_from_environment
from slowwave.flows.terminal import markdown_safe, terminal_safe

configure(settings_from_environment())  # Prefect reads its environment once, when it is first imported

from prefect import State, Task, flow, task  # noqa: E402
from prefect.artifacts import create_markdown_artifact, create_progress_artifact, update_progress_artifact  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, TaskRun  # noqa: E402
from prefect.deployments.runner import EntrypointType, RunnerDeployment  # noqa: E402
from prefect.runtime import flow_run  # noqa: E402
from prefect.schedules import Cron, Interval  # noqa: E402

WAIT_SECONDS = 600
_RETRY_SECONDS = (1.0, 10.0)
_REPORT_EVERY_SECONDS = 2.0
# How far a run is, in percent, when a phase begins; replaying is most of the work.
_PHASES = {"landing": 0.0, "planning": 30.0, "replaying": 35.0, "publishing": 90.0}

# Told what a flow of this process is doing: the command that runs one sets it to its screen.
watching: ContextVar[Progress] = ContextVar("watching", default=no_progress)


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
    retries = 0 if function is plain.land else len(_RETRY_SECONDS)
    named = stage.with_options(name=function.__name__.replace("_", " "), task_run_name=name, retries=retries)
    return named(partial(function, *arguments))


# --------------------------------------------------------------------------------------------------------- reporting


class _Reporter:
    """Passes progress on to the screen, and every few seconds to a progress artifact."""

    def __init__(self, screen: Progress) -> None:
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
            key = f"{flow_run.get_flow_name()}-progress"
            self._artifact = create_progress_artifact(percent, key=key, description=description)
        else:
            update_progress_artifact(self._artifact, percent, description)


def summary_markdown(title: str, lines: list[tuple[str, str]]) -> str:
    """A summary as a Markdown table; texts are escaped, so that none of them becomes markup."""
    rows = [f"| {markdown_safe(label)} | {markdown_safe(text)} |" for label, text in lines]
    return "\n".join([f"## {markdown_safe(title)}", "", "| | |", "|---|---|", *rows, ""])


def _say(text: str) -> None:
    """Say how a scheduled run ended, on the standard error of `slowwave serve`. A command has its own screen."""
    if flow_run.get_deployment_id() is not None:
        sys.stderr.write(f"{utc_now():%Y-%m-%d %H:%M:%S}Z {flow_run.get_flow_name()}: {terminal_safe(text)}\n")


@contextmanager
def _run(home: str, kind: RunKind) -> Iterator[tuple[Run, Callable[[str, list[tuple[str, str]]], None]]]:
    """A run under the writer lock, and what to report its end with. A fault is reported and goes on."""
    settings = Settings(Path(home)) if home else settings_from_environment()
    reporter = _Reporter(watching.get())

    def report(title: str, lines: list[tuple[str, str]]) -> None:
        reporter.set(100.0, "done")
        key = f"{flow_run.get_flow_name()}-summary"
        create_markdown_artifact(summary_markdown(title, lines), key=key)
        _say(title)

    try:
        with writer_lock(settings, kind, wait_seconds=WAIT_SECONDS, waiting=_say):
            yield plain.start_run(settings, kind, reporter, run_as_task), report
    except (UserError, OSError) as error:
        key = f"{flow_run.get_flow_name()}-summary"
        create_markdown_artifact(summary_markdown("failed", [("why", str(error))]), key=key)
        _say(f"failed: {error}")
        raise


# ------------------------------------------------------------------------------------------------------------- flows


def _name_of_run() -> str:
    chosen = flow_run.get_parameters()
    name = str(flow_run.get_flow_name())
    if name == "backfill":
        return f"backfill {chosen['first']} to {chosen['last']}"
    if name == "nightly" and chosen.get("as_of"):
        return f"nightly as of {chosen['as_of']}"
    return f"{name} of {utc_now():%Y-%m-%d %H:%M:%S}Z"


@flow(name="land", flow_run_name=_name_of_run, persist_result=False)
def land(home: str = "") -> LandingReport:
    """Land what producers have dropped into the inbox of `home` (default: $SLOWWAVE_HOME)."""
    with _run(home, "land") as (run, report):
        landed = plain.land_paths(run, inbox_deliveries(run.settings.inbox), stage=run_as_task)
        lines = landed_lines(landed)
        report(lines[0][1], lines)
        return landed


@flow(name="nightly", flow_run_name=_name_of_run, persist_result=False)
def nightly(home: str = "", as_of: str | None = None, full: bool = False) -> NightlyResult:  # noqa: FBT001, FBT002 - a flow's parameters are named
    """Land the inbox, rebuild the days that changed, audit, publish. The state is Failed when an audit failed."""
    with _run(home, "nightly") as (run, report):
        result = plain.nightly(run, as_of=parse_as_of(as_of) if as_of else None, full=full)
        report(f"{result.status} as of {result.as_of}", result_lines(run.settings, result))
        return result


@flow(name="backfill", flow_run_name=_name_of_run, persist_result=False)
def backfill(first: date, last: date, home: str = "") -> NightlyResult:
    """Build the evidence of the days from `first` to `last`; what is published stays."""
    with _run(home, "backfill") as (run, report):
        result = plain.backfill(run, first, last)
        report(f"built {len(result.built)} of {len(result.plan.days)} days", result_lines(run.settings, result))
        return result
