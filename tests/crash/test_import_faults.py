"""`import`, killed with SIGKILL before each flush to the disk, and run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from claude_code_records import Session
from imports_run import aged, landed
from small_home import SmallHome
from thorough import IS_THOROUGH, SEED

from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.quarantine import refused_rows
from slowwave.transforms.landing.tables import Interactions, Outcomes

pytestmark = [pytest.mark.crash, pytest.mark.slow]

KILLING = """
import os, signal, sys
from slowwave.flows.cli import main as cli
left = int(sys.argv[1])
flush = os.fsync
def killing(handle):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    flush(handle)
os.fsync = killing
cli.main(sys.argv[2:])
"""
EVERY, MOST_FLUSHES = 1 if IS_THOROUGH else 3, 80


def killed_at(home: SmallHome, flush: int, *arguments: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", KILLING, str(flush), *arguments],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode


def transcripts(folder: Path) -> Path:
    """Two sessions, one with a line that is none."""
    for name in ("s-1", "s-2"):
        session = Session(name)
        session.user(f"Make {name} faster.")
        session.call("c-1", command="pytest -q")
        session.result("c-1", "3 passed in 0.12s")
        session.say("It is faster.", stop="end_turn")
        folder.mkdir(exist_ok=True)
        broken = "{broken\n" if name == "s-1" else ""
        text = "".join(f"{json.dumps(record)}\n" for record in session.records)
        (folder / f"{name}.jsonl").write_text(text + broken)
        aged(folder / f"{name}.jsonl")
    return folder


def rows(home: SmallHome) -> tuple[list[str], list[str]]:
    """Hashes of all row versions in the lake, and why rows are in the quarantine."""
    hashes = [row["row_hash"] for table in (Interactions, Outcomes) for row in landed(home.folder, table)]
    return sorted(hashes), refused_rows(Lake(Path(home.settings.lake)))[0]["reason"].to_list()


def test_killed_before_any_flush_and_run_again_it_is_as_if_nothing_had_happened(tmp_path: Path) -> None:
    folder = str(transcripts(tmp_path / "logs"))
    undisturbed = SmallHome(tmp_path / "undisturbed")
    undisturbed.folder.mkdir()
    assert undisturbed.ask("import", "claude-code", folder).returncode == 0
    expected = rows(undisturbed)
    assert (len(expected[0]), len(expected[1])) == (4, 1)
    kills = 0
    for flush in range(1 + SEED % EVERY, MOST_FLUSHES, EVERY):
        home = SmallHome(tmp_path / f"at-{flush}")
        home.folder.mkdir()
        if killed_at(home, flush, "import", "claude-code", folder) == 0:
            break
        kills += 1
        assert set(rows(home)[0]) <= set(expected[0])
        assert not [path for path in home.folder.glob("inbox/import-*") if path.stat().st_size == 0]
        again = home.ask("import", "claude-code", folder)
        assert again.returncode == 0, again.stderr
        assert rows(home) == expected, f"killed before flush {flush}"
        assert not list(home.folder.rglob("*.tmp"))
        assert not list(home.folder.glob("inbox/import-*"))
    assert kills >= 8
