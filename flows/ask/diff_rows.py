"""Which rows of a table differ between two publishes, or two ways to compute them: by key, before and after.

Of most memories a night changes nothing but how often they were eligible: such rows are counted, and can be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from slowwave.transforms.core.schema import columns
from slowwave.transforms.health.tables import MemoryHealth, MemoryHealthHistory

# How two tables of one database, `before.TABLE` and `after.TABLE`, differ: rows counted by what became of them.
# However large they are, only counts leave SQL. `run_id` and `as_of` differ between any two runs and are no change,
# except as keys.

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


# The columns that only count how often a memory was eligible.
_ELIGIBILITY: Mapping[str, tuple[str, ...]] = {
    MemoryHealth.name: ("eligible_count",),
    MemoryHealthHistory.name: ("eligible_count",),
}
# What else makes a row of the history: where all of it is as in the memory's row before, only eligibility was counted.
_MAKE_HISTORY = (
    "status",
    *(c.name for c in columns(MemoryHealthHistory) if c.kind == "integer" and c.name != "eligible_count"),
)


@dataclass(frozen=True)
class RowChanges:
    """The first rows by key of each kind of change of a table, and how many rows `only_eligibility` left out.

    A row has its change (added, removed, changed), key, before and after: of a changed one the columns that differ, of
    others all on the side where it is.
    """

    table: str
    only_eligibility: int
    rows: list[dict[str, Any]]


def row_changes(
    connection: duckdb.DuckDBPyConnection,
    diff: TableDiff,
    key: Sequence[str],
    columns: Sequence[str],
    count: int,
    *,
    is_all: bool = True,
) -> RowChanges:
    """Up to `count` rows of each kind of change between `before.TABLE` and `after.TABLE`.

    `columns`: of either. Unless `is_all`, rows of which nothing but eligibility differs are left out, and counted.
    """
    told = [name for name in columns if name not in {*key, *STAMPS, *diff.not_compared}]
    kinds = [
        _present(diff, key, told, "added", is_all=is_all),
        _present(diff, key, told, "removed", is_all=is_all),
        _changed_rows(diff, key, is_all=is_all),
    ]
    found: list[dict[str, Any]] = []
    left_out = 0
    for kind in kinds:
        if not kind.count:
            continue
        if not is_all and diff.table in _ELIGIBILITY:
            ((listed,),) = connection.execute(f"SELECT count(*) FROM {kind.rows}").fetchall()  # noqa: S608 - names, all quoted
            left_out += kind.count - listed
        by = ", ".join(f"{kind.kept}.{quoted_name(name)}" for name in key)
        query = f"SELECT {', '.join([by, *kind.selected])} FROM {kind.rows} ORDER BY {by} LIMIT {count}"  # noqa: S608 - as above
        for row in connection.execute(query).fetchall():
            keyed = dict(zip(key, row[: len(key)], strict=True))
            found.append({"change": kind.change, "key": keyed, **kind.sides(row[len(key) :])})
    return RowChanges(diff.table, left_out, found)


@dataclass(frozen=True)
class _Kind:
    """One kind of change: how many rows there are, the SQL of those that are listed, and of what is told of them."""

    change: str
    count: int
    kept: str
    rows: str
    selected: list[str]
    names: list[str]

    def sides(self, values: Sequence[Any]) -> dict[str, Any]:
        """`before` and `after` of a row."""
        if self.change != "changed":
            whole = dict(zip(self.names, values, strict=True))
            return {"before": None, "after": whole} if self.change == "added" else {"before": whole, "after": None}
        was, is_now = values[: len(self.names)], values[len(self.names) :]
        other = [at for at in range(len(self.names)) if was[at] != is_now[at]]
        return {
            "before": {self.names[at]: was[at] for at in other},
            "after": {self.names[at]: is_now[at] for at in other},
        }


def _present(diff: TableDiff, key: Sequence[str], told: list[str], change: str, *, is_all: bool) -> _Kind:
    """The rows that only one side has."""
    kept, side, other = ("n", "after", "before") if change == "added" else ("o", "before", "after")
    table = quoted_name(diff.table)
    rows = f"{side}.{table} AS {kept} ANTI JOIN {other}.{table} AS x ON {_on(key, kept, 'x')}"
    made_by = [name for name in _MAKE_HISTORY if name in told]
    if not is_all and diff.table == MemoryHealthHistory.name and made_by:
        same = f"row({', '.join(map(quoted_name, made_by))})"
        steps = (
            f"SELECT memory_id, day FROM {side}.{table} QUALIFY lag({same}) OVER (PARTITION BY memory_id ORDER BY day)"  # noqa: S608 - names, all quoted
            f" IS NOT DISTINCT FROM {same}"
        )
        rows += f" ANTI JOIN ({steps}) AS s ON {_on(key, kept, 's')}"
    selected = [f"{kept}.{quoted_name(name)}" for name in told]
    return _Kind(change, getattr(diff, change), kept, rows, selected, told)


def _changed_rows(diff: TableDiff, key: Sequence[str], *, is_all: bool) -> _Kind:
    """The rows whose key stayed, and that differ in a column that is looked at."""
    table, moved = quoted_name(diff.table), list(diff.columns)
    looked_at = [name for name in moved if is_all or name not in _ELIGIBILITY.get(diff.table, ())]
    differs = [f"o.{quoted_name(name)} IS DISTINCT FROM n.{quoted_name(name)}" for name in looked_at]
    rows = (
        f"before.{table} AS o JOIN after.{table} AS n ON {_on(key, 'o', 'n')} WHERE {' OR '.join(differs) or 'false'}"
    )
    selected = [f"{side}.{quoted_name(name)}" for side in "on" for name in moved]
    return _Kind("changed", diff.changed, "n", rows, selected, moved)


def _on(key: Sequence[str], one: str, other: str) -> str:
    return " AND ".join(f"{one}.{quoted_name(name)} = {other}.{quoted_name(name)}" for name in key)
