"""A disk that is full, or cannot be written at all: one sentence, nothing lost, and readers never notice."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import crash_home
import pytest
from crash_cases import Driver

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import RunFiles

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

ROWS = 40
MEGABYTE = 2**20


def _slowwave(
    home: Path, *arguments: str, prepare: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "slowwave.flows.cli.main", *arguments],
        env={**os.environ, "SLOWWAVE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=prepare,
    )


def _assert_one_sentence(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Of what is told besides progress."""
    assert done.returncode == 1, done
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if line != "slowwave: landing")
    assert line.startswith("slowwave: ")
    for word in words:
        assert word in line


def _deliver_much(home: Path) -> None:
    """Rows of 4 MB that no compression makes smaller than 3."""
    rng = random.Random(4)
    rows = [
        crash_home.interaction(100 + i, 0, response=base64.b64encode(rng.randbytes(75_000)).decode())
        for i in range(ROWS)
    ]
    crash_home.drop(home, "much.jsonl", crash_home.lines(*rows))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    driver = Driver(tmp_path_factory.mktemp("driver"))
    yield driver
    driver.close()


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk))
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def _fill(disk: Path) -> Path:
    """Leave 1 MB free; the file that takes the rest."""
    free = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - MEGABYTE))
    return ballast


def test_landing_on_a_full_disk(small_disk: Path, driver: Driver):
    home = small_disk / "home"
    driver.run("prepare_plain", home)
    before = driver.run("look", home)
    _deliver_much(home)
    delivered = (home / "inbox" / "much.jsonl").read_bytes()
    ballast = _fill(small_disk)

    _assert_one_sentence(_slowwave(home, "land"), "landing needs about ", "MB free on the disk of ", "1.0 MB are: ")
    seen = driver.run("look", home)
    assert (home / "inbox" / "much.jsonl").read_bytes() == delivered
    assert {**seen, "inbox": []} == before

    ballast.unlink()
    done = _slowwave(home, "land")
    assert done.returncode == 0, done.stderr
    assert Lake(home / "lake").ledger(RunFiles)["accepted"].sum() == 5 + ROWS
    assert driver.run("look", home)["inbox"] == []


def test_publish_on_a_full_disk(small_disk: Path, driver: Driver):
    home = small_disk / "home"
    driver.run("prepare_plain", home)
    before = driver.run("look", home)
    crash_home.drop(home, "new.jsonl", crash_home.lines(crash_home.interaction(9, 3)))
    ballast = _fill(small_disk)

    refused = driver.outcome("publish", home)["error"]
    assert refused.count("\n") == 0
    assert "publishing needs about " in refused
    assert "MB free on the disk of " in refused
    seen = driver.run("look", home)
    assert (seen["current"], seen["current_run"]) == (before["current"], before["current_run"])
    assert "failed" in seen["runs"].values()
    assert seen["leftovers"] == []

    ballast.unlink()
    driver.run("publish", home)
    seen = driver.run("look", home)
    assert seen["current"] != before["current"]
    assert seen["runs"][seen["current_run"]] == "published"


def _at_most_a_megabyte() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))


def test_landing_where_files_may_not_be_large(tmp_path: Path):
    home = tmp_path / "home"
    _deliver_much(home)
    delivered = (home / "inbox" / "much.jsonl").read_bytes()
    _assert_one_sentence(_slowwave(home, "land", prepare=_at_most_a_megabyte), "File too large", str(home))
    assert (home / "inbox" / "much.jsonl").read_bytes() == delivered
    assert list(home.glob("lake/interactions/**/*.*")) == []
    done = _slowwave(home, "land")
    assert done.returncode == 0, done.stderr
    assert Lake(home / "lake").ledger(RunFiles)["accepted"].to_list() == [ROWS]
    assert list((home / "inbox").iterdir()) == []


@pytest.fixture
def read_only_home(tmp_path: Path, driver: Driver) -> Iterator[Path]:
    """A published home with a file in the inbox, which nobody can write any more."""
    home = tmp_path / "written"
    driver.run("prepare_plain", home)
    crash_home.drop(home, "new.jsonl", crash_home.lines(crash_home.interaction(9, 3)))
    if os.geteuid() == 0:
        shown = tmp_path / "shown"
        shown.mkdir()
        _mount("--bind", str(home), str(shown))
        subprocess.run(["mount", "-o", "remount,bind,ro", str(shown)], check=True)
        yield shown
        subprocess.run(["umount", str(shown)], check=True)
    else:
        folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
        for folder in folders:
            folder.chmod(0o555)
        yield home
        for folder in folders:
            folder.chmod(0o755)


@pytest.mark.parametrize("command", [["land"], ["nightly"], ["lake", "prune"]])
def test_commands_on_a_read_only_home(read_only_home: Path, command: list[str]):
    _assert_one_sentence(_slowwave(read_only_home, *command), f"the home folder {read_only_home} cannot be written")
    assert (read_only_home / "inbox" / "new.jsonl").exists()


@pytest.mark.slow
def test_reading_a_read_only_home(read_only_home: Path):
    done = _slowwave(read_only_home, "sql", "SELECT count(*) AS n FROM memory_health", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [{"n": 3}]
    assert crash_home.published(Settings(read_only_home).current)
