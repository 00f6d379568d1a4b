"""Speed and memory of the spine, as ratios against limits and peers measured in the same run.

`make bench` prints a table; nothing is asserted about time, only that the steps did their work.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
import spine_logs

pytestmark = pytest.mark.bench

INTERACTIONS, RESPONSE_BYTES, DAYS, MEMORIES, PROJECTS = 100_000, 1_500, 30, 10_000, 100
LOOP_ROWS = 1_000
AS_OF = "2026-04-15"


@dataclass(frozen=True)
class Measured:
    """Seconds and peak memory of one step in a process of its own."""

    seconds: float
    peak_mb: float


def _step(name: str, home: Path, argument: str = "") -> Measured:
    script = Path(spine_logs.__file__).with_name("measured.py")
    done = subprocess.run(
        [sys.executable, script, name, home, argument], check=True, capture_output=True, text=True, env={**os.environ}
    )
    said = json.loads(done.stdout.splitlines()[-1])
    return Measured(said["seconds"], said["peak_mb"])


def _print(label: str, value: str) -> None:
    print(f"  {label:<72} {value}")


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
    landed = _step("land", home, str(logs / "month"))
    limits = [_step("limit", home).seconds for _ in range(3)]
    replayed = _step("replay", home, AS_OF)
    limits += [_step("limit", home).seconds for _ in range(3)]
    limit = statistics.median(limits)
    loop = _step("plain_loop", home, str(LOOP_ROWS))
    again = _step("replay", home, AS_OF)
    megabytes = INTERACTIONS * RESPONSE_BYTES / 1e6
    _print("land", f"{landed.seconds:.1f} s, {landed.peak_mb:.0f} MB")
    _print("nightly (replay and publish)", f"{replayed.seconds:.1f} s, {replayed.peak_mb:.0f} MB peak")
    _print("response text", f"{megabytes / replayed.seconds:.0f} MB/s")
    _print("ratio to reading and lower-casing the same Parquet (median of 6)", f"{replayed.seconds / limit:.1f} x")
    loop_rate, rate = LOOP_ROWS / loop.seconds, INTERACTIONS / replayed.seconds
    _print(f"AtoCore's rule as a plain loop, on {LOOP_ROWS:,} of them", f"{loop_rate:.0f} interactions/s")
    _print("nightly, divided by the plain loop", f"{rate / loop_rate:.1f} x")
    _print("nightly with nothing new (without Prefect)", f"{again.seconds:.2f} s")

    one_day = tmp_path / "one-day"
    _step("land", one_day, str(logs / "month" / "memories.parquet"))
    _step("land", one_day, str(logs / "one-more-day"))
    alone = _step("replay", one_day, AS_OF)
    _step("land", home, str(logs / "one-more-day"))
    added = _step("replay", home, AS_OF)
    _print("one new day after 30", f"{added.seconds:.2f} s")
    _print("the same day alone", f"{alone.seconds:.2f} s")
    _print("ratio", f"{added.seconds / alone.seconds:.2f} x")

    found = pl.scan_parquet(home / "lake/evidence/memory_references/*/*.parquet").select(pl.col("is_echoed").sum())
    assert found.collect().item() == (DAYS + 1) * -(-(INTERACTIONS // DAYS) // 20)
