"""Old runs go, but never current, none within 24 hours of ceasing to be it, and nothing that a kept run names."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import duckdb
import pytest

from slowwave.flows.nightly import prune as prune_module
from slowwave.flows.nightly.prune import KEEP_RUNS, prune
from slowwave.transforms.graph import EVIDENCE
from tests.laws.deliveries import START, jsonl
from tests.laws.home import Home
from tests.laws.model import Row

AS_OF = START + timedelta(days=3)
HOUR = 3600


def interaction(number: int) -> Row:
    return {"interaction_id": f"i{number}", "created_at": START + timedelta(minutes=number), "prompt": "?",
            "response": "Read the log first"}  # fmt: skip


def publish(home: Home, number: int) -> Path:
    """Publish one more interaction of the first day, so that its partition is another one each time."""
    home.drop("more.jsonl", jsonl([interaction(number)]))
    home.nightly(AS_OF)
    return home.current


def partitions(home: Home) -> set[str]:
    """The fingerprints in the lake; each evidence table has the same. States are named by runs."""
    folders = [Path(home.settings.lake) / "evidence" / table.name for table in EVIDENCE]
    found = [{path.stem for path in folder.glob("day=*/*.parquet")} for folder in folders]
    assert all(names == found[0] for names in found)
    return found[0]


def age(home: Home, hours: float, *paths: Path) -> None:
    """Let files, or all files of the home, be as old as that."""
    then = time.time() - hours * HOUR
    for path in paths or [path for path in home.folder.glob("**/*") if path.is_file()]:
        os.utime(path, (then, then))


@pytest.fixture
def home(home: Home) -> Home:
    rule = {"memory_id": "rule", "changed_at": START, "content": "Read the log first", "status": "active"}
    home.drop("first.jsonl", jsonl([rule]))
    return home


@pytest.mark.slow
def test_nothing_goes_within_24_hours(home):
    files = [publish(home, number) for number in range(4)]
    assert home.prune(keep=0).serving_files == 0
    age(home, 23.9)
    pruned = home.prune(keep=0)
    assert (pruned.serving_files, pruned.partitions, pruned.bytes) == (0, 0, 0)
    assert all(path.exists() for path in files)
    assert len(partitions(home)) == 4


def test_the_24_hours_begin_when_a_run_ceases_to_be_current(home):
    old = publish(home, 1)
    age(home, 1000)
    publish(home, 2)
    assert home.prune(keep=0).serving_files == 0
    assert old.exists()
    age(home, 24.1, old)
    assert home.prune(keep=0).serving_files == 1
    assert not old.exists()


@pytest.mark.slow
def test_current_and_what_kept_runs_name_stay(home):
    files = [publish(home, number) for number in range(4)]
    age(home, 48)
    for number, path in enumerate(files):  # in order, as they ceased to be current
        age(home, 48 - number, path)
    before = partitions(home)
    size = sum(path.stat().st_size for path in files[:2])
    pruned = home.prune(keep=1)
    assert [path.exists() for path in files] == [False, False, True, True]
    assert (pruned.serving_files, pruned.partitions) == (2, 2 * len(EVIDENCE))
    assert pruned.bytes > size
    assert len(before) == 4
    assert len(partitions(home)) == 2
    assert home.prune(keep=1).serving_files == 0


@pytest.mark.slow
def test_current_stays_however_old_and_can_be_read_rebuilt_and_gone_on_from(home):
    for number in range(3):
        publish(home, number)
    age(home, 9999)
    current, hashes = home.current, home.hashes()
    with duckdb.connect(home.settings.current, read_only=True) as reader:
        assert home.prune(keep=0).serving_files == 2
        assert reader.sql("SELECT sum(echoed_count) FROM memory_health").fetchall() == [(3,)]
    assert home.current == current
    assert home.hashes() == hashes
    assert len(partitions(home)) == 1
    again = home.nightly(AS_OF + timedelta(hours=1))
    assert (again.status, again.built) == ("published", [])
    assert home.nightly(AS_OF, full=True).status == "published"
    assert home.hashes() == hashes
    before = home.as_of(START + timedelta(minutes=1))
    assert home.rows("SELECT echoed_count FROM memory_health", before) == [{"echoed_count": 1}]


def test_a_file_that_is_read_may_go(home):
    old = publish(home, 1)
    with duckdb.connect(old, read_only=True) as reader:
        publish(home, 2)
        age(home, 48)
        assert home.prune(keep=0).serving_files == 1
        assert reader.sql("SELECT echoed_count FROM memory_health").fetchall() == [(1,)]


@pytest.mark.slow
def test_answers_as_of_a_time_are_a_cache(home):
    publish(home, 50)
    minutes = [START + timedelta(minutes=51, seconds=second) for second in range(7)]
    home.drop("more.jsonl", jsonl([{**interaction(50), "recorded_at": AS_OF, "response": "No"}]))
    home.nightly(AS_OF + timedelta(seconds=1))
    answers = [home.as_of(instant) for instant in minutes]
    assert len(set(answers)) == 7
    age(home, 48)
    for number, path in enumerate(answers):
        age(home, 40 - number, path)
    before = partitions(home)
    home.prune(keep=0)
    assert [path.exists() for path in answers] == [False] * 2 + [True] * 5
    assert len(before) == 2
    age(home, 48)
    for path in answers[2:]:
        path.unlink()
    home.prune(keep=0)
    assert len(partitions(home)) == 1
    assert home.as_of(minutes[0]) == answers[0]
    assert answers[0].exists()


def test_half_written_leftovers_go(home):
    publish(home, 1)
    left = [
        home.settings.serving / ".current.123.tmp",
        home.settings.serving / "runs" / ".x.duckdb.tmp",
        home.settings.serving / "runs" / ".x.duckdb.tmp.wal",
    ]
    for path in left:
        path.touch()
    home.prune(keep=KEEP_RUNS)
    assert not any(path.exists() for path in left)
    assert home.current.exists()


@pytest.mark.slow
def test_every_nightly_prunes(home, monkeypatch):
    monkeypatch.setattr(prune_module, "prune", partial(prune, keep=1))
    files = []
    for number in range(1 + 2):
        files.append(publish(home, number))
        age(home, 48 - number, files[-1])
        if number:
            age(home, 48 - number, files[-2])
    assert sum(path.exists() for path in files) == 1 + 1
    assert files[-1].exists()


@pytest.mark.slow
def test_what_another_home_over_the_lake_keeps_stays_until_that_home_is_forgotten(home, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_LAKE", str(home.folder / "lake"))
    other = Home(tmp_path / "other")
    publish(home, 1)
    (named,) = partitions(home)
    publish(other, 2)
    age(home, 48)
    publish(other, 3)
    other.prune(keep=0)
    assert named in partitions(home)
    assert f"{home.current.stem}.parquet" in {path.name for path in home.folder.glob("lake/day_inputs/*/*")}
    age(home, 91 * 24)
    other.prune(keep=0)
    assert named not in partitions(home)
