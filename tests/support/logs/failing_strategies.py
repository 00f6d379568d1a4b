"""Attempts written as short texts: one strategy, one letter per session or attempt."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl

START = datetime(2026, 3, 1, 9)  # noqa: DTZ001 - times hold UTC, without a zone
SCHEMA = pl.Schema(
    {
        **dict.fromkeys(["outcome_id", "project", "agent", "task_type", "block", "strategy", "strategy_id"], pl.String),
        **dict.fromkeys(["created_at", "known_at"], pl.Datetime("us")),
        "success": pl.Boolean,
        **dict.fromkeys(["error_id", "cost_unit"], pl.String),
        **dict.fromkeys(["duration_ms", "cost"], pl.Float64),
        "tokens": pl.Int64,
    }
)
HEURISTICS = pl.Schema(
    {
        **dict.fromkeys(["project", "agent", "task_type", "strategy_id", "strategy"], pl.String),
        **dict.fromkeys(["confidence", "confidence_low", "confidence_high"], pl.Float64),
    }
)
NO_HEURISTICS = HEURISTICS.to_frame()


def tried(
    results: str, strategy: str = "retry the call", *, day: float = 0, every: float = 1, **given: Any
) -> pl.DataFrame:
    """One attempt per letter, F failed or S succeeded, in sessions of their own, `every` days apart from `day` on.

    `given` sets other columns; error_id is that of the failures.
    """
    error = given.pop("error_id", "timeout")
    rows = []
    for number, letter in enumerate(results):
        at = START + timedelta(days=day + number * every)
        name = f"{given.get('agent', 'coder')}/{given.get('task_type', 'deploy')}/{strategy}/{at.isoformat()}/{number}"
        row = {
            "outcome_id": name, "project": "atlas", "agent": "coder", "task_type": "deploy", "block": name,
            "strategy": strategy, "strategy_id": strategy, "created_at": at, "known_at": at,
            "success": letter == "S", "error_id": error if letter == "F" else None,
        }  # fmt: skip
        rows.append(row | given)
    return pl.DataFrame(rows, schema=SCHEMA)
