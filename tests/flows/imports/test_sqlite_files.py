"""Copies of other programs' SQLite files: the newest row is seen, and the store stays byte for byte as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from store_rows import heuristic, insert, write_store

from slowwave.flows.imports.sqlite_files import columns_by_table, rows_of, sqlite_copy, sqlite_schema
from slowwave.flows.imports.units import UnreadableUnitError
from slowwave.transforms.imports.stores.cells import TooLong

LONGEST = 1_000_000


def read(path: Path, *, wait_seconds: float = 1.0, order: tuple[str, ...] = ("id",)) -> list[dict[str, Any]]:
    with sqlite_copy(path, wait_seconds) as copy:
        return list(rows_of(copy, "heuristics", columns_by_table(copy)["heuristics"], order, LONGEST))


def why_not(path: Path) -> str:
    with pytest.raises(UnreadableUnitError) as raised:
        read(path)
    return str(raised.value)


def digests(folder: Path) -> dict[str, str]:
    """Of every file that a store had before it was read; what reading may put beside it is left out."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if not file.name.endswith("-shm") and file.stat().st_size
    }


def test_the_newest_row_in_the_log_is_seen_and_nothing_is_changed(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]}, is_wal=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        insert(writer, "heuristics", [heuristic("h2")])
        before = digests(tmp_path)
        assert set(before) == {"alma.db", "alma.db-wal"}
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as blind:
            assert blind.execute("SELECT count(*) FROM heuristics").fetchone() == (1,)
        assert [row["id"] for row in read(path)] == ["h1", "h2"]
        assert digests(tmp_path) == before
        insert(writer, "heuristics", [heuristic("h3")])  # and its own program goes on writing
    assert [row["id"] for row in read(path)] == ["h1", "h2", "h3"]


def test_a_log_that_a_program_left_when_it_died_is_read_and_stays(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]}, is_wal=True)
    left = tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        insert(writer, "heuristics", [heuristic("h2")])
        for name in ("alma.db", "alma.db-wal"):
            shutil.copy(tmp_path / name, left / name)
    before = digests(left)
    for _ in range(2):
        assert [row["id"] for row in read(left / "alma.db")] == ["h1", "h2"]
        assert digests(left) == before


def test_what_is_not_committed_is_not_seen(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]}, is_wal=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN")
        insert(writer, "heuristics", [heuristic("h2")])
        assert [row["id"] for row in read(path)] == ["h1"]


def test_a_store_that_is_locked_is_waited_for_and_then_named(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]})
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert why_not(path).startswith("is locked by another program, which has not let go of it for 1 s")
        with pytest.raises(UnreadableUnitError, match="is locked by another program"):
            sqlite_schema(path, wait_seconds=0.1)
        insert(writer, "heuristics", [heuristic("h2")])
        commit = threading.Timer(0.3, writer.execute, ["COMMIT"])
        commit.start()
        assert [row["id"] for row in read(path, wait_seconds=60)] == ["h1", "h2"]
        commit.join()


def test_a_store_that_is_written_to_all_the_time_is_read_as_of_one_moment(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {}, is_wal=True)
    done = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("PRAGMA busy_timeout = 10000")
            for number in range(100_000):
                if done.is_set():
                    break
                writer.execute("BEGIN")
                insert(writer, "heuristics", [heuristic(f"{number}-{half}") for half in "ab"])
                writer.execute("COMMIT")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        counts = [len(read(path, wait_seconds=60))]
        while counts[-1] == counts[0] and len(counts) < 1_000:
            counts.append(len(read(path, wait_seconds=60)))
    finally:
        done.set()
        writing.join()
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    assert all(count % 2 == 0 for count in counts)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_a_damaged_store_is_named_so(place: float, tmp_path: Path):
    rows = [heuristic(f"h{number}", strategy="round " * 300) for number in range(200)]
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": rows})
    raw = bytearray(path.read_bytes())
    at = int(len(raw) * place)
    raw[at : at + 20_000] = b"\xff" * 20_000
    path.write_bytes(raw)
    assert why_not(path).startswith("is damaged")


def test_damage_where_nothing_is_read_is_damage_too(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]})
    with closing(sqlite3.connect(path)) as store, store:
        root = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'embeddings'").fetchone()[0]
        size = store.execute("PRAGMA page_size").fetchone()[0]
    raw = bytearray(path.read_bytes())
    raw[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(raw)
    assert why_not(path).startswith("is damaged")


def test_a_row_that_an_index_lacks_is_read(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]})
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("CREATE INDEX by_strategy ON heuristics (strategy, id)")
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("PRAGMA writable_schema = ON")
        index = store.execute("SELECT * FROM sqlite_master WHERE name = 'by_strategy'").fetchone()
        store.execute("DELETE FROM sqlite_master WHERE name = 'by_strategy'")
    with closing(sqlite3.connect(path)) as store, store:
        insert(store, "heuristics", [heuristic("h2")])
        store.execute("PRAGMA writable_schema = ON")
        store.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)
    with closing(sqlite3.connect(path)) as store:
        assert len(store.execute("SELECT strategy, id FROM heuristics ORDER BY strategy, id").fetchall()) == 1
    assert len(read(path, order=("strategy", "id"))) == 2


def test_what_is_no_database_is_named_so(tmp_path: Path):
    for name, raw, why in (
        ("empty.db", b"", "is empty"),
        ("text.db", b"not a database at all, just text", "is no SQLite database"),
        ("cut.db", b"SQLite format 3\0", "is damaged"),
        ("noise.db", b"SQLite format 3\0" + bytes(range(256)) * 40, "is damaged"),
    ):
        (tmp_path / name).write_bytes(raw)
        assert why_not(tmp_path / name).startswith(why)


_DIES = """
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("PRAGMA cache_size = 5")
store.execute("BEGIN")
store.execute("UPDATE heuristics SET strategy = strategy || 'x'")
os.kill(os.getpid(), 9)
"""


def test_a_store_left_half_written_is_not_mended_by_us(tmp_path: Path):
    rows = [heuristic(f"h{number}", strategy="round " * 300) for number in range(200)]
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": rows})
    died = subprocess.run([sys.executable, "-c", _DIES, path], check=False)
    assert died.returncode == -signal.SIGKILL
    before = digests(tmp_path)
    assert "alma.db-journal" in before
    assert why_not(path).startswith("was left half-written by a program that died")
    assert digests(tmp_path) == before


_READS = """
import sys
from pathlib import Path
from slowwave.flows.imports.sqlite_files import sqlite_copy
with sqlite_copy(Path(sys.argv[1])) as copy:
    print(copy.execute("SELECT count(*) FROM heuristics").fetchone()[0])
"""


def test_a_store_in_a_folder_that_cannot_be_written_to_is_read_where_it_has_no_log(tmp_path: Path):
    path = write_store(tmp_path / "alma.db", "alma", {"heuristics": [heuristic("h1")]}, is_wal=True)
    drop = "-dac_override,-dac_read_search"  # root may write anywhere
    before = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"] if os.geteuid() == 0 else []
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    done = subprocess.run([*before, sys.executable, "-c", _READS, path], check=False, capture_output=True, text=True)
    tmp_path.chmod(0o755)
    assert (done.stdout.strip(), done.returncode) == ("1", 0), done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["alma.db"]


def test_odd_names_values_and_tables_are_read_as_they_are(tmp_path: Path):
    path = tmp_path / "odd ?#%.db"
    with closing(sqlite3.connect(path)) as store, store:
        store.execute('CREATE TABLE "heuristics" (id TEXT, "a"" , (SELECT 1) --" TEXT, "{0}" TEXT, rowid_ BLOB)')
        store.execute("INSERT INTO heuristics VALUES ('h1', 'x', CAST(x'ff41' AS TEXT), x'80')")
        store.execute("INSERT INTO heuristics VALUES (NULL, 7, 1.5, NULL)")
        store.execute(
            "INSERT INTO heuristics VALUES ('h3', printf('%.*c', 2000000, 'y'), ?, zeroblob(1000001))",
            ["nul \0 inside"],
        )
        store.execute("CREATE VIEW outcomes AS SELECT 1 AS id")
        store.execute("CREATE VIRTUAL TABLE preferences USING fts5(id)")
    assert set(sqlite_schema(path)) >= {"heuristics"}
    assert not {"outcomes", "preferences"} & set(sqlite_schema(path))
    assert read(path) == [
        {"id": None, 'a" , (SELECT 1) --': "7", "{0}": "1.5", "rowid_": None},
        {"id": "h1", 'a" , (SELECT 1) --': "x", "{0}": "\\xffA", "rowid_": b"\x80"},
        {"id": "h3", 'a" , (SELECT 1) --': TooLong(2_000_000), "{0}": "nul \0 inside", "rowid_": TooLong(1_000_001)},
    ]
