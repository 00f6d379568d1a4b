"""`slowwave serve`: the schedules, run by Prefect in this process until it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from types import FrameType
from zoneinfo import ZoneInfo

import typer

from slowwave.flows.kernel.lock import serve_lock
from slowwave.flows.kernel.progress import Screen
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.schedule.server import configure, prefect_api


def serve(
    settings: Settings, *, timezone: str, nightly_cron: str, land_minutes: int, capture: Sequence[str] | None = None
) -> None:
    """Land the inbox every `land_minutes` and run the nightly flow by cron in a time zone, until SIGINT or SIGTERM.

    `capture`: options of a receiver that runs beside; None is none.

    Raises typer.BadParameter for an unknown time zone or a cron expression that never comes, UserError when the home
    cannot be written or is being served already.
    """
    zone = _zone(timezone)
    with serve_lock(settings):
        _serve(settings, zone, nightly_cron, land_minutes, capture)


def _serve(
    settings: Settings, zone: ZoneInfo, nightly_cron: str, land_minutes: int, capture: Sequence[str] | None
) -> None:
    configure(settings)
    first = _next_night(nightly_cron, zone.key)
    os.environ["SLOWWAVE_HOME"] = str(settings.home)  # of the processes that run the flows, whatever folder they are in
    signal.signal(signal.SIGTERM, _stop)
    screen = Screen()
    screen.note("starting Prefect")
    try:
        with prefect_api(settings, schedules=True) as url, _capturing(settings, capture, screen) as taking:
            from slowwave.flows.schedule import flows as orchestrate

            served = orchestrate.deployments(settings, zone.key, nightly_cron, land_minutes)
            landing = datetime.now(UTC) + timedelta(minutes=land_minutes)
            there = "" if zone.key == "UTC" else f" ({first.astimezone(zone):%H:%M %Z})"
            screen.note(f"serving {settings.home}; stop with Ctrl-C")
            screen.note(f"land     every {format_count(land_minutes, 'minute')}, first by {utc_text(landing)}")
            screen.note(f"nightly  {nightly_cron} in {zone.key}, next {utc_text(first.astimezone(UTC))}{there}")
            if taking:
                screen.note(f"capture  {taking}")
            screen.note(f"runs     {url.removesuffix('/api')}")
            orchestrate.serve(served)
    except KeyboardInterrupt:
        pass
    finally:
        screen.note("stopped")


def _capturing(settings: Settings, options: Sequence[str] | None, screen: Screen) -> AbstractContextManager[str]:
    if options is None:
        return nullcontext("")
    from slowwave.flows.capture.beside import capturing

    return capturing(settings, options, screen.note)


def _stop(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        message = f"{quote_shortened(name)} is no time zone: use a name such as Europe/Berlin or UTC"
        raise typer.BadParameter(message, param_hint="'--timezone'") from error


def _next_night(cron: str, timezone: str) -> datetime:
    from prefect.server.schemas.schedules import CronSchedule

    try:
        dates = asyncio.run(CronSchedule(cron=cron, timezone=timezone).get_dates(1, start=datetime.now(UTC)))
    except ValueError as error:
        message = (
            f"{quote_shortened(cron)} is no cron expression that ever comes: use one such as '0 2 * * "
            "*', 02:00 every day"
        )
        raise typer.BadParameter(message, param_hint="'--nightly-cron'") from error
    return datetime.fromisoformat(dates[0].isoformat())
