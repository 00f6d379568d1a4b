"""A writer that publishes many times, and readers that watch, each in a process of its own.

Usage: crash_publishes.py write HOME PUBLISHES | hold HOME | reopen HOME. Readers read until `HOME/stop` is there and
print what they saw as JSON. They read all the time, and the writer lets each of them begin and end a read between two
publishes: however slow the machine is, they see every publish.
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
READERS = ("hold", "reopen")


def noted(home: Path, role: str, reads: int) -> None:
    """Tell the writer how many reads have ended."""
    note = home / f"{role}.reads"
    note.with_suffix(".tmp").write_text(str(reads))
    note.with_suffix(".tmp").rename(note)


def wait_for_readers(home: Path) -> None:
    """Wait until each reader has ended a read that began after now, which is the second from here."""
    deadline = time.monotonic() + 500
    for role in READERS:
        enough = _reads(home, role) + 2
        while _reads(home, role) < enough:
            assert time.monotonic() < deadline, f"{role} reads no more"
            time.sleep(0.005)


def _reads(home: Path, role: str) -> int:
    note = home / f"{role}.reads"
    return int(note.read_text()) if note.exists() else 0


def write(home: Path, publishes: int) -> dict[str, Any]:
    """Publish as of one instant after another, every tenth time with one more row; each ends with a prune."""
    for number in range(publishes):
        wait_for_readers(home)
        if number % 10 == 5:
            crash_home.drop(home, f"{number}.jsonl", crash_home.lines(crash_home.interaction(1000 + number, 2)))
        crash_home.publish(home, crash_home.AS_OF + timedelta(seconds=number + 1))
    wait_for_readers(home)
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
            noted(home, "hold", len(seen))
    return {"reads": len(seen), "shown": sorted(set(seen))}


def reopen(home: Path) -> dict[str, Any]:
    """Open current for each read."""
    seen = []
    while not (home / "stop").exists():
        with duckdb.connect(Settings(home).current, read_only=True) as connection:
            seen.append(read(connection))
        noted(home, "reopen", len(seen))
    return {"reads": len(seen), "shown": list(dict.fromkeys(seen))}


if __name__ == "__main__":
    role, folder, *count = sys.argv[1:]
    home = Path(folder)
    result = write(home, int(count[0])) if role == "write" else {"hold": hold, "reopen": reopen}[role](home)
    print(json.dumps(result))
