"""`review merge`, killed with SIGKILL before flushes to the disk, and run again."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest
from review_acts import item, reviewable_rows
from small_home import SmallHome

from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.lake.lake import Lake
from tests.crash.test_forget_faults import FLUSHES, killed_at, landed

pytestmark = [pytest.mark.crash, pytest.mark.slow]

AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def test_killed_before_any_flush_and_run_again_it_is_said_once(tmp_path: Path) -> None:
    start = SmallHome(tmp_path / "start")
    start.land(*reviewable_rows())
    start.nightly(AS_OF)
    item_id, before, kills = item(start, kind="merge")["item_id"], landed(start, "memories").height, 0
    for flush in FLUSHES:
        home = SmallHome(tmp_path / f"at-{flush}")
        shutil.copytree(start.folder, home.folder, symlinks=True)
        if killed_at(home, flush, "review", "merge", item_id) == 0:
            break
        kills += 1
        # both changes or none, and none without its decision
        changed = landed(home, "memories").height - before
        assert changed in {0, 2}
        assert landed(home, "decisions").height >= changed / 2
        again = home.ask("review", "merge", item_id)
        assert again.returncode == 0, again.stderr
        assert landed(home, "memories").height == before + 2, f"killed before flush {flush}"
        assert landed_decisions(Lake(Path(home.settings.lake))).collect().height == 1
        assert not list(home.folder.rglob("*.tmp"))
    assert kills >= 2
