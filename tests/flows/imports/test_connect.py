"""`slowwave connect`, and the nights that read what is connected."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome, interaction
from store_rows import Cells, knowledge, write_store

from slowwave.flows.imports.connections import Connection, connections
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.nightly import NightlyResult, nightly, quick_night, start_run
from slowwave.flows.nightly.screen import result_lines

TEN = [knowledge(f"k{number}") for number in range(10)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    """A home of a user who has nothing else yet."""
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    for name in ("CLAUDE_CONFIG_DIR", "MEM0_DIR", "ASTROCYTE_SQLITE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(user)
    return SmallHome(tmp_path / "home")


def alma(folder: Path, rows: list[Cells] = TEN) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write_store(folder / "alma.db", "alma", {"domain_knowledge": rows})


def connected(home: SmallHome, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.ask("connect", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def night(home: SmallHome) -> tuple[NightlyResult, dict[str, str]]:
    """A night as the command makes it, but for Prefect, and its screen by label."""
    with writer_lock(home.settings, "nightly"):
        run = start_run(home.settings, "nightly")
        result = quick_night(run)
        if result is None:
            imported, run = run.imported, start_run(home.settings, "nightly")
            run.imported = imported
            result = nightly(run)
    lines: dict[str, str] = {}
    for label, text in result_lines(home.settings, result):
        lines[label] = f"{lines[label]} {text}" if label in lines else text
    return result, lines


def statuses(home: SmallHome) -> dict[str, tuple[str, str]]:
    done = home.ask("status", "--format", "json")
    return {line["name"]: (line["state"], line["says"]) for line in json.loads(done.stdout)["lines"]}


def test_what_is_found_is_listed_with_counts_and_dates_and_not_read(home: SmallHome, tmp_path: Path):
    path = alma(tmp_path / "user" / ".alma")
    os.utime(path, (1_772_366_400, 1_772_366_400))
    (tmp_path / "user" / ".mem0").mkdir()
    (tmp_path / "user" / ".mem0" / "history.db").write_text("no database at all")
    before = path.stat()
    listed = connected(home)
    assert listed["connected"] == []
    found = {one["source"]: one for one in listed["found"]}
    assert found["alma"] == {
        "source": "alma",
        "path": "~/.alma/alma.db",
        "files": 1,
        "bytes": before.st_size,
        "oldest": "2026-03-01T12:00:00Z",
        "newest": "2026-03-01T12:00:00Z",
    }
    assert found["mem0"]["files"] == 1  # what it holds is told when it is read
    assert path.stat().st_atime_ns == before.st_atime_ns
    assert not home.settings.connections_file.exists()


def test_nothing_is_connected_where_nobody_can_be_asked(home: SmallHome, tmp_path: Path):
    alma(tmp_path / ".alma")  # where a process of its own begins
    done = home.run("connect")
    assert done.returncode == 0
    assert "stores of ALMA in" in " ".join(done.stdout.split())  # a long path stands on a line of its own
    assert "there is nobody to ask, so add --yes" in done.stderr
    assert not home.settings.connections_file.exists()


def test_each_source_is_asked_about_in_one_line(home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    alma(tmp_path / "user" / ".alma")
    write_store(tmp_path / "user" / ".mem0.db", "mem0", {})
    (tmp_path / "user" / ".mem0").mkdir()
    (tmp_path / "user" / ".mem0.db").rename(tmp_path / "user" / ".mem0" / "history.db")
    asked: list[str] = []

    def answer(question: str, **_: Any) -> bool:
        asked.append(question)
        return "ALMA" in question

    monkeypatch.setattr("typer.confirm", answer)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert home.ask("connect").returncode == 0
    assert len(asked) == 2
    assert all("\n" not in question for question in asked)
    assert [one.source for one in connections(home.settings)] == ["alma"]
    asked.clear()
    home.ask("connect")
    assert len(asked) == 1  # what is connected is not asked about again


def test_a_connection_is_added_and_what_stands_there_stays(home: SmallHome, tmp_path: Path):
    alma(tmp_path / "user" / ".alma")
    home.folder.mkdir()
    home.settings.connections_file.write_text('# mine\n[[connection]]\nsource = "codex"\npath = "~/x"\n')
    odd = tmp_path / 'odd "name" \\ ☃ \x7f'
    connected(home, "--yes")
    connected(home, "alma", str(alma(odd)), "--yes")
    assert home.settings.connections_file.read_text().startswith("# mine\n")
    assert connections(home.settings) == [
        Connection("codex", "~/x"),
        Connection("alma", "~/.alma/alma.db"),
        Connection("alma", str(odd / "alma.db")),
    ]
    assert stat.S_IMODE(home.settings.connections_file.stat().st_mode) == 0o600
    assert home.ask("connect", "alma", "nowhere").returncode == 1
    assert home.ask("connect", "abacus", "x").returncode == 2


def test_a_night_imports_what_is_connected_and_a_night_with_nothing_new_is_skipped(home: SmallHome, tmp_path: Path):
    path = alma(tmp_path / "user" / ".alma")
    connected(home, "--yes")
    home.land(interaction("i1"))
    result, lines = night(home)
    assert result.status == "published"
    assert lines["imported"] == "1 source read, 0 unchanged: 10 memories"
    assert home.ask("sql", "SELECT count(*) AS n FROM memory_health", "--format", "json").stdout.strip() == '[{"n":10}]'
    before = path.stat()
    with closing(sqlite3.connect(path)) as store:  # it would be seen if it were opened
        store.execute("BEGIN EXCLUSIVE")
        result, lines = night(home)
    assert (result.status, lines.get("imported"), lines.get("not imported")) == ("skipped", None, None)
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def archived(home: SmallHome) -> list[str]:
    query = "SELECT memory_id FROM memory_health WHERE status = 'archived'"
    return [row["memory_id"] for row in json.loads(home.ask("sql", query, "--format", "json").stdout)]


@pytest.mark.slow
def test_a_scheduled_night_imports_too(home: SmallHome, tmp_path: Path):
    path = alma(tmp_path / "user" / ".alma")
    connected(home, "--yes")
    home.land(interaction("i1"))
    result = home.nightly()
    assert (result.status, result.imported is not None and result.imported.rows["memory"]) == ("published", 10)
    write_store(path, "alma", {"domain_knowledge": TEN[1:]})
    home.nightly()
    assert archived(home) == ["alma:domain_knowledge:k0"]  # seen after the night began, and published with it


@pytest.mark.slow
def test_what_was_seen_to_be_gone_is_published_in_the_same_night(home: SmallHome, tmp_path: Path):
    path = alma(tmp_path / "user" / ".alma")
    connected(home, "--yes")
    home.land(interaction("i1"))
    night(home)
    write_store(path, "alma", {"domain_knowledge": TEN[1:]})
    result, lines = night(home)
    assert (result.status, lines["imported"]) == ("published", "1 source read, 0 unchanged: 1 memory")
    assert archived(home) == ["alma:domain_knowledge:k0"]


def test_a_source_that_fails_is_a_warning_and_the_others_are_read(home: SmallHome, tmp_path: Path):
    damaged = alma(tmp_path / "damaged")
    raw = bytearray(damaged.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    gone, whole = alma(tmp_path / "gone"), alma(tmp_path / "whole", [knowledge("w1")])
    connected(home, "alma", *map(str, (damaged, gone, whole)), "--yes")
    gone.unlink()
    with home.settings.connections_file.open("a") as file:
        file.write('\n[[connection]]\nsource = "abacus"\npath = "/x"\n')
    damaged.write_bytes(raw)
    home.land(interaction("i1"))
    for status in ("published", "skipped"):  # nothing of it keeps a night with nothing new from being skipped
        result, lines = night(home)
        assert result.status == status
        said = lines["not imported"]
        assert f"alma: {damaged} is damaged" in said
        assert f"alma: {gone} is not there: it was moved" in said
        assert "abacus: there is no such importer" in said
    assert home.ask("sql", "SELECT count(*) AS n FROM memory_health", "--format", "json").stdout.strip() == '[{"n":1}]'
    done = home.ask("status", "--format", "json")
    lines_said = [line for line in json.loads(done.stdout)["lines"] if line["name"] in ("alma", "abacus")]
    assert sorted(line["state"] for line in lines_said) == ["ok", "warn", "warn", "warn"]
    assert sum("is damaged" in line["says"] for line in lines_said) == 1


@pytest.mark.slow
def test_many_that_are_gone_are_said_every_night_until_a_person_decides(home: SmallHome, tmp_path: Path):
    path = alma(tmp_path / "user" / ".alma")
    connected(home, "--yes")
    home.land(interaction("i1"))
    night(home)
    write_store(path, "alma", {"domain_knowledge": TEN[5:]})
    for _ in range(2):
        _, lines = night(home)
        assert "5 of its 10 memories are gone at once" in lines["not imported"]
        assert statuses(home)["alma"][0] == "warn"
    assert home.ask("import", "alma", str(path), "--accept-vanished").returncode == 0
    result, lines = night(home)
    assert (result.status, "not imported" in lines) == ("published", False)
    assert statuses(home)["alma"][0] == "ok"


def test_a_file_of_connections_that_cannot_be_used_stops_no_night(home: SmallHome):
    home.land(interaction("i1"))
    for text, why in (
        ("[[connection]]\nsource = ", "Invalid value"),
        ('[[connection]]\nsource = "alma"\n', "each needs a source and a path, as texts"),
        ('[[connection]]\nsource = "alma"\npath = "x"\nsecret = "y"\n', "nothing is called 'secret' there"),
        ("other = 1\n", "it may have [[connection]] tables only"),
    ):
        home.settings.connections_file.write_text(text)
        with pytest.raises(UserError, match="cannot be used"):
            connections(home.settings)
        _, lines = night(home)
        assert why in lines["not imported"]
        assert why in statuses(home)["connections"][1]


def test_a_project_map_stays_with_its_connection(home: SmallHome, tmp_path: Path):
    shop = tmp_path / "work" / "shop-2"
    shop.mkdir(parents=True)
    (shop / "CLAUDE.md").write_text("Be brief.\n")
    (tmp_path / "projects.toml").write_text(f'"{shop}" = "shop"\n')
    connected(home, "claude-memory", str(shop), "--project-map", str(tmp_path / "projects.toml"), "--yes")
    home.land(interaction("i1"))
    night(home)
    found = home.ask("sql", "SELECT DISTINCT project FROM memory_health", "--format", "json")
    assert json.loads(found.stdout) == [{"project": "shop"}]


def test_a_kept_warning_names_no_secret(home: SmallHome, tmp_path: Path):
    key = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"  # put together, so that no file holds what looks like a key
    path = alma(tmp_path / "stores")
    damaged = path.with_name(f"{key}.db")
    damaged.write_bytes(path.read_bytes()[:5000])
    connected(home, "alma", str(path.parent), "--yes")
    imported = night(home)[0].imported
    assert imported is not None
    said = imported.warnings
    assert ["[secret:github].db is damaged" in one for one in said] == [True]
    assert not any(key.encode() in file.read_bytes() for file in (home.folder / "lake").rglob("*") if file.is_file())
