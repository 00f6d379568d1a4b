"""The story of the sample logs is what the published tables tell, and every recipe has something to show."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from drawn_pages import IGNORED, Draw, drawn, grids
from small_home import SmallHome

from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.words import percent, signed_points
from slowwave.data import story
from slowwave.data.sample import FIRST_DAY, write_sample
from slowwave.data.sample_world import World
from slowwave.flows.cli import main as cli
from slowwave.flows.cli.demo import story_decisions
from slowwave.flows.decide.decisions import land_decisions
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.demo_home import midnight_after

pytestmark = pytest.mark.slow

Row = dict[str, Any]
Ask = Callable[..., list[Row]]
# Recipes that have nothing to show here, and why.
EMPTY = {
    "forgetting_quotas": "no quota is set in params.toml",
    "fading_calibration": "fading is graded only as far ahead as half-lives were watched, longer than these logs",
    "tags": "no memory of the sample has tags",
}
IDS = {
    "memory_id": (*(told.memory_id for told in story.STORY_MEMORIES), "mem-00"),
    "observation_id": ("SELECT observation_id FROM observations ORDER BY proof_count DESC, 1 LIMIT 3",),
    "item_id": ("SELECT item_id FROM review_queue WHERE kind IN ('harmful', 'candidate') ORDER BY rank LIMIT 3",),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """The sample logs, published as `slowwave demo` publishes them."""
    made = SmallHome(tmp_path_factory.mktemp("story") / "home")
    write_sample(made.settings.inbox)
    end = midnight_after(story.DAYS)
    made.nightly(end - timedelta(days=1))
    land_decisions(Lake(made.settings.lake_folder), story_decisions(story.DAYS))
    made.nightly(end)
    return made


@pytest.fixture
def ask(home: SmallHome, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return the rows of a recipe or of a query, as `slowwave sql` answers."""

    def asked(query: str, **params: str) -> list[Row]:
        monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
        capfd.readouterr()
        given = [argument for name, value in params.items() for argument in ("--param", f"{name}={value}")]
        code = cli._exit_code(["sql", query, "--format", "json", *given])
        said = capfd.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    return asked


def planted_effect(memory_id: str) -> float:
    """How much likelier success truly was where chance injected a memory than where chance held it back."""
    world = World(7, FIRST_DAY, story.DAYS)
    chances: defaultdict[bool, list[float]] = defaultdict(list)
    for day in range(story.DAYS):
        for planted, reported in world.interactions(day, story.INTERACTIONS_PER_DAY):
            row = planted.row
            if "injection_probability" in row and memory_id in [offer["id"] for offer in row["memories_offered"]]:
                attempts = [one.probability for one in (planted, *reported) if one.attempted]
                chances[memory_id in row["memories_used"]] += attempts
    return sum(chances[True]) / len(chances[True]) - sum(chances[False]) / len(chances[False])


def test_one_memory_helps_and_one_harms_within_their_intervals(ask: Ask) -> None:
    rows = {row["memory_id"]: row for row in ask("helping_and_hurting_memories")}
    helps, harms, looks = (rows[told.memory_id] for told in (story.HELPS, story.HARMS, story.LOOKS_HARMFUL))
    assert {row["lift_basis"] for row in (helps, harms, looks)} == {"randomised"}
    assert 0 < helps["lift_low"] <= planted_effect(story.HELPS.memory_id) <= helps["lift_high"]
    assert harms["lift_low"] <= planted_effect(story.HARMS.memory_id) <= harms["lift_high"] < 0
    assert [row["memory_id"] for row in rows.values() if row["is_harmful"]] == [story.HARMS.memory_id]
    assert looks["lift_low"] < 0 < looks["lift_high"]


def test_the_first_screen_names_both_and_compares_with_the_days_before(home: SmallHome) -> None:
    page = Path(home.ask("report").stdout.strip())
    first = page.read_text(encoding="utf-8").split("What changed")[0]
    for told in (story.HELPS, story.HARMS, story.IGNORED):
        assert told.content[:20].replace("`", "&#96;") in first or told.content[:20] in first
    assert "randomised" in first
    assert "(may be chance)" not in first
    assert " before" in first
    assert ">cost</abbr> 0." in first


def test_the_first_screen_and_the_recipes_count_uses_alike(home: SmallHome, ask: Ask) -> None:
    first = Path(home.ask("report").stdout.strip()).read_text(encoding="utf-8").split("What changed")[0]
    days = {"since": "2026-04-15", "until": "2026-05-14"}
    used = sum(row["referencing_interactions"] for row in ask("references_by_day", **days))
    activity = ask("activity_by_day", **days)
    asked = sum(row["interactions"] for row in activity)
    assert used == sum(row["used"] for row in activity)
    assert f"≥ {percent(used / asked)}" in first
    assert f"of {asked:,} " in first
    every = sum(row["referencing_interactions"] for row in ask("references_by_day"))
    (answer,) = [row["answer"] for row in ask("answerable_questions") if row["question"] == "used"]
    assert answer.startswith(f"{every:,} of ")
    (compared,) = [row for row in ask("success_difference", **days) if row["basis"] == "randomised"]
    assert signed_points(compared["difference"]) in first


def test_one_instruction_is_ignored(ask: Ask) -> None:
    ignored = ask("ignored_instructions")
    assert ignored[0]["memory_id"] == story.IGNORED.memory_id
    assert ignored[0]["injected_count"] > 100


def test_one_strategy_stops_working_and_one_begins_to(ask: Ask) -> None:
    variants = {s.strategy_id: s.variants for s in story.STRATEGIES}
    trends = defaultdict(set)
    for row in ask("worsening_strategies"):
        trends[row["strategy"]].add(row["trend"])
    assert {"weakening"} in [trends[text] for text in variants[story.STOPS_WORKING]]
    assert {"strengthening"} in [trends[text] for text in variants[story.STARTS_WORKING]]


def test_what_was_archived_is_wanted_again(ask: Ask) -> None:
    decided = {(row["action"], row["decided_at"][:10]) for row in ask("forgotten")}
    assert decided == {("archived", "2026-03-30"), ("restored", "2026-04-15")}
    (every,) = [row for row in ask("regret") if row["rule"] == ""]
    assert every["wanted_per_1000"] == 1000
    assert every["interactions_per_1000"] > 1000 > every["predicted_per_1000"]
    wanted = {row["memory_id"]: row for row in ask("injected_while_inactive")}
    assert wanted[story.WANTED_AGAIN.memory_id]["status_then"] == "archived"
    assert ask("memory_references_of", memory_id=story.WANTED_AGAIN.memory_id)


def test_one_week_was_broken(ask: Ask) -> None:
    by_week = ask(
        "SELECT date_trunc('week', created_at)::DATE AS week, avg(success::INT) AS rate, count(*) AS attempts"
        " FROM counted_outcomes WHERE is_counted GROUP BY ALL HAVING attempts > 50 ORDER BY rate"
    )
    broken = f"{FIRST_DAY + timedelta(days=story.BROKEN_WEEK.start)}"
    assert by_week[0]["week"] == broken
    assert by_week[1]["rate"] - by_week[0]["rate"] > 0.15
    versions = ask(
        "SELECT date_trunc('week', created_at)::DATE AS week, count(*) AS rows FROM interactions"
        " WHERE extra->>'prompt_version' = 'agents-12' GROUP BY ALL"
    )
    assert [row["week"] for row in versions] == [broken]


def test_nobody_succeeds_at_one_kind_of_task(ask: Ask) -> None:
    assert [(row["project"], row["task_type"]) for row in ask("hard_tasks")] == [story.NOBODY_SUCCEEDS_AT]


def test_a_private_memory_leaks_and_one_memory_fades(ask: Ask) -> None:
    leaks = ask("scope_leaks")
    assert {row["memory_id"] for row in leaks} == {story.PRIVATE.memory_id}
    assert len(leaks) == len(story.LEAKED_ON)
    assert story.FADES_NEXT.memory_id in {row["memory_id"] for row in ask("fading_soon")}


def test_every_recipe_has_something_to_show(ask: Ask) -> None:
    found = {}
    for name, recipe in cookbook().items():
        missing = [param for param, default in recipe.params.items() if default is None]
        choices: list[dict[str, str]] = [{}]
        if missing:
            (param,) = missing
            known = [value for query in IDS[param] for value in _values(ask, query)]
            choices = [{param: value} for value in known]
        found[name] = any(ask(name, **chosen) for chosen in choices)
    assert {name for name, has_rows in found.items() if not has_rows} == set(EMPTY)


PAGES: dict[Draw, dict[str, str]] = {
    memories_page: {},
    memory_page: {"memory_id": story.HARMS.memory_id},
    strategies_page: {},
    observations_page: {},
    review_page: {},
    runs_page: {},
    interactions_page: {},
}


@pytest.mark.filterwarnings(IGNORED)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_every_page_has_rows_to_show(home: SmallHome, page: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    with closing(Published(home.settings.current)) as published:
        shown = grids(drawn(page, published, **PAGES[page]))
    assert shown
    assert [caption for caption, rows in shown.items() if rows.is_empty()] == []


def _values(ask: Ask, query: str) -> list[str]:
    return [str(value) for row in ask(query) for value in row.values()] if " " in query else [query]
