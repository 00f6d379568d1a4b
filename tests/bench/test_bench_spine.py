"""Speed and memory of the spine, as ratios against limits and peers measured in the same run.

`make bench` prints a table; nothing is asserted about time, only that the steps did their work.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import polars as pl
import pytest
import spine_logs
from measured_steps import printed, step

pytestmark = pytest.mark.bench

INTERACTIONS, RESPONSE_BYTES, DAYS, MEMORIES, PROJECTS = 100_000, 1_500, 30, 10_000, 100
LOOP_ROWS = 1_000
AS_OF = "2026-04-15"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """31 days of logs, the last one apart."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "month").mkdir()
    (folder / "one-more-day").mkdir()
    per_day = INTERACTIONS // DAYS
    spine_logs.write_logs(
        folder / "month",
        interactions=per_day * (DAYS + 1),
        response_bytes=RESPONSE_BYTES,
        days=DAYS + 1,
        memories=MEMORIES,
        projects=PROJECTS,
    )
    last = f"interactions-{DAYS:02}.parquet"
    (folder / "month" / last).rename(folder / "one-more-day" / last)
    return folder


def test_bench_spine(logs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    print(f"\n{INTERACTIONS:,} interactions of {RESPONSE_BYTES:,} bytes over {DAYS} days, {MEMORIES:,} active memories")
    landed = step("land", home, str(logs / "month"))
    limits = [step("limit", home).seconds for _ in range(3)]
    replayed = step("replay", home, AS_OF)
    limits += [step("limit", home).seconds for _ in range(3)]
    limit = statistics.median(limits)
    loop = step("plain_loop", home, str(LOOP_ROWS))
    again = step("replay", home, AS_OF)
    megabytes = INTERACTIONS * RESPONSE_BYTES / 1e6
    printed("land", f"{landed.seconds:.1f} s, {landed.peak_mb:.0f} MB")
    printed("nightly (replay and publish)", f"{replayed.seconds:.1f} s, {replayed.peak_mb:.0f} MB peak")
    printed("response text", f"{megabytes / replayed.seconds:.0f} MB/s")
    printed("ratio to reading and lower-casing the same Parquet (median of 6)", f"{replayed.seconds / limit:.1f} x")
    loop_rate, rate = LOOP_ROWS / loop.seconds, INTERACTIONS / replayed.seconds
    printed(f"AtoCore's rule as a plain loop, on {LOOP_ROWS:,} of them", f"{loop_rate:.0f} interactions/s")
    printed("nightly, divided by the plain loop", f"{rate / loop_rate:.1f} x")
    printed("nightly with nothing new (without Prefect)", f"{again.seconds:.2f} s")

    one_day = tmp_path / "one-day"
    step("land", one_day, str(logs / "month" / "memories.parquet"))
    step("land", one_day, str(logs / "one-more-day"))
    alone = step("replay", one_day, AS_OF)
    step("land", home, str(logs / "one-more-day"))
    added = step("replay", home, AS_OF)
    printed("one new day after 30", f"{added.seconds:.2f} s")
    printed("the same day alone", f"{alone.seconds:.2f} s")
    printed("ratio", f"{added.seconds / alone.seconds:.2f} x")

    found = pl.scan_parquet(home / "lake/evidence/memory_references/*/*.parquet").select(pl.col("is_echoed").sum())
    assert found.collect().item() == (DAYS + 1) * -(-(INTERACTIONS // DAYS) // 20)
