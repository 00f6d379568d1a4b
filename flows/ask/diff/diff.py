"""`slowwave inspect diff`: the difference of two publishes as one screen for a person, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

import typer
from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.ask.diff.diff_rows import RowChanges, TableDiff
from slowwave.flows.ask.diff.publish_diff import DiffOptions, PublishDiff, publish_diff
from slowwave.flows.ask.find_run import find_run
from slowwave.flows.ask.output_table import format_value
from slowwave.flows.kernel.checks import screen
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_iso, utc_text

_SHOWN = 5
_GAP = 2
_ID_WIDTH, _PROJECT_WIDTH, _HASH_WIDTH = 28, 16, 12
_KEY_WIDTH, _VALUE_WIDTH = 40, 40
_COUNTS = ("before", "after", "added", "removed", "changed")
_MEMORIES = {
    "status_changed": ("memory whose status changed", "memories whose status changed"),
    "new": ("new memory", "new memories"),
    "gone": ("memory gone", "memories gone"),
    "reference_count": ("memory referenced more or less often", "memories referenced more or less often"),
    "injected_count": ("memory injected more or less often", "memories injected more or less often"),
    "eligible_count": ("memory eligible more or less often", "memories eligible more or less often"),
}


def run_diff(settings: Settings, run: str, other: str, chosen: DiffOptions, *, output: str) -> None:
    """Print what changed from `run` to `other`, as `text` or `json`, as far as it is `chosen`.

    Raises UserError when one of them names no run, or several, or a file that cannot be opened, or when a table is
    chosen that there is not.
    """
    found = publish_diff(find_run(settings, run), find_run(settings, other), chosen)
    if output == "json":
        typer.echo(json.dumps(asdict(found), indent=2, default=_as_json))
    else:
        print_diff(found, is_all=chosen.is_all)


def _as_json(value: object) -> str:
    return utc_iso(value) if isinstance(value, datetime) else cell_text(value)


def print_diff(found: PublishDiff, *, is_all: bool) -> None:
    """Print the runs, the counts per table, the first rows that differ, and the memories that matter most.

    Unless `is_all`, memories of which only eligibility was counted are none of these.
    """
    console = screen()
    for part in (_runs(found), _tables(found), *_notes(found)):
        console.print(part)
    diffs = {diff.table: diff for diff in found.tables}
    for changes in found.rows:
        console.print(Text(f"\n{_rows_said(diffs[changes.table], changes)}", style="bold"))
        console.print(_changed_rows(changes))
    for kind, change in found.memories.items():
        if change["count"] and (is_all or kind != "eligible_count"):
            said = f"\n{format_count(change['count'], *_MEMORIES[kind])}"
            first = change["examples"][:_SHOWN]
            more = ", of which:" if len(first) < change["count"] else ":"
            console.print(Text(said + more, style="bold"))
            console.print(_examples(first, console.width))


def _runs(found: PublishDiff) -> Grid:
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, fact in found.before.items():
        other = found.after[name]
        if name in found.differs:
            said = f"{_fact(name, fact)} → {_fact(name, other)}"
        else:
            said = f"{_fact(name, fact)}, the same"
        grid.add_row(Text(name), Text(terminal_safe(said), style="bold" if name in found.differs else ""))
    return grid


def _fact(name: str, fact: Any) -> str:  # noqa: ANN401 - any column of runs
    if fact is None:
        return "not said"
    if name.endswith("_at") or name == "as_of":
        return utc_text(fact)
    if name.endswith("_hash"):
        return fact[:_HASH_WIDTH]
    return ", ".join(fact) if isinstance(fact, list) else fact


def _tables(found: PublishDiff) -> Grid:
    table = Grid(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("\ntable", no_wrap=True)
    for name in _COUNTS:
        table.add_column(f"\n{name}", justify="right", no_wrap=True)
    for diff in found.tables:
        table.add_row(Text(diff.table), *(f"{getattr(diff, name):,}" for name in _COUNTS))
    return table


def _notes(found: PublishDiff) -> list[Text]:
    notes = []
    for diff in found.tables:
        if diff.columns:
            by_count = sorted(diff.columns.items(), key=lambda item: (-item[1], item[0]))
            notes.append(f"{diff.table}: changed in {', '.join(f'{name} {count:,}' for name, count in by_count)}")
        if diff.not_compared:
            notes.append(f"{diff.table}: only in one of them, or of another type: {', '.join(diff.not_compared)}")
    for said, names in (
        ("only in the first", found.tables_only_before),
        ("only in the second", found.tables_only_after),
        ("not known to this version, so not compared", found.unknown_tables),
    ):
        if names:
            notes.append(f"tables {said}: {', '.join(names)}")
    return [Text(terminal_safe(note)) for note in notes]


def _rows_said(diff: TableDiff, changes: RowChanges) -> str:
    """How many rows differ, how many of them are shown, and how many are not because only eligibility was counted."""
    differ = diff.added + diff.removed + diff.changed - changes.only_eligibility
    said = f"{diff.table}: {format_count(differ, 'row differs', 'rows differ')}"
    if changes.only_eligibility:
        left_out = format_count(changes.only_eligibility, "row that only counts", "rows that only count")
        said += f", without {left_out} eligibility (--all shows them)"
    return said + (f"; {len(changes.rows):,} shown (--limit)" if len(changes.rows) < differ else "")


def _changed_rows(changes: RowChanges) -> Grid:
    """One row a line, or more: its key, and of a changed one each column before → after."""
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis", max_width=_KEY_WIDTH)
    grid.add_column(overflow="fold")
    for row in changes.rows:
        key = ", ".join(map(_value, row["key"].values()))
        moved = row["before"] if row["change"] == "changed" else {}
        said = "; ".join(f"{name} {_value(value)} → {_value(row['after'][name])}" for name, value in moved.items())
        grid.add_row(*map(Text, [row["change"], key, said]))
    return grid


def _value(value: object) -> str:
    return shorten_to_width(format_value(value), _VALUE_WIDTH)


def _examples(rows: list[dict[str, Any]], width: int) -> Grid:
    """Memory, project and change in full, and as much of the content as the line has room for."""
    texts = [
        [
            shorten_to_width(terminal_safe(row["memory_id"]), _ID_WIDTH),
            shorten_to_width(terminal_safe(row["project"] or ""), _PROJECT_WIDTH),
            _describe_change(row),
        ]
        for row in rows
    ]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    for taken in (*widths, max(1, width - sum(widths) - _GAP * (len(widths) + 1))):
        grid.add_column(no_wrap=True, overflow="ellipsis", width=taken)
    for row, cells in zip(rows, texts, strict=True):
        grid.add_row(*map(Text, [*cells, terminal_safe(row["content"] or "")]))
    return grid


def _describe_change(row: dict[str, Any]) -> str:
    """What became of the memory: its status or count before and after, or its counts where it is new or gone."""
    if "before" not in row:
        return f"{row['status'] or 'never landed'}, {row['injected_count']:,} inj., {row['reference_count']:,} ref."
    before, after = row["before"], row["after"]
    if isinstance(before, int) and isinstance(after, int):
        return f"{before:,} → {after:,} ({after - before:+,})"
    return f"{before or 'never landed'} → {after or 'never landed'}"
