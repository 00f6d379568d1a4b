"""`slowwave inspect schema`: declarations that other programs can use as they stand."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import jsonschema
import pytest
from each import each

from slowwave.data.sample import SampleFile, sample_files, sample_truth
from slowwave.flows.cli import main as cli
from slowwave.flows.cli.schema import GROUPS
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.tables import LANDED

NAMES = [table.name for group in GROUPS.values() for table in group]


@pytest.fixture
def schema(capfd):
    def run(*arguments: str) -> str:
        capfd.readouterr()
        assert cli._exit_code(["inspect", "schema", *arguments]) == 0
        return capfd.readouterr().out

    return run


def kind_of(row: dict[str, Any]) -> str:
    """The landing contract: which table a delivered row is of."""
    if row.get("prompt") is not None:
        return "interactions"
    return "memories" if row.get("memory_id") is not None else "outcomes"


def good_rows(file: SampleFile, bad: set[tuple[str, int]]) -> list[dict[str, Any]]:
    lines = file.content[:-1].split(b"\n")
    return [json.loads(line) for number, line in enumerate(lines, start=1) if (file.name, number) not in bad]


def test_every_table_is_listed_with_a_line(schema):
    lines = schema().splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} == set(NAMES)
    assert len(NAMES) == len(set(NAMES))
    assert {table.name for table in (*LANDED, *SERVING)} <= set(NAMES)


def test_a_misspelt_table_is_answered_with_the_names_near_it(capfd):
    assert cli._exit_code(["inspect", "schema", "Memory_helth"]) == 1
    assert "did you mean memory_health or " in capfd.readouterr().err


@each("name", NAMES)
def test_json_schema_is_valid(schema, name):
    found = json.loads(schema(name))
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert all(column["description"] for column in found["properties"].values())


def test_json_schema_takes_what_landing_takes(schema):
    validators = {name: jsonschema.Draft202012Validator(json.loads(schema(name))) for name in NAMES[: len(LANDED)]}
    bad = {(row.file, row.row_number) for row in sample_truth(days=6, interactions_per_day=25).bad_rows}
    seen = dict.fromkeys(validators, 0)
    for file in sample_files(days=6, interactions_per_day=25):
        if file.name.endswith(".jsonl") and "redelivery" not in file.name:
            for row in good_rows(file, bad):
                validators[kind_of(row)].validate(row)
                seen[kind_of(row)] += 1
    assert min(seen.values()) > 10


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("interactions", {"created_at": "2026-03-01", "prompt": " "}),
        ("interactions", {"created_at": "2026-03-01", "prompt": 5}),
        ("interactions", {"prompt": "When?"}),
        ("memories", {"memory_id": "m", "changed_at": "2026-03-01", "confidence": 1.5}),
        ("memories", {"memory_id": "m", "changed_at": "2026-03-01", "status": "promoted"}),
        ("outcomes", {"created_at": "2026-03-01", "success": "perhaps"}),
        ("outcomes", {"created_at": "2026-03-01", "success": True, "error_message": {}}),
    ],
)
def test_json_schema_refuses_what_landing_refuses(schema, name, row):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(schema(name))).validate(row)


def test_ddl_makes_every_table_with_its_comments(schema):
    with duckdb.connect() as connection:
        connection.execute(schema("--format", "sql"))
        tables = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        ((silent,),) = connection.execute(
            "SELECT count(*) FROM duckdb_columns() WHERE NOT internal AND comment IS NULL"
        ).fetchall()
        columns = connection.execute("DESCRIBE memory_references").fetchall()
    assert tables.keys() == set(NAMES)
    assert all(tables.values())
    assert silent == 0
    assert {"run_id", "as_of"} <= {column[0] for column in columns}


def test_markdown_documents_every_column(schema):
    for name in NAMES:
        columns = json.loads(schema(name))["properties"]
        text = schema(name, "--format", "markdown")
        assert text.startswith(f"## {name}\n")
        assert all(f"| `{column}` |" in text for column in columns)
    assert schema("--format", "markdown").count("\n## ") == len(NAMES) - 1


def test_of_an_unknown_table_is_said_where_the_tables_are(capfd):
    assert cli._exit_code(["inspect", "schema", "memory\x1b[31m"]) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert "\x1b" not in said.err
    assert "`slowwave inspect schema` lists them" in said.err
