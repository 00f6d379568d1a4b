"""`slowwave why` of strategies, errors and outcomes, and of what outcomes say of a memory: as many rows as counted."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.cli import main as cli

HOSTILE = "rm -rf / \x1b[31m=cmd()[red] '; DROP TABLE runs; --"
SAYS_M1 = memory("m1")["content"]
INFERRED = {"basis": "inferred", "basis_method": "transcript_tests/1"}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    """One strategy in two wordings and two projects, a cascade, a hostile strategy, outcomes of interactions."""
    made = SmallHome(tmp_path_factory.mktemp("why") / "home")
    of = {"project": "shop", "task_type": "git", "agent": "dev"}
    made.land(
        memory("m1"),
        *(
            outcome(f"o{n}", strategy="Run tests first" if n % 2 else "run the test first", success=n > 3, **of,
                    error_message=None if n > 3 else f"timeout after {n} s")
            for n in range(1, 8)
        ),
        outcome("cascade", strategy="run tests first", success=False, error_message="depends on step 3", **of),
        outcome("elsewhere", strategy="run tests first", project="other"),
        *(
            outcome(f"no {module}", success=False, error_message=f"No module named '{module}'", project="libs")
            for module in ("requests", "numpy")
        ),
        outcome("hostile", strategy=HOSTILE, success=False, error_message=HOSTILE * 3, project=HOSTILE, agent=HOSTILE),
        interaction("won", response=SAYS_M1, success=True),
        interaction("lost", response=SAYS_M1, success=False),
        interaction("lost after all", response=SAYS_M1, success=True),
        outcome("later", interaction_id="lost after all", success=False, created_at="2026-03-02T11:00:00Z"),
        interaction("skipped", response=SAYS_M1),
        outcome("no attempt", interaction_id="skipped", success=False, attempted=False),
        interaction("graded", response=SAYS_M1, success=False, basis="evaluated", basis_method="judge/3"),
        interaction("guessed", response=SAYS_M1),
        outcome("tests", interaction_id="guessed", success=True, strategy="Run tests first", **INFERRED),
        outcome("tests of won", interaction_id="won", success=False, created_at="2026-03-02T12:00:00Z", **INFERRED),
    )  # fmt: skip
    made.nightly()
    return made


@pytest.fixture
def why(home, capfd, monkeypatch):
    def ask(given: str, output: str = "json") -> Any:
        monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
        capfd.readouterr()
        every = ["--all"] if output == "text" else []
        code = cli._exit_code(["why", given, *every, "--format", output])
        out, err = capfd.readouterr()
        assert code == 0, err
        return json.loads(out) if output == "json" else out

    return ask


def published(home: SmallHome, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        return connection.sql(sql).fetchall()


def test_a_strategy_is_found_by_any_wording_and_lists_exactly_its_attempts(why):
    found = why("run the test first")
    assert why("Run tests first") == found == why(found["strategy_id"])
    shop, other = sorted(found["uses"], key=lambda use: use["project"] == "other")
    assert (shop["attempts"], shop["successes"]) == (7, 4)
    assert [row["outcome_id"] for row in shop["outcomes"]] == [f"o{n}" for n in range(1, 8)]
    assert (other["attempts"], [row["outcome_id"] for row in other["outcomes"]]) == (1, ["elsewhere"])
    assert {row["outcome_id"]: row["reason"] for row in found["not_learned"]} == {
        "cascade": "cascade: another step it depends on had failed",
        "tests": "inferred, and learn_from_inferred is off",
    }
    said = "succeeded inferred by transcript_tests/1 inferred, and learn_from_inferred is off"
    assert said in " ".join(why("Run tests first", "text").split())
    assert {row["strategy"] for row in found["wordings"]} == {
        "Run tests first",
        "run the test first",
        "run tests first",
    }


def test_every_published_strategy_lists_as_many_outcomes_as_it_counts(why, home):
    rows = published(home, "SELECT project, agent, task_type, strategy_id, attempts, successes FROM heuristics")
    assert len(rows) == 3
    for *cell, attempts, successes in rows:
        (use,) = [
            use
            for use in why(cell[-1])["uses"]
            if [use[name] for name in ("project", "agent", "task_type", "strategy_id")] == cell
        ]
        assert len(use["outcomes"]) == attempts
        assert sum(row["success"] for row in use["outcomes"]) == successes


def test_an_error_lists_its_outcomes(why, home):
    ((error_id,),) = published(home, "SELECT error_id FROM error_templates WHERE error_template LIKE 'timeout%'")
    found = why(error_id)
    assert [row["outcome_id"] for row in found["outcomes"]] == ["o1", "o2", "o3"]
    assert found["errors"][0]["messages"] == 3


def test_a_family_lists_its_errors_and_their_outcomes(why, home):
    ((family,),) = published(home, "SELECT DISTINCT error_family FROM error_templates WHERE project = 'libs'")
    found = why(family)
    assert [row["example"] for row in found["errors"]].count("No module named 'numpy'") == 1
    assert {row["outcome_id"] for row in found["outcomes"]} == {"no requests", "no numpy"}
    assert f"family of errors {family}" in why(family, "text")
    assert why(found["errors"][0]["error_id"])["also"] == []
    assert "of the family: No module named '<value>'" in why(found["errors"][0]["error_id"], "text")


def test_an_outcome_says_as_what_it_counts(why):
    assert why("cascade")["outcome"]["is_attempt"] is False
    text = why("cascade", "text")
    assert "does not count as an attempt" in text
    assert "reason: cascade" in text
    assert "decides how it ended" in why("later", "text")
    assert "succeeded, inferred by transcript_tests/1, does not count as an attempt" in why("tests", "text")


def test_a_memory_lists_how_the_interactions_that_used_it_ended(why):
    found = why("m1")
    assert found["counts"]["confirmed"] == 1
    assert [row["interaction_id"] for row in found["confirmed"]] == ["won"]
    assert {row["interaction_id"]: row["outcome_id"] for row in found["contradicted"]}["lost after all"] == "later"
    assert found["counts"]["contradicted"] == len(found["contradicted"]) == 3
    assert [row["basis"] for row in found["confirmed"]] == ["reported"]
    assert {row["interaction_id"]: row["basis_method"] for row in found["contradicted"]}["graded"] == "judge/3"
    assert [(row["outcome_id"], row["success"]) for row in found["apart"]] == [("tests", True), ("tests of won", False)]
    text = " ".join(why("m1", "text").split())
    assert " graded evaluated by judge/3 " in text
    assert "apart 2: references in attempts that were inferred; nothing is learned of these" in text
    assert "failed, inferred by transcript_tests/1" in text


def test_an_interaction_says_how_each_of_its_outcomes_is_known(why):
    text = why("won", "text")
    assert "succeeded, reported, which decides" in text
    assert "failed, inferred by transcript_tests/1 (inferred, and learn_from_inferred is off)" in text
    assert [(row["outcome_id"], row["is_counted"]) for row in why("guessed")["outcomes"]] == [("tests", False)]
    assert "not evidence that the text is false" in " ".join(why("m1", "text").split())


def test_hostile_texts_stay_texts(why, home):
    text = why(HOSTILE, "text")
    assert "\x1b" not in text
    found = why(HOSTILE)
    assert found["uses"][0]["project"] == HOSTILE
    assert [row["outcome_id"] for row in found["uses"][0]["outcomes"]] == ["hostile"]
    assert published(home, "SELECT count(*) > 0 FROM runs") == [(True,)]
