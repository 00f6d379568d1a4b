"""Timelines written by rule, two years of them, that take every path of strength, need and trend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from slowwave.transforms.usage.timelines import EVERYBODY, MemoryTimelines

START = 19_723  # 2024-01-01: a leap year
TODAY = START + 731  # 2026-01-01
SHOP, DEPOT, CLOSED = 1, 2, 3
_SCHEMA = {
    "memory_id": pl.String, "scope": pl.UInt32, "status": pl.String, "memory_type": pl.String, "project": pl.String,
    "agent": pl.String, "importance": pl.Float64, "pinned": pl.Boolean, "created_day": pl.Int32,
}  # fmt: skip
_DAYS = {
    "memory_id": pl.String, "day": pl.Int32, "reference_count": pl.Int64, "broad_count": pl.Int64,
    "bulk_count": pl.Int64,
}  # fmt: skip
_PROJECTS = {SHOP: "shop", DEPOT: "depot", CLOSED: "closed"}

# What a memory is, and the days of its references: from START on, as offsets.
Pattern = tuple[str, dict[str, Any], Iterable[int]]


def _patterns() -> list[Pattern]:
    whole = range(1, 731)
    bursts = [first + day for first in range(20, 731, 45) for day in range(3)]
    rising = [day for day in whole if day % (40 if day < 500 else 3) == 0]
    falling = [day for day in whole if day % (3 if day < 500 else 40) == 0]
    named: list[Pattern] = [
        ("daily", {}, whole),
        ("daily, unimportant", {"importance": 0.0}, whole),
        ("weekly", {"memory_type": "project"}, range(3, 731, 7)),
        ("monthly", {"memory_type": "knowledge"}, range(10, 731, 30)),
        ("yearly", {"memory_type": "identity"}, (40, 405)),
        ("in bursts", {"memory_type": "adaptation"}, bursts),
        ("rising", {}, rising),
        ("falling", {}, falling),
        ("stopped", {}, range(2, 600, 4)),
        ("stopped lately", {}, range(2, 715, 4)),
        ("once", {}, (300,)),
        ("twice", {}, (300, 640)),
        ("yesterday", {"created_day": TODAY - 5}, (730,)),
        ("a day too late", {"created_day": TODAY - 40}, (731, 732)),
        ("never", {}, ()),
        ("young", {"created_day": TODAY - 9}, ()),
        ("before it was landed", {"created_day": START + 400}, (390, 395, 450, 600)),
        ("never landed", {"status": None, "memory_type": None, "project": None, "created_day": None}, range(0, 731, 9)),
        ("pinned", {"pinned": True}, (5,)),
        ("important", {"importance": 1.0}, (5,)),
        ("unimportant", {"importance": 0.0}, (5,)),
        ("archived", {"status": "archived"}, range(0, 300, 5)),
        ("candidate", {"status": "candidate"}, (700,)),
        ("of everybody", {"scope": EVERYBODY, "project": "", "memory_type": "preference"}, range(4, 731, 11)),
        ("of the closed", {"scope": CLOSED}, range(1, 366, 6)),
        ("of the closed, once", {"scope": CLOSED}, (200,)),
        ("on idle days", {"scope": DEPOT}, (9, 50, 51, 99, 148, 149)),
        ("broad", {"breadth": "broad"}, range(6, 731, 20)),
        ("in bulk", {"breadth": "bulk"}, range(6, 731, 20)),
    ]
    # many alike, so that there is something to fit: they come one by one, some are used soon, some late, some never
    crowd: list[Pattern] = [
        (
            f"crowd {number:02}",
            {
                "scope": DEPOT if number % 2 else SHOP,
                "memory_type": "episodic" if number % 3 else "knowledge",
                "created_day": START + 5 * number,
                "breadth": "bulk" if number % 7 == 3 else "narrow",
            },
            range(5 * number + 7 * (1 + number % 5), 731 if number % 5 else 5 * number, 2 + number % 29),
        )
        for number in range(90)
    ]
    return [*named, *crowd]


def golden_timelines() -> MemoryTimelines:
    """Shop is active every day, depot every seventh and on two around it, closed in the first year alone."""
    stated, referenced = [], []
    for memory_id, said, offsets in _patterns():
        breadth = said.pop("breadth", "narrow")
        usual = {
            "scope": SHOP, "status": "active", "memory_type": "knowledge", "agent": "", "importance": None,
            "pinned": False, "created_day": START,
        }  # fmt: skip
        row = {**usual, "memory_id": memory_id, **said}
        stated.append({"project": _PROJECTS.get(row["scope"]), **row})
        for offset in offsets:
            count = 1 + offset % 3
            broad, bulk = (count if breadth == kind else 0 for kind in ("broad", "bulk"))
            # once in a while there is a narrow reference beside the broad ones
            count += breadth != "narrow" and offset % 60 == 6
            referenced.append((memory_id, START + offset, count, broad, bulk))
    memories = pl.DataFrame(stated, schema=_SCHEMA).sort("memory_id").with_row_index("memory")
    days = pl.DataFrame(referenced, schema=_DAYS, orient="row").join(
        memories.select("memory", "memory_id"), on="memory_id"
    )
    active = {
        EVERYBODY: range(732),
        SHOP: range(732),
        DEPOT: [day for day in range(732) if day % 7 < 3],
        CLOSED: range(366),
    }
    scope_days = pl.DataFrame(
        [(scope, START + day, 5 + day % 4, 1 + day % 2) for scope, offsets in active.items() for day in offsets],
        schema={"scope": pl.UInt32, "day": pl.Int32, "interactions_count": pl.Int64, "sessions_count": pl.Int64},
        orient="row",
    )
    scopes = pl.DataFrame(
        {"scope": list(_PROJECTS), "project": list(_PROJECTS.values())},
        schema={"scope": pl.UInt32, "project": pl.String},
    )
    return MemoryTimelines(
        memories.select("memory", *_SCHEMA),
        days.select("memory", "day", "reference_count", "broad_count", "bulk_count").sort("memory", "day"),
        scope_days.sort("scope", "day"),
        scopes,
    )
