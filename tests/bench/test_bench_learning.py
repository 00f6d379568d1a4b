"""Learning from a million outcomes, divided by the learning loop of the system it replaces, in the same run."""

from __future__ import annotations

from pathlib import Path

import outcome_logs
import pytest
from measured_steps import printed, step

pytestmark = pytest.mark.bench

OUTCOMES, SHAPE = 1_000_000, {"strategies": 5_000, "task_types": 200, "agents": 50}
PEER_OUTCOMES = 1_000
AS_OF = "2026-04-01"


def test_bench_learning(tmp_path: Path) -> None:
    source, home = tmp_path / "outcomes.parquet", tmp_path / "home"
    outcome_logs.write_outcomes(source, OUTCOMES, **SHAPE)
    counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in SHAPE.items())
    print(f"\n{OUTCOMES:,} outcomes, {counts}")
    peer = step("alma_learn", source, str(PEER_OUTCOMES))
    landed = step("land", home, str(source))
    learned = step("learn", source, AS_OF)
    published = step("replay", home, AS_OF)
    peer_again = step("alma_learn", source, str(PEER_OUTCOMES))
    rate = PEER_OUTCOMES / min(peer.seconds, peer_again.seconds)
    printed("land", f"{landed.seconds:.1f} s, {landed.peak_mb:.0f} MB peak")
    printed("learn: outcomes in, all learned tables out", f"{learned.seconds:.1f} s, {learned.peak_mb:.0f} MB peak")
    printed("nightly: plan, read, learn, write, audit", f"{published.seconds:.1f} s, {published.peak_mb:.0f} MB peak")
    printed(f"alma-memory's learn(), SQLite, {PEER_OUTCOMES:,} of them", f"{rate:.0f} outcomes/s")
    for label, seconds in (
        ("learn", learned.seconds),
        ("nightly", published.seconds),
        ("land and nightly", landed.seconds + published.seconds),
    ):
        printed(f"{label}, divided by learn()", f"{OUTCOMES / seconds / rate:.0f} x")
