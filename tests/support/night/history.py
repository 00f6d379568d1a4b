"""What one more day costs after so many days of history: less an empty night, over that day alone.

    history.py FOLDER [--days 60 240] [--interactions 2000] [--memories 2000] [--projects 20] [--each]

Alone: in a home that holds the memories and no other day. Homes are kept in FOLDER and used again; what is measured is
a night of a copy. Prints CPU seconds of the nights, their ratio, and with `--each` what each step of the graph takes,
after the history and alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from measured_steps import step
from night_memories import START

_SHOWN_SECONDS = 0.02


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, nargs="+", default=[60, 240])
    parser.add_argument("--interactions", type=int, default=2_000, help="of a day")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--each", action="store_true", help="also what each step takes")
    parser.add_argument("--keep", action="store_true", help="keep the copy with the further day")
    chosen = parser.parse_args()
    for days in chosen.days:
        print(json.dumps(_measured(chosen, days), indent=1))


def _measured(chosen: argparse.Namespace, days: int) -> dict[str, Any]:
    size = f"{days}x{chosen.interactions} {chosen.memories} {chosen.projects}"
    logs, home = chosen.folder / f"logs {size}", chosen.folder / f"home {size}"
    if not logs.exists():
        step("logs", logs, days * chosen.interactions, chosen.memories, chosen.projects, days)
    as_of, later = (f"{START + timedelta(days=day):%Y-%m-%d}" for day in (days, days + 1))
    if not home.exists():
        _night(home, logs, as_of)
    copy, alone = chosen.folder / f"copy {size}", chosen.folder / f"alone {size}"
    for folder in (copy, alone):
        shutil.rmtree(folder, ignore_errors=True)
    empty = step("night", alone, later)
    shutil.rmtree(alone)
    _night(alone, logs, as_of, "memories-*.parquet")
    by_itself = _night(alone, logs / "more", later)
    shutil.copytree(home, copy, symlinks=True)
    step("night", copy, f"{as_of}T00:00:01")  # by the code of today, which goes on from its own publishes alone
    more = _night(copy, logs / "more", later)
    said = {
        "size": size,
        "empty": empty["cpu"],
        "alone": by_itself["cpu"],
        "one more day": more["cpu"],
        "ratio": round((more["cpu"] - empty["cpu"]) / (by_itself["cpu"] - empty["cpu"]), 3),
        "peak_mb": more["peak_mb"],
    }
    if chosen.each:
        said["steps"] = {
            name: (round(seconds, 2), round(by_itself["steps"].get(name, 0.0), 2))
            for name, seconds in sorted(more["steps"].items(), key=lambda item: -item[1])
            if seconds >= _SHOWN_SECONDS
        }
        said["stages"] = {
            name: (round(seconds, 2), round(by_itself["stages"].get(name, 0.0), 2))
            for name, seconds in more["stages"].items()
        }
    for folder in (alone,) if chosen.keep else (copy, alone):
        shutil.rmtree(folder)
    return said


def _night(home: Path, delivered: Path, as_of: str, files: str = "*.parquet") -> dict[str, Any]:
    inbox = home / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    for path in delivered.glob(files):
        os.link(path, inbox / path.name)
    return step("night", home, as_of)


if __name__ == "__main__":
    main()
