"""The real logs as rows of the landing contract: dated dialogue turns and memories, and benchmark outcomes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

FOLDER = Path(__file__).parents[3].parent / "shared" / "data"


def _given(row: dict[str, Any]) -> dict[str, Any]:
    shown = {k: v.astimezone(UTC).isoformat() if isinstance(v, datetime) else v for k, v in row.items()}
    return {k: v for k, v in shown.items() if v is not None}


def memory_rows() -> list[dict[str, Any]]:
    """locomo's memories, active from when they were written."""
    frame = pl.read_parquet(FOLDER / "locomo" / "memories.parquet")
    return [
        _given(
            {
                "memory_id": row["id"],
                "changed_at": row["created_at"],
                "memory_type": row["type"],
                "project": row["project"],
                "content": row["content"],
                "status": "active",
                "source_ids": [row["source"]],
            }
        )
        for row in frame.iter_rows(named=True)
    ]


def turn_rows() -> list[dict[str, Any]]:
    """locomo's dated turns; the first turn of a dialogue answers nobody and has a null prompt, as delivered."""
    frame = pl.read_parquet(FOLDER / "locomo" / "interactions.parquet").filter(pl.col("created_at").is_not_null())
    keep = ["created_at", "project", "agent", "client", "session_id", "response"]
    return [
        {"prompt": row["prompt"], **_given({"interaction_id": row["id"], **{name: row[name] for name in keep}})}
        for row in frame.iter_rows(named=True)
    ]


def outcome_rows() -> list[dict[str, Any]]:
    """agbenchmark's outcomes: strategy is the agent, task type the task; cascade skips come along, as not attempted."""
    frame = pl.read_parquet(FOLDER / "agbenchmark" / "interactions.parquet")
    return [
        _given(
            {
                "outcome_id": row["id"],
                "created_at": row["created_at"],
                "project": row["project"],
                "agent": row["agent"],
                "session_id": row["session_id"],
                "task_type": row["task"],
                "strategy": row["agent"],
                "success": row["success"],
                "attempted": json.loads(row["meta"]).get("attempted"),
                "error_message": row["error_message"],
                "duration_ms": row["duration_ms"],
            }
        )
        for row in frame.iter_rows(named=True)
    ]


def day_of(row: dict[str, Any]) -> str:
    """UTC day of a row, as text."""
    return (row.get("created_at") or row["changed_at"])[:10]
