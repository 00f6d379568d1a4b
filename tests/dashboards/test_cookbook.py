"""Every recipe of the cookbook answers, with the columns it promises."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.dashboards.cookbook import Recipe, cookbook, read_recipe
from slowwave.flows import cli

RECIPES = cookbook()
SAYS_M1 = memory("m1")["content"]
# Recipes whose first row is known in the home below.
FIRST_ROWS = {
    "most_referenced": {"memory_id": "m1", "reference_count": 2},
    "injected_without_reference": {"memory_id": "m2", "injected_count": 5},
    "never_eligible": {"memory_id": "m3", "created_at": "2026-03-01T08:00:00Z"},
    "parroted": {"memory_id": "m4", "echoed_count": 1, "parroted_count": 1, "parroted_share": 1.0},
    "unknown_memory_ids": {"memory_id": "gone", "injected_count": 1, "projects": ["shop"]},
    "injected_while_inactive": {"memory_id": "m2", "status_then": "archived", "injected_count": 2},
    "memories_of_project": {"memory_id": "m3", "status": "active"},
    "memory_history": {"day": "2026-03-01", "status": "active", "eligible": 0},
    "memory_interactions": {"interaction_id": "i6", "is_injected": False, "is_echoed": True},
    "changed_memories": {"memory_id": "m2", "status": "archived", "reason": "old"},
    "references_by_day": {"day": "2026-03-02", "injected_interactions": 4, "echoing_interactions": 2},
    "memory_use_by_project": {"project": "shop", "memories": 3, "active": 2, "referenced": 2},
    "outcomes_by_strategy": {"strategy": "try again", "attempts": 3, "successes": 1, "not_said": 2},
    "common_errors": {"error": "worker 0 died", "failures": 2, "strategies": ["try again"]},
    "late_rows": {"landed_table": "outcomes", "late_rows": 1, "worst_hours": 48.0},
    "corrected_rows": {"interaction_id": "i5", "versions": 2},
    "freshness": {"landed_table": "interactions", "project": "shop", "newest_at": "2026-03-04T09:00:00Z"},
    "quarantine_reasons": {"field": "confidence", "refused": 2, "reason": "confidence must lie between 0 and 1, not …"},
    "landed_files": {"delivered": 19, "accepted": 17, "quarantined": 2},
    "recent_runs": {"kind": "nightly", "status": "published"},
}
GIVEN = {
    "memories_of_project": {"project": "empty"},
    "memory_history": {"memory_id": "m1"},
    "memory_interactions": {"memory_id": "m4"},
    "changed_memories": {"days": "40000"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("cookbook") / "home")
    days = ["2026-03-02T09:00:00Z"] * 3 + ["2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"]
    made.land(
        memory("m1", confidence=0.5),
        memory("m2"),
        memory("m2", changed_at="2026-03-03T10:00:00Z", status="archived", reason="old"),
        memory("m3", project="empty"),
        memory("m4"),
        memory("m5", confidence=2),
        memory("m5", confidence=-1),
        interaction("i0", memories_used=["gone"], response=SAYS_M1),
        *(interaction(f"i{n}", created_at=day, memories_used=["m2"]) for n, day in enumerate(days, start=1)),
        interaction("i5", created_at=days[-1], memories_used=["m2"], recorded_at="2026-03-05T00:00:00Z"),
        interaction("i6", prompt=memory("m4")["content"], response=SAYS_M1 + memory("m4")["content"]),
        outcome("o1", strategy="try again", success=False, error_message="worker 12 died"),
        outcome("o2", strategy="try again", success=False, error_message="worker 7 died"),
        outcome("o3", strategy="try again", attempted=True, recorded_at="2026-03-04T10:00:00Z"),
        outcome("o4", strategy="try again", attempted=False, success=False),
    )
    made.nightly()
    return made


@pytest.fixture
def answers(home, capfd, monkeypatch):
    def ask(recipe: Recipe, **params: str) -> list[dict[str, Any]]:
        monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
        capfd.readouterr()
        given = [argument for name, value in params.items() for argument in ("--param", f"{name}={value}")]
        code = cli._exit_code(["sql", recipe.name, "--format", "json", *given])
        said = capfd.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    return ask


def test_there_is_an_expected_row_for_every_recipe():
    assert FIRST_ROWS.keys() == RECIPES.keys()


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_answers_with_the_columns_it_promises(answers, name):
    recipe = RECIPES[name]
    rows = answers(recipe, **GIVEN.get(name, {}))
    assert rows
    assert list(rows[0]) == [column.name for column in recipe.columns]
    assert rows[0] == rows[0] | FIRST_ROWS[name]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_a_question_with_units_and_needs_no_clock(name):
    recipe = RECIPES[name]
    assert recipe.question.endswith("?")
    sql = re.sub(r"--.*", "", recipe.sql)
    assert not re.search(r"\b(?:now|current_\w+|today|get_current\w*)\b", sql, re.IGNORECASE)
    for column in recipe.columns:
        assert not column.name.endswith("_at") or column.unit == "UTC"
        assert not column.name.endswith(("_count", "_share")) or column.unit
    assert set(re.findall(r"\$(\w+)", sql)) == recipe.params.keys()


def test_a_header_is_read():
    recipe = read_recipe(
        "x",
        "-- question: What?\n-- columns: a (days) – one;\n--   b – two, of\n--   them\n"
        "-- params: p=a b; q\n-- A remark.\nSELECT 1",
    )
    assert recipe.question == "What?"
    assert [(column.name, column.unit, column.meaning) for column in recipe.columns] == [
        ("a", "days", "one"),
        ("b", "", "two, of them"),
    ]
    assert recipe.params == {"p": "a b", "q": None}


@pytest.mark.parametrize(
    "header",
    [
        "SELECT 1",
        "-- question: What?\nSELECT 1",
        "-- columns: a – one\nSELECT 1",
        "-- question: What?\n-- columns: a, b\nSELECT 1",
        "-- note: What?\nSELECT 1",
    ],
)
def test_a_recipe_without_a_proper_header_is_refused(header):
    with pytest.raises(ValueError, match=r"^x\.sql"):
        read_recipe("x", header)
