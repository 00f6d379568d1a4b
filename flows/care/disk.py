"""`slowwave lake disk`: what a home weighs, by table, kind and day, how it grows, and what could go.

Told from names and sizes alone: no row is read, so that it costs as little on a large lake as on a small one.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

import typer

from slowwave.flows.care.early_warnings import growth_days
from slowwave.flows.kernel.checks import screen
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.progress import this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, size_shown, terminal_safe
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.current import current_run

Kind = Literal[
    "landed", "evidence", "quarantine", "ledger", "imports", "serving", "reports", "inbox", "prefect", "other"
]
_LANDED = frozenset({"interactions", "outcomes", "memories", "decisions"})
_OF_LAKE: dict[str, Kind] = {
    **dict.fromkeys(_LANDED, "landed"),
    **dict.fromkeys(("evidence", "kept_references", "kept_statements", "let_go"), "evidence"),
    "imports": "imports",
    "quarantine": "quarantine",
    "quarantine_resolved": "quarantine",
}
_OF_HOME: dict[str, Kind] = {"serving": "serving", "reports": "reports", "inbox": "inbox", "prefect": "prefect"}
_DAY = re.compile(r"day=(\d{4}-\d{2}-\d{2})")
_GROWTH_DAYS = 30
# Ages for which it is said what would be freed, where settings name none.
AGES = (30, 90, 365)


@dataclass(frozen=True)
class Weighed:
    """One file: its kind, the table or folder it is of, its UTC day (None: of no day), bytes, and when it changed."""

    kind: Kind
    table: str
    day: date | None
    bytes: int
    changed_at: float
    path: Path


@dataclass(frozen=True)
class TableWeight:
    """The files of one table or folder: how many, their bytes, the first and the last day they are of."""

    table: str
    kind: Kind
    files: int
    bytes: int
    first_day: date | None
    last_day: date | None


def run_disk(settings: Settings, *, output: str) -> None:
    """Print what the home weighs, as `text` or `json`. Raises UserError where there is no home."""
    if not settings.home.is_dir():
        message = f"there is no home in {settings.home}: run `slowwave land PATH` or `slowwave demo` first"
        raise UserError(message)
    files = list(weigh_files(settings))
    tables, growth = table_weights(files), growth_by_day(files)
    freed: dict[Rule, dict[int, int]] = {rule: freed_by(settings, files, rule) for rule in RULES}
    if output == "json":
        report = {
            "home": str(settings.home),
            "lake": str(settings.lake),
            "bytes": sum(file.bytes for file in files),
            "files": len(files),
            "kinds": {kind: sum(one.bytes for one in tables if one.kind == kind) for kind in _order()},
            "tables": [_as_json(one) for one in tables],
            "growth": [{"day": day.isoformat(), "bytes": size} for day, size in growth.items()],
            "bytes_a_day": _a_day(growth),
            "retention": {rule: {str(days): size for days, size in of.items()} for rule, of in freed.items()},
        }
        typer.echo(json.dumps(report, indent=2))
    else:
        _print(settings, files, tables, growth, freed)


def weigh_files(settings: Settings) -> Iterator[Weighed]:
    """Every file of the home and of its lake, wherever that lies, and of Prefect's folder; links are not followed."""
    lake = settings.lake_folder.absolute()
    home = settings.home.absolute()
    for path, status in _files(home, lake):
        first = path.relative_to(home).parts[0]
        kind = _OF_HOME.get(first, "other")
        yield _weigh_file(kind, "other" if kind == "other" else first, path, status)
    for path, status in _files(lake, None):
        parts = path.relative_to(lake).parts
        kind = _OF_LAKE.get(parts[0], "ledger")
        of_folder = parts[0] == "quarantine" and parts[1:2] == ("files",)
        table = "/".join(parts[:2]) if parts[0] == "evidence" or of_folder else parts[0]
        yield _weigh_file(kind, table if len(parts) > 1 else "lake", path, status)
    prefect = settings.prefect_home.absolute()
    if not prefect.is_relative_to(home):
        for path, status in _files(prefect, None):
            yield _weigh_file("prefect", "prefect", path, status)


def _files(folder: Path, without: Path | None) -> Iterator[tuple[Path, os.stat_result]]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if Path(root, name) != without)
        for name in sorted(names):
            path = Path(root, name)
            try:
                status = path.lstat()
            except FileNotFoundError:  # a landing that merges small files removes them meanwhile
                continue
            if stat.S_ISREG(status.st_mode):
                yield path, status


def _weigh_file(kind: Kind, table: str, path: Path, status: os.stat_result) -> Weighed:
    return Weighed(kind, table, _day(path), status.st_size, status.st_mtime, path)


def _day(path: Path) -> date | None:
    match = _DAY.fullmatch(path.parent.name)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def table_weights(files: Sequence[Weighed]) -> list[TableWeight]:
    """Per table or folder its weight, by kind, the heaviest first."""
    by_table: dict[tuple[Kind, str], list[Weighed]] = {}
    for file in files:
        by_table.setdefault((file.kind, file.table), []).append(file)
    order = _order()
    found = []
    for (kind, table), of in by_table.items():
        days = [file.day for file in of if file.day is not None]
        size = sum(file.bytes for file in of)
        found.append(TableWeight(table, kind, len(of), size, min(days, default=None), max(days, default=None)))
    return sorted(found, key=lambda one: (order.index(one.kind), -one.bytes, one.table))


def _order() -> tuple[Kind, ...]:
    return get_args(Kind)


def growth_by_day(files: Sequence[Weighed]) -> dict[date, int]:
    """Bytes that each of the last 30 days of the log takes, landed and derived; days without any are 0.

    A younger log has fewer: days before it began would make it grow more slowly than it does.
    """
    of_log = [file for file in files if file.kind in ("landed", "evidence") and file.day is not None]
    today = utc_now().date()  # what lies in the future has not grown yet
    days = {file.day for file in of_log if file.day and file.day <= today}
    if not days:
        return {}
    newest = max(days)
    number = growth_days(days, _GROWTH_DAYS)
    found = {newest - timedelta(days=number - 1 - at): 0 for at in range(number)}
    for file in of_log:
        if file.day is not None and file.day in found:
            found[file.day] += file.bytes
    return found


def _a_day(growth: dict[date, int]) -> int:
    return round(sum(growth.values()) / max(1, len(growth)))


# ------------------------------------------------------------------------------------------------------ what could go

Rule = Literal["texts", "evidence", "runs", "quarantine"]
RULES: dict[Rule, str] = {
    "texts": "landed interactions and outcomes, at most",
    "evidence": "where memories were eligible, by day",
    "runs": "serving files and reports, not current",
    "quarantine": "refused rows and kept bytes, at most",
}


def freed_by(settings: Settings, files: Sequence[Weighed], rule: Rule) -> dict[int, int]:
    """Bytes that a rule would free, by the age in days from which on it takes things."""
    current = current_run(settings)
    kept = {current.absolute(), settings.home.absolute() / "reports" / f"{current.stem}.html"} if current else set()
    return {
        days: sum(file.bytes for file in files if _is_of(rule, file) and file.path not in kept and _age(file) > days)
        for days in AGES
    }


def _is_of(rule: Rule, file: Weighed) -> bool:
    if rule == "texts":
        return file.table in ("interactions", "outcomes")
    if rule == "evidence":
        return file.table == "evidence/memory_eligibility"
    if rule == "runs":
        return file.kind in ("serving", "reports")
    return file.kind == rule


def _age(file: Weighed) -> float:
    """Days since the day that a file is of, or since it changed."""
    if file.day is not None:
        return (datetime.now(UTC).date() - file.day).days
    return (time.time() - file.changed_at) / timedelta(days=1).total_seconds()


# ---------------------------------------------------------------------------------------------------- text


def _print(
    settings: Settings,
    files: Sequence[Weighed],
    tables: Sequence[TableWeight],
    growth: dict[date, int],
    freed: dict[Rule, dict[int, int]],
) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    console = screen()
    total = sum(file.bytes for file in files)
    title = f"{size_shown(total)} in {format_count(len(files), 'file')} · {settings.home}"
    console.print(Text(terminal_safe(title), style="bold", overflow="fold"))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for is_number in (False, False, True, True, False):
        grid.add_column(justify="right" if is_number else "left", overflow="fold")
    for kind in _order():
        for at, one in enumerate(one for one in tables if one.kind == kind):
            days = f"{one.first_day} to {one.last_day}" if one.first_day else ""
            name = terminal_safe(one.table)
            grid.add_row(kind if not at else "", name, size_shown(one.bytes), format_count(one.files, "file"), days)
    console.print(grid)
    if growth:
        first, last = min(growth), max(growth)
        console.print(Text(f"grows by {size_shown(_a_day(growth))} a day (landed and evidence, {first} to {last})"))
    console.print(Text("older than so many days, and what would be freed if it went", style="bold"))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for is_number in (False, *(True for _ in AGES), False):
        grid.add_column(justify="right" if is_number else "left", overflow="fold")
    grid.add_row("", *map(str, AGES), "")
    for rule, of in freed.items():
        grid.add_row(rule, *(size_shown(of[days]) for days in AGES), RULES[rule])
    console.print(grid)
    console.print(
        Text(f"what goes is said by [retention] in settings.toml; `{this_command()} lake retain --dry-run` shows it")
    )


def _as_json(one: TableWeight) -> dict[str, Any]:
    days = {"first_day": one.first_day, "last_day": one.last_day}
    return {
        "table": one.table,
        "kind": one.kind,
        "files": one.files,
        "bytes": one.bytes,
        **{name: day.isoformat() if day else None for name, day in days.items()},
    }
