"""`slowwave memory`: what it shows, what it lands, what it refuses, and what takes it back."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import io
import json
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from released_homes import RELEASES, released_home
from review_acts import landed, states
from small_home import SmallHome, interaction, memory

from slowwave.flows.ask.cells import json_bytes
from slowwave.flows.cli import main as cli
from slowwave.flows.cli.commands import memory as memory_commands
from slowwave.flows.decide import decisions as deciding
from slowwave.flows.decide import memory_edits as editing
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.transforms.decisions.review.rejected_texts import rejected_texts

HOSTILE = "=cmd()|'; DROP TABLE runs; --\x1b[31m[red]\u202e"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """Landed, never published: the commands need no publish."""
    made = SmallHome(tmp_path_factory.mktemp("memory") / "home")
    full = {"agent": "coder", "confidence": 0.5, "importance": 0.25, "source_ids": ["i1", "i2"], "changed_by": "import"}
    made.land(
        memory("m-1", **full),
        memory("m-10"),
        memory("m-11"),
        memory("tagged", tags=["a", "b"], scope="agent", user_id="bob", category="style"),
        memory("lasting", expires_at="2999-03-05T00:00:00Z"),
        memory("old", status="superseded", superseded_by="m-1"),
        memory(HOSTILE, content=HOSTILE),
        memory("to-come", changed_at="2999-01-01T00:00:00Z"),
        interaction("i1", memories_used=["m-1"]),
    )
    return made


@pytest.fixture
def home(template: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, tmp_path / "home", symlinks=True)
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    return SmallHome(tmp_path / "home")


@pytest.fixture
def said(capsys: Any) -> Any:
    """Runs `slowwave memory …`: its exit code, what it wrote to standard output, and to standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli._exit_code(["memory", *arguments])
        return code, *capsys.readouterr()

    return run


CHANGES = [
    (["edit", "m-1", "--expires-at", "2999-07-01T02:00:00+02:00"], {"expires_at": datetime(2999, 7, 1)}),
    (["edit", "lasting", "--expires-at", ""], {"expires_at": None}),
    (["edit", "lasting", "--clear", "expires_at", "--type", "rule"], {"expires_at": None, "memory_type": "rule"}),
    (["edit", "m-1", "--content", "Another text."], {"content": "Another text."}),
    (["edit", "m-1", "--type", "preference", "--project", ""], {"memory_type": "preference", "project": ""}),
    (["edit", "m-1", "--clear", "confidence", "--clear", "source_ids"], {"confidence": None, "source_ids": None}),
    (["edit", "m-1", "--clear", "agent", "--status", "candidate"], {"agent": "", "status": "candidate"}),
    (["edit", "old", "--status", "active"], {"status": "active", "superseded_by": None}),
    (["archive", "m-1"], {"status": "archived"}),
    (["invalidate", "m-1"], {"status": "invalid"}),
    (["pin", "m-1"], {"pinned": True}),
    (
        [
            "edit",
            "m-1",
            "--scope",
            "global",
            "--user",
            "ada",
            "--category",
            "style",
            "--domain",
            "auth",
            "--source",
            "x",
        ],
        {"scope": "global", "user_id": "ada", "category": "style", "domain": "auth", "source": "x"},
    ),
    (["edit", "tagged", "--clear", "scope", "--user", ""], {"scope": None, "user_id": None}),
    (["edit", "tagged", "--user", " ", "--category", "\u200b"], {"user_id": None, "category": None}),
    (["edit", "m-1", "--agent", "\u3000", "--project", "\ufeff "], {"agent": "", "project": ""}),
    (["tag", "m-1", "deploy", "urgent", "deploy"], {"tags": ["deploy", "urgent"]}),
    (["tag", "tagged", "new", "a", "--remove", "b"], {"tags": ["a", "new"]}),
]
# of fields and states that are changed as those above are
FURTHER_CHANGES = [
    (["edit", "m-1", "--agent", "tester", "--importance", "1"], {"agent": "tester", "importance": 1.0}),
    (["edit", "m-1", "--confidence", "0"], {"confidence": 0.0}),
    (["archive", "old"], {"status": "archived"}),
    (["edit", "tagged", "--clear", "tags", "--clear", "category"], {"tags": None, "category": None}),
    (["tag", "tagged", "--remove", "a", "--remove", "b"], {"tags": None}),
]


@pytest.mark.parametrize(
    ("arguments", "altered"),
    [*CHANGES, *(pytest.param(*change, marks=pytest.mark.thorough) for change in FURTHER_CHANGES)],
    ids=[" ".join(given) for given, _ in [*CHANGES, *FURTHER_CHANGES]],
)
def test_a_change_alters_what_was_asked_alone_and_undo_restores_all(
    home: SmallHome, said: Any, arguments: list[str], altered: dict[str, Any]
) -> None:
    memory_id, before, rows = arguments[1], states(home), landed(home)
    code, out, _ = said(*arguments, "--dry-run", "--format", "json")
    preview = json.loads(out)["changed"]
    assert code == 0
    expected = {name: [before[memory_id][name], value] for name, value in altered.items()}
    assert preview == json.loads(json_bytes(expected))
    assert landed(home) == rows, "a preview lands nothing"

    code, out, _ = said(*arguments, "--yes", "--reason", "so it is", "--by", "ada", "--format", "json")
    assert (code, json.loads(out)["changed"]) == (0, preview)
    assert states(home) == {**before, memory_id: {**before[memory_id], **altered}}
    assert landed(home) == (rows[0] + 1, rows[1] + 1)

    code, out, _ = said("show", memory_id, "--format", "json")
    told = json.loads(out)
    assert told["changes"][0]["changed"] == preview
    assert (told["changes"][0]["changed_by"], told["changes"][0]["reason"]) == ("ada", "so it is")
    assert told["undo"]["before"] == {name: was for name, (was, _) in preview.items()}

    assert said("undo", memory_id, "--yes")[0] == 0
    assert states(home) == before
    assert json.loads(said("show", memory_id, "--format", "json")[1])["undo"] is None


def test_said_twice_is_said_once_and_said_again_after_undo_is_said_anew(home: SmallHome, said: Any) -> None:
    assert said("archive", "m-1", "--yes", "--by", "ada")[0] == 0
    rows = landed(home)
    code, out, _ = said("archive", "m-1", "--yes")
    assert (code, "already so   status archived since" in out, "by ada; nothing was changed" in out) == (0, True, True)
    assert landed(home) == rows
    assert said("undo", "m-1", "--yes")[0] == 0
    assert said("archive", "m-1", "--yes")[0] == 0
    assert states(home)["m-1"]["status"] == "archived"
    assert landed(home) == (rows[0] + 2, rows[1] + 2)


def test_a_tag_that_is_there_already_or_is_not_there_changes_nothing(home: SmallHome, said: Any) -> None:
    before = landed(home)
    for arguments in (["tagged", "a"], ["tagged", "--remove", "z"], ["m-1", "--remove", "z"]):
        code, out, _ = said("tag", *arguments, "--yes")
        assert (code, "nothing was changed" in out) == (0, True)
    assert landed(home) == before


def test_undo_goes_back_step_by_step(home: SmallHome, said: Any) -> None:
    before = states(home)
    for arguments in (["edit", "m-1", "--content", "A."], ["edit", "m-1", "--content", "B."], ["pin", "m-1"]):
        assert said(*arguments, "--yes")[0] == 0
    contents = []
    for _ in range(3):
        assert said("undo", "m-1", "--yes")[0] == 0
        contents.append(states(home)["m-1"]["content"])
    assert contents == ["B.", "A.", before["m-1"]["content"]]
    assert states(home) == before
    code, _, err = said("undo", "m-1", "--yes")
    assert (code, "nothing to take back" in err) == (1, True)


def test_what_others_said_since_is_not_undone(home: SmallHome, said: Any) -> None:
    assert said("edit", "m-1", "--content", "A.", "--yes")[0] == 0
    later = {"memory_id": "m-1", "changed_at": f"{utc_now().isoformat()}Z", "changed_by": "curator"}
    home.land({**later, "importance": 0.75})
    assert said("undo", "m-1", "--dry-run")[0] == 0, "another field"
    home.land({**later, "changed_at": f"{utc_now().isoformat()}Z", "content": "C."})
    rows = landed(home)
    code, _, err = said("undo", "m-1", "--yes")
    assert (code, "the content of 'm-1' was changed at" in err, "by curator" in err) == (1, True, True)
    assert landed(home) == rows


@pytest.mark.parametrize("command", ["show", "archive", "undo"])
@pytest.mark.parametrize(
    ("memory_id", "expected"),
    [
        ("m10", "did you mean 'm-10'"),
        ("M-1", "begin so, such as 'm-1', 'm-10', 'm-11'"),
        ("m-", "begin so, such as 'm-1', 'm-10', 'm-11'"),
        ("zzz", "no memory is called 'zzz': `slowwave sql memory_explorer`"),
        ("to-come", "its first change counts from 2999-01-01 00:00:00Z on"),
        ("", "no memory is called ''"),
        ("*", "no memory is called '*'"),
    ],
)
def test_an_id_that_names_none_or_several_is_refused(
    home: SmallHome, said: Any, command: str, memory_id: str, expected: str
) -> None:
    before = landed(home)
    code, out, err = said(command, memory_id, *(["--yes"] if command != "show" else []))
    assert (code, out) == (1, "")
    assert expected in err
    assert landed(home) == before


def test_without_yes_it_shows_and_asks_and_does_nothing_where_nobody_answers(home: SmallHome, said: Any) -> None:
    before = landed(home)
    code, out, err = said("edit", "m-1", "--content", "A.", "--confidence", "0.75")
    assert (code, out) == (1, "")
    assert "content Prices are integers of the smallest coin of m-1.\nslowwave: → A.\n" in err
    assert "confidence 0.5 → 0.75" in err
    assert "add --yes (nothing was changed)" in err
    assert landed(home) == before


def test_what_is_on_hold_is_not_archived(home: SmallHome, said: Any) -> None:
    assert cli._exit_code(["forget", "hold", "shop", "--kind", "project", "--reason", "audit"]) == 0
    code, _, err = said("archive", "m-1", "--yes")
    assert (code, "on hold" in err) == (1, True)
    assert states(home)["m-1"]["status"] == "active"
    assert said("invalidate", "m-1", "--yes")[0] == 0
    assert "on hold" in said("show", "m-1")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["edit", "m-1"],
        ["edit", "m-1", "--content", " \u200b"],
        ["edit", "m-1", "--confidence", "2"],
        ["edit", "m-1", "--confidence", "0.5", "--clear", "confidence"],
        ["edit", "m-1", "--status", "archived"],
        ["edit", "m-1", "--clear", "content"],
        ["edit", "m-1", "--scope", "team"],
        ["tag", "m-1"],
        ["tag", "m-1", " "],
        ["tag", "m-1", "a", "--remove", "a"],
        ["archive"],
        ["archive", "m-1", "--by", " "],
        ["archive", "m-1", "--reason", ""],
    ],
    ids=" ".join,
)
def test_wrong_use_exits_2(home: SmallHome, said: Any, arguments: list[str]) -> None:
    before = landed(home)
    assert said(*arguments)[0] == 2
    assert landed(home) == before


def test_a_text_may_come_from_standard_input(home: SmallHome, said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Two\nlines: ü\n".encode())))
    assert said("edit", "m-1", "--content", "-", "--yes")[0] == 0
    assert states(home)["m-1"]["content"] == "Two\nlines: ü"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert said("edit", "m-1", "--content", "-", "--yes")[0] == 2


def test_hostile_text_is_shown_and_not_obeyed(home: SmallHome, said: Any) -> None:
    options = ["--by", HOSTILE, "--reason", HOSTILE]
    for arguments in (
        ["show", HOSTILE],
        ["pin", HOSTILE, *options],
        ["pin", HOSTILE, *options, "--yes"],
        ["pin", HOSTILE, "--yes"],
        ["edit", HOSTILE, "--content", f"{HOSTILE}{HOSTILE}", "--yes"],
        ["show", HOSTILE],
        ["undo", HOSTILE, "--yes"],
        ["show", f"{HOSTILE}?"],
    ):
        _, out, err = said(*arguments)
        assert "DROP TABLE" in " ".join((out + err).split())
        assert not {"\x1b", "\u202e"} & set(out + err)
    assert states(home)[HOSTILE]["content"] == HOSTILE, "kept as it was written"


def test_what_a_killed_command_decided_has_no_effect(home: SmallHome, said: Any, monkeypatch: Any) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "status_changes", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        assert said("archive", "m-1", "--yes")[0] == 130
    assert states(home)["m-1"]["status"] == "active"
    assert said("undo", "m-1", "--yes")[0] == 1
    assert said("archive", "m-1", "--yes")[0] == 0
    assert said("undo", "m-1", "--yes")[0] == 0
    assert states(home)["m-1"]["status"] == "active"


def test_what_changed_between_the_preview_and_the_lock_is_not_overwritten(
    home: SmallHome, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(_: str) -> None:
        home.land({"memory_id": "m-1", "changed_at": f"{utc_now().isoformat()}Z", "content": "C."})

    monkeypatch.setattr(memory_commands, "ask", answered)
    code, _, err = said("edit", "m-1", "--content", "A.")
    assert (code, "as it was shown: it was changed at" in err) == (1, True)
    assert states(home)["m-1"]["content"] == "C."


def test_a_clock_before_the_last_decision_is_refused(home: SmallHome, said: Any, monkeypatch: Any) -> None:
    assert said("pin", "m-1", "--yes")[0] == 0
    rows = landed(home)
    monkeypatch.setattr(editing, "utc_now", lambda: utc_now() - timedelta(days=1))
    code, _, err = said("archive", "m-1", "--yes")
    assert (code, "set the clock" in err, landed(home)) == (1, True, rows)


def test_an_edit_counts_from_when_it_was_made_and_an_invalid_text_is_not_proposed_again(
    home: SmallHome, said: Any
) -> None:
    then = utc_now()
    assert said("invalidate", "m-1", "--yes")[0] == 0
    lake = Lake(Path(home.settings.lake))
    past, now = (LogAsOf(lake, at, home.settings.params()) for at in (then, datetime(2100, 1, 1)))
    assert past.states.filter(memory_id="m-1")["status"].to_list() == ["active"]
    assert rejected_texts(past.decisions, past.states, then).is_empty()
    last = now.states.filter(pl.col("valid_until").is_null())
    assert rejected_texts(now.decisions, last, now.as_of)["project"].to_list() == ["shop"]
    assert said("undo", "m-1", "--yes")[0] == 0
    again = LogAsOf(lake, now.as_of, home.settings.params())
    assert rejected_texts(again.decisions, again.states.filter(pl.col("valid_until").is_null()), now.as_of).is_empty()


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_a_home_of_an_earlier_release_takes_it(
    version: str, tmp_path: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = released_home(version, tmp_path)
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    before = states(home)
    assert (
        json.loads(said("show", "m-style", "--format", "json")[1])["state"]["content"] == before["m-style"]["content"]
    )
    assert said("archive", "m-style", "--yes")[0] == 0
    home.nightly()
    assert states(home)["m-style"]["status"] == "archived"
    assert said("undo", "m-style", "--yes")[0] == 0
    assert states(home) == before


def test_an_empty_home_says_what_to_do(tmp_path: Path, said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "empty"))
    for arguments in (["show", "m-1"], ["archive", "m-1", "--yes"], ["archive", "m-1"]):
        code, _, err = said(*arguments)
        assert (code, "nothing has been landed" in err) == (1, True)


def test_each_command_has_examples_that_are_its_own(said: Any) -> None:
    for command, lines in memory_commands.EXAMPLES.items():
        out = said(command, "--help")[1]
        assert all(line in out for line in lines)
