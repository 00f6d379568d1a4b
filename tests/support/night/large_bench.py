"""What nights past one machine's size and past one year cost, beside the record: the second half of `make bench-full`.

    large_bench.py [--folder FOLDER] [--only PART ...] [--rounds 3] [--scale 1] [--record]

PART: `history` (one more day after a month and after a year, and with a late row), `shapes` (nights that are uncommon),
`engines` (what two workers gain over one; where nothing else runs) and, if it is named, `growth` (a night of 1,000,000
and one of 10,000,000 interactions: hours). Ratios are of CPU time, medians of the rounds; a shape is one night.
Logs of FOLDER, and homes with a history, are used again; without one all is removed. `--record` writes what was
measured into `tests/bench/record/large.json`, beside what was recorded of other parts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_nights import best_rounds
from history import History, costs, further_nights
from measured_steps import step
from night_bench import AS_OF, RECORD
from night_memories import Size
from night_shapes import shaped_logs

LARGE_RECORD = RECORD.with_name("large.json")
_GB = 2**30
_LIMIT_ROUNDS = 3
_HISTORIES = (History(30, 20_000), History(365, 500))
# Shape, interactions, memories, and `[engine] memory` where it is not the default.
_SHAPES = (
    ("day", 1_400_000, 1_000, 2 * _GB),
    ("project", 200_000, 2_000, None),
    ("sessions", 1_000_000, 1_000, None),
    ("memories", 300, 1_000_000, None),
)
_GROWTH = (1_000_000, 10_000_000)
_MONTH = "month"  # a common night


@dataclass(frozen=True)
class Chosen:
    """What the command line says."""

    folder: Path
    rounds: int
    scale: float

    def scaled(self, count: int) -> int:
        """A count at the scale: whether all this runs is tried with few."""
        return max(100, round(count * self.scale))


def history(chosen: Chosen) -> dict[str, Any]:
    """One more day, with a late row and without, by turns."""
    sizes = [one._replace(interactions=chosen.scaled(one.interactions)) for one in _HISTORIES]
    nights: dict[History, list[dict[str, Any]]] = {one: [] for one in sizes}
    for _ in range(chosen.rounds):
        for one in sizes:
            nights[one].append(further_nights(chosen.folder, one, late=True))
            shutil.rmtree(chosen.folder / f"copy {one}")
    return {f"{one.days} days of {one.interactions:,}": costs(one, nights[one]) for one in sizes}


def shapes(chosen: Chosen) -> dict[str, Any]:
    """What nights of uncommon shapes hold at the most, and their cost over the limit."""
    return {
        f"{shape}: {interactions:,} x {memories:,}": _night(chosen, shape, interactions, memories, memory)
        for shape, interactions, memories, memory in (
            (shape, chosen.scaled(interactions), chosen.scaled(memories), memory)
            for shape, interactions, memories, memory in _SHAPES
        )
    }


def growth(chosen: Chosen) -> dict[str, Any]:
    """A night of ten times the interactions."""
    few, many = (_night(chosen, _MONTH, chosen.scaled(count), chosen.scaled(20_000), None) for count in _GROWTH)
    exponent = round(math.log10(many["cpu"] / few["cpu"]), 2)
    return {f"{chosen.scaled(_GROWTH[0]):,}": few, f"{chosen.scaled(_GROWTH[1]):,}": many, "exponent": exponent}


def engines(chosen: Chosen) -> dict[str, Any]:
    """Seconds by the clock of one worker and of two, and how many times as fast two are."""
    size = Size(chosen.scaled(90_000), 3_000, 30, 24, seed=1, more=0)
    found: dict[str, Any] = {}
    for engine, _, best in best_rounds(chosen.folder / f"engines {size.interactions}", size, chosen.rounds):
        found.setdefault(engine.name, {})[str(engine.workers)] = round(best.clock, 2)
    return {
        name: {**clock, "gain": round(clock["1"] / clock["2"], 2)} if "2" in clock else clock
        for name, clock in found.items()
    }


PARTS: dict[str, Callable[[Chosen], dict[str, Any]]] = {
    "history": history,
    "shapes": shapes,
    "engines": engines,
    "growth": growth,
}
_COMMON = ("history", "shapes", "engines")


def _night(chosen: Chosen, shape: str, interactions: int, memories: int, memory: int | None) -> dict[str, Any]:
    logs, home = chosen.folder / f"{shape} {interactions} {memories}", chosen.folder / f"home {shape}"
    if not logs.exists():
        if shape == _MONTH:
            step("logs", logs, interactions, memories, max(1, memories // 20))
        else:
            shaped_logs(logs, shape, interactions, memories)
    limit = statistics.median(step("limit", logs)["each"] for _ in range(_LIMIT_ROUNDS))
    shutil.rmtree(home, ignore_errors=True)
    inbox = home / "inbox"
    inbox.mkdir(parents=True)
    for path in logs.glob("*.parquet"):
        os.link(path, inbox / path.name)
    said = step("night", home, AS_OF, memory or "")
    shutil.rmtree(home)
    if said["landed"] < interactions:
        message = f"only {said['landed']:,} rows of the shape {shape} landed"
        raise SystemExit(message)
    cpu = round(said["cpu"], 1)
    return {"cpu": cpu, "ratio": round(said["cpu"] / limit, 1), "peak_mb": round(said["tree_peak_mb"])}


def main() -> None:
    """Measure, print beside the record, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=_COMMON, metavar="PART")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--record", action="store_true")
    said = parser.parse_args()
    known = json.loads(LARGE_RECORD.read_text()) if LARGE_RECORD.exists() else {}
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as aside:
        chosen = Chosen(said.folder or Path(aside), said.rounds, said.scale)
        for part in said.only:
            found = PARTS[part](chosen)
            print(f"\n{part}")
            for name, told in found.items():
                was = known.get(part, {}).get(name)
                print(f"  {name}: {json.dumps(told)}" + (f"; recorded {json.dumps(was)}" if was else ""), flush=True)
            known[part] = found
            if said.record:
                LARGE_RECORD.write_text(json.dumps(known, indent=2) + "\n")


if __name__ == "__main__":
    main()
