"""Simulated users of memories: when each memory is referenced, with the truth known."""

from __future__ import annotations

import numpy as np
import polars as pl

RATES = {"5 a day": 5.0, "1 a day": 1.0, "2 a week": 2 / 7, "1 a week": 1 / 7, "1 a month": 1 / 30}


def poisson(rng, rates):
    """References per day at a rate per day."""
    return rng.poisson(rates)


def bursts(rng, days, rate, size, spread):
    """Bursts of `size` references, all on one day or over `size` consecutive ones, `rate` bursts a day."""
    starts = rng.poisson(rate, days)
    if not spread:
        return starts * size
    return np.convolve(starts, np.ones(size, dtype=np.int64))[:days]


def timelines(counts, active=None):
    """Frames memories, days, scope_days of users given as references per day (rows), each in a scope of its own.

    `active`: which of the days have an interaction, all by default; references on others do not happen.
    """
    users = len(counts)
    active = np.ones_like(counts, dtype=bool) if active is None else active
    memory, day = np.nonzero(counts * active)
    scope, on = np.nonzero(active)
    number = np.arange(users)
    memories = pl.DataFrame(
        {
            "memory": number.astype(np.uint32),
            "memory_id": [f"m{row:06}" for row in range(users)],
            "scope": number.astype(np.uint32),
            "created_day": np.zeros(users, dtype=np.int32),
        }
    )
    days = pl.DataFrame(
        {
            "memory": memory.astype(np.uint32),
            "day": day.astype(np.int32),
            "reference_count": counts[memory, day].astype(np.int64),
            "broad_count": np.zeros(len(day), dtype=np.int64),
            "bulk_count": np.zeros(len(day), dtype=np.int64),
        }
    )
    scope_days = pl.DataFrame(
        {
            "scope": scope.astype(np.uint32),
            "day": on.astype(np.int32),
            "interactions_count": np.full(len(on), 10, dtype=np.int64),
            "sessions_count": np.full(len(on), 3, dtype=np.int64),
        }
    )
    return memories, days, scope_days


def looks(users, days):
    """Every user asked at every one of the days."""
    memory, day = np.meshgrid(np.arange(users), np.asarray(days), indexing="ij")
    return pl.DataFrame({"memory": memory.ravel().astype(np.uint32), "day": day.ravel().astype(np.int32)})
