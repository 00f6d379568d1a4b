"""`erase --yes`, killed with SIGKILL before flushes to the disk, and ended by the same command or by the next night."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from erasable_home import AS_OF, ASKED, KEPT, OF_BOB, SESSION, USER, erasable, places
from small_home import SmallHome
from thorough import IS_THOROUGH, SEED

from slowwave.flows.publish.serving import table_hash
from slowwave.transforms.graph import PUBLISHED
from tests.crash.test_forget_faults import killed_at

pytestmark = [pytest.mark.crash, pytest.mark.slow]

WORDS = (USER, SESSION, ASKED, KEPT, "flagstone")
APART = {"forgetting_audit", "review_decisions"}
EVERY, MOST_FLUSHES = 1 if IS_THOROUGH else 33, 400


def hashes(home: SmallHome) -> dict[str, str]:
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        names = (table.name for table in PUBLISHED if table.name not in APART)
        return {name: table_hash(connection, name) for name in names}


def test_killed_before_any_flush_it_is_ended_by_the_next_night_or_by_itself(tmp_path: Path) -> None:
    start = erasable(SmallHome(tmp_path / "start"))
    other = SmallHome(tmp_path / "other")
    other.land(*OF_BOB)
    other.nightly(AS_OF)
    expected, kills, begun, ended_by_night = hashes(other), 0, 0, 0
    for flush in range(1 + SEED % EVERY, MOST_FLUSHES, EVERY):
        home = SmallHome(tmp_path / f"at-{flush}")
        shutil.copytree(start.folder, home.folder, symlinks=True)
        code = killed_at(home, flush, "erase", "--user", USER, "--yes")
        if code == 0:
            break
        kills += 1
        has_begun = (home.folder / "lake" / "erased" / "intent.json").exists()
        begun += has_begun
        if has_begun and begun % 2:
            home.nightly(AS_OF)
            ended_by_night += 1
        else:
            again = home.ask("lake", "erase", "--user", USER, "--yes")
            assert again.returncode == 0, again.stderr
            home.nightly(AS_OF)
        assert places(home.folder, *WORDS) == [], f"killed before flush {flush}"
        assert hashes(home) == expected, f"killed before flush {flush}"
        assert not list(home.folder.rglob("*.tmp"))
        shutil.rmtree(home.folder)
    assert kills >= 2
    assert ended_by_night >= 1
