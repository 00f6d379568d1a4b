"""`slowwave lake retain`: deletes by age what `settings.toml` says."""

from __future__ import annotations

import typer

from slowwave.flows.cli.shared import ask
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import Lines, Screen, print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, size_shown, terminal_safe
from slowwave.flows.lake.landed_lake import landed_lake
from slowwave.flows.lifetime.retention import ExpiredCounts, apply_retention, read_retention_rules

_WAIT_SECONDS = 600
_NAMES = "texts_days, evidence_days, runs_days and quarantine_days"


def run_retain(settings: Settings, *, dry_run: bool, yes: bool) -> None:
    """Print what each rule would delete, and unless `dry_run` delete it.

    Raises UserError where the settings cannot be used, typer.Abort where the answer is no.
    """
    lake, rules = landed_lake(settings), read_retention_rules(settings)
    if not rules.is_any:
        says = f"nothing is deleted by age: [retention] in {settings.settings_file} may state {_NAMES}"
        typer.echo(terminal_safe(says))
        return
    if dry_run or not yes:
        would = apply_retention(settings, lake, rules, rehearses=True)
        goes = any(one.things for one in would.values())
        print_lines("would delete", _lines(would), [f"{this_command()} lake retain --yes"] if dry_run and goes else [])
        if dry_run or not goes:
            return
        ask("delete it?")
    with Screen() as screen, writer_lock(settings, "retain", wait_seconds=_WAIT_SECONDS, waiting=screen.note):
        expired = apply_retention(settings, lake, rules)
    print_lines("deleted", _lines(expired))


def _lines(expired: dict[str, ExpiredCounts]) -> Lines:
    return [(rule, _line(one)) for rule, one in expired.items()]


def _line(one: ExpiredCounts) -> str:
    things = ", ".join(f"{count:,} × {thing}" for thing, count in one.things.items())
    line = f"{things}: {size_shown(one.bytes)}" if things else ""
    if one.waiting_days:
        days = format_count(one.waiting_days, "day waits", "days wait")
        line += f"{'; ' if line else ''}{days} for a nightly that publishes what has landed since"
    return line or "nothing is that old"
