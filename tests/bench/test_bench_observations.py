"""Consolidating 100,000 memories of one project: time, memory, and growth from 10,000."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from measured_steps import printed

pytestmark = pytest.mark.bench

FEW, MANY, LOOPED = 10_000, 100_000, 2_000
SCRIPT = Path(__file__).parents[1] / "support" / "observation_steps.py"


def _measured(name: str, count: int) -> dict[str, float]:
    command = [sys.executable, str(SCRIPT), name, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_bench_observations() -> None:
    print(f"\n{MANY:,} active memories of one project, a third of which say an earlier fact again")
    loop = _measured("plain_loop", LOOPED)
    all_pairs = loop["cpu_seconds"] * (MANY / LOOPED) ** 2
    for name in ("observe", "curate"):
        few, many = _measured(name, FEW), _measured(name, MANY)
        growth = many["cpu_seconds"] / few["cpu_seconds"]
        printed(
            f"{name}: {many['rows']:,.0f} rows",
            f"{many['seconds']:.0f} s ({many['cpu_seconds']:.0f} s CPU), {many['peak_mb']:.0f} MB peak",
        )
        printed(f"{name}, growth from {FEW:,} to {MANY:,}", f"{growth:.1f} x")
        printed(
            f"{name}, all pairs by shared words in a plain loop, divided by it",
            f"{all_pairs / many['cpu_seconds']:.0f} x",
        )
        assert growth < 2 * MANY / FEW
