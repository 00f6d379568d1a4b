"""Commands that keep a home going: what is old or wrong, what can be removed, and the schedules."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slowwave.flows.cli.groups import command
from slowwave.flows.cli.shared import TextFormat
from slowwave.flows.kernel.settings import settings_from_environment


@command("slowwave lake prune --keep 14", within="lake")
def prune(
    keep: Annotated[int, typer.Option(min=0, help="Serving files kept besides current.")] = 7,
) -> None:
    """Remove old serving files, and the partitions only they needed; nothing within 24 hours of being current."""
    from slowwave.flows.cli.run import run_prune

    run_prune(settings_from_environment(), keep)


@command("slowwave lake retain --dry-run", within="lake")
def retain(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what each rule would free.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete what is older than [retention] in settings.toml says, as every night does."""
    from slowwave.flows.cli.commands.lifetime import run_retain

    run_retain(settings_from_environment(), dry_run=dry_run, yes=yes)


@command("slowwave lake erase --memory MEMORY_ID", "slowwave lake erase --memory MEMORY_ID --yes", within="lake")
def erase(
    users: Annotated[list[str] | None, typer.Option("--user", help="All rows of a user.", metavar="USER_ID")] = None,
    sessions: Annotated[
        list[str] | None, typer.Option("--session", help="All rows of a session.", metavar="SESSION_ID")
    ] = None,
    interactions: Annotated[
        list[str] | None, typer.Option("--interaction", help="An interaction, with its outcomes.", metavar="ID")
    ] = None,
    memories: Annotated[
        list[str] | None, typer.Option("--memory", help="A memory, with its changes.", metavar="MEMORY_ID")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without it, what would go is shown.")] = False,
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
) -> None:
    """Erase for good what is named, from the lake and all that was made of it; shows what would go unless --yes.

    Rows that were erased are refused when they are delivered again. Rows with other ids land as ever, of the same
    user or session too.
    """
    from slowwave.flows.cli.commands.lifetime import run_erase

    named = {"user": users, "session": sessions, "interaction": interactions, "memory": memories}
    asked = [(kind, name) for kind, names in named.items() for name in names or []]
    run_erase(settings_from_environment(), asked, yes=yes, output=output)


@command("slowwave lake disk", "slowwave lake disk --format json", within="lake")
def disk(output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text") -> None:
    """Say what the home weighs, by table, kind and day, how it grows, and what could go; reads names and sizes only."""
    from slowwave.flows.care.disk import run_disk

    run_disk(settings_from_environment(), output=output)


@command("slowwave status", "slowwave status --warn-hours 30 --error-hours 60 --format json")
def status(
    output: Annotated[TextFormat, typer.Option("--format", help="How it is printed.")] = "text",
    warn_hours: Annotated[float, typer.Option(min=0, help="Older than this is a warning.")] = 26.0,
    error_hours: Annotated[float, typer.Option(min=0, help="Older than this is an error (exit code 1).")] = 50.0,
) -> None:
    """Say how fresh each source and the publish are; exit 1 when something is too old or failed, for a monitor."""
    from slowwave.flows.care.status import run_status

    run_status(settings_from_environment(), output=output, warn_hours=warn_hours, error_hours=error_hours)


@command("slowwave doctor", "slowwave doctor --fix")
def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="First close to other users what an old release has left open to them.")
    ] = False,
) -> None:
    """Check the home, the lake, the lock, the disk and the versions, and say what to do about what is wrong."""
    from slowwave.flows.care.doctor import run_doctor

    run_doctor(settings_from_environment(), fix=fix)


@command("slowwave serve --timezone Europe/Berlin", "slowwave serve --capture")
def serve(
    timezone: Annotated[str, typer.Option(help="Time zone of the nightly schedule, such as Europe/Berlin.")] = "UTC",
    nightly_cron: Annotated[str, typer.Option(help="When the nightly flow runs.")] = "0 2 * * *",
    land_minutes: Annotated[int, typer.Option(min=1, help="Minutes between landings of the inbox.")] = 5,
    capture: Annotated[
        bool, typer.Option("--capture", help="Also take rows and OpenTelemetry, as `slowwave capture` on this machine.")
    ] = False,
    capture_port: Annotated[int, typer.Option(min=0, max=65535, help="Where; 0 is any free one.")] = 0,
) -> None:
    """Run the schedules with Prefect until stopped: land every 5 minutes, nightly at 02:00."""
    from slowwave.flows.cli.run import run_serve

    beside = ["--port", str(capture_port)] if capture else None
    when: dict[str, Any] = {"timezone": timezone, "nightly_cron": nightly_cron, "land_minutes": land_minutes}
    run_serve(settings_from_environment(), **when, capture=beside)
