"""Law 8: what an answer names itself is counted apart, and no other number follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from small_home import interaction, memory
from taught_rows import AS_OF, rows_with_another_task

from tests.laws.deliveries import jsonl
from tests.laws.home import PUBLISHED, Home

Row = dict[str, Any]
LOG = [
    *rows_with_another_task(),
    interaction("given", project="depot", memories_used=["never landed"]),  # a memory of which only the id is known
    memory("read often", project="depot", content="The cellar door sticks in wet weather"),
    *(
        interaction(f"reads {day}", created_at=f"2026-03-{day:02}T10:00:00Z", project="depot",
                    memories_used=["read often"], response="The cellar door sticks in wet weather, so push.")
        for day in range(3, 30, 2)
    ),
]  # fmt: skip
# Of every kind: one that is found there too, one that was given, one that was neither, one that nobody knows.
CITED = ["read often", "bad advice", "unheard of"]


def citing(rows: list[Row]) -> list[Row]:
    """Every second interaction names memories in its answer."""
    asked = [row["interaction_id"] for row in rows if "prompt" in row][::2]
    return [{**row, "memories_cited": CITED} if row.get("interaction_id") in asked else row for row in rows]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Row]], Home]:
    def publish(rows: list[Row]) -> Home:
        home = Home(tmp_path_factory.mktemp("apart") / "home")
        home.drop("log.jsonl", jsonl(rows))
        home.nightly(AS_OF)
        return home

    return publish


def without_citations(name: str, rows: list[Row]) -> list[Row]:
    """The rows of a published table as they would be if nothing had been cited."""
    if name == "memory_references":
        rows = [row for row in rows if row["is_injected"] or row["is_echoed"] or row["is_used"]]
        rows = [{**row, "methods": [method for method in row["methods"] if method != "cited/1"]} for row in rows]
    rows = [row for row in rows if row.get("memory_id") != "unheard of"]
    gone = {"is_cited", "cited_count"}
    if name == "project_health":
        gone |= {"unknown_count", "unproven_count"}  # of ids that nobody knows, this one too
    return [{column: value for column, value in row.items() if column not in gone} for row in rows]


def test_nothing_but_the_count_of_citations_follows_from_them(published):
    plain, cited = published(LOG), published(citing(LOG))
    for name in PUBLISHED:
        assert without_citations(name, cited.table(name)) == without_citations(name, plain.table(name)), name
    health = {row["memory_id"]: row for row in cited.table("memory_health")}
    count = sum("memories_cited" in row for row in citing(LOG))
    assert {memory_id: health[memory_id]["cited_count"] for memory_id in CITED} == dict.fromkeys(CITED, count)
    assert health["read often"]["reference_count"] == 14
    assert plain.rows("SELECT sum(cited_count)::INT AS n FROM memory_health") == [{"n": 0}]
    (row,) = cited.rows("SELECT max(cited_count) AS n FROM memory_health_history")
    assert row == {"n": count}
