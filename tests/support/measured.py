"""One measured step of a benchmark, in a process of its own: prints seconds and peak memory as JSON.

Usage: measured.py STEP HOME [ARGUMENT]
"""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from slowwave.flows.land import path_deliveries
from slowwave.flows.lock import writer_lock
from slowwave.flows.nightly import land_paths, nightly, parse_as_of, start_run
from slowwave.flows.settings import Settings
from slowwave.transforms.learning import learned
from slowwave.transforms.params import Params


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


def republish(home: Path, as_of: str) -> None:
    """A nightly that finds every day replayed, but no earlier publish to take rows from."""
    shutil.rmtree(home / "serving")
    replay(home, as_of)


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


def learn(source: Path, as_of: str) -> None:
    """Everything that is learned from the outcomes of a file, as a publish would."""
    rows = pl.read_parquet(source).with_columns(
        pl.col("created_at").alias("recorded_at"),
        pl.lit(None, pl.Boolean).alias("attempted"),
        pl.lit(None, pl.Int64).alias("tokens"),
        pl.lit(None, pl.Float64).alias("cost"),
        *[pl.lit(None, pl.String).alias(name) for name in ("interaction_id", "task")],
    )
    learned(rows, parse_as_of(as_of), Params())


def alma_learn(source: Path, rows: str) -> None:
    """alma-memory's learn() over the first rows, as its users call it: SQLite, no embedder."""
    from alma.learning.protocols import LearningProtocol
    from alma.storage.sqlite_local import SQLiteStorage

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        protocol = LearningProtocol(SQLiteStorage(Path(folder) / "alma.db"), scopes={})
        for row in pl.read_parquet(source, n_rows=int(rows)).iter_rows(named=True):
            try:
                protocol.learn(
                    agent=row["agent"],
                    project_id=row["project"],
                    task=row["task_type"],
                    outcome=row["success"],
                    strategy_used=row["strategy"],
                    task_type=row["task_type"],
                    duration_ms=int(row["duration_ms"]),
                    error_message=row["error_message"],
                )
            except Exception as error:
                if type(error).__name__ != "ScopeViolationError":
                    raise


STEPS: dict[str, Callable[[Path, str], None]] = {
    "land": land,
    "replay": replay,
    "republish": republish,
    "limit": limit,
    "plain_loop": plain_loop,
    "learn": learn,
    "alma_learn": alma_learn,
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
