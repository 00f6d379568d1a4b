"""`slowwave import`: what it takes, what it says, what it leaves unwritten, and how it ends."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from claude_code_records import Session
from imports_run import aged, landed
from small_home import SmallHome

from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.sources import SOURCES, found_under
from slowwave.transforms.imports.adapter import Context, Located
from slowwave.transforms.landing.tables import Interactions, Outcomes


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    session = Session()
    session.user("Make it faster.")
    session.call("c-1", command="pytest -q")
    session.result("c-1", "3 passed in 0.12s")
    session.say("It is faster.", stop="end_turn")
    session.second = 86_400
    session.turn("And smaller?", "Smaller too.")
    session.raw(type="file-history-snapshot", messageId="m-1", snapshot={})
    path = tmp_path / "logs" / "s-1.jsonl"
    path.parent.mkdir()
    path.write_text("".join(f"{json.dumps(record)}\n" for record in session.records))
    return aged(path)


def test_it_says_what_was_read_made_left_out_and_landed(home: SmallHome, transcript: Path) -> None:
    done = home.ask("import", "claude-code", str(transcript.parent))
    assert done.returncode == 0, done.stderr
    assert "1 × Claude Code 2.1.38" in done.stdout
    assert "2 interactions, 1 outcome, 0 memories" in done.stdout
    assert "a record of the client's own (file-history-snapshot)" in done.stdout
    assert "nightly" in done.stdout
    again = home.ask("import", "claude-code", str(transcript.parent))
    assert "0 read, 1 unchanged since they were imported" in again.stdout


def test_a_dry_run_shows_rows_and_writes_nothing(home: SmallHome, transcript: Path) -> None:
    done = home.ask("import", "claude-code", str(transcript), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "'Make it faster.' → 'It is faster.'" in done.stdout
    assert "would land" in done.stdout
    assert "nothing was written (--dry-run)" in done.stdout
    assert not home.folder.exists() or not list(home.folder.rglob("*"))
    home.ask("import", "claude-code", str(transcript))
    before = home.contents()
    assert home.ask("import", "claude-code", str(transcript), "--dry-run").returncode == 0
    assert home.contents() == before


@pytest.mark.parametrize(
    ("since", "prompts"),
    [
        ("2026-05-02", ["And smaller?"]),
        ("2026-05-01T09:00:01Z", ["And smaller?", "Make it faster."]),
        ("2027-01-01", []),
    ],
)
def test_rows_of_before_are_left_out(home: SmallHome, transcript: Path, since: str, prompts: list[str]) -> None:
    done = home.ask("import", "claude-code", str(transcript), "--since", since, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert sorted(row["prompt"] for row in landed(home.folder, Interactions)) == prompts
    assert home.ask("import", "claude-code", str(transcript)).returncode == 0
    assert len(landed(home.folder, Interactions)) == 2


def test_projects_are_as_a_map_names_them(home: SmallHome, transcript: Path, tmp_path: Path) -> None:
    named = tmp_path / "projects.toml"
    named.write_text('"/srv/shop" = "the shop"\n')
    done = home.ask("import", "claude-code", str(transcript), "--project-map", str(named))
    assert done.returncode == 0, done.stderr
    assert {row["project"] for row in landed(home.folder, Interactions)} == {"the shop"}


@pytest.mark.parametrize("text", ["no toml", '"/work" = 3\n', None])
def test_a_map_that_cannot_be_used_is_wrong_usage(
    home: SmallHome, transcript: Path, tmp_path: Path, text: str | None
) -> None:
    named = tmp_path / "projects.toml"
    if text is not None:
        named.write_text(text)
    done = home.ask("import", "claude-code", str(transcript), "--project-map", str(named))
    assert done.returncode == 2
    assert f"the project map {named} cannot be used" in done.stderr


def test_nothing_is_inferred_where_nothing_is_wanted(home: SmallHome, transcript: Path) -> None:
    assert home.ask("import", "claude-code", str(transcript), "--no-infer").returncode == 0
    assert landed(home.folder, Outcomes) == []
    assert home.ask("import", "claude-code", str(transcript)).returncode == 0
    assert [row["basis_method"] for row in landed(home.folder, Outcomes)] == ["transcript_tests/1"]


@pytest.mark.parametrize("name", ["claude", "", "import-x", "../claude-code"])
def test_an_importer_that_is_not_there_is_wrong_usage(home: SmallHome, transcript: Path, name: str) -> None:
    done = home.ask("import", name, str(transcript))
    assert done.returncode == 2
    assert "claude-code" in done.stderr


def test_a_path_that_is_not_there_is_said_and_the_others_are_imported(home: SmallHome, transcript: Path) -> None:
    done = home.ask("import", "claude-code", str(transcript), str(transcript.parent / "none*"))
    assert done.returncode == 1
    assert "is not there" in done.stderr
    assert len(landed(home.folder, Interactions)) == 2


def test_a_folder_with_nothing_of_it_is_said(home: SmallHome, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = home.ask("import", "claude-code", str(tmp_path / "empty"))
    assert done.returncode == 1
    assert "nothing of it was found there" in done.stderr


def test_a_broken_setting_of_the_source_is_said_and_nothing_lands(home: SmallHome, transcript: Path) -> None:
    home.folder.mkdir()
    (home.folder / "settings.toml").write_text('[imports.claude-code]\ninfer_corrections = "perhaps"\n')
    done = home.ask("import", "claude-code", str(transcript))
    assert done.returncode != 0
    assert "infer_corrections" in done.stderr
    assert landed(home.folder, Interactions) == []


def test_a_line_of_thirty_megabytes_is_read_and_no_more_than_it_is_held(tmp_path: Path, home: SmallHome) -> None:
    session = Session()
    picture = "QUJD" * 7_500_000
    session.user([{"type": "text", "text": "What is this?"}, {"type": "image", "source": {"data": picture}}])
    session.say("A cat.", stop="end_turn")
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in session.records))
    aged(path)
    done = home.ask("import", "claude-code", str(path), "--format", "json")
    assert done.returncode == 0, done.stderr
    (row,) = landed(home.folder, Interactions)
    assert (row["prompt"], json.loads(row["extra"])["images"]) == ("What is this?", 1)
    assert sum(one.stat().st_size for one in home.folder.rglob("*") if one.is_file()) < 200_000


def test_a_long_transcript_is_never_held_as_a_whole(tmp_path: Path) -> None:
    source = next(each for each in SOURCES if each.name == "claude-code")
    assert isinstance(source, FileSource)
    path = tmp_path / "s-1.jsonl"
    with path.open("w") as handle:
        session = Session()
        for number in range(200):
            session.records.clear()
            session.user(f"Do {number}.")
            session.call(f"c-{number}", command="cat a.log")
            session.result(f"c-{number}", "x" * 100_000)
            session.say("Done.", stop="end_turn")
            handle.write("".join(f"{json.dumps(record)}\n" for record in session.records))
    (unit,) = found_under(source, [aged(path)]).units
    tracemalloc.start()
    records = (one for one in unit.read() if isinstance(one, Located))
    made = sum(1 for _ in source.adapter.make_rows(records, Context()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made >= 200
    assert peak < path.stat().st_size / 4
