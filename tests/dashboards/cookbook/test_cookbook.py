"""Every recipe of the cookbook answers, with the columns it promises."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attic_rows import PARAMS, attic_decisions, attic_rows
from each import each
from small_home import SmallHome, interaction, memory, outcome
from taught_rows import AS_OF, taught_rows

from slowwave.dashboards.cookbook.cookbook import Recipe, cookbook, exactly, read_recipe
from slowwave.flows.cli import main as cli
from slowwave.flows.decide.decisions import land_decisions
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.lake import Lake

RECIPES = cookbook()
SAYS_M1 = memory("m1")["content"]
HARMFUL = (
    "Success was lower with it (-0.70, 90 % interval -0.88 to -0.51), compared with interactions from which it was "
    "left out at random."
)
# Recipes whose first row is known in the home below.
FIRST_ROWS = {
    "most_referenced": {"memory_id": "steady", "reference_count": 45},
    "injected_without_reference": {"memory_id": "bad advice", "injected_count": 20},
    "never_eligible": {"memory_id": "m3", "created_at": "2026-03-01T08:00:00Z"},
    "cited_memories": {"memory_id": "m4", "cited_count": 1, "given_count": 0, "found_count": 1},
    "parroted": {"memory_id": "m4", "echoed_count": 1, "parroted_count": 1, "parroted_share": 1.0},
    "unknown_memory_ids": {"memory_id": "gone", "injected_count": 1, "projects": ["shop"]},
    "injected_while_inactive": {"memory_id": "m2", "status_then": "archived", "injected_count": 2},
    "stale_injections": {
        "memory_id": "lapsed",
        "status": "expired",
        "stale_injected_count": 1,
        "stale_hours": 25.0,
    },
    "stale_by_week": {"project": "quay", "week": "2026-03-02", "expired_count": 1, "interactions_count": 1},
    "scope_leaks": {
        "memory_id": "lapsed",
        "interaction_id": "i7",
        "crossed": ["user"],
        "memory_scope": "user=ada",
        "interaction_scope": "user=bob",
    },
    "memories_of_project": {"memory_id": "m3", "status": "active"},
    "memory_history": {"day": "2026-03-01", "status": "active", "eligible": 0},
    "memory_interactions": {"interaction_id": "i6", "is_injected": False, "is_echoed": True},
    "changed_memories": {"memory_id": "lost", "status": "active", "reason": "brought back"},
    "references_by_day": {"day": "2025-10-06", "injected_interactions": 0, "echoing_interactions": 1},
    "memory_use_by_project": {"project": "attic", "memories": 8, "active": 7, "referenced": 4},
    "chunk_use": {"document_id": "guide.md", "document_used_count": 2, "chunk_id": "guide.md#1", "used_count": 2},
    "common_errors": {"error_template": "port <number> is in use", "failures": 40, "sessions": 40, "strategies": 1},
    "not_counted": {"project": "depot", "reason": "no strategy", "outcomes": 40, "failures": 15},
    "success_by_week": {"week": "2026-04-06", "attempts": 20, "success_rate": 0.4, "apart": 0, "outcomes": 21},
    "best_strategies": {
        "strategy": "free the port",
        "attempts": 40,
        "strategies_tried": 3,
        "is_reliable": True,
        "trend": "stable",
    },
    "strategies": {"strategy": "try again", "attempts": 3, "successes": 1, "sessions": 3, "wordings": 1},
    "strategy_wordings": {
        "strategy": "Restart the servers!",
        "representative": "restart the server",
        "reason": "inflection",
    },
    "worsening_strategies": {"trend": "weakening", "strategy": "guess", "success_rate": 0.65, "sessions": 40},
    "untried_strategies": {
        "project": "quay",
        "task_type": "stow",
        "strategy": "lift",
        "best_tried": "lash",
        "elsewhere_attempts": 1,
    },
    "task_difficulty": {"project": "reef", "task_type": "hoist", "successes": 0, "attempts": 18, "strategies": 2},
    "confidence_grades": {"graded": "published", "horizon_days": 1, "cutoffs": 4},
    "costliest_anti_patterns": {
        "pattern": "restart the server",
        "kind": "avoid",
        "failures": 40,
        "expected_failures": 9.0,
        "cost": (40 - 9) * 60_000,
        "cost_unit": "ms",
        "better_alternative": "free the port",
    },
    "hard_tasks": {"project": "reef", "task_type": "hoist", "strategies": 2, "failures": 18, "attempts": 18},
    "anti_patterns_by_state": {"state": "open", "kind": "avoid", "pattern": "restart the server", "failure_rate": 1.0},
    "memory_outcomes": {"memory_id": "m1", "confirmed_count": 1, "contradicted_count": 1},
    "helping_and_hurting_memories": {"memory_id": "bad advice", "lift_basis": "randomised", "is_harmful": True},
    "calibration": {"method": "base_rate/1", "metric": "auc", "attempts": 84, "cutoffs": 4},
    "calibration_by_week": {"cutoff_at": "2026-03-30T00:00:00Z", "method": "base_rate/1", "attempts": 21},
    "late_rows": {"landed_table": "outcomes", "late_rows": 1, "worst_hours": 48.0},
    "agents": {"agent": "keeper", "interactions": 45},
    "success_difference": {"since": "1900-01-01", "basis": "randomised", "is_enough": True},
    "activity_by_day": {"day": "2026-03-02", "injected": 6, "used": 2, "tokens": None},
    "attempts_by_injection": {"has_memory": False, "offered_count": 1, "probability": 0.5, "attempts": 20},
    "injected_memories": {"memory_id": "bad advice", "injected": 20, "used": 0, "is_unused": True},
    "heaviest_memories": {"memory_id": "bad advice", "injected_count": 20},
    "memories_by_use": {"use": "used", "memories_count": 6, "tokens": 76},
    "ignored_instructions": {"memory_id": "fences", "injected_count": 1, "checked_count": 1, "not_followed_count": 1},
    "followed_instructions": {"memory_id": "fences", "check_kind": "format", "last_not_followed": "i7"},
    "unchecked_instructions": {"memory_id": "knots", "injected_count": 1},
    "corrected_rows": {"interaction_id": "i5", "versions": 2},
    "freshness": {"landed_table": "interactions", "project": "depot", "newest_at": "2026-04-10T01:00:00Z"},
    "quarantine_reasons": {"field": "confidence", "refused": 2, "reason": "confidence must lie between 0 and 1, not …"},
    "landed_files": {"delivered": 41, "accepted": 39, "quarantined": 2},
    "recent_runs": {"kind": "nightly", "status": "published"},
    "verdicts": {"memory_id": "bad advice", "verdict": "harmful", "main_reason": HARMFUL, "reasons_count": 3},
    "why_verdict": {"verdict": "harmful", "number": 1, "reason": HARMFUL},
    "review_order": {"memory_id": "bad advice", "verdict": "harmful"},
    "fading_soon": {
        "memory_id": "episode",
        "fades_at": "2026-04-18T00:00:00Z",
        "days_left": 7,
        # 81 days after its birth, with half-lives of 3.75, 15 and 60 days
        "strength": pytest.approx((2**-21.6 + 2 * 2**-5.4 + 2**-1.35) / 4, abs=1e-8),
        "half_life_days": 15.0,
    },
    "most_needed": {"memory_id": "steady", "strength": 1.0, "trend": "stable", "reference_count": 45},
    "memory_over_time": {"day": "2025-10-01", "trend": "new", "use_verdict": "unproven", "reference_count": 0},
    "project_health": {"project": "depot", "health": "warning", "alarms_count": 1, "injected_never_used_share": 1.0},
    "answerable_questions": {
        "asked": "Which memories are agents given?",
        "question": "given",
        "is_answered": True,
        "project": "",
    },
    "alarms": {
        "level": "warning",
        "alarm": "1 of its memories have the verdict harmful: success was lower with them than without (alarm from 1).",
        "judged_count": 1,
    },
    "half_lives": {"memory_type": "knowledge", "half_life_days": 90.0, "gain": 0.0, "default_half_life_days": 90.0},
    "need_calibration": {
        "cutoff_at": "2026-02-16T00:00:00Z",
        "memories_count": 3,
        "log_loss": pytest.approx(0.152, abs=0.001),
        "base_log_loss": pytest.approx(0.868, abs=0.001),
        "skill": pytest.approx(1 - 0.152 / 0.868, abs=0.002),
    },
    "fading_calibration": {"cutoff_at": "2026-02-16T00:00:00Z", "memories_count": 1, "faded_as_said": 1.0},
    "observations": {"project": "facts", "proof_count": 2, "memories_count": 2, "text": "The API port is 9090"},
    "state_changes": {
        "step": 1,
        "subject": "The API port",
        "value": "8080",
        "from_at": "2026-03-01T10:00:00Z",
        "until_at": "2026-03-02T08:00:00Z",
    },
    "contradicting_observations": {"project": "facts", "proof_count": 1, "contradicting_proof_count": 1},
    "curation": {"memory_id": "port again", "action": "skip", "kind": "fact", "target_memory_id": "new port"},
    "forgetting_plan": {"rule": "superseded", "memory_id": "old", "is_shadow": False},
    "forgetting_quotas": {"quota_kind": "project", "project": "attic", "quota": 3, "active_count": 7, "is_met": True},
    "forgotten": {"action": "held", "target": "empty", "reason": "an audit", "changed_by": "person"},
    "review_queue": {"rank": 1, "kind": "harmful", "text": memory("bad advice")["content"], "reason": HARMFUL},
    "review_by_project": {"project": "attic", "harmful": 0, "candidates": 0},
    "reviewed": {
        "action": "promote",
        "kind": "fading",
        "changed_by": "ada",
        "reason": "it is right",
        "changed_ids": [],
    },
    "memories_by_verdict": {"project": "attic", "verdict": "review", "trend": "stale", "memories_count": 1},
    "memories_by_state": {"status": "active", "strength_state": "strong", "memories_count": 8},
    "most_confident": {"memory_id": "m1", "confidence": 0.5, "confirmed_count": 1, "contradicted_count": 1},
    "decay_forecast": {
        "day": "2026-04-11",
        "fading_count": 1,
        "cumulative_count": 1,
        "active_count": 18,
        "undated_count": 15,
    },
    "what_changed": {"since_at": "2026-04-10T00:00:00Z", "topic": "use", "count": 0, "example_id": None},
    "got_worse": {"kind": "anti-pattern", "what": "keeps failing", "day": "2026-04-10", "text": "restart the server"},
    "memory_explorer": {"memory_id": "bad advice", "verdict": "harmful", "injected_count": 20},
    "memory_explorer_count": {"verdict": "unproven"},
    "memory_references_of": {"interaction_id": "i6", "is_echoed": True, "is_cited": True, "basis": "reported"},
    "memory_ends": {"basis": "reported", "is_counted": True, "succeeded": 1, "failed": 0},
    "memory": {"memory_id": "bad advice", "lift_basis": "randomised", "pinned": False},
    "memory_curation": {"action": "skip", "target_memory_id": "new port", "method": "curate/4"},
    "model_and_rules": {"model_action": None, "is_same": None, "rules_action": "add"},
    "proposed_merges": {"project": "facts", "memory_ids": ["new port", "port again"]},
    "candidates": {"text": "Prices are kept as integers"},
    "memory_observations": {"part": "states", "proof_count": 2, "text": "The API port is 9090"},
    "memory_review": {"kind": "harmful", "reason": HARMFUL},
    "near_memories": {"memory_id": "bad advice", "project": "depot"},
    "observation_memories": {"part": "states", "memory_id": "new port", "project": "facts"},
    "published_run": {"kind": "nightly", "as_of": "2026-04-11T00:00:00Z", "days_count": 77},
    "published_tables": {"table_name": "answerable_questions", "rows_count": 36, "hash_before": None},
    "run_steps": {},  # in order of what they cost
    "quarantined_rows": {"field": "confidence", "reason": "confidence must lie between 0 and 1, not 2.0"},
    "review_interactions": {"interaction_id": "advised 38", "in_prompt": False, "success": False},
    "review_memories": {"memory_id": "bad advice", "verdict": "harmful"},
    "landed_interactions": {
        "created_at": "2026-04-10T01:00:00Z",
        "project": "depot",
        "recorded_at": "2026-04-10T01:00:00Z",
    },
    "users": {"user": "ada", "memories": 1, "outcomes": 0},
    "tags": {"tag": "hot", "memories": 1},
    "landed_by_day": {"landed_table": "interactions", "day": "2026-04-10", "rows_count": 1, "late_count": 0},
    "memory_strength": {
        "at": "2025-10-02T00:00:00Z",
        "strength": pytest.approx((2 ** (-1 / 22.5) + 2 * 2 ** (-1 / 90) + 2 ** (-1 / 360)) / 4, abs=1e-8),
        "kind": "measured",
    },
    "regret": {
        "archived_as": "shadow",
        "rule": "",
        "memories_count": 1,
        "wanted_per_1000": 1000.0,
        "predicted_per_1000": 250.0,
        "interactions_per_1000": 2000.0,
    },
}
GIVEN = {
    "activity_by_day": {"since": "2026-03-02", "until": "2026-03-02"},
    "ignored_instructions": {"at_most": "100"},
    "unchecked_instructions": {"at_least": "1"},
    "attempts_by_injection": {"project": "depot"},
    "best_strategies": {"project": "depot"},
    "success_by_week": {"project": "depot"},
    "memories_of_project": {"project": "empty"},
    "memory_history": {"memory_id": "m1"},
    "memory_interactions": {"memory_id": "m4"},
    "changed_memories": {"days": "40000"},
    "why_verdict": {"memory_id": "bad advice"},
    "memory_over_time": {"memory_id": "rare"},
    "memory_references_of": {"memory_id": "m4"},
    "memory_ends": {"memory_id": "m4"},
    "memory": {"memory_id": "bad advice"},
    "memory_strength": {"memory_id": "steady"},
    "memory_curation": {"memory_id": "port again"},
    "memory_observations": {"memory_id": "new port"},
    "memory_review": {"memory_id": "bad advice"},
    "near_memories": {"memory_id": "bad advic"},
    "observation_memories": {"observation_id": "eb2200b6deb5d9ed"},
    "review_interactions": {"item_id": "a8d1449c14d522316c7bbb7d365a21a6"},
    "review_memories": {"item_id": "a8d1449c14d522316c7bbb7d365a21a6"},
}


def fact_rows() -> list[dict[str, Any]]:
    """A fact said twice, a state that changed, and two memories made at once that cannot both hold."""
    said = {
        "old port": ("2026-03-01T10:00:00Z", "The API port is 8080", ["ticket 1"]),
        "new port": ("2026-03-02T08:00:00Z", "The API port is 9090", ["ticket 2"]),
        "port again": ("2026-03-02T09:00:00Z", "The api port is 9090.", ["ticket 3"]),
        "cache on": ("2026-03-02T08:00:00Z", "The response cache is enabled", ["ticket 4"]),
        "cache off": ("2026-03-02T08:00:00Z", "The response cache is disabled", ["ticket 5"]),
    }
    return [
        memory(name, changed_at=at, project="facts", content=text, source_ids=sources)
        for name, (at, text, sources) in said.items()
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("cookbook") / "home")
    days = ["2026-03-02T09:00:00Z"] * 3 + ["2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"]
    made.folder.mkdir()
    made.settings.params_file.write_text(
        f"{PARAMS}\n[verdict]\nmissed_chance = 0.7\n[heuristics]\ntrend_agreement_days = 1\n"
    )
    made.land(*attic_rows())
    with writer_lock(made.settings, "forget apply"):
        land_decisions(Lake(Path(made.settings.lake)), attic_decisions())
    made.land(*taught_rows())
    made.land(*fact_rows())
    made.land(
        memory("fences", project="quay", memory_type="preference", content="Do not use code blocks"),
        memory("knots", project="quay", memory_type="preference", content="Knot every rope twice"),
        memory("lapsed", project="quay", expires_at="2026-03-01T09:00:00Z", user_id="ada"),
        interaction(
            "i7",
            created_at="2026-03-02T10:00:00Z",
            project="quay",
            memories_used=["lapsed", "fences", "knots"],
            user_id="bob",
            reinforce=False,
            response="```python\nif full:\n    leave()\n```",
        ),
    )
    made.land(
        memory("noted", project="facts", status="candidate", content="Prices are kept as integers"),
        memory("m1", confidence=0.5),
        memory("m2"),
        memory("m2", changed_at="2026-03-03T10:00:00Z", status="archived", reason="old"),
        memory("m3", project="empty"),
        memory("m4", tags=["hot", "hot"]),
        memory("m5", confidence=2),
        memory("m5", confidence=-1),
        interaction("i0", memories_used=["gone"], response=SAYS_M1, success=False, chunks_used=["guide.md#1", "faq"]),
        *(interaction(f"i{n}", created_at=day, memories_used=["m2"]) for n, day in enumerate(days, start=1)),
        interaction("i5", created_at=days[-1], memories_used=["m2"], recorded_at="2026-03-05T00:00:00Z"),
        interaction(
            "i6",
            prompt=memory("m4")["content"],
            response=SAYS_M1 + memory("m4")["content"],
            success=True,
            memories_cited=["m4"],
            chunks_used=["guide.md#1", "guide.md#2", "guide.md#1"],
        ),
        outcome("o1", strategy="try again", success=False, error_message="worker 12 died"),
        outcome("o2", strategy="try again", success=False, error_message="worker 7 died"),
        outcome("o3", strategy="try again", attempted=True, recorded_at="2026-03-04T10:00:00Z"),
        outcome("o4", strategy="try again", attempted=False, success=False),
        outcome("tests", interaction_id="i0", basis="inferred", basis_method="transcript_tests/1"),
        outcome("lifted", project="quay", task_type="load", strategy="lift", success=True),
        outcome("lashed", project="quay", task_type="stow", strategy="lash", success=False),
        # nobody succeeds at it; too late to be graded
        *(
            outcome(
                f"{name} {n}",
                project="reef",
                task_type="hoist",
                strategy=name,
                success=False,
                session_id=f"{name} {n}",
                created_at=f"2026-04-09T0{n}:00:00Z",
            )
            for name in ("winch", "crane")
            for n in range(9)
        ),
    )
    made.nightly(AS_OF)
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


@each("name", RECIPES)
def test_a_recipe_answers_with_the_columns_it_promises(answers, name):
    recipe = RECIPES[name]
    rows = answers(recipe, **GIVEN.get(name, {}))
    assert rows
    assert list(rows[0]) == [column.name for column in recipe.columns]
    assert rows[0] == rows[0] | FIRST_ROWS[name]


@each("name", RECIPES)
def test_a_recipe_is_a_question_with_units_and_needs_no_clock(name):
    recipe = RECIPES[name]
    assert recipe.question.endswith("?")
    sql = re.sub(r"--.*", "", recipe.sql)
    assert not re.search(r"\b(?:now|current_\w+|today|get_current\w*)\b", sql, re.IGNORECASE)
    for column in recipe.columns:
        assert not column.name.endswith("_at") or column.unit == "UTC"
        assert not column.name.endswith(("_count", "_share")) or column.unit
    assert set(re.findall(r"\$(\w+)", sql)) == recipe.params.keys()


def test_a_text_taken_exactly_matches_itself_alone(answers):
    assert exactly("a%b_c\\d") == "a\\%b\\_c\\\\d"
    counted = RECIPES["memory_explorer_count"]
    for project, found in [("attic", 8), ("att_c", 8), (exactly("attic"), 8), (exactly("att_c"), 0), (exactly("%"), 0)]:
        assert sum(row["memories_count"] for row in answers(counted, project=project)) == found, project


@each("name", [name for name, recipe in RECIPES.items() if recipe.params.get("project") == "%"])
def test_a_recipe_of_one_project_has_no_rows_of_others(answers, name):
    sql = re.sub(r"--.*", "", RECIPES[name].sql)
    assert sql.count("LIKE $") == sql.count("ESCAPE '\\'")
    rows = answers(RECIPES[name], **GIVEN.get(name, {}) | {"project": exactly("no such %")})
    assert {row["project"] for row in rows if "project" in row} == set()
    assert all(value in {None, 0} for row in rows for key, value in row.items() if key.endswith(("count", "_id")))


@pytest.mark.slow
def test_every_count_of_a_memory_lists_its_interactions(answers):
    counted = {
        "injected": "injected_count",
        "echoed": "echoed_count",
        "used": "used_count",
        "followed": "followed_count",
        "not followed": "not_followed_count",
        "referenced": "reference_count",
        "confirmed": "confirmed_count",
        "contradicted": "contradicted_count",
    }
    for memory_id in ("m1", "m2", "m4", "steady", "bad advice", "fences"):
        (known,) = answers(RECIPES["memory"], memory_id=memory_id)
        for name, column in counted.items():
            rows = answers(RECIPES["memory_references_of"], memory_id=memory_id, counted=name, limit="1000")
            assert len(rows) == known[column], (memory_id, name)
    assert answers(RECIPES["memory_references_of"], memory_id="m1", counted="no such count") == []


def test_the_explorer_finds_filters_sorts_and_pages(answers):
    def found(**params: str) -> list[str]:
        return [row["memory_id"] for row in answers(RECIPES["memory_explorer"], **params)]

    every = found()
    assert len(every) == 23
    assert every[:3] == ["bad advice", "noted", "lost"]  # harmful, then review by what looking is worth
    assert found(limit="4", offset="2") == every[2:6]
    assert found(search="OF STEADY") == ["steady"]
    assert found(search="New P") == ["new port"]
    assert found(search="100%") == found(search="_") == []
    assert set(found(project="facts", sort="memory_id")) == {
        "old port",
        "new port",
        "port again",
        "cache on",
        "cache off",
        "noted",
    }
    assert found(status="archived") == ["m2"]
    assert found(status="", project="") == ["gone"]
    assert found(verdict="harmful") == ["bad advice"]
    assert found(trend="stable", sort="memory_id") == ["monthly", "steady"]
    assert found(memory_type="episodic", sort="memory_id") == ["episode", "rare"]
    assert found(sort="references", limit="2") == ["steady", "monthly"]
    assert found(sort="needed", limit="1") == ["steady"]
    assert found(sort="weakest", limit="2") == ["rare", "episode"]
    assert found(sort="last_used", limit="1") == ["steady"]
    assert found(sort="surest", limit="2") == ["m4", "m1"]
    assert found(sort="doubtful", limit="2") == ["m1", "m4"]
    assert found(sort="newest", limit="2") == ["port again", "cache off"]
    assert found(sort="no such order") == found(sort="memory_id") == sorted(every)


def test_what_a_memory_became_is_found_in_its_history(answers):
    rows = answers(RECIPES["got_worse"], project="attic", days="100")
    assert [(row["id"], row["what"], row["day"], row["detail"]) for row in rows] == [
        ("rare", "forgettable", "2026-02-22", "not referenced since 2025-10-06"),
        ("episode", "weak", "2026-02-19", "normal on 2026-02-15"),
        ("lost", "verdict review", "2026-03-07", "inactive on 2026-03-05"),
    ]
    assert answers(RECIPES["got_worse"], project="attic", days="30") == []


@pytest.mark.parametrize(
    "name",
    [
        *("best_strategies", "strategies", "worsening_strategies", "anti_patterns_by_state", "costliest_anti_patterns"),
    ],
)
def test_a_recipe_of_strategies_is_narrowed_to_an_agent_and_a_kind_of_task(answers, name):
    every = answers(RECIPES[name])
    one = {"agent": every[0]["agent"], "task_type": every[0]["task_type"]}
    found = answers(RECIPES[name], **{param: exactly(value) for param, value in one.items()})
    assert found == [row for row in every if row == row | one]
    assert answers(RECIPES[name], agent="no such") == answers(RECIPES[name], task_type="no such") == []
    assert answers(RECIPES["common_errors"], **one) != []
    assert answers(RECIPES["common_errors"], agent="no such") == []


def test_observations_and_the_queue_are_searched_by_their_recipes(answers):
    found = answers(RECIPES["observations"], search="API PORT", freshness="%")
    assert [row["text"] for row in found] == ["The API port is 9090"]
    assert answers(RECIPES["observations"], search="%") == []
    every = answers(RECIPES["observations"])
    assert answers(RECIPES["observations"], limit="2", offset="1") == every[1:3]
    queue = answers(RECIPES["review_queue"])
    assert answers(RECIPES["review_queue"], kind="contradiction") == [
        row for row in queue if row["kind"] == "contradiction"
    ]
    assert answers(RECIPES["review_queue"], item_id=exactly(queue[1]["item_id"])) == [queue[1]]


def test_a_memory_of_no_agent_belongs_to_every_agent(answers):
    for name in ("memory_explorer", "helping_and_hurting_memories"):
        found = [row["memory_id"] for row in answers(RECIPES[name], agent="no such")]
        assert "bad advice" in found


@pytest.mark.slow
def test_an_anti_pattern_gone_dormant_is_told(tmp_path):
    made = SmallHome(tmp_path / "home")
    made.land(*taught_rows())
    for days in (29, 32):
        made.nightly(AS_OF + timedelta(days=days))
    said = made.run("sql", "what_changed", "--format", "json").stdout
    found = {row["what"]: row["count"] for row in json.loads(said) if row["topic"] == "anti-patterns"}
    assert found == {"became dormant, not tried lately": 1}


def test_what_changed_names_every_topic_with_its_latest_example(answers):
    rows = answers(RECIPES["what_changed"], hours="1000")
    found = {(row["topic"], row["what"]): (row["count"], row["example_id"]) for row in rows}
    assert found["use", "interactions that quoted a memory or used it in other words"] == (10, "attic 176")
    assert found["use", "interactions given a memory"] == (27, "advised 38")
    assert found["memories", "new, active"] == (11, "port again")
    assert found["memories", "marked keep"] == (1, "shadow")
    assert found["memories", "first reference"] == (3, "shadow")
    assert found["anti-patterns", "failed for the first time, open"][0] == 1
    assert found["hard tasks", "failed for the first time, open"][0] == 2
    assert found["decisions", "forget: restored"] == (1, "lost")
    assert found["decisions", "review: promote"] == (1, "an item")
    assert found["curation", "would skip"] == (1, "port again")
    assert {topic for topic, _ in found} == {
        "use", "memories", "anti-patterns", "hard tasks", "strategies", "observations", "review", "decisions",
        "curation",
    }  # fmt: skip


def test_the_decay_forecast_has_every_day(answers):
    rows = answers(RECIPES["decay_forecast"])
    assert len(rows) == 91
    assert [(row["day"], row["cumulative_count"]) for row in rows if row["fading_count"]] == [
        ("2026-04-11", 1),
        ("2026-04-18", 2),
    ]
    assert {row["active_count"] for row in answers(RECIPES["decay_forecast"], days="3", project="attic")} == {7}


def test_the_strength_of_a_memory_is_told_before_and_after_the_publish(answers):
    rows = answers(RECIPES["memory_strength"], memory_id="episode")
    (known,) = answers(RECIPES["memory"], memory_id="episode")
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert [(row["at"], row["strength"]) for row in rows if row["kind"] == "measured"][-1] == (
        "2026-04-11T00:00:00Z",
        known["strength"],
    )
    assert [row["at"][:10] for row in rows if row["kind"] == "forecast"] == [
        "2026-04-18", "2026-05-11", "2026-07-10", "2026-10-08", "2027-04-11",
    ]  # fmt: skip
    assert [row["strength"] for row in rows if row["kind"] == "forecast"] == known["strength_forecast"]
    # it fades on the day of the first of them
    assert known["strength_forecast"][0] < 0.1 <= known["strength"]
    assert answers(RECIPES["memory_strength"], memory_id="gone") == []


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
