"""`slowwave push claude-memory`: what it shows, writes, refuses, finishes and takes back, on real files."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from erasable_home import places
from released_homes import RELEASES, released_home
from small_home import SmallHome, interaction, outcome

from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.lake.lake import Lake
from slowwave.flows.push import claude_door
from slowwave.flows.push import push as pushing
from slowwave.flows.push.claude_door import ClaudeDoor
from slowwave.transforms.imports.stores.memory_files import scores_in
from slowwave.transforms.imports.stores.store_state import PUSH, push_decisions

PROJECT = "projects/-srv-shop/memory"
TABS = "claude-memory:-srv-shop/tabs"
OLD = "claude-memory:-srv-shop/old"
HOSTILE = "claude-memory:-srv-shop/=cmd()|'\x1b[31m[red]"
FILES = {
    "tabs.md": "---\nname: tabs\nmetadata:\n  type: feedback\n---\nIndent with tabs in every file.\n",
    "old.md": "---\r\nname: old\r\n---\r\nDeploy by hand on Fridays.\r\n",
    "=cmd()|'\x1b[31m[red].md": "Never trust the name of a file.\n",
    "MEMORY.md": "# Index\n- [Old](old.md) – deploys\n- [Tabs](tabs.md) – indentation\n- [Other](other.md)\n",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Imported and published, with references that succeeded."""
    folder = tmp_path_factory.mktemp("push")
    home, memories = SmallHome(folder / "home"), folder / "claude" / PROJECT
    memories.mkdir(parents=True)
    for name, text in FILES.items():
        (memories / name).write_bytes(text.encode())
    os.utime(memories / "tabs.md", (1.7e9, 1.7e9))
    (folder / "claude" / "CLAUDE.md").write_text(
        "# Tone\nBe brief and kind.\n\n# Style\nNo jokes at all.\n\nNever:\n- push\n- pull\n"
    )
    assert home.ask("import", "claude-memory", str(folder / "claude")).returncode == 0
    rows: list[dict[str, Any]] = []
    for at in range(24):
        told = {"response": "Indent with tabs in every file.", "memories_used": [TABS]} if at % 2 else {}
        day = f"2026-03-{at + 1:02}T"
        rows.append(
            interaction(f"i{at}", project="-srv-shop", session_id=f"s{at}", created_at=f"{day}09:00:00Z", **told)
        )
        rows.append(outcome(f"o{at}", interaction_id=f"i{at}", created_at=f"{day}10:00:00Z", success=at % 2 or at < 3))
    home.land(*[{**row, "success": bool(row["success"])} if "success" in row else row for row in rows])
    home.nightly()
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> SmallHome:
    """A copy of it, at a place of the same name as was imported: the folder before is set aside."""
    shutil.copytree(template / "home", tmp_path / "home", symlinks=True)
    shutil.rmtree(tmp_path / "claude", ignore_errors=True)
    kept = template.with_name(f"{template.name}-kept")
    if not kept.exists():
        shutil.copytree(template / "claude", kept, copy_function=shutil.copy2)
    shutil.rmtree(template / "claude")
    shutil.copytree(kept, template / "claude", copy_function=shutil.copy2)
    return SmallHome(tmp_path / "home")


@pytest.fixture
def root(home: SmallHome, template: Path) -> Path:  # noqa: ARG001 - it is there once the home is
    return template / "claude"


def push(home: SmallHome, root: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.ask("push", "claude-memory", str(root), "--format", "json", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)[0]


def ask(home: SmallHome, *arguments: str) -> str:
    done = home.ask(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def log(home: SmallHome) -> list[dict[str, Any]]:
    return json.loads(ask(home, "sql", "FROM memories_log ORDER BY ALL", "--format", "json"))


@pytest.mark.slow
def test_a_dry_run_shows_each_difference_and_changes_nothing(home: SmallHome, root: Path):
    before, kept = contents(root), home.contents()
    shown = home.ask("push", "claude-memory", str(root))
    assert shown.returncode == 0, shown.stderr
    assert "scores: none -> confidence 0." in shown.stdout
    assert "verdict" in shown.stdout
    assert "nothing was written: add --yes" in shown.stdout
    assert "\x1b" not in shown.stdout
    told = push(home, root)
    assert not told["is_done"]
    assert {one["memory_id"] for one in told["changes"]} == {TABS, OLD, HOSTILE}
    assert contents(root) == before
    assert home.contents() == kept


def test_scores_are_written_read_back_and_not_taken_for_the_stores_own(home: SmallHome, root: Path):
    rows = log(home)
    done = push(home, root, "--yes")
    assert len(done["changes"]) == 3
    scores = scores_in((root / PROJECT / "tabs.md").read_text())
    assert scores is not None
    assert 0 < scores["confidence"] < 1
    assert (root / PROJECT / "tabs.md").read_text().replace(
        f"  slowwave: confidence {scores['confidence']}; verdict {scores['verdict']}\n", ""
    ) == FILES["tabs.md"]
    again = push(home, root, "--yes")
    assert again["changes"] == []
    assert again["already"] == 3
    imported = json.loads(ask(home, "import", "claude-memory", str(root), "--format", "json"))
    assert imported["landing"]["totals"]["accepted"] == 0
    assert log(home) == rows


def test_whose_files_they_are_stays_so_when_root_pushes(home: SmallHome, root: Path):
    if os.geteuid() != 0:
        pytest.skip("only root can write what is another user's")
    memories = root / PROJECT
    for path in (memories, *memories.iterdir()):
        os.chown(path, 1234, 1235)
    ask(home, "memory", "archive", OLD, "--yes")
    push(home, root, "--yes")
    assert (memories / ".archive" / "old.md").is_file()
    assert {(path.stat().st_uid, path.stat().st_gid) for path in memories.rglob("*")} == {(1234, 1235)}


def test_what_is_no_file_in_the_archive_is_passed_over(home: SmallHome, root: Path):
    archive = root / PROJECT / ".archive"
    archive.mkdir()
    (archive / "gone.md").symlink_to("nowhere")
    os.mkfifo(archive / "pipe.md")
    assert len(push(home, root, "--yes")["changes"]) == 3


def test_the_command_that_is_printed_takes_it_back(home: SmallHome, root: Path):
    before = contents(root)
    printed = ask(home, "push", "claude-memory", str(root), "--yes").split()
    command = printed[printed.index("next") + 1 :]
    ask(home, *command[command.index("push") :], "--yes")
    assert contents(root) == before


def test_a_store_of_sections_alone_says_why_there_is_nothing_to_write(tmp_path: Path):
    home, store = SmallHome(tmp_path / "home"), tmp_path / "claude"
    store.mkdir()
    (store / "CLAUDE.md").write_text("# Tone\nBe brief and kind.\n")
    ask(home, "import", "claude-memory", str(store))
    home.nightly()
    assert "no memory that was imported from it has a place of its own there" in ask(
        home, "push", "claude-memory", str(store)
    )


def test_where_nothing_would_change_nobody_is_told_to_add_yes(home: SmallHome, root: Path):
    push(home, root, "--yes")
    assert ask(home, "push", "claude-memory", str(root)).endswith("nothing was written\n")


def test_decisions_are_carried_out_and_taken_back_byte_for_byte(home: SmallHome, root: Path):
    before, index = contents(root), root / PROJECT / "MEMORY.md"
    ask(home, "memory", "archive", OLD, "--yes")
    ask(home, "memory", "edit", TABS, "--content", "Indent with spaces.", "--yes")
    done = push(home, root, "--yes")
    assert not (root / PROJECT / "old.md").exists()
    assert (root / PROJECT / ".archive" / "old.md").read_bytes() == before[f"{PROJECT}/old.md"]
    assert index.read_text() == FILES["MEMORY.md"].replace("- [Old](old.md) – deploys\n", "")
    assert (root / PROJECT / "tabs.md").read_text().endswith("---\nIndent with spaces.\n")
    assert push(home, root, "--yes")["changes"] == []
    rows = log(home)
    assert json.loads(ask(home, "import", "claude-memory", str(root), "--format", "json"))["landing"]["totals"][
        "accepted"
    ] == 0  # fmt: skip
    assert log(home) == rows
    undone = push(home, root, "--undo", done["run"], "--yes")
    assert len(undone["changes"]) == 3
    assert contents(root) == before
    assert home.ask("push", "claude-memory", str(root), "--undo", done["run"]).returncode == 1
    ask(home, "import", "claude-memory", str(root), "--format", "json")
    assert log(home) == rows


def test_what_is_restored_here_is_brought_back(home: SmallHome, root: Path):
    before = contents(root)
    ask(home, "memory", "archive", OLD, "--yes")
    push(home, root, "--yes")
    ask(home, "import", "claude-memory", str(root), "--format", "json")
    ask(home, "memory", "undo", OLD, "--yes")
    push(home, root, "--yes")
    bare = (root / PROJECT / "old.md").read_bytes()
    assert bare.replace(b"slowwave: verdict unproven\r\n", b"") == before[f"{PROJECT}/old.md"]
    assert (root / PROJECT / "MEMORY.md").read_bytes() == before[f"{PROJECT}/MEMORY.md"]


def test_what_changed_since_it_was_read_is_refused(home: SmallHome, root: Path, monkeypatch: pytest.MonkeyPatch):
    tabs = root / PROJECT / "tabs.md"
    tabs.write_text(FILES["tabs.md"].replace("tabs in", "three tabs in"))
    kept = tabs.read_text()
    told = push(home, root, "--yes", code=1)
    assert [one for one, _ in told["refused"]] == [TABS]
    assert "changed in the store since it was imported" in told["refused"][0][1]
    assert tabs.read_text() == kept
    ask(home, "import", "claude-memory", str(root))
    states = ClaudeDoor.states

    def meanwhile(self: ClaudeDoor, ids: Any) -> Any:
        seen = states(self, ids)
        tabs.write_text(kept.replace("three", "four"))
        return seen

    monkeypatch.setattr(ClaudeDoor, "states", meanwhile)
    told = push(home, root, "--yes", code=1)
    assert told["refused"][0][0] == TABS
    assert tabs.read_text() == kept.replace("three", "four")


def test_an_undo_leaves_alone_what_was_changed_since(home: SmallHome, root: Path):
    run = push(home, root, "--yes")["run"]
    tabs = root / PROJECT / "tabs.md"
    tabs.write_text(tabs.read_text().replace("verdict ", "verdict very-"))
    told = push(home, root, "--undo", run, "--yes", code=1)
    assert [one for one, _ in told["refused"]] == [TABS]
    assert "very-" in tabs.read_text()


def test_pins_holds_and_memories_of_others_are_not_touched(home: SmallHome, root: Path):
    ask(home, "memory", "pin", TABS, "--yes")
    ask(home, "forget", "hold", OLD, "--reason", "the audit needs it")
    ask(home, "memory", "edit", HOSTILE, "--user", "ada", "--yes")
    before = contents(root)
    told = push(home, root, "--yes")
    assert {one: why.partition(":")[0] for one, why in told["not_touched"]} == {
        TABS: "pinned",
        OLD: "on hold",
        HOSTILE: "of the user ada",
    }
    assert contents(root) == before
    assert [one["memory_id"] for one in push(home, root, "--user", "ada", "--yes")["changes"]] == [HOSTILE]


def test_of_claude_md_a_patch_is_printed(home: SmallHome, root: Path):
    before = (root / "CLAUDE.md").read_bytes()
    rules = {row["content"]: row["memory_id"] for row in log(home) if row["parent_id"]}
    ask(home, "memory", "edit", rules["No jokes at all."], "--content", "Jokes are fine.", "--yes")
    ask(home, "memory", "edit", rules["Never: push"], "--content", "Never: push\nby force", "--yes")
    ask(home, "memory", "archive", rules["Never: pull"], "--yes")
    (patch,) = push(home, root, "--yes")["patches"]
    changed = [line for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["-No jokes at all.", "+Jokes are fine.", "-- pull", "+  by force", "+"]
    assert (root / "CLAUDE.md").read_bytes() == before


_STOPS_AFTER = 5  # a file has gone to the archive, and its line is still in the index


class _KilledError(BaseException):
    """In place of a kill: nothing of ours runs after it."""


def test_a_push_that_stops_anywhere_is_finished_by_the_next(
    home: SmallHome, root: Path, monkeypatch: pytest.MonkeyPatch
):
    ask(home, "memory", "archive", OLD, "--yes")
    before = contents(root)
    done = 0

    with monkeypatch.context() as patched:

        def counting(name: str, owner: Any) -> None:
            real = getattr(owner, name)

            def step(*arguments: Any, **named: Any) -> Any:
                nonlocal done
                done += 1
                if done > _STOPS_AFTER:
                    raise _KilledError
                return real(*arguments, **named)

            patched.setattr(owner, name, step)

        counting("land_decisions", pushing)
        counting("_write", claude_door)
        counting("_move_memory", claude_door)
        counting("_list", claude_door)
        with suppress(_KilledError):
            push(home, root, "--yes")
    imported = json.loads(ask(home, "import", "claude-memory", str(root), "--format", "json"))
    assert imported["landing"]["totals"]["accepted"] == 0
    assert (root / PROJECT / ".archive" / "old.md").is_file()
    assert "(old.md)" in (root / PROJECT / "MEMORY.md").read_text()
    push(home, root, "--yes")
    assert "(old.md)" not in (root / PROJECT / "MEMORY.md").read_text()
    assert push(home, root, "--yes")["changes"] == []
    landed = push_decisions(landed_decisions(Lake(home.settings.lake_folder)).collect())
    runs = {one.run for one in landed if one.command == PUSH}
    for run in sorted(runs, reverse=True):
        push(home, root, "--undo", run, "--yes")
    assert contents(root) == before


@pytest.mark.slow
def test_what_was_erased_stands_in_no_note_of_a_push(home: SmallHome, root: Path):
    text = "Deploy on the last Monday of each month."
    ask(home, "memory", "edit", OLD, "--content", text, "--yes")
    push(home, root, "--yes")
    assert places(home.folder, OLD)
    (shown,) = (
        one for one in json.loads(ask(home, "erase", "--memory", OLD, "--format", "json"))["outside"] if "pushed" in one
    )
    told = json.loads(ask(home, "erase", "--memory", OLD, "--yes", "--format", "json"))
    assert shown in told["outside"]
    assert shown.startswith("claude-memory ")
    assert told["left"] == []
    assert places(home.folder, OLD, text) == []
    assert home.ask("import", "claude-memory", str(root)).returncode == 0  # it is refused, and that is no failure
    assert push(home, root)["not_touched"] == [[OLD, "it was erased here: take it out of the store yourself"]]


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_a_home_that_an_earlier_release_left_pushes(version: str, tmp_path: Path):
    home, root = released_home(version, tmp_path), tmp_path / "claude"
    (root / PROJECT).mkdir(parents=True)
    for name, text in FILES.items():
        (root / PROJECT / name).write_bytes(text.encode())
    before = contents(root)
    ask(home, "import", "claude-memory", str(root))
    home.nightly()
    done = push(home, root, "--yes")
    assert len(done["changes"]) == 3
    assert push(home, root, "--yes")["changes"] == []
    push(home, root, "--undo", done["run"], "--yes")
    assert contents(root) == before
