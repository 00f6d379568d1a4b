"""What follows from a table's declaration: dtypes, DuckDB tables with comments, JSON Schema, documentation."""

from datetime import date
from typing import Any

import duckdb
import orjson
import polars as pl
import pytest
from delivered import land, utc
from each import each
from pydantic import ValidationError

from slowwave.transforms.core.frames import conform, empty
from slowwave.transforms.core.schema import (
    Table,
    column,
    columns,
    comment,
    documentation,
    duckdb_ddl,
    json_schema,
    polars_schema,
    producer_columns,
    table_comment,
)
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, SERVING
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories

TABLES = (*LANDED, *EVIDENCE, DayInputs, *SERVING)
SAMPLES = {
    "text": "Ünï '; DROP TABLE x; --\n\x1b[31m", "integer": 2**63 - 1, "number": 0.1, "boolean": True,
    "json": '{"a":[1]}',
    "time": utc(2026, 3, 10, 8, 5, 9, 123_456), "day": date(2026, 3, 10), "texts": ["a", "b'"],
    "structs": [{"id": "m1", "rank": 1, "score": 0.5}, {"id": "m2", "rank": None, "score": None}],
}  # fmt: skip

each_table = each("table", TABLES)


def sample_of(column):
    is_times = column.dtype == pl.List(pl.Datetime("us"))
    return [SAMPLES["time"]] * 2 if is_times else SAMPLES[column.kind]


def rows_of(table):
    """A full row, one with NULL wherever it is allowed, and one of the extremes."""
    full = {c.name: c.choices[0] if c.choices else sample_of(c) for c in columns(table)}
    sparse = {c.name: None if c.nullable else full[c.name] for c in columns(table)}
    extremes = {
        "time": utc(1, 1, 1),
        "day": date(9999, 12, 31),
        "integer": -(2**63),
        "text": "",
        "texts": [],
        "structs": [],
    }
    edge = {c.name: full[c.name] if c.choices else extremes.get(c.kind, full[c.name]) for c in columns(table)}
    return pl.DataFrame([full, sparse, edge], schema=polars_schema(table))


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        yield opened


def create(connection, table):
    """Create a table, though evidence and what is published may have one of the same name."""
    connection.execute(f'DROP TABLE IF EXISTS "{table.name}"')
    for statement in duckdb_ddl(table):
        connection.execute(statement)


@each_table
def test_ddl_runs_and_comments_are_there(table, connection):
    create(connection, table)
    found = connection.sql(
        "SELECT column_name, comment, is_nullable FROM duckdb_columns() WHERE table_name = $name ORDER BY column_index",
        params={"name": table.name},
    ).fetchall()
    old = {c.old_name for c in columns(table)}
    assert [row for row in found if row[0] not in old] == [(c.name, comment(c), c.nullable) for c in columns(table)]
    assert [said.startswith("Old name of ") for name, said, _ in found if name in old] == [True] * len(old - {None})
    ((said,),) = connection.sql(
        "SELECT comment FROM duckdb_tables() WHERE table_name = $name", params={"name": table.name}
    ).fetchall()
    assert said == table_comment(table)


@each_table
def test_rows_survive_duckdb_in_both_directions(table, connection):
    create(connection, table)
    frame = rows_of(table)
    connection.register("frame", frame)
    connection.execute(f'INSERT INTO "{table.name}" BY NAME FROM frame')
    old = {c.old_name: c.name for c in columns(table) if c.old_name}
    back = connection.sql(f'FROM "{table.name}"').pl()
    assert all(back[old_name].equals(back[name]) for old_name, name in old.items())
    back = back.drop(*old)
    assert back.schema == frame.schema
    assert back.equals(frame)


@each_table
def test_null_is_refused_where_it_is_not_declared(table, connection):
    create(connection, table)
    for c in columns(table):
        frame = rows_of(table)[:1].with_columns(pl.lit(None, dtype=c.dtype).alias(c.name))
        connection.register("frame", frame)
        insert = f'INSERT INTO "{table.name}" BY NAME FROM frame'
        if c.nullable:
            connection.execute(insert)
        else:
            with pytest.raises(duckdb.ConstraintException):
                connection.execute(insert)


@each_table
def test_every_column_is_described_and_keys_are_never_null(table):
    assert table_comment(table)
    declared = {c.name: c for c in columns(table)}
    assert all(c.description.endswith(".") for c in declared.values())
    assert set(table.key) <= set(declared)
    assert not any(declared[name].nullable for name in table.key)
    assert all(c.unit == "UTC" or "clock" in c.description for c in declared.values() if c.kind == "time")


@each_table
def test_counts_are_never_null(table):
    assert not [c.name for c in columns(table) if c.name.endswith("_count") and c.nullable]


@each_table
def test_documentation_says_every_column_once(table):
    text = documentation(table)
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == [c.name for c in columns(table)]
    assert all(c.description in line for c, line in zip(columns(table), lines, strict=True))
    assert all(len(line.split(" | ")) == 4 for line in lines)
    assert f"Key: `{', '.join(table.key)}`" in text


@each_table
def test_json_schema_says_every_column_a_reader_or_producer_may_meet(table):
    schema = json_schema(table)
    landed = table in LANDED
    assert list(schema["properties"]) == [c.name for c in (producer_columns(table) if landed else columns(table))]
    assert all(part["description"] for part in schema["properties"].values())
    orjson.dumps(schema)


def test_json_schema_requires_what_landing_requires():
    for table, kind in zip(LANDED, ("interactions", "outcomes", "memories"), strict=True):
        required = json_schema(table)["required"]
        values = {
            "prompt": "hi",
            "success": True,
            "memory_id": "m1",
            "created_at": "2026-03-10",
            "changed_at": "2026-03-10",
        }
        whole = {name: values[name] for name in required}
        assert land(whole, kind=kind).quarantine.is_empty()
        for name in required:
            assert land({k: v for k, v in whole.items() if k != name}, kind=kind).quarantine["field"].to_list() == [
                name
            ]


def test_internal_columns_are_not_a_producers():
    for table in LANDED:
        internal = {c.name for c in columns(table)} - {c.name for c in producer_columns(table)}
        assert internal == {"row_hash", "key_hash"} | ({"clears"} if table is Memories else set())


def test_conform_orders_casts_and_fills():
    given = pl.LazyFrame({"tokens": pl.Series([1], dtype=pl.UInt32), "prompt": ["hi"], "not declared": [1]})
    found = conform(Interactions, given).collect()
    assert found.schema == polars_schema(Interactions) == empty(Interactions).schema
    assert found.select("prompt", "tokens", "response").rows() == [("hi", 1, None)]


def test_a_comment_is_only_text(connection):
    class Quoted(Table):
        """It's "quoted"; DROP TABLE x."""

        name = "quo-ted"
        key = ("it's",)

        a: str = column("It's key'); DROP TABLE y; --.")

    for statement in duckdb_ddl(Quoted):
        connection.execute(statement)
    assert connection.sql("SELECT comment FROM duckdb_columns() WHERE table_name = 'quo-ted'").fetchall() == [
        ("It's key'); DROP TABLE y; --.",)
    ]


def test_declarations_are_frozen_and_closed():
    row: dict[str, Any] = {c.name: c.choices[0] if c.choices else SAMPLES[c.kind] for c in columns(MemoryHealth)}
    row["strength_forecast"] = [0.5]
    health = MemoryHealth(**row)
    with pytest.raises(ValidationError):
        health.project = "other"
    with pytest.raises(ValidationError):
        MemoryHealth.model_validate({**row, "colour": "red"})
