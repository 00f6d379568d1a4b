"""`slowwave import` without a source: whose a file is follows from what is in it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from claude_code_records import Session
from imports_run import aged
from pi_entries import PiSession
from small_home import SmallHome

_CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


def write_lines(path: Path, *records: Any) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return aged(path)


def transcript(path: Path) -> Path:
    session = Session()
    session.turn("Which port?", "4173.")
    return write_lines(path, *session.records)


def test_a_file_is_imported_by_the_importer_that_reads_it(home: SmallHome, tmp_path: Path) -> None:
    done = home.ask("import", str(transcript(tmp_path / "download.jsonl")), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "transcripts of Claude Code (claude-code): 1 read" in done.stdout
    assert "'Which port?' → '4173.'" in done.stdout
    session = PiSession("s-1")
    session.turn("Which port?", "4173.")
    folder = write_lines(tmp_path / "logs" / "more" / "one.jsonl", *session.records).parent.parent
    assert "(pi): 1 read" in home.ask("import", str(folder)).stdout
    assert json.loads(home.ask("import", str(folder), "--format", "json").stdout)["import"]["source"] == "pi"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", json.dumps({"messages": _CHAT}), "a list of chats (OpenAI, Anthropic) without times"),
        ("a.json", json.dumps([{"messages": _CHAT}]), "a list of chats (OpenAI, Anthropic) without times"),
        ("a.jsonl", json.dumps({"body": {"model": "m", "messages": _CHAT}}), "a log of requests to a model"),
        ("a.md", "\n# aider chat started at 2026-01-01 10:00:00\n\n#### fix it\n", "a chat history of aider's"),
        ("a.jsonl", '{"ts": "2026-01-01", "session_id": "s", "event": "Stop"}', "that a hook of Claude Code wrote"),
        ("a.jsonl", '{"prompt": "Hi", "created_at": "2026-01-01"}', "a file of rows as `slowwave land` takes them"),
        ("a.jsonl", '{"question": "Hi", "when": "2026-01-01"}', "`slowwave mapping suggest"),
        ("a.csv", "question,when\nHi,2026-01-01\n", "`slowwave mapping suggest"),
        ("a.otlp", "\n\x07\x00\x01service", "is protobuf, as the collector's file exporter writes"),
        ("a.txt", "MIT License\n", "its format is not known"),
        ("README.md", "# Rules\n\nRun the linter.\n", "its format is not known"),
        ("a.jsonl", "", "is empty"),
    ],
)
def test_what_is_not_imported_is_named_with_what_to_do(
    home: SmallHome, tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    done = home.ask("import", str(path))
    assert done.returncode == 1
    assert said in done.stderr
    assert str(path) in done.stderr
    assert not done.stdout


def test_a_database_of_another_program_is_named_by_its_tables(home: SmallHome, tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE TABLE chats (id)")
    done = home.ask("import", str(path))
    assert done.returncode == 1
    assert "an SQLite database of a program that is not known (chats)" in done.stderr


def test_of_two_importers_one_is_asked_for(home: SmallHome, tmp_path: Path) -> None:
    folder = transcript(tmp_path / "logs" / "download.jsonl").parent
    (folder / "CLAUDE.md").write_text("# Rules\n\nRun the linter.\n")
    done = home.ask("import", str(folder))
    assert done.returncode == 2
    assert f"`slowwave import claude-code {folder}` or `slowwave import claude-memory {folder}`" in done.stderr
    assert not done.stdout


def test_beside_a_file_that_is_imported_the_others_are_named(home: SmallHome, tmp_path: Path) -> None:
    path, other = transcript(tmp_path / "download.jsonl"), write_lines(tmp_path / "chat.jsonl", {"messages": _CHAT})
    done = home.ask("import", str(path), str(other), str(tmp_path / "gone.jsonl"))
    assert done.returncode == 1
    assert "1 interaction" in done.stdout
    assert "a list of chats" in done.stderr
    assert "gone.jsonl" in done.stderr


def test_in_a_folder_of_other_files_each_sort_is_named_once(home: SmallHome, tmp_path: Path) -> None:
    for number in range(3):
        write_lines(tmp_path / "logs" / f"{number}.jsonl", {"messages": _CHAT})
    done = home.ask("import", str(tmp_path / "logs"))
    assert done.returncode == 1
    assert "(and 2 more like it) is a list of chats" in done.stderr


@pytest.mark.parametrize(("named", "said"), [("claude-code", "name a file or folder"), ("gone", "no importer 'gone'")])
def test_a_source_or_a_path_alone_that_is_not_there_is_wrong_usage(home: SmallHome, named: str, said: str) -> None:
    done = home.ask("import", named)
    assert done.returncode == 2
    assert said in done.stderr
