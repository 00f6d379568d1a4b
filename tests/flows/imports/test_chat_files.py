"""Files of whole conversations: arrays, lines and a database, from the command line to the lake."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import chat_records as made_up
import pytest
from imports_run import aged, imported, landed

from slowwave.transforms.landing.tables import Interactions, Outcomes

PROMPTS = [made_up.FIRST, made_up.SECOND]


def prompts(home: Path) -> list[str]:
    rows = sorted(landed(home, Interactions), key=lambda row: row["created_at"])
    return [row["prompt"] for row in rows]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_is_an_array_on_one_line_or_many(tmp_path, capsys, indent):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(made_up.chatgpt(), indent=indent))
    found = imported(tmp_path / "home", "chatgpt", aged(path), capsys=capsys)
    assert found["exit"] == 0
    assert prompts(tmp_path / "home") == PROMPTS


def test_a_database_of_cursors_is_read_and_left_as_it_was(tmp_path, capsys):
    path = aged(made_up.write_cursor_database(tmp_path / "state.vscdb"))
    before = path.read_bytes()
    found = imported(tmp_path / "home", "cursor", path, capsys=capsys)
    assert prompts(tmp_path / "home") == PROMPTS
    assert [row["success"] for row in landed(tmp_path / "home", Outcomes)] == [True]
    assert path.read_bytes() == before
    assert found["landing"]["totals"] == {"files": 2, "delivered": 4, "accepted": 3, "duplicate": 0, "quarantined": 1}
    assert found["import"]["left_out"]["a conversation without messages"]["count"] == 1


def test_another_database_is_named(tmp_path, capsys):
    path = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE ItemTable (key TEXT)")
    found = imported(tmp_path / "home", "cursor", aged(path), capsys=capsys)
    assert found["exit"] == 1
    assert "none in which Cursor keeps conversations" in found["said"]


def test_again_nothing_is_new(tmp_path, capsys):
    path = tmp_path / "session-1.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in made_up.gemini_cli()))
    imported(tmp_path / "home", "gemini-cli", aged(path), capsys=capsys)
    copy = tmp_path / "session-2.json"
    copy.write_text(json.dumps(made_up.gemini_cli_whole()[0]))
    found = imported(tmp_path / "home", "gemini-cli", aged(copy), capsys=capsys)
    assert found["landing"]["totals"]["accepted"] == 0
    assert prompts(tmp_path / "home") == PROMPTS


def test_an_export_cut_short_lands_what_is_whole(tmp_path, capsys):
    (one,) = made_up.claude_ai()
    other = one | {"uuid": "s-2"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([one, other])[:-300])
    found = imported(tmp_path / "home", "claude-ai", aged(path), capsys=capsys)
    assert found["exit"] == 1
    assert "breaks off" in found["said"]
    assert prompts(tmp_path / "home") == PROMPTS
