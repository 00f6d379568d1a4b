"""A publish in a database of Postgres: one transaction, so that every read sees the tables of one run.

Rows go into temporary tables first, which nobody waits for; then old rows are deleted and new ones inserted. Tables are
never dropped, truncated or renamed: views, grants and readers of the old rows stay. A schema changes by added columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from slowwave.flows.ask.connection import (
    OTHER_RELEASE,
    DuckDBConfig,
    error_lines,
    is_of_another_release,
    locked_connection,
)
from slowwave.flows.kernel.errors import UserError, not_installed
from slowwave.flows.kernel.terminal import quote_shortened, shorten_to_width
from slowwave.flows.publish_to.target import PASSWORD, Postgres
from slowwave.transforms.core.schema import Column, Table, columns, comment, table_comment
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.ledger_tables import Runs

if TYPE_CHECKING:
    from adbc_driver_manager import dbapi


# A table's declaration in the SQL of Postgres: columns, key and comments.

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


Note = Callable[[str], None]

LOCK_SECONDS = 30
STATEMENT_SECONDS = 1_800
_LIMITS: DuckDBConfig = {"memory_limit": "512MB"}
_BATCH_ROWS = 10_000
_TOLD_WHOLE = frozenset({"55P03", "57014", "42501", "53100"})
# A key of more bytes fits no index of Postgres: an entry is 2,704 at most.
_LONGEST_KEY = 2_000
_SETTINGS = (
    f"SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'",
    f"SET LOCAL idle_in_transaction_session_timeout = '{STATEMENT_SECONDS}s'",
    "SET LOCAL standard_conforming_strings = on",
)
# One at a time for each schema; ends with the transaction.
_ALONE = "SELECT pg_try_advisory_xact_lock(hashtext('slowwave publish-to'), hashtext($1))"
_TABLES = """
SELECT
    c.relname,
    c.relkind::text,
    coalesce(obj_description(c.oid, 'pg_class'), ''),
    coalesce(k.conname, ''),
    c.relkind = 'r' AND row_security_active(c.oid)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'p'
WHERE n.nspname = $1
"""
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r'
"""
# Foreign keys that refer to tables there, and whether their rows may go and come again in one transaction.
_REFERRING = """
SELECT c.relname, k.conname, k.conrelid::regclass::text, k.condeferrable AND k.confdeltype = 'a'
FROM pg_constraint AS k
JOIN pg_class AS c ON c.oid = k.confrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND k.contype = 'f'
ORDER BY 1, 2
"""
_HAS_SCHEMA = "SELECT 1 FROM pg_namespace WHERE nspname = $1"
_SAID = {
    "55P03": (
        "another session has locked a table there, and did not let go in time: end it (pg_stat_activity shows it), then"
        " run this again; nothing was changed"
    ),
    "57014": f"the database ended a statement after {STATEMENT_SECONDS} s: nothing was changed; run this again",
    "42501": "the user may not do that there: grant it CREATE on the database or the schema, or name another --schema",
    "2BP01": "something of yours depends on what must change there: nothing was changed; drop it first",
    "23": "a constraint of yours refuses what is published: nothing was changed; change it or drop it",
    "53100": "the disk of the server is full: nothing was changed",
}


def publish_to_postgres(
    path: Path, to: Postgres, note: Note, lock_seconds: int = LOCK_SECONDS, *, unless_there: bool = False
) -> dict[str, int]:
    """Make the tables in a database what a serving file holds; rows by table. No lock is waited for longer than said.

    `unless_there`: where the run that was last published there is this one, nothing is done, and it is no table.

    Raises UserError where the server cannot be reached, refuses, has tables of these names that are not ours, or
    something of its users' on ours that cannot stay as it is: nothing is changed then.
    """
    driver = _driver()
    try:
        with driver.connect(to.uri()) as connection:
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{lock_seconds:d}s'")
                database = _Database(cursor, to.schema, note)
                if unless_there and database.last_run() == path.stem:
                    return {}
                rows = database.publish(path)
            connection.commit()
    except duckdb.Error as error:
        raise UserError(OTHER_RELEASE if is_of_another_release(error) else error_lines(error)) from error
    except driver.Error as error:
        raise UserError(_describe_error(error, to)) from None  # the driver's own words may hold what it was given
    return rows


def _driver() -> Any:  # noqa: ANN401 - a module
    try:
        from adbc_driver_postgresql import dbapi
    except ModuleNotFoundError as error:
        raise not_installed("a database needs the package adbc-driver-postgresql", "postgres") from error
    return dbapi


class _Database:
    """One schema, within one transaction."""

    def __init__(self, cursor: dbapi.Cursor, schema: str, note: Note) -> None:
        self._cursor = cursor
        self._schema = schema
        self._note = note

    def last_run(self) -> str | None:
        """The newest run of what was published there last; None: nothing was."""
        runs = quote_name(self._schema, Runs.name)
        self._cursor.execute("SELECT to_regclass($1)::text", (runs,))
        if self._cursor.fetchall() == [(None,)]:
            return None
        self._cursor.execute(f"SELECT max(run_id) FROM {runs}")  # noqa: S608 - the schema quoted, and a declared name
        return self._cursor.fetchall()[0][0]

    def publish(self, path: Path) -> dict[str, int]:
        for setting in _SETTINGS:
            self._cursor.execute(setting)
        if not self._fetch_rows(_ALONE)[0][0]:
            message = (
                f"another publish-to is at work in the schema {quote_shortened(self._schema)}: run this "
                "again when it is done"
            )
            raise UserError(message)
        if not self._fetch_rows(_HAS_SCHEMA):
            self._cursor.execute(f"CREATE SCHEMA {quote_name(self._schema)}")
        with locked_connection(path, limits=_LIMITS) as published:
            held = {name for (name,) in published.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            tables = [table for table in SERVING if table.name in held]
            found = self._fetch_rows(_TABLES)
            there = {name: (kind, said, key) for name, kind, said, key, _ in found}
            self._refuse_foreign(tables, there)
            self._refuse_guarded({name for name, *_, is_guarded in found if is_guarded}, tables)
            has_key = {table: _may_have_key(published, table) for table in tables}
            rows = {table.name: self._stage(published, table) for table in tables}
        held_columns = self._found_columns()
        for table in tables:
            if table.name not in there:
                for statement in create_table(self._schema, table, with_key=has_key[table]):
                    self._cursor.execute(statement)
            else:
                renamed = [c for c in columns(table) if c.name in table.key and c.old_name in held_columns[table.name]]
                if there[table.name][2] and not has_key[table]:
                    why = "one of its keys holds a NUL, or is longer than an index of Postgres takes"
                    self._drop_key(table, there[table.name][2], why)
                elif there[table.name][2] and renamed and renamed[0].name not in held_columns[table.name]:
                    why = f"{renamed[0].old_name}, which was in it, is called {renamed[0].name} now"
                    self._drop_key(table, there[table.name][2], why)
                self._grow(table, held_columns[table.name])
        self._cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for table in tables:
            self._replace(table, held_columns.get(table.name, {}))
        return rows

    def _fetch_rows(self, sql: str) -> list[tuple[Any, ...]]:
        self._cursor.execute(sql, (self._schema,))
        return self._cursor.fetchall()

    def _refuse_foreign(self, tables: Sequence[type[Table]], there: dict[str, tuple[str, str, str]]) -> None:
        for table in tables:
            kind, said, _ = there.get(table.name, ("r", MARK, ""))
            if kind != "r" or not said.endswith(MARK):
                message = (
                    f"the schema {quote_shortened(self._schema)} has a relation {table.name} that slowwave "
                    "did not make:"
                    " nothing was changed; name another schema with --schema"
                )
                raise UserError(message)

    def _refuse_guarded(self, guarded: set[str], tables: Sequence[type[Table]]) -> None:
        """What would keep old rows, or take rows of others' tables with it."""
        for table in tables:
            if table.name in guarded:
                at = f"{self._schema}.{table.name}"
                message = (
                    f"row level security keeps rows of {at} from this user, so not all could be replaced: nothing"
                    f" was changed; `ALTER TABLE {at} NO FORCE ROW LEVEL SECURITY`, and publish as the table's owner"
                )
                raise UserError(message)
        ours = {table.name for table in tables}
        for name, constraint, referring, can_wait in self._fetch_rows(_REFERRING):
            if name in ours and not can_wait:
                message = (
                    f"the foreign key {quote_shortened(constraint)} of {shorten_to_width(referring, 100)} refers to"
                    f" {self._schema}.{name}, all rows of which are replaced: nothing was changed; make it DEFERRABLE"
                    " and ON DELETE NO ACTION, or drop it"
                )
                raise UserError(message)

    def _stage(self, published: duckdb.DuckDBPyConnection, table: type[Table]) -> int:
        listed = ", ".join(readable(column) for column in columns(table))
        relation = published.sql(f"SELECT {listed} FROM {quote_name(table.name)}")  # noqa: S608 - declared names
        return self._cursor.adbc_ingest(
            _staging_table(table), relation.to_arrow_reader(_BATCH_ROWS), mode="create", temporary=True
        )

    def _found_columns(self) -> dict[str, dict[str, tuple[str, bool]]]:
        found: dict[str, dict[str, tuple[str, bool]]] = {}
        for table, name, dtype, not_null in self._fetch_rows(_COLUMNS):
            found.setdefault(table, {})[name] = dtype, not_null
        return found

    def _grow(self, table: type[Table], found: dict[str, tuple[str, bool]]) -> None:
        """Add the columns that an earlier release did not have; those that are no more stay, and are NULL."""
        declared = {column.name: column for column in columns(table)}
        changes = [
            f"ADD COLUMN {quote_name(name)} {postgres_type(declared[name])}" for name in declared.keys() - found.keys()
        ]
        changes += [
            f"ALTER COLUMN {quote_name(name)} DROP NOT NULL"
            for name, (_, not_null) in found.items()
            if not_null and (name not in declared or declared[name].nullable)
        ]
        for name in declared.keys() & found.keys():
            self._refuse_other_type(table, declared[name], found[name][0])
        if changes:
            self._cursor.execute(f"ALTER TABLE {quote_name(self._schema, table.name)} {', '.join(sorted(changes))}")
            for name in sorted(declared.keys() - found.keys()):
                self._cursor.execute(comment_on(self._schema, table, declared[name]))
                self._note(f"{table.name} has the new column {name}")

    def _refuse_other_type(self, table: type[Table], column: Column, found: str) -> None:
        if found != postgres_type(column):
            message = (
                f"{self._schema}.{table.name}.{column.name} is {found}, and is published as {postgres_type(column)}:"
                " nothing was changed; change its type (views on it must go first), or name another --schema"
            )
            raise UserError(message)

    def _drop_key(self, table: type[Table], constraint: str, why: str) -> None:
        self._cursor.execute(
            f"ALTER TABLE {quote_name(self._schema, table.name)} DROP CONSTRAINT {quote_name(constraint)}"
        )
        self._note(f"{table.name} has no key any more: {why}")

    def _replace(self, table: type[Table], found: Container[str]) -> None:
        """Give the table its new rows; columns that are there by an old name too, by both."""
        new = [(c.name, c.name) for c in columns(table)]
        new += [(c.old_name, c.name) for c in columns(table) if c.old_name is not None and c.old_name in found]
        listed, read = (", ".join(map(quote_name, names)) for names in zip(*new, strict=True))
        at = quote_name(self._schema, table.name)
        self._cursor.execute(f"DELETE FROM ONLY {at}")  # noqa: S608 - declared names, and the schema quoted
        staging = f"pg_temp.{quote_name(_staging_table(table))}"
        self._cursor.execute(f"INSERT INTO {at} ({listed}) SELECT {read} FROM {staging}")  # noqa: S608 - the same
        self._cursor.execute(f"DROP TABLE {staging}")


def _staging_table(table: type[Table]) -> str:
    return f"staged_{table.name}"


def _may_have_key(published: duckdb.DuckDBPyConnection, table: type[Table]) -> bool:
    """Whether its keys fit an index of Postgres, and are told apart there, where a NUL is another sign."""
    texts = [quote_name(c.name) for c in columns(table) if c.name in table.key and c.duckdb_type == "VARCHAR"]
    if not texts:
        return True
    length, has_nul = " + ".join(f"strlen({text})" for text in texts), f"contains(concat({', '.join(texts)}), chr(0))"
    asked = f"SELECT max({length}), bool_or({has_nul}) FROM {quote_name(table.name)}"  # noqa: S608 - declared names
    ((longest, is_any),) = published.execute(asked).fetchall()
    return (longest or 0) <= _LONGEST_KEY and not is_any


def _describe_error(error: Any, to: Postgres) -> str:  # noqa: ANN401 - the driver's own class
    state = getattr(error, "sqlstate", None) or ""
    said = _SAID.get(state) or _SAID.get(state[:2])
    if said is None or state not in _TOLD_WHOLE:
        whole = to.without_password(str(error))
        # what the server says; its details quote rows
        words = whole.partition("ERROR:")[2].partition("DETAIL:")[0] or whole
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        words = shorten_to_width(" ".join(lines), 500)
        said = f"{said} ({words})" if said else words
    if "password" in said:
        said += f" (a password is read from ${PASSWORD}, ~/.pgpass or --password-file)"
    return f"{shorten_to_width(to.url, 200)}: {said}"
