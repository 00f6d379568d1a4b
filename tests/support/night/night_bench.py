"""What a whole night costs, against the limit, against the record, against peers: `make bench`.

    night_bench.py [--smallest | --full] [--nights N] [--record]

Each night runs in a process of its own, from the delivered Parquet files in the inbox to the report, by the plain
functions the flows call: Prefect is left out, its own start costs the same whatever the night. The limit is to read the
texts of the same files and lower-case them, as CPU time in the same round. Times by the clock are shown, never judged.

Fails when a stage costs more than 1.3 times what `tests/bench/record/night.json` says, twice in a row; `--record`
writes that file instead.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import polars as pl
from measured_steps import TooLongError, step
from night_chart import night_chart
from night_record import MOST_ABOVE_RECORD, REST, WHOLE, Cost, Round, exponents, judged, night_round

from slowwave.flows.kernel.stage_costs import Stage

RECORD = Path(__file__).parents[2] / "bench" / "record" / "night.json"
LAST_RUN = RECORD.with_name("last_run.json")
AS_OF, A_DAY_LATER = "2026-04-01", "2026-04-02"
ONE_MORE_DAY, NOTHING_NEW = "one more day", "nothing new"
_ORDER = [*get_args(Stage), REST, WHOLE, ONE_MORE_DAY, NOTHING_NEW]
_LIMIT_ROUNDS = 3


@dataclass(frozen=True)
class Size:
    """How much a night has to do."""

    interactions: int
    memories: int
    projects: int

    def __str__(self) -> str:
        return " x ".join(map(_short, (self.interactions, self.memories, self.projects)))


def _short(number: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit and number % unit == 0:
            return f"{number // unit}{letter}"
    return str(number)


SMALLEST = Size(10_000, 1_000, 10)
MORE_MEMORIES = Size(10_000, 10_000, 100)
LARGE = Size(100_000, 10_000, 100)
LARGE_MORE_MEMORIES = Size(100_000, 100_000, 1_000)
LARGEST = Size(1_000_000, 100_000, 1_000)
_JUDGED = (SMALLEST, LARGE, LARGEST)
ONE_PROJECT, ONE_FULL_PROJECT = Size(10_000, 1_000, 1), Size(10_000, 4_000, 1)
_MOST_CPU = {LARGE: 120, LARGEST: 1_800, ONE_FULL_PROJECT: 120}  # seconds a plain query may take


@dataclass(frozen=True)
class Peer:
    """What somebody else needs, beside what we need for the same: CPU seconds."""

    name: str
    size: Size
    theirs: float
    ours: float
    ours_is: str
    required: float | None = None
    note: str = ""

    @property
    def times(self) -> float:
        """How many times our CPU time they need."""
        return self.theirs / self.ours if self.ours else 0.0


class Bench:
    """Logs and homes of one run, in a folder that is removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun = time.monotonic()

    def said(self, text: str) -> None:
        """A line of progress."""
        sys.stderr.write(f"[{time.monotonic() - self._begun:5.0f} s] {text}\n")
        sys.stderr.flush()

    def logs(self, size: Size) -> Path:
        """Logs of this size, made once."""
        folder = self._folder / f"logs {size}"
        if not folder.exists():
            self.said(f"{size}: making logs")
            step("logs", folder, size.interactions, size.memories, size.projects)
        return folder

    def home(self, size: Size) -> Path:
        """Where nights of this size are."""
        return self._folder / f"home {size}"

    def forget(self, size: Size) -> None:
        """Free the disk of what a size left."""
        for folder in (self.home(size), self._folder / f"logs {size}"):
            shutil.rmtree(folder, ignore_errors=True)

    def warm_up(self) -> None:
        """A night that does not count: what is compiled once and kept is compiled now."""
        logs = self.logs(SMALLEST)
        self.said("warming up")
        self._night(SMALLEST, logs, AS_OF)

    def limit(self, size: Size) -> float:
        """CPU seconds of the limit."""
        return step("limit", self.logs(size))["each"]

    def cost(self, size: Size, nights: int, *, further: bool = True) -> Cost:
        """So many nights, each in a fresh home with a limit beside it; a single one with the median of three limits.

        With `further` also what one more day costs, and a night with nothing new.
        """
        logs, rounds = self.logs(size), list[Round]()
        for night in range(nights):
            limit = statistics.median(self.limit(size) for _ in range(_LIMIT_ROUNDS if nights == 1 else 1))
            shutil.rmtree(self.home(size), ignore_errors=True)
            self.said(f"{size}: night {night + 1} of {nights}")
            said = self._night(size, logs, AS_OF)
            if said["landed"] < size.interactions:
                message = f"only {said['landed']:,} rows of {size} landed"
                raise SystemExit(message)
            measured = night_round(said, said["stages"], limit)
            rounds.append(self._with_further_nights(size, logs, measured) if further else measured)
        return Cost(rounds)

    def _night(self, size: Size, delivered: Path, as_of: str) -> dict[str, Any]:
        inbox = self.home(size) / "inbox"
        inbox.mkdir(parents=True, exist_ok=True)
        for path in delivered.glob("*.parquet"):
            os.link(path, inbox / path.name)
        return step("night", self.home(size), as_of)

    def _with_further_nights(self, size: Size, logs: Path, night: Round) -> Round:
        more = self._night(size, logs / "more", A_DAY_LATER)
        again = step("night", self.home(size), A_DAY_LATER)
        if (more["status"], again["status"]) != ("published", "skipped"):
            message = f"the nights after {size} were {more['status']} and {again['status']}"
            raise SystemExit(message)
        return replace(night, seconds={**night.seconds, ONE_MORE_DAY: more["cpu"], NOTHING_NEW: again["cpu"]})

    def peers(self, size: Size, cost: Cost, most_cpu: int, *, learning: bool = True) -> list[Peer]:
        """What others need at this size; an echo query that takes more than `most_cpu` CPU seconds is left out."""
        logs, whole, echo = self.logs(size), cost.seconds(WHOLE), cost.seconds("echo")
        texts = echo + cost.seconds("used")
        slow = size.memories // size.projects > 1_000
        found = []
        for rule, ours, ours_is in (("first", echo, "echo"), ("last", texts, "echo and used")):
            self.said(f"{size}: AtoCore's {rule} rule as a loop")
            loop = step(f"atocore_{rule}", logs, 200 if slow else 1_000)
            theirs = loop["each"] * size.interactions
            note = f"{loop['rows']:,} interactions, the rest in proportion"
            found += [
                Peer(f"AtoCore's {rule} rule as a loop", size, theirs, ours, ours_is, None, note),
                Peer(f"AtoCore's {rule} rule as a loop", size, theirs, whole, WHOLE, 100, note),
            ]
        if learning:
            self.said(f"{size}: learning from outcomes")
            alma, learned = step("alma_learn", logs, 300), step("learned", self.home(size), A_DAY_LATER)
            theirs, note = alma["each"] * learned["rows"], f"{alma['rows']:,} outcomes, the rest in proportion"
            found.append(Peer("alma-memory's learn()", size, theirs, learned["each"], "learning", 500, note))
        for engine, wanted in (("DuckDB", 20), ("Polars", None)):
            self.said(f"{size}: the echo as one plain {engine} query")
            try:
                theirs, note = step(f"plain_{engine.lower()}", logs, most_cpu=most_cpu)["cpu"], ""
            except TooLongError:
                self.said(f"{size}: {engine} did not finish within {most_cpu} CPU seconds")
                continue
            found.append(Peer(f"one plain {engine} query", size, theirs, echo, "echo", wanted, note))
        return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smallest", action="store_true", help="only the smallest size, against the record")
    parser.add_argument("--full", action="store_true", help="also the largest size")
    parser.add_argument("--nights", type=int, help="nights of each judged size (3 of the smallest, else 1)")
    parser.add_argument(
        "--within",
        type=float,
        default=MOST_ABOVE_RECORD,
        metavar="TIMES",
        help="fail above so many times the record (%(default)s); on another machine than the record's, more",
    )
    parser.add_argument("--record", action="store_true", help="write the record instead of judging by it")
    chosen = parser.parse_args(arguments)
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        bench = Bench(Path(folder))
        bench.warm_up()
        found, failed = _measured(bench, chosen, {} if chosen.record else known)
    parts = ("sizes", "exponents", "peers")  # what was not measured now stays recorded
    merged = {"about": found["about"], **{part: {**known.get(part, {}), **found[part]} for part in parts}}
    written = RECORD if chosen.record else LAST_RUN
    shown = merged if chosen.record else found
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n")
    charted = {str(size): shown["sizes"][str(size)]["ratios"] for size in _JUDGED if str(size) in shown["sizes"]}
    night_chart(charted, _ORDER, (WHOLE, ONE_MORE_DAY, NOTHING_NEW)).save(written.with_suffix(".svg"))
    print(f"\nWritten: {written} and {written.with_suffix('.svg').name}")
    if failed:
        print(f"FAILED: over {chosen.within:g} x the record twice in a row:")
        for line in failed:
            print(f"  {line}")
        sys.exit(1)
    if not chosen.record:
        print(f"Nothing is over {chosen.within:g} x the record twice in a row.")


def _measured(bench: Bench, chosen: argparse.Namespace, known: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    judged_sizes = _JUDGED[: 1 if chosen.smallest else 3 if chosen.full else 2]
    costs: dict[Size, Cost] = {}
    failed: list[str] = []
    found: dict[str, Any] = {"about": _about(), "sizes": {}, "exponents": {}, "peers": {}}
    for size in judged_sizes:
        nights = chosen.nights or (3 if size == SMALLEST else 1)
        recorded = known.get("sizes", {}).get(str(size), {}).get("ratios", {})
        judgement = judged(lambda size=size, nights=nights: bench.cost(size, nights), recorded, chosen.within)
        costs[size] = judgement.cost
        if judgement.doubted:
            bench.said(f"{size}: measured twice, over the record at first: {', '.join(judgement.doubted)}")
        failed += [f"{size}: {name}, {times:.2f} x the record" for name, times in judgement.failed.items()]
        found["sizes"][str(size)] = _shown(size, judgement.cost, recorded, judgement.failed)
        if size != SMALLEST:
            found["peers"].update(_shown_peers(bench.peers(size, judgement.cost, _MOST_CPU[size])))
        bench.forget(size)
    if not chosen.smallest:
        for size in (MORE_MEMORIES, ONE_PROJECT, ONE_FULL_PROJECT, *([LARGE_MORE_MEMORIES] if chosen.full else [])):
            costs[size] = bench.cost(size, 1, further=False)
            found["sizes"][str(size)] = _shown(size, costs[size], {}, {})
            if size == ONE_FULL_PROJECT:
                found["peers"].update(_shown_peers(bench.peers(size, costs[size], _MOST_CPU[size], learning=False)))
            bench.forget(size)
        found["exponents"] = _shown_exponents(costs, full=chosen.full)
    return found, failed


def _about() -> dict[str, Any]:
    return {
        "limit": "reading the texts of the same delivered Parquet files and lower-casing them with Polars",
        "ratios": "CPU time (user and system, children included) to that of the limit in the same round",
        "python": platform.python_version(),
        "polars": pl.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def _shown(size: Size, cost: Cost, recorded: dict[str, float], failed: Mapping[str, float]) -> dict[str, Any]:
    """Print the table of one size; what of it is written."""
    last = cost.rounds[-1]
    print(
        f"\n{size}: interactions x memories x projects, {len(cost.rounds)} night(s), CPU time in multiples of the limit"
        f" ({last.limit:.2f} s)"
    )
    names = sorted(cost.names, key=_ORDER.index)
    for name in names:
        was = f"recorded {recorded[name]:.2f}" if name in recorded else ""
        note = "OVER, twice" if name in failed else "" if cost.is_judged(name) else "too little to judge"
        print(f"  {name:<22} {cost.ratio(name):8.2f} x   {was:<16} {note}")
    print(f"  peak memory {last.peak_mb:,.0f} MB, with the processes it starts {last.tree_peak_mb:,.0f} MB")
    walls = ", ".join(f"{each.wall:.1f}" for each in cost.rounds)
    print(f"  by the clock {walls} s (not judged, not recorded)", flush=True)
    return {
        "ratios": {name: cost.ratios()[name] for name in names},
        "too_little_to_judge": [name for name in names if not cost.is_judged(name)],
        "peak_mb": round(max(each.peak_mb for each in cost.rounds)),
        "tree_peak_mb": round(max(each.tree_peak_mb for each in cost.rounds)),
    }


def _shown_peers(peers: list[Peer]) -> dict[str, Any]:
    for peer in peers:
        wanted = "" if peer.required is None else f" (wanted: {peer.required:g})"
        what = f"{peer.name}, {peer.size}: {peer.times:,.1f} x the CPU time of {peer.ours_is}{wanted}"
        print(f"  {what}. {peer.note}", flush=True)
    return {
        f"{peer.name} to {peer.ours_is}, {peer.size}": {"times": float(f"{peer.times:.3g}"), "wanted": peer.required}
        for peer in peers
    }


def _shown_exponents(costs: dict[Size, Cost], *, full: bool) -> dict[str, dict[str, float]]:
    pairs = [
        ("in interactions", MORE_MEMORIES, LARGE),
        ("in memories, 100 a project", SMALLEST, MORE_MEMORIES),
        ("in memories, all in one project", ONE_PROJECT, ONE_FULL_PROJECT),
    ]
    if full:
        pairs += [
            ("in interactions", LARGE_MORE_MEMORIES, LARGEST),
            ("in memories, 100 a project", LARGE, LARGE_MORE_MEMORIES),
        ]
    found = {}
    for quantity, few, many in pairs:
        times = many.interactions / few.interactions * (many.memories / few.memories)
        name = f"{quantity}: {few} to {many}"
        found[name] = exponents(costs[few], costs[many], times)
        print(f"\nGrowth {name}")
        for stage, exponent in sorted(found[name].items(), key=lambda each: _ORDER.index(each[0])):
            print(f"  {stage:<22} {exponent:8.2f}")
    return found


if __name__ == "__main__":
    main()
