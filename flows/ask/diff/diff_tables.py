"""How two tables of one database, `before.TABLE` and `after.TABLE`, differ: rows counted by what became of them.

However large they are, only counts leave SQL. `run_id` and `as_of` differ between any two runs and are no change,
except as keys.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import duckdb

STAMPS = ("run_id", "as_of")


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
    ignored = {*key, *STAMPS, *ageing}
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
