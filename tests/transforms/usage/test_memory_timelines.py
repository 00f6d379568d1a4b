"""Timelines: which memory was referenced on which day, beside how active those were who could have."""

from datetime import date, datetime, time

import polars as pl

from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.memory_days import memory_days, project_days, reference_days
from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.evidence.tables import (
    MemoryDays,
    MemoryEligibility,
    MemoryReferences,
    ProjectDays,
    ReferenceDays,
)
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.usage.timelines import memory_timelines

PARAMS = EvidenceParams()
FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)
EPOCH_DAY = (FIRST - date(1970, 1, 1)).days


def states(*rows):
    schema = {"memory_id": pl.String, "valid_from": pl.Datetime("us")} | {
        name: polars_schema(Memories)[name] for name in Memories.state
    }
    return pl.LazyFrame([{"status": "active", "pinned": False, **row} for row in rows], schema=schema)


def days(*rows):
    counts = (
        "eligible_count",
        "injected_count",
        "echoed_count",
        "used_count",
        "reference_count",
        "broad_count",
        "bulk_count",
    )
    schema = {**polars_schema(MemoryDays), "day": pl.Date}
    return framed(MemoryDays, pl.LazyFrame([{**dict.fromkeys(counts, 0), **row} for row in rows], schema=schema))


def referred(*rows):
    return framed(ReferenceDays, days(*rows).drop("eligible_count"), partial=True)


def activity(**interactions):
    rows = [
        {"project": project, "day": day, "interactions_count": number, "sessions_count": 1}
        for project, numbers in interactions.items()
        for day, number in zip((FIRST, SECOND), numbers, strict=True)
    ]
    return framed(ProjectDays, pl.LazyFrame(rows, schema={**polars_schema(ProjectDays), "day": pl.Date}))


STATES = states(
    {
        "memory_id": "b",
        "valid_from": datetime.combine(date(2026, 2, 27), time(23)),
        "project": "atlas",
        "memory_type": "project",
    },
    {
        "memory_id": "b",
        "valid_from": datetime.combine(FIRST, time()),
        "project": "atlas",
        "memory_type": "project",
        "pinned": True,
    },
    {"memory_id": "a", "valid_from": datetime.combine(FIRST, time()), "project": "", "memory_type": "preference"},
    {"memory_id": "c", "valid_from": datetime.combine(FIRST, time()), "project": "", "memory_type": "knowledge"},
)
DAYS = referred(
    {"memory_id": "b", "day": SECOND, "reference_count": 2, "broad_count": 1},
    {"memory_id": "b", "day": FIRST, "reference_count": 1, "bulk_count": 1},
    {"memory_id": "a", "day": FIRST, "eligible_count": 3},
    {"memory_id": "zebra", "day": SECOND, "injected_count": 1},
)


def test_every_memory_has_a_number_and_the_scope_that_can_use_it():
    found = memory_timelines(STATES, DAYS, activity(atlas=(3, 4), borealis=(5, 6)), PARAMS)
    memories = found.memories.select("memory", "memory_id", "created_day", "pinned", "status").rows()
    assert memories == [
        (0, "a", EPOCH_DAY, False, "active"),
        (1, "b", EPOCH_DAY - 2, True, "active"),
        (2, "c", EPOCH_DAY, False, "active"),
        (3, "zebra", None, False, None),
    ]
    seen = {
        memory: found.scope_days.filter(pl.col("scope") == scope)["interactions_count"].to_list()
        for memory, scope in found.memories.select("memory_id", "scope").iter_rows()
    }
    assert seen == {"a": [8, 10], "b": [3, 4], "c": [], "zebra": []}


def test_days_without_a_reference_are_none():
    found = memory_timelines(STATES, DAYS, activity(atlas=(3, 4)), PARAMS)
    assert found.days.rows() == [(1, EPOCH_DAY, 1, 0, 1), (1, EPOCH_DAY + 1, 2, 1, 0)]


def test_nothing_landed_no_rows():
    found = memory_timelines(states(), referred(), activity(), PARAMS)
    assert [found.memories.height, found.days.height, found.scope_days.height] == [0, 0, 0]


def test_sessions_are_counted_once_and_interactions_without_one_each():
    interactions = pl.LazyFrame(
        {"interaction_id": list("abcde"), "project": list("pppqq"), "session_id": ["s", "s", None, None, None]},
        schema_overrides={"session_id": pl.String},
    )
    assert project_days(interactions).collect().rows() == [("p", 3, 2), ("q", 2, 2)]


def test_a_reference_among_many_is_broad_and_among_very_many_bulk():
    breadths = {"narrow": 9, "broad": 10, "wide": 99, "bulk": 100}
    references = pl.LazyFrame(
        [
            {"interaction_id": name, "memory_id": f"m{number:03}", "is_injected": True, "is_echoed": number < breadth}
            for name, breadth in breadths.items()
            for number in range(120)
        ]
    ).with_columns(
        occurred_at=pl.datetime(2026, 3, 1),
        is_used=pl.col("is_echoed") & (pl.col("memory_id") < "m005"),
        is_cited=pl.lit(value=False),
        in_prompt=pl.lit(value=False),
    )
    eligibility = pl.LazyFrame(schema={"memory_id": pl.String, "eligible_count": pl.Int64})
    found = memory_days(
        framed(MemoryEligibility, eligibility, partial=True), framed(MemoryReferences, references, partial=True), PARAMS
    ).collect()
    counts = {
        row[0]: row[1:] for row in found.select("memory_id", "reference_count", "broad_count", "bulk_count").rows()
    }
    assert (counts["m000"], counts["m009"], counts["m098"], counts["m099"]) == (
        (4, 2, 1),
        (3, 2, 1),
        (2, 1, 1),
        (1, 0, 1),
    )
    assert counts["m119"] == (0, 0, 0)


def test_reference_days_leave_out_who_was_only_eligible():
    counted = days(
        {"memory_id": "b", "day": FIRST, "reference_count": 1, "echoed_count": 1},
        {"memory_id": "a", "day": FIRST, "injected_count": 2},
        {"memory_id": "idle", "day": FIRST, "eligible_count": 9},
    )
    found = reference_days(counted).collect()
    assert found.select("memory_id", "injected_count", "reference_count").rows() == [("a", 2, 0), ("b", 0, 1)]
