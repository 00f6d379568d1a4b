"""The commands of `slowwave review`: what they print for people and programs, and what they exit with."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from review_acts import HOSTILE, STATED, item, items, landed, reviewable_rows, rows_of, said, states
from shared_homes import read_only_home
from small_home import SmallHome, interaction

from slowwave.flows.ask.why.why import run_why
from slowwave.flows.cli import main as cli
from slowwave.flows.cli import review as review_commands
from slowwave.flows.decide import decisions as deciding
from slowwave.flows.kernel.errors import UserError

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

AS_OF = datetime(2026, 6, 1)


@pytest.fixture(scope="module")
def template() -> SmallHome:
    return read_only_home(*reviewable_rows(), as_of=AS_OF)


@pytest.fixture
def home(template: SmallHome, tmp_path: Path) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def asked(home: SmallHome, monkeypatch: pytest.MonkeyPatch, capsys: Any, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    code = cli._exit_code(["review", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_list_prints_pages_for_people_and_programs(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    code, out, err = asked(home, monkeypatch, capsys, "list", "--format", "json")
    rows = json.loads(out)
    assert (code, [row["rank"] for row in rows]) == (0, [1, 2, 3, 4, 5, 6])
    assert rows == sorted(rows, key=lambda row: -row["rank_score"])
    code, out, err = asked(home, monkeypatch, capsys, "list", "--format", "csv", "--limit", "2", "--skip", "1")
    assert len(out.splitlines()) == 3
    assert "3 more: --skip 3" in err
    code, out, err = asked(
        home, monkeypatch, capsys, "list", "--kind", "merge", "--project", "shop", "--format", "json"
    )
    assert [row["kind"] for row in json.loads(out)] == ["merge"]
    assert asked(home, monkeypatch, capsys, "list", "--kind", "nonsense")[0] == 2


def test_list_is_one_line_per_item_with_an_id_that_the_commands_take(
    home: SmallHome, monkeypatch: Any, capsys: Any
) -> None:
    _, out, _ = asked(home, monkeypatch, capsys, "list")
    head, _, *lines, count = out.splitlines()
    assert head.split() == ["#", "item", "kind", "project", "text", "sessions"]
    assert (len(lines), count) == (6, "6 rows")
    for line in lines:
        rank, short, kind = line.split()[:3]
        assert items(home).filter(rank=int(rank), kind=kind)["item_id"][0].startswith(short)
        assert len(short) == 8
        assert asked(home, monkeypatch, capsys, "show", short)[0] == 0
    _, out, _ = asked(home, monkeypatch, capsys, "list", "--limit", "2")  # few rows of sentences: no blocks either
    assert len(out.splitlines()) == 5


def test_list_marks_what_was_decided_since_the_publish(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    statement, unused = item(home, text=STATED)["item_id"], item(home, kind="unused")["item_id"]
    said(home, "promote", statement)
    said(home, "reject", statement)
    said(home, "promote", unused)
    _, out, err = asked(home, monkeypatch, capsys, "list", "--format", "json")
    decided = {row["item_id"]: row["decided"] for row in json.loads(out) if row["decided"]}
    assert decided == {statement: "rejected", unused: "promoted"}
    assert "2 items are decided since the publish" in err
    assert "rejected" in asked(home, monkeypatch, capsys, "list")[1]
    assert "rejected since the publish" in asked(home, monkeypatch, capsys, "show", statement)[1]
    home.nightly()
    _, out, err = asked(home, monkeypatch, capsys, "list", "--format", "json")
    assert ([row["decided"] for row in json.loads(out)], err) == ([None] * 4, "")


def test_what_a_killed_command_said_is_not_decided(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "status_changes", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            said(home, "promote", item(home, text=STATED)["item_id"])
    assert rows_of(home, "decisions") == 1
    assert asked(home, monkeypatch, capsys, "list")[2] == ""


def test_show_tells_who_asked_what_and_what_to_say_next(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    home.land(
        interaction(
            "j1",
            created_at="2026-05-01T09:00:00Z",
            session_id="s",
            response=STATED,
            agent="writer",
            recorded_at="2026-05-02T09:00:00Z",
        ),
    )
    home.nightly()
    item_id = item(home, text=STATED)["item_id"]
    out = asked(home, monkeypatch, capsys, "show", item_id)[1]
    assert "j1  2026-05-01 09:00:00Z  writer  requirement_sentence  no outcome" in out
    assert "asked: How are prices kept?" in out
    assert f" review promote {item_id}\n" in out
    assert f" review reject {item_id}\n" in out
    assert " why j4\n" in out
    out = asked(home, monkeypatch, capsys, "show", item(home, kind="contradiction")["item_id"])[1]
    assert " --memory MEMORY_ID\n" in out
    assert " why c50\n" in out


def test_show_and_why_say_what_became_of_an_item(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    item_id = item(home, kind="unused")["item_id"]
    said(home, "promote", item_id)
    home.nightly()
    for given in (item_id, item_id[:8]):
        code, _, err = asked(home, monkeypatch, capsys, "show", given)
        assert (code, "it was promoted by ada at" in err) == (1, True)
    assert "6 characters" in asked(home, monkeypatch, capsys, "show", item_id[:5])[2]
    with pytest.raises(UserError, match=f"slowwave review show {item_id}"):
        run_why(home.settings, item_id, output="text", limit=3)


def test_each_memory_and_change_has_a_line_of_its_own(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    _, out, _ = asked(home, monkeypatch, capsys, "promote", item(home, kind="unused")["item_id"])
    assert "unused: stays as it is" in out
    merging = item(home, kind="merge")["item_id"]
    _, out, _ = asked(home, monkeypatch, capsys, "merge", merging, "--dry-run")
    assert "would        merge 1 item" in out
    said(home, "merge", item(home, text=STATED)["item_id"], into="c60")
    _, out, _ = asked(home, monkeypatch, capsys, "reject", item(home, text=STATED)["item_id"])
    assert "c60: no sources" in out


def test_show_lists_exactly_what_the_counts_say(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    for row in items(home).to_dicts():
        code, out, _ = asked(home, monkeypatch, capsys, "show", row["item_id"], "--format", "json")
        shown = json.loads(out)
        behind = shown["interactions"]
        assert code == 0
        assert len({one["interaction_id"] for one in behind}) == len(behind) == row["interactions_count"]
        assert sum(one["success"] is True for one in behind) == row["succeeded_count"]
        assert sum(one["success"] is False for one in behind) == row["failed_count"]
        assert sum(one["in_prompt"] for one in behind) == row["in_prompt_count"]
        assert [memory["memory_id"] for memory in shown["memories"]] == row["memory_ids"]
    text = asked(home, monkeypatch, capsys, "show", item(home, text=STATED)["item_id"])[1]
    assert "4 interactions in 3 sessions" in text
    assert "repeats its prompt" in text
    assert asked(home, monkeypatch, capsys, "show", "0123456789")[0] == 1


def test_hostile_text_is_shown_and_not_obeyed(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    row = item(home, text=HOSTILE)
    for arguments in (
        ["list"],
        ["show", row["item_id"]],
        ["promote", row["item_id"], "--by", HOSTILE, "--reason", HOSTILE],
    ):
        code, out, err = asked(home, monkeypatch, capsys, *arguments)
        assert code == 0
        assert "DROP TABLE" in " ".join((out + err).split())
        assert not {"\x1b", "\u202e"} & set(out + err)
    out = asked(home, monkeypatch, capsys, "list", "--format", "csv")[1]
    assert "\n'=cmd()" not in out
    assert "'=cmd()" in out
    home.nightly()
    assert states(home)[row["item_id"]]["content"] == HOSTILE, "kept as it was written"


def test_commands_say_what_became_of_it(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    item_id = item(home, text=STATED)["item_id"]
    code, out, _ = asked(home, monkeypatch, capsys, "promote", item_id, "--dry-run")
    assert (code, "would        promote 1 item" in out, landed(home)[0]) == (0, True, 0)
    code, out, _ = asked(home, monkeypatch, capsys, "promote", item_id, "--format", "json", "--by", "ada")
    told = json.loads(out)
    assert (code, told["decided"], told["changes"][0]["status"]) == (0, [item_id], "active")
    code, out, _ = asked(home, monkeypatch, capsys, "promote", item_id)
    assert (code, "already so" in out) == (0, True)


def test_wrong_use_exits_2_and_failure_1(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    merging = item(home, kind="merge")["item_id"]
    for arguments in (
        ["promote", merging],
        ["promote"],
        ["merge", merging, "--into", "c50"],
        ["reject", merging, "--by", " "],
    ):
        assert asked(home, monkeypatch, capsys, *arguments)[0] == 2
    ids = items(home).filter(kind="candidate")["item_id"].to_list()
    code, _, err = asked(home, monkeypatch, capsys, "promote", *ids)
    assert (code, "add --yes" in err) == (1, True)
    assert landed(home)[0] == 0
    assert asked(home, monkeypatch, capsys, "promote", *ids, "--yes")[0] == 0
    assert landed(home)[0] == 3


def test_an_empty_lake_says_what_to_do(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    empty = SmallHome(tmp_path / "empty")
    assert "nightly" in asked(empty, monkeypatch, capsys, "list")[2]
    code, _, err = asked(empty, monkeypatch, capsys, "promote", "0123456789")
    assert (code, "nothing has been landed" in err) == (1, True)


def test_each_command_has_examples_that_are_its_own(home: SmallHome, monkeypatch: Any, capsys: Any) -> None:
    for command, lines in review_commands.EXAMPLES.items():
        out = asked(home, monkeypatch, capsys, command, "--help")[1]
        assert all(line in out for line in lines)
