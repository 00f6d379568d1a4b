"""Two versions of a method side by side: each computes all tables from the same log, and the tables are compared.

Nothing is published, nothing is written into the lake, and no lock is held: what must be built is built in a temporary
folder. Files that a landing or a prune takes away meanwhile are looked for again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.ask.diff_rows import TableDiff, columns_of, quoted_name, row_changes, table_diff
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import AuditFailedError, UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import new_run_id, utc_now
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake, landed_lake, suited_engine
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.nightly.build import build
from slowwave.flows.nightly.nightly import make_plan
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.publish import publish
from slowwave.flows.publish.run import Progress, Run
from slowwave.transforms.core.methods.registry import compared_by, method
from slowwave.transforms.core.schema import Table
from slowwave.transforms.graph import EVIDENCE, PUBLISHED
from slowwave.transforms.landing.ledger_tables import SetAside
from slowwave.transforms.params import Params

# A lake to compute from without writing into it: what would have to be built there is built aside.


class AsideLake(Lake):
    """The lake at `root`, whose days `built_aside` lie in another folder; nothing in it is written but those."""

    def __init__(self, root: Path, aside: Path) -> None:
        super().__init__(root)
        self._aside = Lake(aside)
        self._built: set[tuple[str, date, str]] = set()

    def build_aside(self, days: Iterable[DayPlan]) -> None:
        """From now on the partitions that these days lack are looked for, and written, aside."""
        self._built.update((table, day.day, day.names[table]) for day in days for table in day.missing)

    def write_evidence(
        self, table: type[Table], day: date, name: str, frame: pl.DataFrame, *, verify: bool = False
    ) -> None:
        """Keep a partition that is built aside; of anything else nothing is kept."""
        if self._is_aside(table, day, name):
            super().write_evidence(table, day, name, frame, verify=verify)

    def write_evidence_parts(
        self, table: type[Table], day: date, name: str, parts: Iterator[pl.DataFrame], *, verify: bool = False
    ) -> None:
        """As `write_evidence`."""
        if self._is_aside(table, day, name):
            super().write_evidence_parts(table, day, name, parts, verify=verify)

    def write_packed_evidence(self, table: type[Table], day: date, name: str, packed: memoryview) -> None:
        """Keep nothing: what comes packed is never built aside."""

    def evidence_path(self, table: type[Table], day: date, name: str) -> Path:
        """Where a day's partition with this name is."""
        lake = self._aside if self._is_aside(table, day, name) else super()
        return lake.evidence_path(table, day, name)

    def _is_aside(self, table: type[Table], day: date, name: str) -> bool:
        return (table.name, day, name.partition(".")[0]) in self._built  # what follows tells a bucket of a partition


_TRIES = 3
_MEMORY = "1GB"
_WORDS = {"added": "gained", "removed": "lost"}
# Derived by day and not published.
_BY_DAY = tuple(table for table in EVIDENCE if table.name not in {published.name for published in PUBLISHED})


@dataclass(frozen=True)
class TableChange:
    """What another method makes of one table.

    `examples`: of each kind of change the first rows by key: change (gained, lost, changed), key, before, after; of a
    changed row only the columns that differ. `is_evidence`: rows that are not published, of the days where they differ.
    """

    diff: TableDiff
    is_evidence: bool
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """Two methods compared as of an instant; `not_compared`: tables that name no project, where one is asked for."""

    old: str
    new: str
    param: str
    as_of: datetime
    project: str | None
    tables: list[TableChange]
    not_compared: list[str]


@dataclass(frozen=True)
class _Side:
    plan: BuildPlan
    serving: Path


def compare_methods(
    settings: Settings,
    old: str,
    new: str,
    *,
    as_of: datetime | None = None,
    project: str | None = None,
    examples: int = 3,
    progress: Callable[[str], Progress],
) -> Comparison:
    """What `new` would change about what `old` makes of the log, all other params as the home has them.

    `as_of`: by default that of current. `progress`: of a method's id ('': of both), who is told how far it is.

    Raises WrongUsageError when they are no two versions of one method, UserError when nothing was landed, or with one
    of them an audit fails.
    """
    try:
        param = compared_by(old, new)
    except ValueError as error:
        raise WrongUsageError(str(error)) from error
    landed_lake(settings)
    params, as_of = settings.params(), as_of or _as_of_current(settings) or utc_now()
    for _ in range(_TRIES - 1):
        try:
            return _build_comparison(settings, params, (param, old, new), as_of, project, examples, progress)
        except FileNotFoundError:  # merged or removed while they were read
            continue
    return _build_comparison(settings, params, (param, old, new), as_of, project, examples, progress)


def _as_of_current(settings: Settings) -> datetime | None:
    current = current_run(settings)
    return None if current is None else _row_of(Lake(settings.lake_folder), current).get("as_of")


def _row_of(lake: Lake, serving: Path) -> dict[str, Any]:
    """A run as the ledger has it; {} where it has none."""
    rows = read_run(lake, serving)
    return rows.row(0, named=True) if rows.height else {}


def _build_comparison(
    settings: Settings,
    params: Params,
    methods: tuple[str, str, str],
    as_of: datetime,
    project: str | None,
    examples: int,
    progress: Callable[[str], Progress],
) -> Comparison:
    param, old, new = methods
    with tempfile.TemporaryDirectory(prefix="slowwave-compare-") as folder:
        lake = AsideLake(settings.lake_folder, Path(folder) / "lake")
        sides = [
            _compute_side(settings, lake, params.with_method(param, one), as_of, Path(folder), one, progress(one))
            for one in (old, new)
        ]
        progress("")("compare", 0, 0)
        with _side_by_side(sides, Path(folder), old, new, project) as connection:
            tables, not_compared = _changes(connection, lake, sides, project, examples)
    return Comparison(old, new, param, as_of, project, tables, not_compared)


def _compute_side(
    settings: Settings,
    lake: AsideLake,
    params: Params,
    as_of: datetime,
    folder: Path,
    method_id: str,
    progress: Progress,
) -> _Side:
    """All tables as of an instant with these params: current, where it is just that, else made in `folder`."""
    started_at = utc_now()
    run = Run(settings, "as_of", lake, params, started_at, new_run_id(started_at), progress)
    with suited_engine(lake):
        plan = make_plan(run, as_of)
        current = current_run(settings)
        row = _row_of(lake, current) if current is not None else {}
        wanted = {"as_of": as_of, "input_hash": plan.input_hash, "code_hash": code_hash()}
        lake.build_aside(plan.to_build)
        built = build(run, plan)
        if current is not None and wanted.items() <= row.items():
            return _Side(plan, current)
        try:
            path, _, _ = publish(run, plan, built, folder / f"{run.run_id}.duckdb")
        except AuditFailedError as error:
            told = str(error).partition(": ")[2]
            message = f"with {method_id} nothing could be published: {told}"
            raise UserError(message) from error
    return _Side(plan, path)


@contextmanager
def _side_by_side(
    sides: Sequence[_Side], folder: Path, old: str, new: str, project: str | None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the schemas before and after: the published tables of both, under the same names of methods."""
    with duckdb.connect(config={"temp_directory": str(folder / "spill"), "memory_limit": _MEMORY}) as connection:
        connection.execute("SET VARIABLE project = $project", {"project": project})
        for schema, side, renamed in zip(("before", "after"), sides, ({}, _map_to_old_names(old, new)), strict=True):
            connection.execute(f"ATTACH $path AS {schema}_file (READ_ONLY)", {"path": str(side.serving)})
            connection.execute(f"CREATE SCHEMA {schema}")
            columns = columns_of(connection, f"{schema}_file")
            for table in PUBLISHED:
                if table is not SetAside and table.name in columns:
                    source = f"{schema}_file.{quoted_name(table.name)}"
                    _declare(connection, schema, table.name, source, columns[table.name], renamed, project)
        yield connection


def _map_to_old_names(old: str, new: str) -> dict[str, str]:
    """The new names of methods, and what the rows that name them are compared as: another name alone is no change."""
    before = {brought.partition("/")[0]: brought for brought in method(old).brings}
    brought = {one: before.get(one.partition("/")[0], one) for one in method(new).brings}
    return {new: old, **brought}


def _declare(
    connection: duckdb.DuckDBPyConnection,
    schema: str,
    table: str,
    source: str,
    columns: dict[str, str],
    renamed: dict[str, str],
    project: str | None,
) -> None:
    replaced = []
    for name, dtype in columns.items():
        if name in {"method", "methods"} and dtype in {"VARCHAR", "VARCHAR[]"}:
            told = "told" if dtype == "VARCHAR[]" else quoted_name(name)
            for new, old in renamed.items():  # ids of the registry
                told = f"replace({told}, '{new}', '{old}')"
            listed = f"list_transform({quoted_name(name)}, lambda told: {told})"
            replaced.append(f"{listed if dtype == 'VARCHAR[]' else told} AS {quoted_name(name)}")
    columns_sql = f"* REPLACE ({', '.join(replaced)})" if replaced else "*"
    only = " WHERE project = getvariable('project')" if project is not None and "project" in columns else ""
    view = f"CREATE VIEW {schema}.{quoted_name(table)} AS SELECT {columns_sql} FROM {source}{only}"  # noqa: S608 - declared names
    connection.execute(view)


def _changes(
    connection: duckdb.DuckDBPyConnection, lake: AsideLake, sides: Sequence[_Side], project: str | None, examples: int
) -> tuple[list[TableChange], list[str]]:
    days = _differing_days(sides)
    keys = {table.name: table.key for table in PUBLISHED}
    for table in _BY_DAY if days else ():
        keys[table.name] = ("day", *table.key)
        for schema, side in zip(("before", "after"), sides, strict=True):
            _load(connection, lake, side, table.name, schema, days)
    old, new = _columns(connection, "before"), _columns(connection, "after")
    found, not_compared, rows = [], [], 0
    evidence = {table.name for table in _BY_DAY}
    for name in (name for name in keys if name in old and name in new):
        if project is not None and "project" not in new[name]:
            not_compared.append(name)
            continue
        diff = table_diff(connection, name, keys[name], old[name], new[name])
        rows += diff.before + diff.after
        shown = row_changes(connection, diff, keys[name], list(new[name]), examples).rows
        shown = [{**row, "change": _WORDS.get(row["change"], row["change"])} for row in shown]
        found.append(TableChange(diff, name in evidence, shown))
    if project is not None and not rows:
        message = f"no table has a row of project {quote_shortened(project)}"
        raise UserError(message)
    return found, not_compared


def _differing_days(sides: Sequence[_Side]) -> list[date]:
    before, after = ({day.day: day.names for day in side.plan.days} for side in sides)
    return sorted(day for day in before.keys() | after.keys() if before.get(day) != after.get(day))


def _load(
    connection: duckdb.DuckDBPyConnection, lake: AsideLake, side: _Side, name: str, schema: str, days: Sequence[date]
) -> None:
    """The evidence of these days as a table, one day after the other: all of them may be more than memory holds."""
    (table,) = (table for table in _BY_DAY if table.name == name)
    names = side.plan.partitions(table)
    for day in [None, *days]:
        rows = lake.scan_evidence(table, {day: names[day]} if day in names else {}).collect()
        _stream = rows.__arrow_c_stream__()  # DuckDB finds it by its name
        target = f"{schema}.{quoted_name(name)}"
        only = " WHERE project = getvariable('project') OR getvariable('project') IS NULL"
        selected = f"FROM _stream{only if 'project' in rows.columns else ''}"
        connection.execute(
            f"CREATE TABLE {target} AS {selected}" if day is None else f"INSERT INTO {target} {selected}"
        )


def _columns(connection: duckdb.DuckDBPyConnection, schema: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = current_database() AND schema_name = $schema ORDER BY table_name, column_index",
        {"schema": schema},
    ).fetchall()
    for table, column, dtype in rows:
        found.setdefault(table, {})[column] = dtype
    return found
