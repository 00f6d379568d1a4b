"""What the pages about Metabase, Superset and Grafana say holds: their SQL, in DuckDB and in Postgres, and the role."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pytest
from postgres_server import OWNER, PASSWORD, WITHOUT, Server, binaries, postgres_server
from shared_homes import taught_home

from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.publish_to.postgres import publish_to_postgres
from slowwave.flows.publish_to.target import Postgres, target

FOLDER = Path(__file__).parents[3] / "dashboards" / "bi"
CHARTS = ("metabase", "superset", "grafana")
PAGES = {name: (FOLDER / f"{name}.md").read_text() for name in (*CHARTS, "README")}
READER = "slowwave_reader"
# What a whole log lies within, as Grafana writes the range that a dashboard shows.
SHOWN = "'2026-01-01T00:00:00Z'", "'2026-12-31T23:59:59.999Z'"
WEEKLY_SUCCESS, WEEKLY_TOKENS, FAILING = range(3)

Rows = list[tuple[Any, ...]]


def blocks(page: str) -> list[str]:
    return re.findall(r"```sql\n(.*?)```", PAGES[page], flags=re.DOTALL)


def expanded(sql: str) -> str:
    """SQL as Grafana sends it: `$__timeFilter(column)` is a range of times in the text."""
    return re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 BETWEEN {SHOWN[0]} AND {SHOWN[1]}", sql)


QUERIES = [pytest.param(page, number, id=f"{page}-{number}") for page in CHARTS for number in range(len(blocks(page)))]
ROLE, LOCK = blocks("README")


@pytest.fixture(scope="module")
def current() -> Path:
    """A published file with every answer: memories injected by a coin, and a strategy that keeps failing."""
    return taught_home().settings.current


@pytest.fixture(scope="module")
def server(current: Path) -> Iterator[Server]:
    """A Postgres with the published tables, and the role as the page makes it."""
    if binaries() is None:
        pytest.skip(WITHOUT)
    with postgres_server() as running, pytest.MonkeyPatch.context() as patched:
        patched.setenv("SLOWWAVE_PUBLISH_PASSWORD", PASSWORD)
        publish(current, running)
        role = ROLE.replace("slowwave_owner", OWNER)
        as_superuser(running, f"{role} ALTER ROLE {READER} PASSWORD '{PASSWORD}';")
        yield running


def publish(current: Path, server: Server) -> None:
    to = target(server.url)
    assert isinstance(to, Postgres)
    publish_to_postgres(current.resolve(), to, lambda _said: None)


def as_superuser(server: Server, sql: str) -> None:
    command = [server.bin / "psql", "-qX", "-h", "127.0.0.1", "-p", f"{server.port}", "-U", "postgres", "-d", "team"]
    subprocess.run([*command, "-v", "ON_ERROR_STOP=1", "-c", sql], env={"PGPASSWORD": PASSWORD}, check=True)


def in_duckdb(current: Path, sql: str) -> tuple[list[str], Rows]:
    with duckdb.connect(current, read_only=True) as connection:
        found = connection.sql(sql)
        return found.columns, found.fetchall()


def as_reader(server: Server, sql: str, *, first: str = "SET datestyle = ISO") -> tuple[list[str], Rows]:
    from adbc_driver_postgresql import dbapi

    url = f"{server.url.replace(OWNER, READER)}?password={quote(PASSWORD)}"
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(first)
        cursor.execute(sql)
        return [column[0] for column in cursor.description or ()], cursor.fetchall()


@pytest.mark.parametrize(("page", "number"), QUERIES)
def test_every_query_answers_on_the_serving_file(page: str, number: int, current: Path) -> None:
    _, rows = in_duckdb(current, expanded(blocks(page)[number]))
    assert rows


@pytest.mark.slow
@pytest.mark.parametrize(("page", "number"), QUERIES)
def test_every_query_answers_the_same_in_postgres(page: str, number: int, current: Path, server: Server) -> None:
    sql = expanded(blocks(page)[number])
    (names, rows), (own_names, own_rows) = as_reader(server, sql), in_duckdb(current, sql)
    assert names == own_names
    if "ORDER BY" in sql:
        assert rows == own_rows
    assert sorted(rows, key=repr) == sorted(own_rows, key=repr)


@pytest.mark.parametrize("page", CHARTS)
def test_the_charts_say_what_the_dashboard_says(page: str, current: Path) -> None:
    """The same numbers as the recipes behind the first screen."""
    asked = [in_duckdb(current, expanded(sql)) for sql in blocks(page)]
    published = Published(current.resolve())
    try:
        attempts, days, failing = (
            published.answer(name) for name in ("attempts_by_injection", "activity_by_day", "costliest_anti_patterns")
        )
    finally:
        published.close()
    assert total(asked[WEEKLY_SUCCESS], "attempts") == attempts["attempts"].sum() > 0
    tokens = {monday(day): 0 for day in days["day"]}
    for day, injected in days.select("day", "injected_tokens").iter_rows():
        tokens[monday(day)] += injected
    told = {date(at.year, at.month, at.day): value for at, value in asked[WEEKLY_TOKENS][1]}
    assert told == {week: value for week, value in tokens.items() if value}
    names = asked[FAILING][0]
    instead = [(row[names.index("failing_strategy")], row[names.index("instead")]) for row in asked[FAILING][1]]
    assert sorted(instead) == sorted(failing.select("pattern", "better_alternative").iter_rows())


def total(answer: tuple[Sequence[str], Rows], column: str) -> int:
    return sum(row[answer[0].index(column)] for row in answer[1])


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


@pytest.mark.slow
def test_the_role_reads_and_cannot_write(current: Path, server: Server) -> None:
    for sql in ("DELETE FROM runs", "CREATE TABLE mine (a INTEGER)"):
        with pytest.raises(Exception, match="read-only transaction"):
            as_reader(server, sql)
        # who takes that off still has no right to
        with pytest.raises(Exception, match="permission denied"):
            as_reader(server, sql, first="SET TRANSACTION READ WRITE")
    # what a later publish adds, it may read too
    as_superuser(server, f"SET ROLE {OWNER}; CREATE TABLE slowwave.later (a INTEGER)")
    assert as_reader(server, "SELECT count(*) FROM later")[1] == [(0,)]
    publish(current, server)
    assert as_reader(server, "SELECT count(*) FROM runs")[1][0][0] > 0


def test_a_locked_connection_reads_no_other_file(current: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with duckdb.connect(current, read_only=True) as connection:
        connection.execute(LOCK)
        assert connection.sql("SELECT count(*) FROM runs").fetchall()
        for sql in (f"FROM read_csv('{secret}')", "SET enable_external_access = true"):
            with pytest.raises(duckdb.Error):
                connection.execute(sql)
