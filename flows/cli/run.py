"""The commands that write: land, nightly, backfill, prune."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from slowwave.flows.ask.report import ensure_current_report
from slowwave.flows.engines.cluster import require_engine
from slowwave.flows.engines.settings import engine_settings
from slowwave.flows.imports.connections import Imported, received_deliveries
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import Screen, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, size_shown, terminal_safe
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.lake.lake import Lake, landed_lake
from slowwave.flows.land.demo_home import demo_note
from slowwave.flows.land.inbox import Delivery, inbox_deliveries, passed_over, path_deliveries
from slowwave.flows.land.land import Landing
from slowwave.flows.land.readings import Readings
from slowwave.flows.land.report import MAX_REFUSED, LandingReport
from slowwave.flows.nightly.landing_lines import (
    mapping_uses,
    retry_command,
    unknown_json,
    unmatched_ids,
    unmatched_json,
    unmatched_lines,
)
from slowwave.flows.nightly.nightly import (
    NightlyResult,
    land_paths,
    quick_night,
    retry_quarantine,
)
from slowwave.flows.nightly.notify import notify
from slowwave.flows.nightly.screen import (
    next_commands,
    print_landing,
    print_retry,
    quarantine_command,
    result_lines,
    result_title,
)
from slowwave.flows.publish.run import start_run
from slowwave.flows.publish_to.run import published_after_night
from slowwave.flows.schedule.server import prefect_api
from slowwave.transforms.core.vocabularies import ROW_FATES, LandedTable, RunKind
from slowwave.transforms.landing.mapping.rules import FieldMapping

if TYPE_CHECKING:
    from types import ModuleType

WAIT_SECONDS = 600


def run_land(
    settings: Settings,
    paths: Sequence[str],
    *,
    kind: LandedTable | None,
    dry_run: bool,
    output: str,
    readings: Readings,
    max_refused: float = MAX_REFUSED,
) -> None:
    """Land files, or without paths the inbox, and print what became of each.

    Raises typer.Exit with code 1 when a path is missing or a file cannot be read (all others have landed then), when a
    file was refused whole, or more than `max_refused` of the rows.
    """
    with Screen() as screen:
        deliveries, faults = _deliveries(settings, paths)
        if dry_run:
            deliveries, unclear = readings.to_land(deliveries)
            report, run_id = _rehearsal(settings, kind, readings, screen).land(deliveries), ""
            report.unreadable += unclear
        else:
            demo_note(settings, screen)
            with writer_lock(settings, "land", wait_seconds=WAIT_SECONDS, waiting=screen.note):
                run = start_run(settings, "land", screen.progress)
                # taken again under the lock: whoever we waited for may have landed the inbox
                if not paths:
                    deliveries = received_deliveries(settings, run.landed.unreadable.append)
                report, run_id = land_paths(run, deliveries, kind=kind, readings=readings), run.run_id
        report.passed_over += [] if paths else passed_over(settings.inbox)
    report.unreadable += faults
    unmatched = unmatched_ids(Lake(settings.lake_folder), report.days) if run_id else []
    if output == "json":
        found = landing_json(report, readings.chosen) | {"unmatched_ids": unmatched_json(unmatched)}
        typer.echo(json.dumps(found, indent=2))
    elif report.files:
        print_landing(report, readings.chosen, dry_run=dry_run)
        print_lines("", unmatched_lines(unmatched))
        publishing = f"{this_command()} nightly"
        if run_id and report.total("quarantined"):
            # the quarantine can be asked for once something is published
            todo = [retry_command(report), "" if retry_command(report) and settings.current.exists() else publishing]
            print_lines("", [], [*filter(None, todo), quarantine_command(run_id)])
        elif run_id and report.total("accepted"):
            print_lines("", [], [publishing])
    elif not report.unreadable:
        typer.echo(f"nothing to land in {settings.inbox}" if not paths else "nothing to land: no file matched")
    for said in report.passed_over:
        screen.note(said)
    _exit_if_refused(report, max_refused, screen, is_rehearsal=dry_run)


def run_retry(settings: Settings, *, kind: LandedTable | None, dry_run: bool, output: str, readings: Readings) -> None:
    """Try again what is in quarantine, and print what came of it.

    Raises typer.Exit with code 1 when something of it cannot be read.
    """
    landed_lake(settings)
    with Screen() as screen:
        if dry_run:
            report = _rehearsal(settings, kind, readings, screen).retry()
        else:
            with writer_lock(settings, "land", wait_seconds=WAIT_SECONDS, waiting=screen.note):
                run = start_run(settings, "land", screen.progress)
                report = retry_quarantine(run, kind=kind, readings=readings)
    if output == "json":
        typer.echo(json.dumps(landing_json(report, readings.chosen), indent=2))
    else:
        print_retry(report, readings.chosen, dry_run=dry_run)
        if report.total("accepted") and not dry_run:
            print_lines("", [], [f"{this_command()} nightly"])
    _exit_if_refused(report, 1.0, screen, is_rehearsal=dry_run)


def _exit_if_refused(report: LandingReport, max_refused: float, screen: Screen, *, is_rehearsal: bool = False) -> None:
    """Say what is wrong with a landing; raises typer.Exit with code 1 when something is."""
    wrong = report.unreadable + report.alarms(max_refused, is_rehearsal=is_rehearsal)
    for said in wrong:
        screen.note(said)
    if wrong:
        raise typer.Exit(1)


def _deliveries(settings: Settings, paths: Sequence[str]) -> tuple[list[Delivery], list[str]]:
    """The files that paths name (none: the inbox), and what is wrong with the paths that cannot be read."""
    if not paths:
        return inbox_deliveries(settings.inbox), []
    found: list[Delivery] = []
    faults: list[str] = []
    own = {settings.lake_folder.resolve(): "the lake", settings.serving.resolve(): "what is published"}
    for path in paths:
        try:
            named = path_deliveries([path])
        except UserError as error:
            faults.append(str(error))
            continue
        real = [Path(os.path.realpath(file.path)) for file in named if file.path is not None]  # of a loop: itself
        inside = [f"{what} ({folder})" for folder, what in own.items() if any(at.is_relative_to(folder) for at in real)]
        if inside:
            faults.append(f"{path} names files of {' and '.join(inside)}, not of producers: nothing of it was landed")
        else:
            found += named
    return found, faults


def _rehearsal(settings: Settings, kind: LandedTable | None, readings: Readings, screen: Screen) -> Landing:
    lake = Lake(settings.lake_folder)
    lake.check_format()
    options: dict[str, Any] = {"known": lake, "longest_row": settings.longest_row, "readings": readings}
    return Landing(None, "", kind=kind, progress=screen.progress, **options)


def landing_json(report: LandingReport, mapping: FieldMapping | None = None) -> dict[str, Any]:
    """A landing as one object: files, totals, reasons, what a mapping did, unknown fields, and what was not read."""
    return {
        "files": [asdict(file) for file in report.files],
        "totals": {"files": len(report.files), **{name: report.total(name) for name in ROW_FATES}},
        "reasons": dict(report.reasons.most_common()),
        "mapping": [asdict(use) for use in mapping_uses(report, mapping)],
        "readings": [{"unit": u, "reading": text, "count": n} for (u, text), n in sorted(report.readings.items())],
        "unknown": unknown_json(report),
        "not_read": report.unreadable,
        "passed_over": report.passed_over,
    }


def run_nightly(
    settings: Settings,
    *,
    as_of: str | None,
    full: bool,
    max_refused: float = MAX_REFUSED,
    leave_out: Sequence[str] = (),
    leave_in: Sequence[str] = (),
    **engine: Any,  # noqa: ANN401 - options of the command
) -> None:
    """Run the nightly flow and print one screen: what landed, what was built and published, what to look at.

    `engine`: engine, address and workers, where the command names them.

    Raises typer.Exit with code 1 when rows that failed a check had to be set aside, a file was left or refused whole,
    or more than `max_refused` of the rows were.
    """
    moment = as_of and asked_time("--as-of", as_of).isoformat()
    with _told_if_it_fails(settings):
        _require_engine(settings, engine)
        _nightly(settings, moment, full, max_refused, leave_out, leave_in, engine)


@contextmanager
def _told_if_it_fails(settings: Settings) -> Iterator[None]:
    """Run the notify command of the settings when a night ends with an error, whatever kept it from being made."""
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        _tell(settings, "failed", str(error))
        raise


def _tell(settings: Settings, status: str, message: str, **known: Any) -> None:  # noqa: ANN401 - JSON
    fault = notify(settings, status, message, **known)
    if fault:
        sys.stderr.write(f"slowwave: {terminal_safe(fault)}\n")


def _nightly(
    settings: Settings,
    moment: str | None,
    full: bool,
    max_refused: float,
    leave_out: Sequence[str],
    leave_in: Sequence[str],
    engine: dict[str, Any],
) -> None:
    if leave_out or leave_in:
        _decide_rows(settings, leave_out, leave_in)
    tell_unread_params(settings)
    imported = None
    if moment is None and not full:
        is_done, imported = _looked_first(settings)
        if is_done:
            if not published_after_night(settings, _note):
                raise typer.Exit(1)
            return
    with flow_session(settings, "nightly", "nightly", imported) as (flows, screen):
        demo_note(settings, screen)
        result: NightlyResult = flows.nightly(home=str(settings.home), as_of=moment, full=full, **engine)
        screen.close()
        print_lines(result_title(result), result_lines(settings, result), next_commands(result))
    if result.is_incomplete:
        _tell(settings, result.status, result_title(result), run_id=result.run_id)
    is_copied = published_after_night(settings, screen.note)
    _exit_if_refused(result.landed, max_refused, screen)
    if result.is_incomplete or not is_copied:
        raise typer.Exit(1)


def _note(text: str) -> None:
    sys.stderr.write(f"slowwave: {terminal_safe(text)}\n")


def tell_unread_params(settings: Settings) -> None:
    """Say what `params.toml` states that changes nothing."""
    for text in settings.params_without_effect():
        sys.stderr.write(f"slowwave: {settings.params_file}: {terminal_safe(text)}\n")


def _decide_rows(settings: Settings, leave_out: Sequence[str], leave_in: Sequence[str]) -> None:
    from slowwave.flows.decide.decisions import decide_rows

    lake = landed_lake(settings)
    with Screen() as screen, writer_lock(settings, "nightly", wait_seconds=WAIT_SECONDS, waiting=screen.note):
        for said in decide_rows(lake, leave_out, leave_in):
            screen.note(said)


def _looked_first(settings: Settings) -> tuple[bool, Imported | None]:
    """Import what is connected; record a run that then has nothing to do, and say so, without Prefect, which is slow.

    Whether the night is over with that, and what was imported.
    """
    with Screen() as screen, writer_lock(settings, "nightly", wait_seconds=WAIT_SECONDS, waiting=screen.note):
        run = start_run(settings, "nightly", screen.progress)
        result = quick_night(run)
        if result is None:
            return False, run.imported
        demo_note(settings, screen)
        result = replace(result, report=ensure_current_report(settings))
        screen.close()
        print_lines(result_title(result), result_lines(settings, result), next_commands(result))
    return True, run.imported


def _require_engine(settings: Settings, engine: dict[str, Any]) -> None:
    """Before anything is done, raise what `require_engine` raises."""
    require_engine(engine_settings(settings, engine["engine"], engine["address"], engine["workers"]))


def run_backfill(settings: Settings, first: str, last: str, **engine: Any) -> None:  # noqa: ANN401 - as of run_nightly
    """Run the backfill flow for the days from `first` to `last`, both included, on an engine as `run_nightly` does.

    Raises typer.BadParameter when they are no days or the wrong way round.
    """
    days = _day("--from", first), _day("--to", last)
    if days[0] > days[1]:
        message = f"{first} is after {last}"
        raise typer.BadParameter(message, param_hint="'--from'")
    landed_lake(settings)
    _require_engine(settings, engine)
    tell_unread_params(settings)
    with flow_session(settings, "backfill", "backfill") as (flows, screen):
        result: NightlyResult = flows.backfill(first=days[0], last=days[1], home=str(settings.home), **engine)
        screen.close()
        print_lines(result_title(result), result_lines(settings, result))


@contextmanager
def flow_session(
    settings: Settings, command: str, kind: RunKind | None = None, imported: Imported | None = None
) -> Iterator[tuple[ModuleType, Screen]]:
    """The flows, and the screen that watches them; `imported`: what came of connected sources that were read before.

    The writer lock is taken, and a run of `kind` entered in the ledger, before Prefect starts: killed, it is seen.
    """
    with Screen() as screen, writer_lock(settings, command, wait_seconds=WAIT_SECONDS, waiting=screen.note):
        begun = time.monotonic()
        run = start_run(settings, kind, screen.progress) if kind else None
        if run is not None:
            run.imported = imported
            run.begin("starting Prefect")
        screen.note("starting Prefect")
        try:
            with prefect_api(settings):
                from slowwave.flows.schedule import flows as orchestrate

                screen.note(f"Prefect started in {time.monotonic() - begun:.1f} s")
                watched, entered = orchestrate.watching.set(screen.progress), orchestrate.entered.set(run)
                try:
                    yield orchestrate, screen
                finally:
                    orchestrate.watching.reset(watched)
                    orchestrate.entered.reset(entered)
        except Exception as error:
            if run is not None and run.reached:  # no flow has taken it over
                run.record(run.ledger_row("failed", message=str(error)))
            raise


def run_prune(settings: Settings, keep: int) -> None:
    """Remove what no kept run needs, and print what went."""
    from slowwave.flows.nightly.prune import prune

    lake = landed_lake(settings)
    with Screen() as screen, writer_lock(settings, "prune", wait_seconds=WAIT_SECONDS, waiting=screen.note):
        pruned = prune(settings, lake, keep)
    files, partitions = (
        format_count(pruned.serving_files, "serving file"),
        format_count(pruned.partitions, "evidence partition"),
    )
    typer.echo(f"removed {files} and {partitions}: {size_shown(pruned.bytes)}")


def run_serve(
    settings: Settings, *, timezone: str, nightly_cron: str, land_minutes: int, capture: Sequence[str] | None
) -> None:
    """Run the schedules until stopped, and a receiver with the options `capture` beside; None is none.

    Raises typer.BadParameter for an unknown time zone or a cron expression that never comes.
    """
    from slowwave.flows.schedule.schedules import serve

    serve(settings, timezone=timezone, nightly_cron=nightly_cron, land_minutes=land_minutes, capture=capture)


def asked_time(option: str, text: str) -> datetime:
    """A time that an option names. Raises typer.BadParameter where it is none."""
    try:
        return parse_as_of(text)
    except UserError as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'") from error


def _day(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        message = f"{quote_shortened(text)} is no day: use YYYY-MM-DD, such as 2026-03-01"
        raise typer.BadParameter(message, param_hint=f"'{option}'") from error
