"""A table's declaration in the SQL of Postgres: columns, key and comments."""

from __future__ import annotations

import re

from slowwave.transforms.core.schema import Column, Table, columns, comment, table_comment

MARK = " (Made by slowwave publish-to.)"
"""At the end of the comment on each table that is ours."""
_TYPES = {
    "VARCHAR": "text",
    "BIGINT": "bigint",
    "DOUBLE": "double precision",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "timestamp without time zone",
    "DATE": "date",
}
_LIST = re.compile(r"\[\]$")


def quote_name(*parts: str) -> str:
    """A name, or a qualified one, as SQL quotes it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def postgres_type(column: Column) -> str:
    """The type of a column, as `format_type` of Postgres spells it."""
    item = _LIST.sub("", column.duckdb_type)
    return _TYPES[item] + ("[]" if item != column.duckdb_type else "")


def create_table(schema: str, table: type[Table], *, with_key: bool = True) -> list[str]:
    """Statements that make a table with its key and comments."""
    lines = [f"{quote_name(c.name)} {postgres_type(c)}{'' if c.nullable else ' NOT NULL'}" for c in columns(table)]
    lines += [f"PRIMARY KEY ({', '.join(map(quote_name, table.key))})"] if with_key else []
    return [
        f"CREATE TABLE {quote_name(schema, table.name)} ({', '.join(lines)})",
        f"COMMENT ON TABLE {quote_name(schema, table.name)} IS {text(table_comment(table) + MARK)}",
        *[comment_on(schema, table, c) for c in columns(table)],
    ]


def comment_on(schema: str, table: type[Table], column: Column) -> str:
    """The statement that says what a column means."""
    return f"COMMENT ON COLUMN {quote_name(schema, table.name, column.name)} IS {text(comment(column))}"


def text(value: str) -> str:
    """A text as SQL writes it, whatever the server takes a backslash for."""
    escaped = value.replace("\\", "\\\\").replace("'", "''")
    return f" E'{escaped}'"


def readable(column: Column) -> str:
    """A column in DuckDB's SQL as Postgres can hold it: no NUL in a text."""
    name = quote_name(column.name)
    if column.duckdb_type == "VARCHAR":
        return f"replace({name}, chr(0), chr(65533)) AS {name}"
    if column.duckdb_type == "VARCHAR[]":
        return f"list_transform({name}, lambda one: replace(one, chr(0), chr(65533))) AS {name}"
    return name
