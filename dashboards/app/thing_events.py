"""What happened to a memory or a strategy, by lane of its timeline: what `slowwave why` lists, and what was decided."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from slowwave.dashboards.charts.timelines import Event
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_UNDO

Record = dict[str, Any]

_ERRORS = 3


def memory_events(found: Record, *, has_lake: bool) -> tuple[str, list[Event], list[str]]:
    """Return a title, the events of a memory that `why` found, and its lanes. `has_lake`: decisions may be read."""
    by_lane = {
        "injected": [row["occurred_at"] for row in found["injected"]],
        "quoted or used": [row["occurred_at"] for row in found["references"]],
        "changed": [row["changed_at"] for row in found["changes"] if row["is_winning"]],
        "decided": [],
        "pushed": [],
    }
    for at, command in _decisions(found["memory_id"]) if has_lake else []:
        by_lane["pushed" if command in (PUSH, PUSH_UNDO) else "decided"].append(at)
    title = ", ".join(f"{lane} {len(times):,}" for lane, times in by_lane.items() if times).capitalize()
    return title, [(at, lane) for lane, times in by_lane.items() for at in times], list(by_lane)


def strategy_events(found: Record) -> tuple[str, list[Event], list[str]]:
    """Return a title, the attempts with a strategy in the first case, and its lanes: ends, common errors."""
    outcomes = found["uses"][0]["outcomes"] if found["uses"] else found["not_learned"]
    ended = [(row["created_at"], "succeeded" if row["success"] else "failed") for row in outcomes]
    failed = [(row["created_at"], row["error"]) for row in outcomes if row["error"] and not row["success"]]
    common = [error for error, _ in Counter(error for _, error in failed).most_common(_ERRORS)]
    title = f"{sum(row['success'] for row in outcomes):,} of {format_count(len(outcomes), 'attempt')} succeeded"
    return title, [*ended, *failed], ["succeeded", "failed", *common]


def _decisions(memory_id: str) -> list[tuple[Any, str]]:
    decided = landed_decisions(Lake(settings_from_environment().lake_folder))
    of_memory = decided.filter(pl.col("target_kind") == "memory", pl.col("target") == pl.lit(memory_id))
    return of_memory.select("decided_at", "command").collect().rows()
