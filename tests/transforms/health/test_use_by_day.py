"""use_by_day: an interaction counts once a day, its memories as often as they were injected."""

from __future__ import annotations

from datetime import date
from math import ceil
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame, Lazy, empty, framed
from slowwave.transforms.core.schema import computed_schema, polars_schema
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.health.answerable.tables import InteractionsWithMemories, UseByDay
from slowwave.transforms.health.answerable.use_by_day import interactions_with_memories, use_by_day
from slowwave.transforms.health.nodes import HEALTH_SIZES
from slowwave.transforms.health.tables import MemoryHealth

DAYS = (date(2026, 3, 1), date(2026, 3, 2))
KEY = ("day", "project", "agent")
TEXTS = {"m1": "12345", "m2": "", "m3": None, "m4": "€" * 8}
READ = (
    "memory_id",
    "interaction_id",
    "project",
    "agent",
    "is_injected",
    "is_echoed",
    "in_prompt",
    "is_used",
    "is_cited",
)
Row = dict[str, Any]
references = st.fixed_dictionaries(
    {
        "memory_id": st.sampled_from([*TEXTS, "never landed"]),
        "interaction": st.integers(1, 3),
        "day": st.sampled_from(DAYS),
        "project": st.sampled_from(["", "shop"]),
        "agent": st.sampled_from(["", "coder"]),
        "is_injected": st.booleans(),
        "is_echoed": st.booleans(),
        "is_used": st.booleans(),
        "is_cited": st.booleans(),
        "said": st.booleans(),
    }
).map(
    lambda row: (
        row
        | {
            "in_prompt": row["said"] if row["is_echoed"] else None,
            "interaction_id": f"{row['day']} {row['project']} {row['agent']} {row['interaction']}",
        }
    )
)


def reference_rows(rows: list[Row]) -> Lazy[MemoryReferences]:
    schema = {name: polars_schema(MemoryReferences)[name] for name in READ} | {"day": pl.Date}
    return framed(MemoryReferences, pl.LazyFrame(rows, schema=schema), partial=True)


def health(use_states: dict[str, str]) -> Frame[MemoryHealth]:
    rows = [(memory, text, use_states.get(memory, "unproven")) for memory, text in TEXTS.items()]
    schema = {name: polars_schema(MemoryHealth)[name] for name in HEALTH_SIZES.columns}
    return framed(MemoryHealth, pl.DataFrame(rows, schema=schema, orient="row"), partial=True)


def interactions_had(rows: list[Row]) -> Frame[InteractionsWithMemories]:
    return interactions_with_memories(
        empty(InteractionsWithMemories), reference_rows(rows), {day: f"{day}" for day in DAYS}
    )


def count_interactions(rows: list[Row], sizes: dict[str, int], unused: set[str]) -> list[Row]:
    """The same, one interaction after the other."""
    found: list[Row] = []
    for key in sorted({tuple(row[name] for name in KEY) for row in rows}):
        mine = [row for row in rows if tuple(row[name] for name in KEY) == key]
        of = {
            row["interaction_id"]: [each for each in mine if each["interaction_id"] == row["interaction_id"]]
            for row in mine
        }
        injected = [row["memory_id"] for row in mine if row["is_injected"]]
        count = {
            name: sum(any(holds(row) for row in each) for each in of.values())
            for name, holds in {
                "injected": lambda row: row["is_injected"],
                "echoing": lambda row: row["is_echoed"],
                "parroting": lambda row: bool(row["in_prompt"]),
                "using": lambda row: row["is_used"],
                "referencing": lambda row: row["is_echoed"] or row["is_used"],
                "citing": lambda row: row["is_cited"],
            }.items()
        }
        found.append(
            dict(zip(KEY, key, strict=True))
            | {f"{name}_interactions": each for name, each in count.items()}
            | {
                "injected_tokens": sum(sizes.get(memory, 0) for memory in injected),
                "unused_tokens": sum(sizes.get(memory, 0) for memory in injected if memory in unused),
            }
        )
    return found


@given(
    rows=st.lists(references, max_size=12, unique_by=lambda row: (row["memory_id"], row["interaction_id"])),
    use_states=st.dictionaries(st.sampled_from([*TEXTS]), st.sampled_from(["used", "not_used", "undetectable"])),
)
def test_each_day_is_counted_as_one_interaction_after_the_other(rows: list[Row], use_states: dict[str, str]) -> None:
    found = use_by_day(interactions_had(rows), reference_rows(rows), health(use_states))
    assert dict(found.schema) == dict(computed_schema(UseByDay))
    unused = {memory for memory, state in use_states.items() if state == "not_used"}
    sizes = {memory: ceil(len(text or "") / 4) for memory, text in TEXTS.items()}
    assert found.to_dicts() == count_interactions(rows, sizes, unused)
