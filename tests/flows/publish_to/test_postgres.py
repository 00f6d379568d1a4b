"""A publish in a real Postgres: one transaction, whatever reads, holds locks, or ends the server."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from postgres_server import Server
from small_home import SmallHome, memory
from thorough import examples

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.publish_to.postgres import publish_to_postgres
from slowwave.flows.publish_to.target import Postgres, target
from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import SERVING

pytestmark = pytest.mark.slow
PUBLISHES = examples(8, 50)
READERS = 4
_BOTH = """
SELECT DISTINCT run_id FROM {schema}.memory_health
UNION SELECT run_id FROM {schema}.landed_days
UNION SELECT run_id FROM {schema}.heuristics
"""


def published(path: Path, server: Server, schema: str, **options: Any) -> dict[str, int]:
    to = target(server.url, schema)
    assert isinstance(to, Postgres)
    return publish_to_postgres(path, to, lambda _said: None, **options)


@pytest.mark.usefixtures("password")
def test_tables_have_the_values_keys_and_comments_of_their_declarations(runs: list[Path], server: Server) -> None:
    rows = published(runs[0], server, "values")
    assert set(rows) == {table.name for table in SERVING}
    assert server.rows('SELECT content, tags, created_at::text FROM "values".memory_health') == [
        ("nothing\ufffdthere", ["a\ufffdb", 'c,"{}\\'], "2026-03-01 08:00:00")
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
def test_ids_that_a_database_cannot_tell_apart_are_published_without_a_key(tmp_path: Path, server: Server) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m\ufffd"))
    home.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    home.land(memory("m\x00"))
    home.nightly(datetime(2026, 3, 6))  # noqa: DTZ001
    for path in sorted((home.settings.serving / "runs").glob("*.duckdb")):
        published(path, server, "alike")
    assert server.rows("SELECT memory_id FROM alike.memory_health") == [("m\ufffd",), ("m\ufffd",)]


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
def test_columns_that_were_renamed_are_filled_by_both_names(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "renamed")
    renamed = [(table.name, c.name, c.old_name) for table in SERVING for c in columns(table) if c.old_name]
    for table, name, old_name in renamed:
        server.rows(f"ALTER TABLE renamed.{table} RENAME COLUMN {name} TO {old_name}")
    published(runs[1], server, "renamed")
    for table, name, old_name in renamed:
        differing = f"SELECT count(*) FROM renamed.{table} WHERE {name} IS DISTINCT FROM {old_name}"  # noqa: S608
        assert server.rows(differing) == [(0,)], table


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


@pytest.mark.usefixtures("password")
def test_a_view_of_somebody_else_is_left_as_it_is(runs: list[Path], server: Server) -> None:
    server.rows("CREATE SCHEMA viewed")
    server.rows("CREATE VIEW viewed.memory_health AS SELECT 1 AS own")
    with pytest.raises(UserError, match="has a relation memory_health that slowwave did not make: nothing was changed"):
        published(runs[0], server, "viewed")
    assert server.rows("SELECT own FROM viewed.memory_health") == [(1,)]


@pytest.mark.usefixtures("password")
def test_rows_that_refer_to_ours_are_never_taken_along(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "referred")
    at, key = "referred.notes", "notes_memory_id_fkey"
    server.rows(f"CREATE TABLE {at} (memory_id text REFERENCES referred.memory_health ON DELETE CASCADE)")
    server.rows("INSERT INTO referred.notes VALUES ('m-1')")
    for rule in ("ON DELETE CASCADE", "", "ON DELETE SET NULL DEFERRABLE"):
        server.rows(f"ALTER TABLE {at} DROP CONSTRAINT {key}")
        server.rows(f"ALTER TABLE {at} ADD FOREIGN KEY (memory_id) REFERENCES referred.memory_health {rule}")
        with pytest.raises(UserError, match=rf"the foreign key '{key}' of {at} refers to referred\.memory_health"):
            published(runs[1], server, "referred")
        assert server.rows("SELECT memory_id FROM referred.notes") == [("m-1",)]
    server.rows(f"ALTER TABLE {at} DROP CONSTRAINT {key}")
    server.rows(f"ALTER TABLE {at} ADD FOREIGN KEY (memory_id) REFERENCES referred.memory_health DEFERRABLE")
    published(runs[1], server, "referred")
    server.rows("INSERT INTO referred.notes VALUES ('m-2')")
    with pytest.raises(UserError, match=r"a constraint of yours refuses what is published: nothing was.*notes"):
        published(runs[0], server, "referred")
    assert server.rows("SELECT DISTINCT run_id FROM referred.memory_health") == [(runs[1].stem,)]


@pytest.mark.usefixtures("password")
def test_row_level_security_in_force_is_said(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "guarded")
    server.rows("ALTER TABLE guarded.heuristics ENABLE ROW LEVEL SECURITY")
    published(runs[1], server, "guarded")  # of its owner nothing is kept
    server.rows("ALTER TABLE guarded.heuristics FORCE ROW LEVEL SECURITY")
    with pytest.raises(
        UserError, match=r"row level security keeps rows of guarded\.heuristics from this user.*NO FORCE"
    ):
        published(runs[0], server, "guarded")
    assert server.rows("SELECT DISTINCT run_id FROM guarded.memory_health") == [(runs[1].stem,)]


@pytest.mark.usefixtures("password")
def test_a_constraint_that_refuses_a_row_is_named(runs: list[Path], server: Server) -> None:
    published(runs[0], server, "checked")
    server.rows("ALTER TABLE checked.memory_health ADD CONSTRAINT no_second CHECK (memory_id <> 'm-2')")
    with pytest.raises(UserError, match=r"a constraint of yours refuses what is published: nothing.*no_second"):
        published(runs[1], server, "checked")
    assert server.rows("SELECT DISTINCT run_id FROM checked.memory_health") == [(runs[0].stem,)]


@pytest.mark.usefixtures("password")
def test_what_is_there_already_is_not_copied_again_where_that_is_asked(runs: list[Path], server: Server) -> None:
    for path, is_copied in ((runs[0], True), (runs[0], False), (runs[1], True), (runs[1], False), (runs[0], True)):
        assert bool(published(path, server, "once", unless_there=True)) is is_copied
    assert server.rows("SELECT DISTINCT run_id FROM once.memory_health") == [(runs[0].stem,)]


@pytest.mark.usefixtures("password")
def test_a_night_of_prefect_copies_what_it_publishes_and_tries_again(server: Server, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")

    def night(url: str, *ids: str) -> tuple[int, str, list[tuple[str]]]:
        home.settings.settings_file.write_text(f'[publish_to]\nurl = "{url}"\nschema = "nights"\n')
        for one in ids:
            (home.settings.inbox / f"{one}.jsonl").write_text(json.dumps(memory(one)) + "\n")
        done = home.run("nightly")
        return done.returncode, done.stderr, server.rows("SELECT memory_id FROM nights.memory_health ORDER BY 1")

    home.settings.inbox.mkdir(parents=True)
    code, said, found = night(server.url, "m-1")
    assert (code, found) == (0, [("m-1",)]), said
    stopped = f"postgresql://127.0.0.1:1/{tmp_path.name}"
    code, said, found = night(stopped, "m-2")
    assert (code, found) == (1, [("m-1",)]), said
    assert "was not copied: postgresql://127.0.0.1:1/" in said
    assert len(json.loads(home.ask("sql", "FROM memory_health", "--format", "json").stdout)) == 2
    code, said, found = night(stopped)  # with nothing new
    assert (code, found) == (1, [("m-1",)]), said
    code, said, found = night(server.url)
    assert (code, found) == (0, [("m-1",), ("m-2",)]), said
    assert "published run" in said
    assert "published run" not in night(server.url)[1]


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
