"""Law 1: however the sample logs are split, ordered and repeated, a publish at the same as_of has the same hashes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest
from small_home import interaction, memory
from taught_rows import AS_OF as TAUGHT_AS_OF
from taught_rows import rows_with_another_task
from thorough import IS_THOROUGH, examples

from slowwave.data.sample import FIRST_DAY, SampleFile, sample_files, sample_truth
from slowwave.flows.kernel.processes import ONE_THREAD
from tests.laws.home import DECIDED, PUBLISHED, Home

ROOT = Path(__file__).parents[2]
PUBLISH = """
import sys
from datetime import datetime
from pathlib import Path
from tests.laws.home import Home

home = Home(Path(sys.argv[1]))
home.drop("all.jsonl", sys.stdin.buffer.read())
home.nightly(datetime.fromisoformat(sys.argv[2]))
print(*home.hashes().values())
"""


def delivered_lines(file: SampleFile) -> list[bytes]:
    """The rows of a sample file as JSON lines; a CSV cell stays the text it is."""
    if file.name.endswith(".csv"):
        records = csv.DictReader(io.StringIO(file.content.decode()))
        return [json.dumps({k: v for k, v in row.items() if v}).encode() for row in records]
    content = gzip.decompress(file.content) if file.name.endswith(".gz") else file.content
    return content.splitlines()


def in_one_file(home: Home, files: list[SampleFile]) -> None:
    lines = [line for file in files for line in delivered_lines(file)]
    home.drop("all.jsonl", b"\n".join(lines))


def in_shuffled_files(home: Home, files: list[SampleFile], count: int) -> None:
    chance = random.Random(1)
    lines = [line for file in files for line in delivered_lines(file)]
    lines += chance.sample(lines, len(lines) // 5)
    chance.shuffle(lines)
    for number in range(count):
        home.drop(f"part-{number}.jsonl", b"\n".join(lines[number::count]))


def day_by_day(home: Home, files: list[SampleFile], every: int) -> None:
    """Each day's files as they are, and a nightly at the end of each day, or of every so many."""
    for number, (day, of_day) in enumerate(groupby(files, lambda file: file.name[:10])):
        for file in of_day:
            home.drop(file.name, file.content)
        if number % every == 0:
            home.nightly(datetime.fromisoformat(day) + timedelta(days=1))


def assert_exact(new_home: Callable[[], Home], days: int, per_day: int, parts: int, every: int = 1) -> None:
    files = list(sample_files(days=days, interactions_per_day=per_day))
    as_of = datetime.combine(FIRST_DAY, datetime.min.time()) + timedelta(days=days + 1)
    at_once, shuffled, daily = new_home(), new_home(), new_home()
    in_one_file(at_once, files)
    in_shuffled_files(shuffled, files, parts)
    day_by_day(daily, files, every)
    for home in (at_once, shuffled, daily):
        home.nightly(as_of)
    assert len(shuffled.rows("FROM run_files")) == parts
    assert at_once.hashes() == shuffled.hashes() == daily.hashes()
    sizes = {name: int(value.split("-")[0]) for name, value in at_once.hashes().items()}
    assert all(size > 50 for name, size in sizes.items() if name.startswith("memory_"))
    assert sizes["counted_outcomes"] > sizes["heuristics"] > 20
    stated = at_once.rows("SELECT unnest(table_hashes) AS line FROM runs WHERE status = 'published'")
    assert {row["line"] for row in stated} == {f"{name}={value}" for name, value in at_once.hashes().items()}
    truth = sample_truth(days=days, interactions_per_day=per_day).memories
    health = {row["memory_id"]: row for row in daily.table("memory_health")}
    found = {memory_id: (row["echoed_count"], row["injected_count"]) for memory_id, row in health.items()}
    assert found == {memory_id: (memory.echoed, memory.injected) for memory_id, memory in truth.items()}
    full = daily.nightly(as_of, full=True)
    assert full.status == "published"
    assert len(full.built) == len(full.plan.days) >= days
    assert daily.hashes() == at_once.hashes()


def hashes_with_threads(folder: Path, lines: list[bytes], as_of: datetime, threads: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PUBLISH, str(folder / f"threads-{threads}"), as_of.isoformat()],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(ONE_THREAD, str(threads))},
        input=b"\n".join(lines),
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode().split()


@pytest.mark.thorough  # of many days below, and in `make test` of what teaches
def test_every_way_of_delivery_publishes_the_same(new_home):
    assert_exact(new_home, days=5, per_day=24, parts=12, every=2)


READS = interaction("reads", created_at="2026-03-20T08:00:00Z", chunks_used=["guide.md#1", "guide.md#2"])
EXPIRED = [
    memory("old advice", expires_at="2026-03-19T12:00:00Z"),
    interaction("given old advice", created_at="2026-03-20T09:00:00Z", memories_used=["old advice"]),
]
TOLD = [
    memory("british", memory_type="preference", content="Answer in British English."),
    *(
        interaction(f"told {at}", created_at=f"2026-03-2{at}T10:00:00Z", memories_used=["british"], response=answer)
        for at, answer in enumerate(["The colour is off.", "The color is off, and so is the center."])
    ),
]
TAUGHT_LINES = [line.encode() for line in map(json.dumps, [*rows_with_another_task(), READS, *EXPIRED, *TOLD])]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """What teaches of everything, delivered at once and published."""
    home = Home(tmp_path_factory.mktemp("taught") / "home")
    home.drop("all.jsonl", b"\n".join(TAUGHT_LINES))
    home.nightly(TAUGHT_AS_OF)
    return home


@pytest.mark.slow
def test_what_is_learned_does_not_depend_on_the_delivery(taught, new_home):
    lines, at_once, shuffled, in_stages = TAUGHT_LINES, taught, new_home(), new_home()
    chance = random.Random(2)
    again = [*lines, *chance.sample(lines, 30)]
    chance.shuffle(again)
    for number in range(7):
        shuffled.drop(f"part-{number}.jsonl", b"\n".join(again[number::7]))
    for number in range(2):
        in_stages.drop(f"stage-{number}.jsonl", b"\n".join(lines[number::2]))
        if number == 0 or IS_THOROUGH:
            in_stages.nightly(TAUGHT_AS_OF - timedelta(days=(14 if IS_THOROUGH else 28) - 7 * number))
    for home in (shuffled, in_stages):
        home.nightly(TAUGHT_AS_OF)
    assert at_once.hashes() == shuffled.hashes() == in_stages.hashes()
    assert all(at_once.table(name) for name in PUBLISHED if name not in {*DECIDED, "scope_leaks"})
    if IS_THOROUGH:  # what is learned is learned of the whole log each night; of the days, test_users.py tells
        in_stages.nightly(TAUGHT_AS_OF, full=True)
        assert at_once.hashes() == in_stages.hashes()


@pytest.mark.slow
def test_any_number_of_threads_learns_the_same(taught, tmp_path):
    another = 8 if pl.thread_pool_size() != 8 else 3
    assert [*taught.hashes().values()] == hashes_with_threads(tmp_path, TAUGHT_LINES, TAUGHT_AS_OF, another)


@pytest.mark.slow
def test_every_way_of_delivery_of_many_days_publishes_the_same(new_home):
    assert_exact(new_home, days=examples(7, 30), per_day=examples(60, 120), parts=examples(20, 50))


@pytest.mark.parametrize(
    ("days", "per_day", "threads"),
    [
        pytest.param(3, 24, (1, 8), marks=pytest.mark.thorough),
        pytest.param(*((20, 200, (1, 2, 8)) if IS_THOROUGH else (10, 200, (1, 8))), marks=pytest.mark.slow),
    ],
)
def test_any_number_of_threads_publishes_the_same(tmp_path, days, per_day, threads):
    files = sample_files(days=days, interactions_per_day=per_day)
    lines = [line for file in files for line in delivered_lines(file)]
    as_of = datetime.combine(FIRST_DAY, datetime.min.time()) + timedelta(days=days + 1)
    found = [hashes_with_threads(tmp_path, lines, as_of, number) for number in threads]
    assert len(found[0]) == len(PUBLISHED)
    assert all(hashes == found[0] for hashes in found)
