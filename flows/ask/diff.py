"""`slowwave inspect diff`: what changed between two publishes, table by table and row by row, and what to look at.

Both files are attached read-only to one in-memory database and compared there: however large the tables, only counts
and a few rows leave SQL. What ages by itself, such as strength, is no change.
"""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import typer
from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.ask.cells import cell_text
from slowwave.flows.ask.connection import find_run
from slowwave.flows.ask.diff_rows import RowChanges, TableDiff, columns_of, quoted_name, row_changes, table_diff
from slowwave.flows.ask.output_table import format_value
from slowwave.flows.kernel.checks import screen
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_iso, utc_text
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.graph import SERVING
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.ledger_tables import Runs, RunSteps

EXAMPLES = 20
_EXCERPT_CHARACTERS = 200
_BOTH = ("before", "after")  # names of the attached databases
# What changes as time passes, though nothing happened: compared, every memory would be a change of every night.
_AGEING = {
    "memory_health": choose_columns(
        MemoryHealth, "strength", "strength_forecast", "need_30d", "need_if_active", "reasons", "review_value"
    ),
    "project_health": ("alarms", "mean_strength"),
    "forgetting_plan": ("reason", "need_30d", "strength"),
}
_FACTS = choose_columns(Runs, "run_id", "as_of", "finished_at", "version", "code_hash", "params_hash", "methods")
# what rows can be asked for by: the column, and the SQL of a pattern on it
_LIKE = "coalesce({column}, '') LIKE getvariable('{name}') ESCAPE '\\'"
_FITS = {
    "project": ("project", _LIKE),
    "agent": ("agent", _LIKE),
    "user": ("user_id", _LIKE),
    "tag": ("tags", "len(list_filter({column}, lambda tag: tag LIKE getvariable('{name}') ESCAPE '\\')) > 0"),
}
_MOVED = ("reference_count", "injected_count", "eligible_count")
_NEEDED = {*choose_columns(MemoryHealth, "memory_id", "project", "memory_type", "status", "content"), *_MOVED}


@dataclass(frozen=True)
class DiffOptions:
    """What of a difference is asked for.

    `tables`: of these alone, none named: of all. `rows`: so many of each kind of change of a table. `is_all`: rows of
    which nothing but eligibility differs are not left out. `where`: of `tables` the rows alone that fit these patterns
    of LIKE, by the names in `_FITS`, as far as a table has the column.
    """

    tables: Sequence[str] = ()
    rows: int = 5
    is_all: bool = False
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishDiff:
    """Two publishes compared. `before` and `after` hold each one's row of `runs`; `differs` names what of it differs.

    `tables_only_…` and `unknown_tables` (whose key this version does not declare) are named, not compared. `rows`: the
    first rows that differ, of each table that has some. `memories` holds, for each kind of change, the `count` and up
    to `EXAMPLES` `examples`; {} when they cannot be compared, or are not among the tables asked for.
    """

    before: dict[str, Any]
    after: dict[str, Any]
    differs: list[str]
    tables: list[TableDiff]
    tables_only_before: list[str]
    tables_only_after: list[str]
    unknown_tables: list[str]
    rows: list[RowChanges]
    memories: dict[str, Any]


def publish_diff(before: Path, after: Path, chosen: DiffOptions | None = None) -> PublishDiff:
    """Compare two serving files.

    Raises UserError when one cannot be opened as such, or a table is chosen that there is not.
    """
    chosen = chosen or DiffOptions()
    _check_tables(chosen.tables)
    with (
        tempfile.TemporaryDirectory(prefix="slowwave-") as spill,
        duckdb.connect(config={"temp_directory": spill}) as connection,
    ):
        for name, path in zip(_BOTH, (before, after), strict=True):
            try:
                whole = f"{name}_whole" if chosen.where else name
                connection.execute(f"ATTACH $path AS {whole} (READ_ONLY)", {"path": str(path)})
            except duckdb.Error as error:
                message = f"{path} cannot be opened: {error}"
                raise UserError(message) from error
        if chosen.where:
            _attach_what_fits(connection, chosen)
        return _compare_publishes(connection, {"before": before, "after": after}, chosen)


def _compare_publishes(
    connection: duckdb.DuckDBPyConnection, paths: dict[str, Path], chosen: DiffOptions
) -> PublishDiff:
    columns = {name: columns_of(connection, name) for name in _BOTH}
    for of_side in columns.values():
        of_side.pop(RunSteps.name, None)  # what it cost tells of the machine
    old, new = columns["before"], columns["after"]
    facts = {name: _run_facts(connection, name, columns[name], paths[name]) for name in _BOTH}
    in_both = set(old) & set(new)
    known = [table for table in SERVING if table.name in in_both]
    asked = [table for table in known if not chosen.tables or table.name in chosen.tables]
    tables = [
        table_diff(*(connection, table.name, table.key, old[table.name], new[table.name]), _AGEING.get(table.name, ()))
        for table in asked
    ]
    rows = [
        row_changes(connection, diff, table.key, [*new[table.name]], chosen.rows, is_all=chosen.is_all)
        for table, diff in zip(asked, tables, strict=True)
        if diff.added or diff.removed or diff.changed
    ]
    has_memories = not chosen.tables or MemoryHealth.name in chosen.tables
    has_memories &= all({*of.get(MemoryHealth.name, ())} >= _NEEDED for of in (old, new))
    return PublishDiff(
        before=facts["before"],
        after=facts["after"],
        differs=[name for name in _FACTS if facts["before"][name] != facts["after"][name]],
        tables=tables,
        tables_only_before=sorted(set(old) - set(new)),
        tables_only_after=sorted(set(new) - set(old)),
        unknown_tables=sorted(in_both - {table.name for table in known}),
        rows=rows,
        memories=_memories(connection) if has_memories else {},
    )


def _attach_what_fits(connection: duckdb.DuckDBPyConnection, chosen: DiffOptions) -> None:
    """Attach both publishes as views of their tables, of those that are asked for with the rows that fit."""
    for name, pattern in chosen.where.items():  # texts go in as values: views can only name them
        connection.execute(f"SET VARIABLE {quoted_name(name)} = $pattern", {"pattern": pattern})
    for side in _BOTH:
        connection.execute(f"ATTACH ':memory:' AS {side}")
        for table, columns in columns_of(connection, f"{side}_whole").items():
            fits = [
                sql.format(column=column, name=name)
                for name, (column, sql) in _FITS.items()
                if table in chosen.tables and name in chosen.where and column in columns
            ]
            rows = f"{side}_whole.main.{quoted_name(table)} WHERE {' AND '.join(fits) or 'true'}"
            connection.execute(f"CREATE VIEW {side}.main.{quoted_name(table)} AS SELECT * FROM {rows}")  # noqa: S608 - as above


def _check_tables(named: Sequence[str]) -> None:
    declared = [table.name for table in SERVING]
    for name in named:
        if name not in declared:
            near = difflib.get_close_matches(name, declared, n=3)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            message = f"{quote_shortened(name)} is no published table: {hint}`slowwave inspect schema` lists them"
            raise UserError(message)


def _run_facts(
    connection: duckdb.DuckDBPyConnection, database: str, columns: dict[str, dict[str, str]], path: Path
) -> dict[str, Any]:
    """A file's own row of `runs`; what it does not say is None."""
    facts: dict[str, Any] = {**dict.fromkeys(_FACTS), "run_id": path.stem}
    said = [name for name in _FACTS if name in columns.get("runs", {})]
    if "run_id" in said:
        rows = connection.execute(
            f"SELECT {', '.join(said)} FROM {database}.runs WHERE run_id = $run_id",  # noqa: S608 - names in this file
            {"run_id": path.stem},
        ).fetchall()
        for row in rows:
            facts |= dict(zip(said, row, strict=True))
    return facts


def _memories(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """What changed about memories, each kind with its count and the examples that matter most."""
    excerpt = f"content[:{_EXCERPT_CHARACTERS}] AS content"
    kept = "FROM before.memory_health AS o JOIN after.memory_health AS n USING (memory_id)"
    gone = "FROM before.memory_health AS n ANTI JOIN after.memory_health AS o USING (memory_id)"
    fresh = "FROM after.memory_health AS n ANTI JOIN before.memory_health AS o USING (memory_id)"
    one = "memory_id, n.project, n.memory_type, n.status, n.eligible_count, n.injected_count, n.reference_count"
    by_weight = "n.reference_count DESC, n.injected_count DESC, memory_id"
    moved = f"memory_id, n.project, o.{{0}} AS before, n.{{0}} AS after, n.{excerpt} {kept}"
    found = {
        "status_changed": _examples(
            connection, f"{moved.format('status')} WHERE o.status IS DISTINCT FROM n.status ORDER BY {by_weight}"
        ),
        "new": _examples(connection, f"{one}, n.{excerpt} {fresh} ORDER BY {by_weight}"),
        "gone": _examples(connection, f"{one}, n.{excerpt} {gone} ORDER BY {by_weight}"),
    }
    for name in _MOVED:
        by_move = f"abs(n.{name} - o.{name}) DESC, memory_id"
        found[name] = _examples(connection, f"{moved.format(name)} WHERE o.{name} <> n.{name} ORDER BY {by_move}")
    return found


def _examples(connection: duckdb.DuckDBPyConnection, selected: str) -> dict[str, Any]:
    """How many rows `SELECT selected` has, and the first of them. It is made of names in this file alone."""
    ((count,),) = connection.execute(f"SELECT count(*) FROM (SELECT {selected})").fetchall()  # noqa: S608 - as said
    cursor = connection.execute(f"SELECT {selected} LIMIT {EXAMPLES}")
    names = [column[0] for column in cursor.description or []]
    return {"count": count, "examples": [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]}


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
            console.print(_draw_examples(first, console.width))


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


def _draw_examples(rows: list[dict[str, Any]], width: int) -> Grid:
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
