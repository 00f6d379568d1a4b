"""ALMA's strength of a memory, which ours is compared with."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_now import strength_state

_REINFORCED_DAYS = 7
_HALF_LIFE_DAYS = {"heuristic": 60.0, "outcome": 30.0, "preference": 365.0, "knowledge": 90.0, "anti_pattern": 45.0}
_OTHER_HALF_LIFE_DAYS = 30.0


def alma_strength(
    idle_days: int, accesses: int, reinforcements: int, half_life_days: float, importance: float
) -> float:
    """ALMA's formula (alma-memory 0.11, `alma/learning/decay.py`), clamped to 0-1.

    (exp(-.693 idle / half-life) + min(.4, .1 ln(1 + accesses)) + min(.3, .1 reinforcements)) x (.5 + .5 importance).

    Args:
        idle_days: days since the last access, or since it was made.
        accesses: all so far; their bonus never fades.
        reinforcements: those of the last 7 days.
        half_life_days: of the memory type.
        importance: 0-1; it scales the strength, so that a fresh memory without importance starts at .5.
    """
    base = math.exp(-0.693 * idle_days / half_life_days)
    bonus = min(0.4, 0.1 * math.log(1 + accesses)) + min(0.3, 0.1 * reinforcements)
    return min(1.0, max(0.0, (base + bonus) * (0.5 + 0.5 * importance)))


def alma_strengths(memories: pl.DataFrame, days: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """What `strengths` takes and tells, by ALMA's formula."""
    known = {row["memory"]: row for row in memories.iter_rows(named=True)}
    used: dict[int, dict[int, int]] = {memory: {} for memory in known}
    for memory, day, references in days.select("memory", "day", "reference_count").iter_rows():
        if memory in used:
            used[memory][day] = references
    rows = [_told(known[memory], used[memory], day) for memory, day in asked.sort("memory", "day").iter_rows()]
    schema = {**asked.schema, "half_life_days": pl.Float64, "strength": pl.Float64}
    told = pl.DataFrame(rows, schema=schema, orient="row")
    return told.with_columns(strength_state(pl.col("strength"), StrengthParams()).alias("strength_state"))


def _told(memory: dict[str, Any], used: dict[int, int], day: int) -> tuple[Any, ...]:
    half_life = _HALF_LIFE_DAYS.get(memory["memory_type"] or "", _OTHER_HALF_LIFE_DAYS)
    so_far = {one: references for one, references in used.items() if one <= day}
    born = memory["created_day"]
    seen = [*so_far, *([born] if born is not None and born <= day else [])]
    if not seen:
        return memory["memory"], day, half_life, None
    recent = sum(references for one, references in so_far.items() if one > day - _REINFORCED_DAYS)
    importance = 0.5 if memory["importance"] is None else memory["importance"]
    strength = alma_strength(day - max(seen), sum(so_far.values()), recent, half_life, importance)
    return memory["memory"], day, half_life, 1.0 if memory["pinned"] else strength
