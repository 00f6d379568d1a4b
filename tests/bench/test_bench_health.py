"""A year of daily evidence on many memories: what the publish costs, and what one more day adds.

`make bench` prints a table; nothing is asserted about time, only that the steps did their work.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import spine_logs
from measured_steps import printed, step

pytestmark = pytest.mark.bench

MEMORIES, PROJECTS, DAYS, PER_DAY, RESPONSE_BYTES = 100_000, 100, 365, 1_000, 250
AS_OF, NEXT_DAY = "2027-03-01", "2027-03-02"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year and a day of logs, the last day apart; every second answer repeats a memory."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "year").mkdir()
    (folder / "one-more-day").mkdir()
    spine_logs.write_logs(
        folder / "year",
        interactions=PER_DAY * (DAYS + 1),
        response_bytes=RESPONSE_BYTES,
        days=DAYS + 1,
        memories=MEMORIES,
        projects=PROJECTS,
        echo_every=2,
    )
    last = f"interactions-{DAYS:02}.parquet"
    (folder / "year" / last).rename(folder / "one-more-day" / last)
    return folder


def test_bench_health(logs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    print(f"\n{MEMORIES:,} memories in {PROJECTS} projects, {PER_DAY:,} interactions on each of {DAYS} days")
    step("land", home, str(logs / "year"))
    first = step("replay", home, AS_OF)
    printed("nightly, the year replayed and published", f"{first.seconds:.1f} s, {first.peak_mb:.0f} MB peak")
    again = step("republish", home, AS_OF)
    printed("publish of the year, nothing taken over", f"{again.seconds:.1f} s, {again.peak_mb:.0f} MB peak")
    step("land", home, str(logs / "one-more-day"))
    added = step("replay", home, NEXT_DAY)
    printed("one more day", f"{added.seconds:.1f} s, {added.peak_mb:.0f} MB peak")

    alone_home = tmp_path / "alone"
    step("land", alone_home, str(logs / "year" / "memories.parquet"))
    step("land", alone_home, str(logs / "one-more-day"))
    alone = step("replay", alone_home, NEXT_DAY)
    printed("the same day alone", f"{alone.seconds:.1f} s")
    printed("one more day, to the day alone", f"{added.seconds / alone.seconds:.2f} x")
    printed("one more day, to the publish of the year", f"{added.seconds / again.seconds:.2f} x")
    with duckdb.connect(home / "serving" / "current.duckdb", read_only=True) as connection:
        ((memories, rows, strong),) = connection.sql(
            "SELECT (SELECT count(*) FROM memory_health), (SELECT count(*) FROM memory_health_history),"
            " (SELECT count(strength) FROM memory_health)"
        ).fetchall()
    printed("rows of history", f"{rows:,}")
    assert memories == strong == MEMORIES
