"""A clock that is wrong: run ids stay unique, nothing young is pruned, and when it is right again all is well."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import crash_home
import pytest
from crash_cases import Driver

from slowwave.flows.nightly.prune import KEEP_RUNS

pytestmark = pytest.mark.slow  # each night is a process; law tests replay what was late and early

RIGHT = "2026-03-20T02:00:00+00:00"
BACK = "2020-01-01T02:00:00+00:00"
NEW_YEAR_2000 = "2000-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    driver = Driver(tmp_path_factory.mktemp("driver"))
    yield driver
    driver.close()


def _files(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "serving" / "runs").glob("*.duckdb"))


def test_clock_set_back(driver: Driver, tmp_path: Path):
    driver.run("prepare_plain", tmp_path, RIGHT)
    right = driver.run("look", tmp_path)
    crash_home.drop(tmp_path, "new.jsonl", crash_home.lines(crash_home.interaction(9, 3)))

    driver.run("publish", tmp_path, BACK)  # an explicit as_of does not depend on the clock
    back = driver.run("look", tmp_path)
    assert back["current_run"].startswith("20200101T020000")
    assert back["current_run"] != right["current_run"]
    assert back["current"] != right["current"]
    assert len(back["rows"]["interactions"]) == 3
    assert right["current_run"] in back["runs"]
    assert len(_files(tmp_path)) == 2, "what was current a moment ago was pruned"

    driver.run("publish", tmp_path, RIGHT)  # the very same publish: current stays
    again = driver.run("look", tmp_path)
    assert (again["current_run"], again["current"]) == (back["current_run"], back["current"])
    assert "skipped" in again["runs"].values()


def test_scheduled_nightly_by_a_clock_set_back(driver: Driver, tmp_path: Path):
    driver.run("prepare_plain", tmp_path, RIGHT)
    driver.run("publish_now", tmp_path, RIGHT)
    right = driver.run("look", tmp_path)
    driver.run("publish_now", tmp_path, NEW_YEAR_2000)
    driver.run("publish_now", tmp_path, RIGHT)
    mended = driver.run("look", tmp_path)
    assert mended["runs"][mended["current_run"]] == "published"
    assert mended["current"] == right["current"]
    assert mended["rows"] == right["rows"]


def test_many_runs_within_one_second(driver: Driver, tmp_path: Path):
    driver.run("prepare_plain", tmp_path, RIGHT)
    for number in range(3):
        crash_home.drop(tmp_path, "one.jsonl", crash_home.lines(crash_home.interaction(20 + number, 1)))
        driver.run("publish", tmp_path, RIGHT)
    seen = driver.run("look", tmp_path)
    assert len(seen["runs"]) == 4
    assert len(_files(tmp_path)) == 4
    assert len(seen["rows"]["interactions"]) == 5


@pytest.fixture(scope="module")
def many(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two serving files more than prune keeps, all just written."""
    home = tmp_path_factory.mktemp("many")
    driver.run("prepare_plain", home, RIGHT)
    (first,) = (home / "serving" / "runs").glob("*.duckdb")
    for number in range(KEEP_RUNS):
        other = (int(first.stem[-4:], 16) + number + 1) % 16**4  # the suffix is drawn
        shutil.copy(first, first.with_stem(f"{first.stem[:-4]}{other:04x}"))  # what it holds does not matter
    crash_home.drop(home, "one.jsonl", crash_home.lines(crash_home.interaction(20, 1)))
    driver.run("publish", home, RIGHT)
    return home


@pytest.mark.parametrize(("hours", "is_kept"), [(-48, True), (23, True), (25, False)])
def test_prune_by_a_clock_that_differs_from_the_disks(
    driver: Driver, many: Path, tmp_path: Path, hours: int, is_kept: bool
):
    home = shutil.copytree(many, tmp_path / "home", symlinks=True)
    before = _files(home)
    assert len(before) == KEEP_RUNS + 2
    driver.run("publish_now", home, (datetime.now(UTC) + timedelta(hours=hours)).isoformat())
    assert (set(before) <= set(_files(home))) == is_kept
    assert driver.run("look", home)["current_run"] not in before
