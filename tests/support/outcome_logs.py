"""A month of outcomes to measure speed on: strategies with their own success, agents, kinds of task, errors."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

VERBS = ("retry", "split", "cache", "review", "trace", "stage", "batch", "mock", "pin", "profile")
NOUNS = ("request", "migration", "schema", "payload", "test", "branch", "index", "prompt", "token", "session")
WAYS = ("in small steps", "with a checkpoint", "behind a flag", "before the merge", "after a dry run")


def outcome_rows(rows: int, *, strategies: int, task_types: int, agents: int, days: int = 30) -> pl.DataFrame:
    """`rows` outcomes of four projects, in the order of their time."""
    chance = np.random.default_rng(7)
    texts = [
        f"{VERBS[i % 10]} the {NOUNS[i // 10 % 10]} {WAYS[i // 100 % 5]} number {i // 500}" for i in range(strategies)
    ]
    rate = chance.beta(4, 3, strategies)
    strategy = chance.integers(0, strategies, rows)
    second = np.sort(chance.integers(0, days * 86_400, rows))
    session = chance.integers(0, rows // 5 + 1, rows)
    errors = [f"HTTP {code} from shard {n} after {n % 90} s" for code in (404, 500, 503) for n in range(400)]

    def named(prefix: str, numbers: np.ndarray) -> pl.Series:
        return pl.Series(prefix, pl.Series(numbers).cast(pl.String)).str.replace("^", prefix)

    success = chance.random(rows) < rate[strategy]
    start = datetime(2026, 3, 1)  # noqa: DTZ001 - UTC without zone
    frame = pl.DataFrame(
        {
            "outcome_id": named("o", np.arange(rows)),
            "created_at": pl.Series(second * 1_000_000).cast(pl.Duration("us")) + start,
            "project": named("project ", strategy % 4),
            "agent": named("agent ", strategy % agents),
            "session_id": named("s", session),
            "task_type": named("task type ", strategy % task_types),
            "strategy": pl.Series(texts).gather(strategy),
            "success": success,
            "error_message": pl.Series(errors).gather(chance.integers(0, len(errors), rows)),
            "duration_ms": pl.Series(chance.integers(100, 60_000, rows)).cast(pl.Float64),
        }
    )
    return frame.with_columns(pl.when(~pl.col("success")).then("error_message").alias("error_message"))


def write_outcomes(path: Path, rows: int, **shape: int) -> None:
    """`outcome_rows` as one Parquet file."""
    outcome_rows(rows, **shape).write_parquet(path)
