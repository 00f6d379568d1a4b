"""Pipes, devices and folders that cannot be listed, where a source looks for its files: named, and the rest is read."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from claude_code_records import Session
from imports_run import aged, imported
from small_home import SmallHome
from store_rows import knowledge, write_store

PIPE = "it is a pipe or a device, which can be read only once: write what comes of it to a file"
Capture = pytest.CaptureFixture[str]


def transcript(path: Path) -> Path:
    session = Session(path.stem)
    session.turn("Hello?", "Yes.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in session.records))
    return aged(path)


@contextmanager
def too_deep(folder: Path) -> Iterator[None]:
    """Below the folder lies one whose path is longer than the system reads, which not even root can list."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=at)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    yield


@pytest.mark.parametrize("source", ["claude-code", "pi", "codex", "otlp", "langfuse", "alma", "claude-memory"])
def test_a_device_that_is_named_is_none_to_be_read(source: str, tmp_path: Path, capsys: Capture) -> None:
    name = tmp_path / {"claude-memory": "CLAUDE.md", "langfuse": "1.jsonl", "alma": "alma.db"}.get(source, "a.jsonl")
    name.symlink_to(os.devnull)
    done = imported(tmp_path / "home", source, name, capsys=capsys)
    assert done["exit"] == 1
    (said,) = done["import"]["not_imported"]
    assert said in {f"{name} cannot be read: {PIPE}", f"{name} was not read: {PIPE}"}


@pytest.mark.slow
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    """Else this would not end."""
    home, folder = SmallHome(tmp_path / "home"), tmp_path / "sessions"
    transcript(folder / "agent-1.jsonl")
    for name in ("agent-1.meta.json", "b.jsonl", "c.jsonl.gz"):
        os.mkfifo(folder / name)
    done = home.run("import", "claude-code", str(folder), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["import"]["rows"] == {"interaction": 1}
    named = home.run("import", "claude-code", str(folder / "b.jsonl"))
    assert named.returncode == 1
    assert PIPE in " ".join(named.stderr.split())


def test_memories_of_a_project_are_read_beside_pipes_and_broken_links(tmp_path: Path) -> None:
    """Else this would not end, or nothing would be imported."""
    home, project = SmallHome(tmp_path / "home"), tmp_path / "config" / "projects" / "-srv-shop"
    (project / "memory").mkdir(parents=True)
    (project / "memory" / "tax.md").write_text("Mind the tax.\n")
    os.mkfifo(project / "a.jsonl")
    (project / "b.jsonl").symlink_to(tmp_path / "gone.jsonl")
    done = home.run("import", "claude-memory", str(tmp_path / "config"), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["landing"]["totals"]["accepted"] == 1


def test_a_folder_that_cannot_be_listed_is_named_and_the_rest_is_imported(tmp_path: Path, capsys: Capture) -> None:
    transcript(tmp_path / "logs" / "a.jsonl")
    write_store(tmp_path / "logs" / "alma.db", "alma", {"domain_knowledge": [knowledge("k1")]})
    with too_deep(tmp_path / "logs"):
        for source in ("claude-code", "alma"):
            done = imported(tmp_path / "home", source, tmp_path / "logs", capsys=capsys)
            assert done["exit"] == 1
            (said,) = done["import"]["not_imported"]
            assert said.endswith("cannot be listed: File name too long")
            assert done["landing"]["totals"]["accepted"] == 1


def test_memories_in_a_folder_that_cannot_be_listed_are_not_gone(tmp_path: Path, capsys: Capture) -> None:
    memory = tmp_path / "config" / "projects" / "-srv-shop" / "memory"
    memory.mkdir(parents=True)
    for number in range(9):
        (memory / f"m{number}.md").write_text(f"Rule {number} holds.\n")
    (tmp_path / "config" / "rules").mkdir()
    (tmp_path / "config" / "rules" / "style.md").write_text("Short lines.\n")
    assert imported(tmp_path / "home", "claude-memory", tmp_path / "config", capsys=capsys)["exit"] == 0
    (tmp_path / "config" / "rules" / "style.md").unlink()
    with too_deep(tmp_path / "config" / "rules"):
        done = imported(tmp_path / "home", "claude-memory", tmp_path / "config", capsys=capsys)
    assert done["exit"] == 1
    (said,) = done["import"]["not_imported"]
    assert said.startswith(f"{tmp_path / 'config'} was not read: ")
    assert done["landing"]["totals"]["accepted"] == 0


def test_a_packed_file_of_which_nothing_can_be_read_is_said_in_a_folder_too(tmp_path: Path, capsys: Capture) -> None:
    transcript(tmp_path / "logs" / "a.jsonl")
    whole = gzip.compress((tmp_path / "logs" / "a.jsonl").read_bytes())
    aged(transcript(tmp_path / "logs" / "b.jsonl.gz")).write_bytes(whole[:10] + bytes(50))
    done = imported(tmp_path / "home", "claude-code", tmp_path / "logs", capsys=capsys)
    assert done["exit"] == 1
    (said,) = done["import"]["not_imported"]
    assert said.startswith(f"{tmp_path / 'logs' / 'b.jsonl.gz'} cannot be read: ")
    assert done["landing"]["totals"]["accepted"] == 1


@pytest.mark.slow
def test_a_full_disk_is_said_of_the_inbox_and_of_no_transcript(tmp_path: Path) -> None:
    home, logs, letters = SmallHome(tmp_path / "home"), tmp_path / "logs", random.Random(1)
    session = Session()
    for number in range(40):
        session.turn(f"Question {number}?", f"{letters.getrandbits(40_000):x}")
    logs.mkdir()
    (logs / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in session.records))
    aged(logs / "a.jsonl")
    full = home.run("import", "claude-code", str(logs), before=["sh", "-c", 'ulimit -f 100; exec "$@"', "sh"])
    assert full.returncode == 1
    assert "File too large" in full.stderr
    assert str(home.folder / "inbox") in full.stderr.replace("\n", "")
    assert "a.jsonl" not in full.stderr
    again = home.run("import", "claude-code", str(logs), "--format", "json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["landing"]["totals"]["accepted"] == 40


def test_rows_of_a_copy_and_of_a_link_count_once(tmp_path: Path, capsys: Capture) -> None:
    path = transcript(tmp_path / "logs" / "a.jsonl")
    aged(Path(shutil.copy(path, path.with_name("b.jsonl"))))
    path.with_name("c.jsonl").symlink_to(path)
    done = imported(tmp_path / "home", "claude-code", path.parent, capsys=capsys)
    assert done["import"]["units"] == 3
    assert done["import"]["rows"] == {"interaction": 1}
    assert done["landing"]["totals"]["accepted"] == 1
