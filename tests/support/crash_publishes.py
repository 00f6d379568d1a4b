"""A writer that publishes many times, and readers that watch, each in a process of its own.

Usage: crash_publishes.py write HOME PUBLISHES | hold HOME | reopen HOME. Readers read until `HOME/stop` is there and
print what they saw as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import crash_home
import duckdb

from slowwave.flows.settings import Settings

# One statement sees one snapshot whatever happens, so each table is asked in a statement of its own.
TABLES = ("memory_health", "memory_health_history", "memory_references")
# Readers leave the writer a share of a small machine.
_PAUSE_SECONDS = 0.03


def write(home: Path, publishes: int) -> dict[str, Any]:
    """Publish as of one instant after another, every tenth time with one more row; each ends with a prune."""
    for number in range(publishes):
        if number % 10 == 5:
            crash_home.drop(home, f"{number}.jsonl", crash_home.lines(crash_home.interaction(1000 + number, 2)))
        crash_home.publish(home, crash_home.AS_OF + timedelta(seconds=number + 1))
    return {"runs": len(list(Settings(home).serving.glob("runs/*.duckdb")))}


def read(connection: duckdb.DuckDBPyConnection) -> tuple[str, str]:
    """The one run that every table shows, and its `as_of`; AssertionError when they differ."""
    shown = set()
    for table in TABLES:
        rows = connection.sql(f"SELECT DISTINCT run_id, CAST(as_of AS VARCHAR) FROM {table}").fetchall()  # noqa: S608
        shown.update(rows)
    assert len(shown) == 1, f"one read shows {sorted(shown)}"
    ((run_id, as_of),) = shown
    rows = connection.sql("SELECT status FROM runs WHERE run_id = $run_id", params={"run_id": run_id}).fetchall()
    assert rows == [("published",)], f"{run_id} is {rows} in runs"
    time.sleep(_PAUSE_SECONDS)
    return run_id, as_of


def hold(home: Path) -> dict[str, Any]:
    """Read again and again over one connection: it must show one run for ever."""
    seen = []
    with duckdb.connect(Settings(home).current, read_only=True) as connection:
        while not (home / "stop").exists():
            seen.append(read(connection))
    return {"reads": len(seen), "shown": sorted(set(seen))}


def reopen(home: Path) -> dict[str, Any]:
    """Open current for each read."""
    seen = []
    while not (home / "stop").exists():
        with duckdb.connect(Settings(home).current, read_only=True) as connection:
            seen.append(read(connection))
    return {"reads": len(seen), "shown": list(dict.fromkeys(seen))}


if __name__ == "__main__":
    role, folder, *count = sys.argv[1:]
    home = Path(folder)
    result = write(home, int(count[0])) if role == "write" else {"hold": hold, "reopen": reopen}[role](home)
    print(json.dumps(result))
