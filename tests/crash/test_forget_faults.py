"""`forget apply` and `forget restore`, killed with SIGKILL before flushes to the disk, and run again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from small_home import SmallHome, interaction, memory
from thorough import IS_THOROUGH, SEED

from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.lake.lake import Lake

pytestmark = [pytest.mark.crash, pytest.mark.slow]

AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
GONE = ("m1", "m2")
# Every durable write flushes the new file, then its folder: before each of them the process dies at once.
KILLING = """
import os, signal, sys
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.storage import folder as store
left = int(sys.argv[1])
flush = store.fsync_path
def killing(path):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    flush(path)
store.fsync_path = killing
cli.main(sys.argv[2:])
"""
MOST_FLUSHES = 20
# Between two writes lie two flushes: of each pair one is tried, by SEED.
FLUSHES = range(1, MOST_FLUSHES) if IS_THOROUGH else range(1 + SEED % 2, MOST_FLUSHES, 2)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("faults") / "home")
    rows = [memory(memory_id) for memory_id in GONE]
    rows += [{"memory_id": gone, "changed_at": "2026-03-10T00:00:00Z", "status": "superseded"} for gone in GONE]
    made.land(*rows, interaction("i1"))
    made.nightly(AS_OF)
    return made


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


def landed(home: SmallHome, table: str) -> pl.DataFrame:
    files = [file.path for of_day in Lake(Path(home.settings.lake)).files(table).values() for file in of_day]
    return pl.concat(
        [pl.DataFrame(schema={"row_hash": pl.String}), *(pl.read_parquet(path) for path in files)], how="diagonal"
    )


def statuses(home: SmallHome) -> dict[str, list[str]]:
    rows = landed(home, "memories").sort("memory_id", "changed_at")
    return {memory_id: rows.filter(pl.col("memory_id") == memory_id)["status"].to_list() for memory_id in GONE}


@pytest.mark.parametrize("command", [("apply", "--yes"), ("restore", "--all")])
def test_killed_before_any_flush_and_run_again_is_as_if_nothing_had_happened(
    template: SmallHome, tmp_path: Path, command: tuple[str, ...]
) -> None:
    start = tmp_path / "start"
    shutil.copytree(template.folder, start, symlinks=True)
    expected, decisions = ["active", "superseded", "archived"], 2
    if command[0] == "restore":
        assert SmallHome(start).ask("forget", "apply", "--yes").returncode == 0
        expected, decisions = [*expected, "superseded"], 4
    kills = 0
    for flush in FLUSHES:
        home = SmallHome(tmp_path / f"at-{flush}")
        shutil.copytree(start, home.folder, symlinks=True)
        code = killed_at(home, flush, "forget", *command)
        if code == 0:
            break
        kills += 1
        # what follows from a decision is never there without the decision
        changed = landed(home, "memories").height - landed(template, "memories").height
        assert landed(home, "decisions").height >= changed
        again = home.ask("forget", *command)
        assert again.returncode == 0, again.stderr
        assert statuses(home) == dict.fromkeys(GONE, expected), f"killed before flush {flush}"
        assert landed_decisions(Lake(Path(home.settings.lake))).collect().height == decisions
        assert landed(home, "interactions").height == 1
        assert not list(home.folder.rglob("*.tmp"))
    assert kills >= 2
