"""`slowwave push` where a store cannot be written: a sentence that says what to do, and nothing is changed."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome
from store_rows import knowledge, write_store

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.push.library_door import LibraryDoor


def door(path: Path, **how: Any) -> LibraryDoor:
    return LibraryDoor("alma", path, **{"python": None, "config": None, "writes": False, **how})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_store(tmp_path / "alma.db", "alma", {"domain_knowledge": [knowledge("k1")]})


def test_what_is_no_store_or_not_imported_is_said(tmp_path: Path, store: Path):
    home = SmallHome(tmp_path / "home")
    home.land({"memory_id": "m", "changed_at": "2026-03-01", "content": "x"})
    for arguments, code, why in [
        (("nowhere", str(store)), 2, "nothing can be pushed to 'nowhere': there are claude-memory"),
        (("alma",), 1, "no alma is connected"),
        (("alma", str(tmp_path / "gone.db")), 1, "is not there"),
        (("mem0", str(store)), 1, "connections.toml"),
        (("claude-memory", str(tmp_path)), 1, "has neither memory files nor CLAUDE.md"),
    ]:
        done = home.ask("push", *arguments)
        assert (done.returncode, why in done.stderr) == (code, True), done.stderr


def test_an_interpreter_without_the_library_or_none_at_all_is_named(store: Path, tmp_path: Path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(UserError, match="has no alma-memory: install it there, or name the interpreter"):
        door(store, python=str(bare))
    with pytest.raises(UserError, match="cannot be run: No such file"):
        door(store, python="/srv/nowhere/python")
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 3\n")
    silent.chmod(0o755)
    with pytest.raises(UserError, match="ended: run this again to go on"):
        door(store, python=str(silent))


@pytest.mark.slow
def test_a_store_of_another_version_is_not_opened_by_a_library_that_would_change_it(store: Path):
    pytest.importorskip("alma")
    with closing(sqlite3.connect(store)) as connection:
        had = [row[1] for row in connection.execute("PRAGMA table_info(domain_knowledge)")]
    raw = store.read_bytes()
    if "verification_status" in had:
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute("ALTER TABLE domain_knowledge DROP COLUMN verification_status")
        raw = store.read_bytes()
    with pytest.raises(UserError, match=r"was made by another version than alma-memory 0\.11"):
        door(store, writes=True)
    assert store.read_bytes() == raw


@pytest.mark.slow
def test_a_locked_store_is_said_to_be_locked(tmp_path: Path):
    path = tmp_path / "alma.db"
    pytest.importorskip("alma.storage.sqlite_local").SQLiteStorage(db_path=path, embedding_dim=4)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO domain_knowledge (id, agent, project_id, domain, fact, confidence) VALUES (?, ?, ?, ?, ?, ?)",
            ("k1", "dev", "shop", "style", "Use tabs.", 0.5),
        )
    opened = door(path, writes=True)
    try:
        (state,) = opened.states(["alma:domain_knowledge:k1"]).values()
        with closing(sqlite3.connect(path)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            with pytest.raises(UserError, match="locked by another program: push again when that program rests"):
                opened.write("alma:domain_knowledge:k1", state, {**state, "confidence": 0.9})
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT confidence FROM domain_knowledge").fetchall() == [(0.5,)]
        assert opened.write("alma:domain_knowledge:k1", state, {**state, "confidence": 0.9})["confidence"] == 0.9
    finally:
        opened.close()
