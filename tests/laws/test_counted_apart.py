"""What an answer names itself, and what was inferred, is counted apart: no other number follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from small_home import interaction, memory, outcome
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
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Home]:
    def publish(rows: list[Row], params: str = "") -> Home:
        home = Home(tmp_path_factory.mktemp("apart") / "home")
        home.folder.mkdir()
        home.settings.params_file.write_text(params)
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
    gone = {"is_cited", "cited_count", "citing_interactions"}
    if name == "answerable_questions":
        gone |= {"answer"}  # which says how many there are
    if name == "project_health":
        gone |= {"unknown_count", "unproven_count"}  # of ids that nobody knows, this one too
    return [{column: value for column, value in row.items() if column not in gone} for row in rows]


@pytest.mark.slow
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


# ------------------------------------------------------------------------------------------------- inferred outcomes

LEARN = "[attempts]\nlearn_from_inferred = true\n"


def inferred_rows() -> list[Row]:
    """Of interactions with and without a reported outcome, in known and new words, against all that was reported."""
    said = {"project": "depot", "agent": "coder", "task_type": "deploy", "basis": "inferred", "basis_method": "rule/1"}
    rows = []
    for day in range(0, 40, 2):
        at = f"2026-{3 + (day + 2) // 32:02}-{1 + (day + 1) % 31:02}T22:00:00Z"
        rows += [
            outcome(f"of reported {day}", interaction_id=f"advised {day + 1}", created_at=at, success=False, **said),
            outcome(f"of read {day}", interaction_id=f"reads {day}", created_at=at, success=day % 4 == 0, **said),
            outcome(f"restarted {day}", created_at=at, strategy="Restart server", success=True, **said),
            outcome(f"prayed {day}", created_at=at, strategy="pray", success=False,
                    error_message=f"port p{day}x is in use", **said),
        ]  # fmt: skip
    return rows


@pytest.mark.slow
def test_nothing_but_their_own_rows_follows_from_inferred_outcomes(published):
    plain, more = published(LOG), published([*LOG, *inferred_rows()])
    ids = {row["outcome_id"] for row in inferred_rows()}
    for name in PUBLISHED:
        before, after = plain.table(name), more.table(name)
        if name == "counted_outcomes":
            apart = [row for row in after if row["outcome_id"] in ids]
            assert {(row["is_counted"], row["is_learned"], row["is_deciding"]) for row in apart} == {(False,) * 3}
            assert {row["strategy_id"] for row in apart if "pray" in row["outcome_id"]} != {None}
            after = [row for row in after if row["outcome_id"] not in ids]
        elif name == "landed_days":
            assert sum(row["inferred_count"] for row in after) == len(ids)
            before, after = ([r for r in rows if r["landed_table"] != "outcomes"] for rows in (before, after))
        elif name == "answerable_questions":  # whose words say how many there are
            assert any("how 80 attempts ended was inferred" in row["answer"] for row in after)
            before, after = ([{**row, "answer": ""} for row in rows] for rows in (before, after))
        elif name in {"strategy_variants", "error_templates"}:
            assert len(after) > len(before)
            after = [row for row in after if row in before]
        assert after == before, name


@pytest.mark.slow
def test_learned_from_they_count_like_reported_ones_where_nobody_reported(published):
    learned = published([*LOG, *inferred_rows()], LEARN)
    unsaid = [{k: v for k, v in row.items() if not k.startswith("basis")} for row in inferred_rows()]
    alone = [row for row in unsaid if not row["outcome_id"].startswith("of reported")]
    reported = published([*LOG, *alone])
    for name in ("heuristics", "anti_patterns", "untried_strategies", "scorecard", "memory_health", "forecast_fits"):
        assert learned.table(name) == reported.table(name), name
    decided = "SELECT interaction_id, outcome_id, success FROM counted_outcomes WHERE is_deciding ORDER BY ALL"
    assert learned.rows(decided) == reported.rows(decided)
    assert {row["is_counted"] for row in learned.table("counted_outcomes") if "of reported" in row["outcome_id"]} == {
        False
    }
