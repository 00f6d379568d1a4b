"""Transcripts in any split and order, whole at once or as they grew, with nights between: the same publish."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from claude_code_records import BEGINNING, Session
from imports_run import aged, imported
from pi_entries import PiSession

from tests.laws.home import Home

AS_OF = (BEGINNING + timedelta(days=30)).replace(tzinfo=None)
Records = list[dict[str, Any]]
Capture = pytest.CaptureFixture[str]
RULES = {"path": "/srv/shop/CLAUDE.md", "type": "Project", "content": "# Tests\n\nRun the narrowest test first.\n"}


def sessions() -> dict[str, tuple[str, Records]]:
    """Transcripts by name, each with its importer: tested, interrupted, rewound and forked ones."""
    made: dict[str, tuple[str, Records]] = {}
    for name in ("s-1", "s-2"):
        session = Session(name)
        session.attach("instructions", files=[RULES])
        for prompt, said in (("Make it faster.", "3 passed in 0.12s"), ("Make it smaller.", "1 failed in 0.12s")):
            session.user(f"{prompt} ({name})")
            session.call(f"{name}-{prompt}", command="pytest -q")
            session.result(f"{name}-{prompt}", said)
            session.say("I ran the narrowest test first.", stop="end_turn")
            session.over()
        made[name] = "claude-code", session.records
    fork = Session("s-3")
    fork.records = [record | {"sessionId": "s-3"} for record in made["s-1"][1]]
    fork.last, fork.second = fork.records[5]["uuid"], 500
    fork.user("Another way?")
    fork.user([{"type": "text", "text": "[Request interrupted by user]"}])
    fork.turn("Yet another?", "There is one.")
    made["s-3"] = "claude-code", fork.records
    talk = PiSession("p-1")
    talk.user("Which port?")
    talk.failed()
    talk.user("Which port?")
    talk.call("c-1", "memory_get", "5432", path="MEMORY.md")
    talk.say("5432.")
    made["p-1"] = "pi", talk.records
    return made


def write(path: Path, records: Records, *, is_idle: bool = True) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return aged(path, 7200.0 if is_idle else 1.0)


def published(home: Home) -> dict[str, str]:
    home.nightly(AS_OF, full=True)
    return home.hashes()


@pytest.fixture
def together(tmp_path: Path, capsys: Capture) -> dict[str, str]:
    """What is published of all transcripts, each importer run once."""
    home = Home(tmp_path / "together")
    for name, (_, records) in sessions().items():
        write(tmp_path / "all" / f"{name}.jsonl", records)
    for importer in ("claude-code", "pi"):
        assert imported(home.folder, importer, tmp_path / "all", capsys=capsys)["exit"] == 0
    return published(home)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_any_split_and_order_of_transcripts_is_the_same_publish(
    seed: int, together: dict[str, str], tmp_path: Path, capsys: Capture
) -> None:
    home, chance = Home(tmp_path / "apart"), random.Random(seed)
    paths = [
        (importer, write(tmp_path / "apart-logs" / f"{name}.jsonl", records))
        for name, (importer, records) in sessions().items()
    ]
    forked = [path for _, path in paths if path.stem in ("s-1", "s-3")]
    chance.shuffle(paths)
    for importer, path in paths:
        # a session and its fork in one import: apart, the first one's rows are a version later
        told = forked if path in forked else [path]
        chance.shuffle(told)
        assert imported(home.folder, importer, *told, capsys=capsys)["exit"] == 0
        if chance.random() < 0.5:
            home.nightly(AS_OF)
    assert published(home) == together


@pytest.mark.slow
def test_transcripts_imported_as_they_grow_are_the_same_publish(
    together: dict[str, str], tmp_path: Path, capsys: Capture
) -> None:
    home = Home(tmp_path / "growing")
    told = sessions()
    ends = sorted({record["timestamp"] for _, records in told.values() for record in records})
    for end in (*ends[3::5], ends[-1]):
        for name, (importer, records) in told.items():
            if some := [record for record in records if record["timestamp"] <= end]:
                path = write(tmp_path / "growing-logs" / f"{name}.jsonl", some, is_idle=end == ends[-1])
                imported(home.folder, importer, path, capsys=capsys)
        home.nightly(AS_OF)
    assert published(home) == together
