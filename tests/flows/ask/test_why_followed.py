"""What `slowwave why` and the recipes say of an instruction that answers follow or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory

FOLLOWS, DOES_NOT, TELLS_NOTHING = "The colour is off.", "The color is off, and so is the center.", "It works."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(Path(tmp_path_factory.mktemp("followed")) / "home")
    answers = [FOLLOWS] * 4 + [DOES_NOT] * 12 + [TELLS_NOTHING] * 3
    made.land(
        memory("british", project="shop", memory_type="preference", content="Answer in British English."),
        memory("push", project="shop", memory_type="preference", content="Run the linter before pushing."),
        *(
            interaction(
                f"i{at}",
                project="shop",
                created_at=f"2026-03-{at + 4:02}T09:00:00Z",
                prompt="Why?",
                response=answer,
                memories_used=["british", "push"],
            )
            for at, answer in enumerate(answers)
        ),
    )
    made.nightly()
    return made


def run_command(home: SmallHome, *command: str) -> str:
    done = home.ask(*command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_why_lists_as_many_answers_as_each_count_says(home: SmallHome):
    told = json.loads(run_command(home, "why", "british", "--format", "json"))
    assert (told["counts"]["followed"], told["counts"]["not_followed"]) == (4, 12)
    assert [row["interaction_id"] for row in told["followed"]] == ["i3", "i2", "i1", "i0"]
    assert {row["saw"] for row in told["not_followed"]} == {"British English (color, center)"}
    assert len(told["not_followed"]) == 12
    screen = run_command(home, "why", "british")
    assert "followed in 4 of 16 answers checked (90 % credible interval 0.12 to 0.46)" in screen
    assert "not followed" in screen
    every = run_command(home, "why", "british", "--all")
    assert "not_followed 12: " in every
    assert "British English (color, center)" in every


def test_of_what_no_check_can_tell_nothing_is_said(home: SmallHome):
    told = json.loads(run_command(home, "why", "push", "--format", "json"))
    assert (told["counts"]["followed"], told["counts"]["not_followed"]) == (0, 0)
    assert "followed" not in run_command(home, "why", "push")


def test_ignored_is_what_is_not_followed_and_not_what_is_not_repeated(home: SmallHome):
    (ignored,) = json.loads(run_command(home, "sql", "ignored_instructions", "--format", "json"))
    assert (ignored["memory_id"], ignored["checked_count"], ignored["not_followed_count"]) == ("british", 16, 12)
    (unchecked,) = json.loads(run_command(home, "sql", "unchecked_instructions", "--format", "json"))
    assert (unchecked["memory_id"], unchecked["injected_count"]) == ("push", 19)
    (followed,) = json.loads(run_command(home, "sql", "followed_instructions", "--format", "json"))
    assert (followed["checked_count"], followed["followed_count"], followed["last_not_followed"]) == (16, 4, "i15")


def test_review_asks_about_an_ignored_instruction_by_its_answers(home: SmallHome):
    items = json.loads(run_command(home, "review", "list", "--kind", "ignored", "--format", "json"))
    assert [item["memory_ids"] for item in items] == [["british"]]
    assert items[0]["reason"].startswith("Not followed in 12 of 16 checked answers (90 % interval")


def test_the_first_screen_says_so(home: SmallHome):
    page = run_command(home, "report", "--format", "md")
    (line,) = (line for line in page.splitlines() if "What is ignored?" in line)
    assert "1 of 1 checked" in page[page.index(line) :]
    assert "1 more instruction cannot be checked." in page


def test_who_asks_of_one_user_reads_no_others_answers(home: SmallHome, tmp_path: Path):
    query = "SELECT saw FROM instruction_checks"
    assert {row["saw"] for row in json.loads(run_command(home, "sql", query, "--format", "json"))} == {
        "color, center",
        "colour",
    }
    of_two = SmallHome(tmp_path / "home")
    said = {"project": "shop", "response": DOES_NOT, "memories_used": ["british"]}
    of_two.land(
        memory(
            "british", project="shop", user_id="ada", memory_type="preference", content="Answer in British English."
        ),
        *(interaction(f"of {user}", user_id=user, **said) for user in ("ada", "bob")),
    )
    of_two.nightly()
    told = json.loads(run_command(of_two, "sql", query, "--user", "ada", "--format", "json"))
    assert {row["saw"] for row in told} == {"(left out)"}
