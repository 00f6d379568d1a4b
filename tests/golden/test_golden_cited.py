"""A small log of answers that name what they relied on, written by hand, and what `cited/1` publishes of it.

The files in tests/golden/cited-1 are released (see golden_tables).
"""

import polars as pl
import pytest
from delivered import as_jsonl, utc
from golden_tables import assert_golden, golden_names
from replayed import NO_OUTCOMES, NO_USE, NONE_HELD, NONE_USED

from slowwave.transforms.evidence.eligibility import memory_eligibility
from slowwave.transforms.evidence.memory_days import memory_days
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.states import memory_pool, memory_states
from slowwave.transforms.health.memory_health import memory_health
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories
from slowwave.transforms.landing.versions import winning_versions
from slowwave.transforms.params import Params

COLUMNS = {
    "memory_health": [
        "memory_id", "status", "eligible_count", "injected_count", "echoed_count", "cited_count", "reference_count",
        "first_referenced_at", "reinforced_confidence",
    ],
    "memory_references": [
        "memory_id", "interaction_id", "project", "is_injected", "is_echoed", "is_used", "is_cited", "methods",
    ],
}  # fmt: skip
PARAMS = Params()
AS_OF = utc(2026, 3, 12)
OVEN, YEAST = "The deck oven needs forty minutes to heat", "Fresh yeast keeps for two weeks in the cold room"
CHANGES = [
    {"memory_id": "oven", "changed_at": "2026-03-09", "status": "active", "project": "bakery", "content": OVEN,
     "confidence": 0.5},
    {"memory_id": "yeast", "changed_at": "2026-03-09", "status": "active", "project": "bakery", "content": YEAST},
    {"memory_id": "yeast", "changed_at": "2026-03-11", "status": "archived"},
]  # fmt: skip


def asked(number, day, response, **fields):
    at = f"2026-03-{day}T{8 + number:02}:00:00Z"
    row = {"interaction_id": f"i{number}", "created_at": at, "project": "bakery", "prompt": "And now?"}
    return {**row, "response": response, **fields}


INTERACTIONS = [
    asked(1, 10, f"{OVEN}.", memories_used=["oven", "yeast"], memories_cited=["oven"]),
    asked(2, 10, "Heat it first [oven].", memories_used=["oven"], memories_cited=["oven", "oven", 7]),
    asked(3, 10, "Buy some.", memories_cited=["yeast"], reinforce=False),
    asked(4, 10, f"{YEAST}.", memories_cited=[]),
    asked(5, 11, "As I recall.", memories_cited=["yeast", "never landed"]),
    asked(6, 11, "No list.", memories_cited="oven"),
    asked(7, 11, "Of another house.", project="mill", memories_cited=["oven"]),
    asked(7, 11, "Of another house.", project="mill", recorded_at="2026-03-11T20:00:00Z", memories_cited=["yeast"]),
    asked(7, 11, "Not known yet.", project="mill", recorded_at="2026-03-13", memories_cited=["oven"]),
]


@pytest.fixture(scope="module")
def published():
    landed = landed_rows(as_jsonl([*CHANGES, *INTERACTIONS]))
    assert landed.quarantine.is_empty()
    states = memory_states(winning_versions(Memories, landed.memories.lazy(), AS_OF)).collect().lazy()
    pool = memory_pool(states, PARAMS.evidence).collect()
    won = winning_versions(Interactions, landed.interactions.lazy(), AS_OF).rename({"created_at": "occurred_at"})
    references, days = [], []
    for (day,), of_day in won.sort("interaction_id").collect().group_by(pl.col("occurred_at").dt.date()):
        references.append(memory_references(of_day, pool, NONE_USED, PARAMS.evidence))
        eligibility = memory_eligibility(of_day.lazy(), pool.lazy())
        days.append(memory_days(eligibility, references[-1].lazy(), PARAMS.evidence).with_columns(day=pl.lit(day)))
    eligible = pl.concat(days).group_by("memory_id").agg(pl.col("eligible_count").sum())
    health = memory_health(states, pl.concat(days), eligible, NO_OUTCOMES, NO_USE, NONE_HELD, PARAMS)
    return {
        "memory_health": health.collect(),
        "memory_references": pl.concat(references).sort("memory_id", "interaction_id"),
    }


@pytest.mark.parametrize("name", golden_names("cited-1"))
def test_what_was_published_is_published(name, published):
    table = name.partition("/")[2]
    assert_golden(published[table].select(COLUMNS[table]), name)
