"""`slowwave inspect methods` lists the methods, `slowwave inspect compare` says what another one would change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.ask.cells import cell_text, json_bytes
from slowwave.flows.ask.compare import Comparison, TableChange, compare_methods
from slowwave.flows.ask.output import Format, write_rows
from slowwave.flows.kernel.checks import screen
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.progress import Screen
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import parse_as_of, utc_text
from slowwave.flows.publish.run import Progress
from slowwave.transforms.core.methods.method import Method, RetiredMethod
from slowwave.transforms.core.methods.registry import living_successor, methods, retired_methods

_GAP = 2
_KEY_WIDTH, _VALUE_WIDTH = 60, 30
_COUNTS = ("before", "after", "gained", "lost", "changed")
_MOST_COLUMNS = 6


def run_compare(
    settings: Settings, old: str, new: str, *, as_of: str | None, project: str | None, examples: int, output: Format
) -> None:
    """Print what method `new` would change about what `old` makes of the log.

    Raises WrongUsageError when they are no two versions of one method, UserError when `as_of` is no time, nothing was
    landed, or with one of them an audit fails.
    """
    moment = parse_as_of(as_of) if as_of else None
    with Screen() as watched:

        def progress(method_id: str) -> Progress:
            if method_id:
                watched.note(f"with {method_id}")
            return watched.progress

        found = compare_methods(
            *(settings, old, new), as_of=moment, project=project, examples=examples, progress=progress
        )
    if output == "json":
        sys.stdout.buffer.write(json_bytes(_as_json(found)) + b"\n")
    elif output == "csv":
        write_rows(
            ("table", *_COUNTS, "is_evidence", "columns", "examples"), [[_record(of) for of in found.tables]], "csv"
        )
    else:
        _print(found)


def _as_json(found: Comparison) -> dict[str, Any]:
    return {**asdict(found), "tables": [_table_change_json(of) for of in found.tables]}


def _table_change_json(of: TableChange) -> dict[str, Any]:
    diff = of.diff
    counts = dict(zip(_COUNTS, (diff.before, diff.after, diff.added, diff.removed, diff.changed), strict=True))
    return {
        "table": diff.table,
        **counts,
        "is_evidence": of.is_evidence,
        "columns": diff.columns,
        "not_compared": diff.not_compared,
        "examples": of.examples,
    }


def _record(of: TableChange) -> list[Any]:
    named = _table_change_json(of)
    return [named[name] for name in ("table", *_COUNTS, "is_evidence", "columns", "examples")]


def _print(found: Comparison) -> None:
    console = screen()
    of_project = "" if found.project is None else f", project {found.project}"
    title = f"{found.old} → {found.new} ({found.param}), as of {utc_text(found.as_of)}{of_project}"
    console.print(Text(terminal_safe(title), style="bold"), soft_wrap=True)
    differing = [of for of in found.tables if of.diff.added or of.diff.removed or of.diff.changed]
    if differing:
        console.print(_counts(differing))
    same = len(found.tables) - len(differing)
    said = [f"the same in {same} of {len(found.tables)} tables" if differing else f"no difference in {same} tables"]
    if found.not_compared:
        said.append(f"not compared, for they name no project: {', '.join(found.not_compared)}")
    if any(of.is_evidence for of in differing):
        said.append("* evidence, of the days on which it differs")
    for line in said:
        console.print(Text(line), soft_wrap=True)
    for of in differing:
        console.print(Text(f"\n{of.diff.table}", style="bold"))
        columns = sorted(of.diff.columns.items(), key=lambda item: (-item[1], item[0]))
        if columns:
            console.print(Text(f"changed in {', '.join(f'{name} {count:,}' for name, count in columns)}"))
        for example in of.examples:
            console.print(Text(terminal_safe(_describe_example(example))), soft_wrap=True)


def _counts(tables: Sequence[TableChange]) -> Grid:
    grid = Grid(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column("\ntable", no_wrap=True)
    for name in _COUNTS:
        grid.add_column(f"\n{name}", justify="right", no_wrap=True)
    for of in tables:
        named = _table_change_json(of)
        grid.add_row(Text(f"{named['table']}{'*' * of.is_evidence}"), *(f"{named[name]:,}" for name in _COUNTS))
    return grid


def _describe_example(example: dict[str, Any]) -> str:
    key = shorten_to_width(", ".join(filter(None, map(cell_text, example["key"].values()))), _KEY_WIDTH)
    before, after = example["before"], example["after"]
    if before is None or after is None:
        return f"{example['change']} {key}"
    moved = [f"{name} {_short(before[name])} → {_short(after[name])}" for name in list(before)[:_MOST_COLUMNS]]
    more = ", …" if len(before) > _MOST_COLUMNS else ""
    return f"{example['change']} {key}: {', '.join(moved)}{more}"


def _short(value: object) -> str:
    if value is None:
        return "NULL"
    text = str(round(value, 4)) if isinstance(value, float) else cell_text(value)
    return shorten_to_width(text, _VALUE_WIDTH)


def run_methods(settings: Settings, *, output: Format) -> None:
    """Print every method: whether this home uses it, what it computes, what changed from the version before.

    Retired ones come last, with what replaced them.
    """
    try:
        in_use = set(settings.params().methods())
    except UserError as error:
        sys.stderr.write(f"slowwave: {terminal_safe(str(error))}\n")
        in_use = set[str]()
    if output == "table":
        _print_methods(in_use)
        return
    names = ("method", "in_use", "computes", "changed", "chosen_by", "reads", "golden", "retired")
    rows = [
        (
            one.id,
            _is_used(one, in_use),
            one.computes,
            one.changed,
            list(one.chosen_by),
            list(one.reads),
            list(one.golden),
            "",
        )
        for one in methods().values()
    ]
    rows += [
        (one.id, False, one.computed, "", [], [], list(one.golden), _why_retired(one))
        for one in retired_methods().values()
    ]
    write_rows(names, [rows], output)


def _is_used(one: Method, in_use: set[str]) -> bool:
    return any(name == one.id or name.startswith(f"{one.id}:") for name in in_use)


def _why_retired(gone: RetiredMethod) -> str:
    after = f"After release {gone.last_release}" if gone.last_release else "Before a release had it"
    return f"{after}, {living_successor(gone.id)} replaced it. {gone.reason}"


def _print_methods(in_use: set[str]) -> None:
    grid = Grid(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for name in ("method", "in use", "computes"):
        grid.add_column(f"\n{name}", no_wrap=name != "computes", overflow="fold")
    for one in methods().values():
        is_used = _is_used(one, in_use)
        says = Text(one.computes)
        if one.changed:
            says.append(f"\n{one.changed}", style="dim")
        grid.add_row(Text(one.id, style="bold" if is_used else ""), "yes" if is_used else "", says)
    for gone in retired_methods().values():
        says = Text(gone.computed).append(f"\n{_why_retired(gone)}", style="dim")
        grid.add_row(Text(gone.id, style="dim"), "retired", says)
    screen().print(grid)
