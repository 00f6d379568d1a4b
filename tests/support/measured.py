"""One measured step of a benchmark, in a process of its own: prints seconds and peak memory as JSON.

Usage: measured.py STEP HOME [ARGUMENT]
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from slowwave.flows.land import path_deliveries
from slowwave.flows.lock import writer_lock
from slowwave.flows.nightly import land_paths, nightly, parse_as_of, start_run
from slowwave.flows.settings import Settings


def land(home: Path, source: str) -> None:
    """Land a folder."""
    settings = Settings(home)
    with writer_lock(settings, "land"):
        land_paths(start_run(settings, "land"), path_deliveries([source]))


def replay(home: Path, as_of: str) -> None:
    """A nightly without Prefect."""
    settings = Settings(home)
    with writer_lock(settings, "nightly"):
        nightly(start_run(settings, "nightly"), as_of=parse_as_of(as_of) if as_of else None)


def limit(home: Path, _: str) -> None:
    """Merely read the responses of the lake and lower-case them, a file at a time."""
    for path in sorted((home / "lake" / "interactions").glob("*/*.parquet")):
        pl.scan_parquet(path).select(pl.col("response").str.to_lowercase().str.len_bytes().sum()).collect()


def plain_loop(home: Path, rows: str) -> None:
    """AtoCore's rule as a plain loop over a slice: every active memory of the project, tried in every response."""
    memories: dict[str, list[str]] = {}
    for path in (home / "lake" / "memories").glob("*/*.parquet"):
        for project, content in pl.read_parquet(path, columns=["project", "content"]).iter_rows():
            memories.setdefault(project, []).append(content)
    path = min((home / "lake" / "interactions").glob("*/*.parquet"))
    found = 0
    for project, response in pl.read_parquet(path, columns=["project", "response"]).head(int(rows)).iter_rows():
        text = " ".join(response.lower().split())
        for content in memories.get(project, ()):
            prefix = " ".join(content.lower().split())[:80]
            found += len(prefix) >= 12 and prefix in text


STEPS: dict[str, Callable[[Path, str], None]] = {
    "land": land,
    "replay": replay,
    "limit": limit,
    "plain_loop": plain_loop,
}

if __name__ == "__main__":
    step, home, *argument = sys.argv[1:]
    before, cpu_before = time.perf_counter(), time.process_time()
    STEPS[step](Path(home), *(argument or [""]))
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - before,
                "cpu_seconds": time.process_time() - cpu_before,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "pid": os.getpid(),
            }
        )
    )
