"""A publish in a real Postgres: one transaction, whatever reads, holds locks, or ends the server."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
from postgres_server import Server

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.publish_to.postgres import publish_to_postgres
from slowwave.flows.publish_to.target import Postgres, target
from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import SERVING

pytestmark = pytest.mark.slow
PUBLISHES = 50
READERS = 4
_BOTH = """
SELECT DISTINCT run_id FROM {schema}.memory_health
UNION SELECT run_id FROM {schema}.landed_days
UNION SELECT run_id FROM {schema}.heuristics
"""


def published(path: Path, server: Server, schema: str, **options: int) -> dict[str, int]:
    to = target(server.url, schema)
    assert isinstance(to, Postgres)
    return publish_to_postgres(path, to, lambda _said: None, **options)


@pytest.mark.usefixtures("password")
def test_tables_have_the_values_keys_and_comments_of_their_declarations(runs: list[Path], server: Server) -> None:
    rows = published(runs[0], server, "values")
    assert set(rows) == {table.name for table in SERVING}
    assert server.rows('SELECT content, tags, created_at::text FROM "values".memory_health') == [
        ("nothing\ufffdthere", ["a\ufffdb", "", 'c,"{}\\'], "2026-03-01 08:00:00")
    ]
    assert server.rows('SELECT strategy FROM "values".heuristics') == [("lint 'first' \\ $$",)]
    with duckdb.connect(runs[0], read_only=True) as own:
        for table in SERVING:
            assert own.table(table.name).count("*").fetchall() == [(rows[table.name],)]
            assert server.rows(f'SELECT count(*) FROM "values".{table.name}') == [(rows[table.name],)]  # noqa: S608
    keys = server.rows(
        "SELECT conrelid::regclass::text, array_length(conkey, 1) FROM pg_constraint"
        " WHERE contype = 'p' AND connamespace = '\"values\"'::regnamespace"
    )
    assert {name.split(".")[1]: many for name, many in keys} == {table.name: len(table.key) for table in SERVING}
    said = server.rows("SELECT col_description('\"values\".memory_health'::regclass, 1)")
    assert said == [(columns(SERVING[0])[0].description,)]


@pytest.mark.usefixtures("password")
def test_readers_see_one_run_while_it_is_published_again_and_again(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "readers")
    ended, reads, mixed = threading.Event(), [0] * READERS, []
    names = {path.stem for path in runs}

    def read(reader: int) -> None:
        while not ended.wait(0.05):  # the publisher works beside
            found = {run_id for (run_id,) in server.rows(_BOTH.format(schema="readers"))}
            reads[reader] += 1
            if len(found) != 1 or not found <= names:
                mixed.append(found)

    with ThreadPoolExecutor(READERS) as pool:
        for reader in range(READERS):
            pool.submit(read, reader)
        try:
            for at in range(PUBLISHES):
                published(runs[at % 2], server, "readers")
        finally:
            ended.set()
    assert mixed == []
    assert min(reads) > 0


@pytest.mark.usefixtures("password")
def test_views_and_grants_survive_and_a_column_comes_by_adding_it(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "grown")
    server.rows("CREATE VIEW grown.mine AS SELECT count(*) AS memories FROM grown.memory_health")
    server.rows("GRANT SELECT ON grown.memory_health TO pg_monitor")
    server.rows("ALTER TABLE grown.memory_health DROP COLUMN verdict, ADD COLUMN once int")
    server.rows("ALTER TABLE grown.memory_health ALTER COLUMN once SET DEFAULT 1")
    published(runs[1], server, "grown")
    assert server.rows("SELECT memories FROM grown.mine") == [(2,)]
    assert server.rows("SELECT has_table_privilege('pg_monitor', 'grown.memory_health', 'SELECT')") == [(True,)]
    assert server.rows("SELECT count(verdict) FROM grown.memory_health") == [(2,)]
    server.rows("ALTER TABLE grown.landed_days ALTER COLUMN rows_count TYPE text")
    with pytest.raises(UserError, match=r"landed_days\.rows_count is text, and is published as bigint: nothing was"):
        published(runs[0], server, "grown")
    assert server.rows("SELECT memories FROM grown.mine") == [(2,)]


@pytest.mark.usefixtures("password")
def test_what_another_release_published_is_published_anew_first(
    runs: list[Path], server: Server, tmp_path: Path
) -> None:
    older = tmp_path / runs[0].name
    shutil.copyfile(runs[0], older)
    with duckdb.connect(older) as file:
        file.execute("ALTER TABLE memory_health DROP COLUMN verdict")
    with pytest.raises(UserError, match="are of another release: `slowwave nightly` publishes them anew"):
        published(older, server, "older")
    assert server.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'older'") == []


@pytest.mark.usefixtures("password")
def test_a_table_of_somebody_else_is_left_as_it_is(runs: list[Path], server: Server) -> None:
    server.rows("CREATE SCHEMA theirs")
    server.rows("CREATE TABLE theirs.heuristics AS SELECT 1 AS own")
    with pytest.raises(UserError, match="has a relation heuristics that slowwave did not make: nothing was changed"):
        published(runs[0], server, "theirs")
    assert server.rows("SELECT own FROM theirs.heuristics") == [(1,)]
    assert server.rows("SELECT count(*) FROM pg_tables WHERE schemaname = 'theirs'") == [(1,)]


@pytest.mark.usefixtures("password")
def test_rows_of_a_table_that_inherits_from_ours_stay(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "parent")
    server.rows("CREATE TABLE public.child () INHERITS (parent.memory_health)")
    server.rows("INSERT INTO public.child SELECT * FROM ONLY parent.memory_health")
    before = server.rows("SELECT memory_id FROM public.child")
    published(runs[1], server, "parent")
    assert server.rows("SELECT memory_id FROM public.child") == before != []


def _holding(server: Server, schema: str, then: Callable[[], None]) -> None:
    """Do something while an idle transaction holds a lock on a table."""
    with server.connect() as other, other.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {schema}.memory_health IN ACCESS EXCLUSIVE MODE")
        then()


@pytest.mark.usefixtures("password")
def test_a_lock_that_is_not_let_go_of_is_given_up(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "locked")

    def refused() -> None:
        with pytest.raises(UserError, match="another session has locked a table there"):
            published(runs[1], server, "locked", lock_seconds=1)

    _holding(server, "locked", refused)
    assert server.rows("SELECT DISTINCT run_id FROM locked.memory_health") == [(runs[0].stem,)]


@pytest.mark.usefixtures("password")
def test_a_server_that_restarts_in_the_middle_keeps_what_it_had(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "restarted")
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'slowwave%'"
    )

    def interrupted() -> None:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(published, runs[1], server, "restarted")
            while server.rows(waiting) == [(0,)] and not running.done():
                pass
            server.restart()
            with pytest.raises(UserError, match="postgresql://"):
                running.result()
        raise KeyboardInterrupt  # the other connection has gone as well

    with pytest.raises(KeyboardInterrupt):
        _holding(server, "restarted", interrupted)
    assert server.rows("SELECT DISTINCT run_id FROM restarted.memory_health") == [(runs[0].stem,)]
    published(runs[1], server, "restarted")
    assert server.rows("SELECT DISTINCT run_id FROM restarted.memory_health") == [(runs[1].stem,)]


def test_a_wrong_password_is_said_and_never_shown(
    runs: list[Path], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_PUBLISH_PASSWORD", "not-that-one")
    with pytest.raises(UserError, match=r"password authentication failed.*~/\.pgpass") as refused:
        published(runs[0], server, "nowhere")
    assert "not-that-one" not in str(refused.value)
