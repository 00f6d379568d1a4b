"""A table is declared once: DDL, JSON Schema, documentation and the recipes that ask it agree with that."""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb
import pytest
from each import each

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.flows.cli.commands.logs import IMPORTED
from slowwave.flows.cli.schema import GROUPS
from slowwave.flows.imports.sources import SOURCES
from slowwave.transforms.core.schema import (
    Landed,
    Table,
    columns,
    comment,
    documentation,
    duckdb_ddl,
    json_schema,
    polars_schema,
    producer_columns,
    table_comment,
)
from slowwave.transforms.landing.tables import LANDED

TABLES = {table.name: table for group in GROUPS.values() for table in group}


@pytest.fixture(scope="module")
def declared() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with nothing in it but every table as declared."""
    with duckdb.connect() as connection:
        for table in TABLES.values():
            for statement in duckdb_ddl(table):
                connection.execute(statement)
        for table in LANDED:
            connection.execute(f"CREATE VIEW {table.name}_log AS FROM {table.name}")
        yield connection


@each("table", TABLES.values())
def test_everything_said_of_a_table_is_its_declaration(table: type[Table], declared: duckdb.DuckDBPyConnection) -> None:
    said = declared.execute(
        "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE table_name = $name ORDER BY column_index",
        {"name": table.name},
    ).fetchall()
    old = {c.old_name for c in columns(table) if c.old_name}
    assert [row for row in said if row[0] not in old] == [(c.name, c.nullable, comment(c)) for c in columns(table)]
    assert len(said) == len(columns(table)) + len(old)
    (of_table,) = declared.execute(
        "SELECT comment FROM duckdb_tables() WHERE table_name = $name", {"name": table.name}
    ).fetchall()
    assert of_table == (table_comment(table),)
    frame = declared.sql(f"FROM {table.name}").pl()
    assert [name for name in frame.schema if name not in old] == [*polars_schema(table)]

    schema = json.loads(json.dumps(json_schema(table)))
    told = producer_columns(table) if issubclass(table, Landed) else columns(table)
    assert {name: one["description"] for name, one in schema["properties"].items()} == {
        c.name: comment(c) for c in told
    }
    assert schema["description"] == table_comment(table)

    lines = documentation(table).splitlines()
    assert table_comment(table) in lines
    assert [line.split("`")[1] for line in lines if line.startswith("| `")] == [c.name for c in columns(table)]
    assert all(comment(c) in line for c, line in zip(columns(table), lines[-len(columns(table)) :], strict=True))


@each("name", cookbook())
def test_a_recipe_asks_what_is_declared(name: str, declared: duckdb.DuckDBPyConnection) -> None:
    recipe = cookbook()[name]
    params = {param: "1" if value is None else value for param, value in recipe.params.items()}
    *before, last = declared.extract_statements(recipe.sql)
    for statement in before:
        declared.execute(statement, {each: params[each] for each in statement.named_parameters})
    found = declared.execute(
        f"DESCRIBE {last.query}", {each: params[each] for each in last.named_parameters}
    ).fetchall()
    assert [column[0] for column in found] == [column.name for column in recipe.columns]


def test_the_help_of_import_names_every_source():
    assert IMPORTED.replace(" or ", ", ").split(", ") == [source.name for source in SOURCES]
