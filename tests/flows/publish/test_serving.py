"""A serving file under construction: how it begins, and what is asked of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest

from slowwave.flows.publish import blank
from slowwave.flows.publish.serving import ServingFile, audit_findings, audits, key_audit
from slowwave.transforms.core.schema import Table, columns
from slowwave.transforms.graph import PUBLISHED, SERVING
from slowwave.transforms.health.tables import MemoryHealth, MemoryHealthHistory
from slowwave.transforms.learning.tables import Heuristics


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(blank, "_FOLDER", tmp_path / "__pycache__")
    monkeypatch.setattr(blank, "_in_process", [])
    return tmp_path / "__pycache__"


@pytest.fixture
def began(tmp_path: Path) -> Path:
    """A serving file that nothing was put into."""
    path = tmp_path / "runs" / "one.duckdb"
    with ServingFile(path) as serving:
        serving.finish()
    return path


def declared(path: Path) -> dict[str, list[str]]:
    """The columns of each table that have a comment."""
    found: dict[str, list[str]] = {}
    with duckdb.connect(path, read_only=True) as connection:
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE comment IS NOT NULL ORDER BY column_index"
        ).fetchall():
            found.setdefault(table, []).append(column)
    return found


DECLARED = {
    table.name: [name for column in columns(table) for name in (column.name, column.old_name) if name]
    for table in SERVING
}


def test_an_audit_of_empty_tables_finds_nothing(began: Path) -> None:
    with duckdb.connect(began, read_only=True) as connection:
        assert audit_findings(connection) == []
    assert all(audit.reads for audit in audits())


@pytest.mark.parametrize("table", PUBLISHED, ids=lambda table: table.name)
def test_a_key_is_audited_as_it_is_declared(table: type[Table]) -> None:
    """Two rows of one key, and a row without any part of it, whatever the file itself would refuse."""
    audit, some = key_audit(table), ["some"] * len(table.key)
    assert (audit.name, audit.severity, audit.reads) == (f"{table.name}_key", "fail", {table.name})
    without = [[None if name == missing else "other" for name in table.key] for missing in table.key]
    columns_of_key = ", ".join(f'"{name}" VARCHAR' for name in table.key)
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE "{table.name}" ({columns_of_key})')
        insert = f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(some))})'  # noqa: S608 - declared names
        connection.execute(insert, some)
        assert connection.execute(audit.sql).fetchall() == []
        connection.executemany(insert, [some, *without])
        assert len(connection.execute(audit.sql).fetchall()) == 1 + len(without)


_NEW, _OLD = date(2026, 3, 2), date(2026, 3, 1)


@pytest.mark.parametrize("other_day", [_OLD, _NEW])
def test_a_reference_that_is_new_is_no_other_again_of_whatever_day(began: Path, other_day: date) -> None:
    """Two of days that were taken over were audited when they were written."""
    columns_of_key = "'m' AS memory_id, 'i' AS interaction_id, 'p' AS project"
    with duckdb.connect(began) as connection:
        for day in (_OLD, other_day):
            connection.execute(
                "INSERT INTO memory_references BY NAME "
                f"SELECT {columns_of_key}, $day::TIMESTAMP AS occurred_at, '' AS agent, true AS is_injected, "
                "false AS is_echoed, false AS is_used, false AS is_cited, [] AS methods, 'r' AS run_id, now() AS as_of",
                {"day": day},
            )
        found = {
            tuple(days): {finding.audit.name for finding in audit_findings(connection, new_days=days)}
            for days in ([], [_NEW])
        }
    for audit in ("memory_references_key", "landed_days_are_explained"):
        assert [audit in found[days] for days in ((), (_NEW,))] == [False, other_day == _NEW]


@pytest.mark.parametrize(
    ("new_days", "found"), [([], {None}), ([_NEW], {_NEW, None}), ([_OLD, _NEW], {_OLD, _NEW, None})]
)
def test_days_of_history_are_audited_from_the_first_on_that_is_new(
    new_days: list[date], found: set[date | None]
) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE memory_health_history (memory_id VARCHAR, day DATE)")
        twice = [("m", _OLD), ("m", _NEW), ("m", None)] * 2
        connection.executemany("INSERT INTO memory_health_history VALUES (?, ?)", twice)
        connection.execute("SET VARIABLE new_days = CAST($days AS DATE[])", {"days": new_days})
        rows = connection.execute(key_audit(MemoryHealthHistory).sql_of_new).fetchall()
    assert {day for _, day, _ in rows} == found


def test_what_a_key_audit_says() -> None:
    said = {table: key_audit(table).description for table in (MemoryHealth, MemoryHealthHistory, Heuristics)}
    assert said == {
        MemoryHealth: "memory_health has one row per memory_id, and none without one.",
        MemoryHealthHistory: "memory_health_history has one row per memory_id and day, and none without them.",
        Heuristics: "heuristics has one row per project, agent, task_type and strategy_id, and none without them.",
    }


def test_audits_of_empty_tables_are_not_asked(began: Path) -> None:
    with duckdb.connect(began) as connection:
        connection.execute("DROP TABLE regret")
        with pytest.raises(duckdb.CatalogException):
            audit_findings(connection)
        assert audit_findings(connection, DECLARED) == []


@pytest.mark.parametrize("kept", [b"", b"not whole", None])
def test_every_table_is_there_whatever_was_kept(cache: Path, tmp_path: Path, kept: bytes | None) -> None:
    if kept is not None:
        cache.mkdir()
        blank._path().write_bytes(kept)
    for name in ("one", "two"):
        path = tmp_path / f"{name}.duckdb"
        with ServingFile(path) as serving:
            serving.finish()
        assert declared(path) == DECLARED
        blank._in_process.clear()  # as in another process
    assert [path.name for path in cache.iterdir()] == [blank._path().name]


def test_what_other_code_kept_goes(cache: Path) -> None:
    cache.mkdir()
    for left in ("blank-of-before.duckdb", ".blank-of-before.duckdb.12.tmp"):
        (cache / left).write_bytes(b"old")
    blank.keep_blank(b"new")
    assert [path.name for path in cache.iterdir()] == [blank._path().name]


def test_where_nothing_can_be_kept_every_table_is_there_all_the_same(cache: Path, tmp_path: Path) -> None:
    cache.write_bytes(b"a file where a folder should be")
    path = tmp_path / "one.duckdb"
    with ServingFile(path) as serving:
        serving.finish()
    assert declared(path) == DECLARED
