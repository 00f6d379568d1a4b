"""What one more day costs after so many days of history: less an empty night, over that day alone.

    history.py FOLDER [--days 60 240] [--interactions 2000] [--memories 2000] [--projects 20] [--rounds 1] [--late]
        [--each]

Alone: in a home that holds the memories and no other day. Homes are kept in FOLDER and used again; what is measured is
a night of a copy. Prints CPU seconds of the nights, medians of the rounds, and their ratio; with `--late` also the
night in which an interaction of the sixth day comes with the new ones; with `--each` what each step of the graph takes
in the last round, after the history and alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from measured_steps import step
from night_memories import START

_SHOWN_SECONDS = 0.02
_LATE_DAY = "05"
EMPTY, ALONE, ONE_MORE, LATE = "empty", "alone", "one more day", "with a late row"


class History(NamedTuple):
    """A log of so many days, each with so many interactions."""

    days: int
    interactions: int
    memories: int = 2_000
    projects: int = 20

    def __str__(self) -> str:
        return f"{self.days}x{self.interactions} {self.memories} {self.projects}"


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, nargs="+", default=[60, 240])
    parser.add_argument("--interactions", type=int, default=2_000, help="of a day")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--late", action="store_true", help="also what a late row adds")
    parser.add_argument("--each", action="store_true", help="also what each step takes")
    parser.add_argument("--keep", action="store_true", help="keep the copy with the further day")
    chosen = parser.parse_args()
    for days in chosen.days:
        history = History(days, chosen.interactions, chosen.memories, chosen.projects)
        nights = [further_nights(chosen.folder, history, late=chosen.late) for _ in range(chosen.rounds)]
        said = costs(history, nights)
        print(json.dumps({**said, **(_steps(nights[-1]) if chosen.each else {})}, indent=1))
        if not chosen.keep:
            shutil.rmtree(chosen.folder / f"copy {history}")


def costs(history: History, nights: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """CPU seconds of nights (see `further_nights`) and the ratio of one more day: the medians of the rounds."""

    def over(name: str) -> float:
        ratios = [
            (night[name]["cpu"] - night[EMPTY]["cpu"]) / (night[ALONE]["cpu"] - night[EMPTY]["cpu"]) for night in nights
        ]
        return round(statistics.median(ratios), 3)

    seconds = {name: round(statistics.median(night[name]["cpu"] for night in nights), 2) for name in nights[0]}
    said = {"size": str(history), **seconds, "ratio": over(ONE_MORE), "peak_mb": round(nights[-1][ONE_MORE]["peak_mb"])}
    return {**said, "ratio with a late row": over(LATE)} if LATE in seconds else said


def further_nights(folder: Path, history: History, *, late: bool) -> dict[str, dict[str, Any]]:
    """What the nights take, as `measured.py night` says it; the copy with the last of them stays in the folder."""
    logs, home = folder / f"logs {history}", folder / f"home {history}"
    if not logs.exists():
        days, interactions, memories, projects = history
        step("logs", logs, days * interactions, memories, projects, days)
    as_of, later = (f"{START + timedelta(days=day):%Y-%m-%d}" for day in (history.days, history.days + 1))
    if not home.exists():
        _night(home, logs, as_of)
    copy, alone = folder / f"copy {history}", folder / f"alone {history}"
    shutil.rmtree(alone, ignore_errors=True)
    found = {EMPTY: step("night", alone, later)}
    shutil.rmtree(alone)
    _night(alone, logs, as_of, "memories-*.parquet")
    found[ALONE] = _night(alone, logs / "more", later)
    shutil.rmtree(alone)
    for name in (ONE_MORE, LATE) if late else (ONE_MORE,):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(home, copy, symlinks=True)
        step("night", copy, f"{as_of}T00:00:01")  # by the code of today, which goes on from its own publishes alone
        if name == LATE:
            _deliver_late(copy / "inbox", logs)
        found[name] = _night(copy, logs / "more", later)
    return found


def _deliver_late(inbox: Path, logs: Path) -> None:
    """An interaction of an old day that nobody delivered before, and how it ended."""
    inbox.mkdir(parents=True, exist_ok=True)
    ended = pl.read_parquet(logs / f"outcomes-{_LATE_DAY}.parquet", n_rows=1)
    rows = pl.scan_parquet(logs / f"interactions-{_LATE_DAY}.parquet")
    begun = rows.join(ended.lazy().select("interaction_id"), on="interaction_id", how="semi").collect()
    late_id = pl.lit("late").alias("interaction_id")
    begun.with_columns(late_id).write_parquet(inbox / "interactions-late.parquet")
    ended.with_columns(late_id, pl.lit("late").alias("outcome_id")).write_parquet(inbox / "outcomes-late.parquet")


def _steps(night: dict[str, dict[str, Any]]) -> dict[str, Any]:
    more, alone = night[ONE_MORE], night[ALONE]
    return {
        part: {
            name: (round(seconds, 2), round(alone[part].get(name, 0.0), 2))
            for name, seconds in sorted(more[part].items(), key=lambda item: -item[1])
            if seconds >= _SHOWN_SECONDS
        }
        for part in ("steps", "stages")
    }


def _night(home: Path, delivered: Path, as_of: str, files: str = "*.parquet") -> dict[str, Any]:
    inbox = home / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    for path in delivered.glob(files):
        os.link(path, inbox / path.name)
    return step("night", home, as_of)


if __name__ == "__main__":
    main()
