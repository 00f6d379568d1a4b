"""`memory archive`, killed with SIGKILL before flushes to the disk, and run again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from review_acts import states
from small_home import SmallHome, memory

from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.lake.lake import Lake
from tests.crash.test_forget_faults import FLUSHES, killed_at, landed

pytestmark = [pytest.mark.crash, pytest.mark.slow]


def test_killed_before_any_flush_and_run_again_it_is_said_once_and_can_be_taken_back(tmp_path: Path) -> None:
    start = SmallHome(tmp_path / "start")
    start.land(memory("m-1"), memory("m-2"))
    before, rows, kills = states(start), landed(start, "memories").height, 0
    for flush in FLUSHES:
        home = SmallHome(tmp_path / f"at-{flush}")
        shutil.copytree(start.folder, home.folder, symlinks=True)
        if killed_at(home, flush, "memory", "archive", "m-1", "--yes") == 0:
            break
        kills += 1
        changed = landed(home, "memories").height - rows
        assert landed(home, "decisions").height >= changed, "no change without its decision"
        again = home.ask("memory", "archive", "m-1", "--yes")
        assert again.returncode == 0, again.stderr
        assert states(home)["m-1"]["status"] == "archived"
        assert landed(home, "memories").height == rows + 1, f"killed before flush {flush}"
        assert landed_decisions(Lake(Path(home.settings.lake))).collect().height == 1
        assert not list(home.folder.rglob("*.tmp"))
        undone = home.ask("memory", "undo", "m-1", "--yes")
        assert undone.returncode == 0, undone.stderr
        assert states(home) == before
    assert kills >= 2
