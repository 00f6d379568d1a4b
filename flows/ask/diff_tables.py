"""What changed between two publishes, table by table, and what of it a person should look at.

Both files are attached read-only to one in-memory database and compared there: however large the tables, only counts
and a few examples leave SQL. `run_id` and `as_of` differ between any two runs and are no change, except as keys; nor is
what ages by itself, such as strength.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from slowwave.flows.kernel.errors import UserError
from slowwave.transforms.graph import SERVING
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.ledger_tables import RunSteps

EXAMPLES = 20
_EXCERPT_CHARACTERS = 200
_BOTH = ("before", "after")  # names of the attached databases
_STAMPS = ("run_id", "as_of")
# What changes as time passes, though nothing happened: compared, every memory would be a change of every night.
_AGEING = {
    "memory_health": ("strength", "strength_forecast", "need_30d", "need_if_active", "reasons", "review_value"),
    "project_health": ("alarms", "mean_strength"),
    "forgetting_plan": ("reason", "need_30d", "strength"),
}
_FACTS = ("run_id", "as_of", "finished_at", "version", "code_hash", "params_hash", "methods")
_MOVED = ("reference_count", "injected_count", "eligible_count")
_NEEDED = {"memory_id", "project", "memory_type", "status", "content", *_MOVED}


@dataclass(frozen=True)
class TableDiff:
    """Rows of one table in both publishes; changed are those whose key stayed, `columns` says what changed in them."""

    table: str
    before: int
    after: int
    added: int
    removed: int
    changed: int
    columns: dict[str, int]
    not_compared: list[str]


@dataclass(frozen=True)
class PublishDiff:
    """Two publishes compared. `before` and `after` hold each one's row of `runs`; `differs` names what of it differs.

    `tables_only_…` and `unknown_tables` (whose key this version does not declare) are named, not compared. `memories`
    holds, for each kind of change, the `count` and up to `EXAMPLES` `examples`; {} when they cannot be compared.
    """

    before: dict[str, Any]
    after: dict[str, Any]
    differs: list[str]
    tables: list[TableDiff]
    tables_only_before: list[str]
    tables_only_after: list[str]
    unknown_tables: list[str]
    memories: dict[str, Any]


def publish_diff(before: Path, after: Path) -> PublishDiff:
    """Compare two serving files.

    Raises UserError when one cannot be opened as such.
    """
    with (
        tempfile.TemporaryDirectory(prefix="slowwave-") as spill,
        duckdb.connect(config={"temp_directory": spill}) as connection,
    ):
        for name, path in zip(_BOTH, (before, after), strict=True):
            try:
                connection.execute(f"ATTACH $path AS {name} (READ_ONLY)", {"path": str(path)})
            except duckdb.Error as error:
                message = f"{path} cannot be opened: {error}"
                raise UserError(message) from error
        return _compared(connection, {"before": before, "after": after})


def _compared(connection: duckdb.DuckDBPyConnection, paths: dict[str, Path]) -> PublishDiff:
    columns = {name: columns_of(connection, name) for name in _BOTH}
    for of_side in columns.values():
        of_side.pop(RunSteps.name, None)  # what it cost tells of the machine
    old, new = columns["before"], columns["after"]
    facts = {name: _run_facts(connection, name, columns[name], paths[name]) for name in _BOTH}
    in_both = set(old) & set(new)
    known = [table for table in SERVING if table.name in in_both]
    return PublishDiff(
        before=facts["before"],
        after=facts["after"],
        differs=[name for name in _FACTS if facts["before"][name] != facts["after"][name]],
        tables=[
            table_diff(
                *(connection, table.name, table.key, old[table.name], new[table.name]), _AGEING.get(table.name, ())
            )
            for table in known
        ],
        tables_only_before=sorted(set(old) - set(new)),
        tables_only_after=sorted(set(new) - set(old)),
        unknown_tables=sorted(in_both - {table.name for table in known}),
        memories=_memories(connection) if all({*of.get(MemoryHealth.name, ())} >= _NEEDED for of in (old, new)) else {},
    )


def columns_of(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, str]]:
    """Tables of an attached file, with the type of each column."""
    found: dict[str, dict[str, str]] = {}
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = $database AND schema_name = 'main' ORDER BY table_name, column_index",
        {"database": database},
    ).fetchall()
    for table, column, dtype in rows:
        found.setdefault(table, {})[column] = dtype
    return found


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


def table_diff(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    key: Sequence[str],
    old: dict[str, str],
    new: dict[str, str],
    ageing: Collection[str] = (),
) -> TableDiff:
    """Count rows of `before.table` and `after.table` by what became of them, matching them by key.

    `old`, `new`: their columns, with types; those that are `ageing` are not looked at.
    """
    ignored = {*key, *_STAMPS, *ageing}
    shared = [name for name in new if name not in ignored and old.get(name) == new[name]]
    not_compared = sorted({name for name in {*old, *new} - ignored if old.get(name) != new.get(name)})
    differs = [f"o.{quoted_name(name)} IS DISTINCT FROM n.{quoted_name(name)}" for name in shared]
    first = quoted_name(key[0])
    kept = f"o.{first} IS NOT NULL AND n.{first} IS NOT NULL"
    counts = [
        f"count(o.{first})",
        f"count(n.{first})",
        f"count(*) FILTER (o.{first} IS NULL)",
        f"count(*) FILTER (n.{first} IS NULL)",
        *(f"count(*) FILTER ({kept} AND ({differ}))" for differ in [" OR ".join(differs) or "false", *differs]),
    ]
    on = " AND ".join(f"o.{quoted_name(name)} = n.{quoted_name(name)}" for name in key)
    joined = f"before.{quoted_name(table)} AS o FULL JOIN after.{quoted_name(table)} AS n ON {on}"
    found = connection.execute(f"SELECT {', '.join(counts)} FROM {joined}").fetchall()  # noqa: S608 - names, all quoted
    before, after, added, removed, changed, *of_columns = found[0]
    columns = {name: count for name, count in zip(shared, of_columns, strict=True) if count}
    return TableDiff(table, before, after, added, removed, changed, columns, not_compared)


def quoted_name(name: str) -> str:
    """A table's or column's name as SQL; they are ours or another version's, never what a log says."""
    return '"' + name.replace('"', '""') + '"'


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
