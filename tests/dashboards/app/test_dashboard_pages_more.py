"""The pages of strategies, observations, review and runs: what they say of a log whose answers are known."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from drawn_pages import IGNORED, Draw, addresses_of, bodies, commands, drawn, grids, published_by, words
from hostile_rows import HUGE, PROJECT, TEXTS, hostile_rows
from small_home import SmallHome, interaction, memory
from taught_rows import AS_OF, taught_rows

from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.sql import sql_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.app.panel import draw_thing, panel_title
from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.words import part

PAGES: list[Draw] = [strategies_page, observations_page, review_page, runs_page, sql_page]
pytestmark = [
    pytest.mark.filterwarnings(IGNORED),
    pytest.mark.slow,  # whole pages: continuous integration runs them, and those of test_dashboard_pages_core always
]


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    home = SmallHome(tmp_path_factory.mktemp("taught") / "home")
    home.land(*taught_rows())
    home.land(
        memory("old port", changed_at="2026-03-01T10:00:00Z", project="facts", content="The API port is 8080"),
        memory("new port", changed_at="2026-03-02T08:00:00Z", project="facts", content="The API port is 9090"),
        memory("cache on", project="facts", content="The response cache is enabled"),
        memory("cache off", project="facts", content="The response cache is disabled"),
        memory("taken back", changed_at="2026-01-01T08:00:00Z"),
        interaction("then", created_at="2026-01-02T08:00:00Z"),
        memory("taken back", changed_at="2026-01-03T08:00:00Z", status="invalid"),
        memory("refused", confidence=2),
        interaction(
            "late", recorded_at="2026-03-09T09:00:00Z", response="Decision: prices are kept in a table of cents."
        ),
    )
    home.nightly(AS_OF)
    published = published_by(home)
    yield published
    published.close()


@pytest.fixture(autouse=True)
def _home(request, monkeypatch):
    """The panel reads the lake of the home that a page is of."""
    for name in ("taught", "hostile", "empty"):
        if name in request.fixturenames:
            monkeypatch.setenv("SLOWWAVE_HOME", str(request.getfixturevalue(name).path.parents[2]))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    home = SmallHome(tmp_path_factory.mktemp("hostile") / "home")
    home.land(*hostile_rows(), memory("no project", project=TEXTS["script"], content=TEXTS["markdown"], confidence=9))
    home.nightly(datetime(2026, 5, 1))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    published = published_by(home)
    yield published
    published.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    home = SmallHome(tmp_path_factory.mktemp("empty") / "home")
    home.nightly(AS_OF)
    published = published_by(home)
    yield published
    published.close()


def asked_id(published: Published, sql: str) -> str:
    with published.cursor() as cursor:
        return cursor.sql(sql).fetchall()[0][0]


@pytest.mark.slow
def test_the_strategy_to_use_is_said_first(taught):
    said = words(drawn(strategies_page, taught, task_type="deploy"))
    assert "Best so far of 3 tried strategies: “free the port” (depot / coder / deploy), estimate " in said
    assert said.index("free the port") < said.index("restart the server")


def test_only_strategies_that_were_chosen_are_listed(taught):
    app = drawn(strategies_page, taught, project="depot", agent="coder")
    boxes = {box.label: box for box in app.selectbox}
    assert "depot" in boxes["Project"].options
    assert "coder" in boxes["Agent"].options
    assert boxes["Kind of task"].options == ["deploy"]
    boxes["Kind of task"].select("deploy").run()
    assert app.query_params["task_type"] == "deploy"
    assert "No strategy to use is known" in words(drawn(strategies_page, taught, agent="nobody"))
    assert "No strategy to use is known" in words(drawn(strategies_page, taught, project="elsewhere"))


def test_a_failing_strategy_stands_with_its_evidence_and_alternative(taught):
    said = words(drawn(strategies_page, taught))
    row = taught.answer("anti_patterns_by_state").row(0, named=True)
    assert "1 anti-pattern: 1 open" in said
    assert "No hard task: at every kind of task some strategy may succeed." in said
    assert f"port <number> is in use 1.0 {row['baseline_rate']} {row['e_value']}" in said
    (pattern,) = grids(drawn(strategies_page, taught))["Open anti-patterns, most expensive first"].to_dicts()
    assert pattern["better_alternative"] == "free the port"
    # guess did, but no two looks a week apart say so yet
    assert "No strategy changed in the last 28 days" in said


def test_the_command_below_a_table_has_what_is_chosen(taught):
    app = drawn(strategies_page, taught, agent="coder", task_type="deploy")
    for name in (
        *("best_strategies", "strategies", "worsening_strategies", "untried_strategies"),
        *("costliest_anti_patterns", "common_errors"),
    ):
        assert f"recipe={name}&amp;with_agent=coder&amp;with_task_type=deploy" in bodies(app), name
    facts = bodies(drawn(observations_page, taught, search="API port", freshness="fresh"))
    assert "with_search=API+port&amp;with_freshness=fresh" in facts
    assert "sql?recipe=review_queue&amp;with_kind=contradiction" in bodies(
        drawn(review_page, taught, kind="contradiction")
    )
    nowhere = bodies(drawn(strategies_page, taught, no_project="yes"))
    assert 'recipe=best_strategies&amp;with_project="' in nowhere


def test_estimates_stand_beside_their_strategy(taught):
    grid = grids(drawn(strategies_page, taught, task_type="deploy"))["Best so far, per project, agent and kind of task"]
    assert grid.columns[:4] == ["task_type", "strategy", "confidence", "is_reliable"]
    row = taught.answer("best_strategies").row(0, named=True)
    low, high = part(row["confidence_low"]), part(row["confidence_high"])
    assert f"{part(row['confidence'])} ({low}–{high})" in words(drawn(strategies_page, taught))


def test_actions_of_the_overview_lead_to_their_page(taught):
    body = bodies(drawn(overview_page, taught))
    assert re.search(r'href="review\?open=item:[0-9a-f]{32}"[^>]*><bdi>Reject 1 harmful memory', body)
    assert re.search(r'href="review"[^>]*><bdi>Archive 1 memory', body)


def test_memories_that_harm_are_told_with_their_interval(taught):
    row = taught.answer("helping_and_hurting_memories").row(0, named=True)
    assert row["lift_high"] < 0
    assert f"−{abs(100 * row['lift']):.1f} (" in words(drawn(memories_page, taught, list="effect"))


def test_the_panel_of_a_strategy_has_its_attempts_what_to_do_instead_and_a_command(taught):
    row = next(row for row in taught.answer("strategies").to_dicts() if row["strategy"].startswith("restart"))
    app = drawn(draw_thing, taught, open=f"strategy:{row['strategy_id']}", case="task_type=deploy")
    assert "restart the server" in words(app)
    assert grids(app)["Instead"]["says"].to_list() == ["free the port"]
    assert f"slowwave why strategy:{row['strategy_id']} --all" in commands(app)
    assert "no strategy 'no such' is known" in words(drawn(draw_thing, taught, open="strategy:no such"))


def test_facts_lead_to_their_memories(taught, monkeypatch):
    leading = addresses_of(monkeypatch)
    app = drawn(observations_page, taught, search="API PORT")
    facts = grids(app)["Facts, most sources first: 1 to 1 of 1"]
    assert facts["text"].to_list() == ["The API port is 9090"]
    (thing,) = leading["Facts, most sources first: 1 to 1 of 1"]["opens"]
    assert thing == f"observation:{facts['observation_id'].item()}"
    assert "new port" in grids(drawn(draw_thing, taught, open=thing))["Memories"]["id"].to_list()


def test_facts_at_odds_and_earlier_states_are_told(taught):
    said = words(drawn(observations_page, taught))
    assert "1 pair of facts of which only one can be true" in said
    assert "1 fact has changed" in said
    assert "The API port is 8080" in said


def test_an_item_of_the_queue_has_its_text_and_what_can_be_said(taught):
    item_id = asked_id(taught, "SELECT item_id FROM review_queue WHERE kind = 'contradiction'")
    app = drawn(draw_thing, taught, open=f"item:{item_id}")
    assert "The response cache is enabled" in words(app)
    for line in ("show {}", "promote {}", "reject {} --memory 'cache on'", "reject {} --memory 'cache off'"):
        assert f"slowwave review {line.format(item_id)}" in commands(app)
    assert not any(f"merge {item_id}" in line for line in commands(app))
    assert "is known as of" in words(drawn(draw_thing, taught, open="item:no such"))


def test_a_candidate_stands_with_the_interactions_that_state_it(taught):
    item_id = asked_id(taught, "SELECT item_id FROM review_queue WHERE contains(text, 'table of cents')")
    app = drawn(draw_thing, taught, open=f"item:{item_id}")
    assert "1 interaction in 1 session" in words(app)
    assert f"slowwave review merge {item_id} --into MEMORY_ID" in commands(app)
    shown = taught.answer("review_interactions", item_id=item_id)
    assert shown["interaction_id"].to_list() == ["late"]


def test_the_queue_is_shown_by_kind_and_project(taught, monkeypatch):
    leading = addresses_of(monkeypatch)
    app = drawn(review_page, taught, kind="contradiction", project="facts")
    assert "1 item of this kind" in words(app)
    (thing,) = leading["Items, most important first: 1 to 1 of 1"]["opens"]
    assert thing.startswith("item:")
    assert "changes nothing" in words(app)


def test_what_may_be_archived_comes_with_its_commands(taught):
    app = drawn(review_page, taught)
    planned = taught.answer("forgetting_plan")["memory_id"].to_list()
    assert planned == ["taken back"]
    assert {"slowwave forget plan", "slowwave forget apply --dry-run"} <= {*commands(app)}
    app.selectbox(key="choice_hold").select("taken back").run()
    assert "slowwave forget hold 'taken back' --reason 'why it is kept'" in commands(app)
    assert app.query_params["hold"] == "taken back"


def test_a_memory_that_is_planned_to_go_says_so_and_how_to_keep_it(taught):
    app = drawn(memory_page, taught, memory_id="taken back")
    (reason,) = taught.answer("forgetting_plan")["reason"]
    assert f"The forgetting plan would archive it (rule invalid): {reason}." in words(app)
    assert "sql?recipe=forgetting_plan&amp;with_memory_id=taken+back" in bodies(app)
    assert any(command.startswith("slowwave forget hold 'taken back'") for command in commands(app))
    other = drawn(memory_page, taught, memory_id="cache on")
    assert "forgetting plan" not in words(other)


def test_a_memory_can_be_rejected_and_is_compared_with_nothing(taught):
    app = drawn(memory_page, taught, memory_id="bad advice")
    assert "slowwave memory invalidate 'bad advice' --reason 'what is wrong with it'" in commands(app)
    assert "choice_compare" not in {box.key for box in app.selectbox}


def test_what_is_being_typed_stays_when_a_page_is_drawn_again(taught):
    app = drawn(memories_page, taught, search="port")
    assert app.text_input(key="typed_search").value == "port"
    app.run()
    assert not app.text_input(key="typed_search").proto.set_value


def test_a_panel_is_named_after_its_thing_and_not_by_markdown():
    assert panel_title("memory:mem-0001") == "Memory mem-0001"
    assert panel_title("item:**b** [x](y)") == "Review item"
    assert panel_title("mem-0001") == panel_title("**b**:x") == "What is known of it"


def test_runs_tell_what_landed_late_and_what_was_refused(taught):
    said = words(drawn(runs_page, taught))
    assert f"Run {taught.run_id} as of 2026-" in said
    assert "1 row was refused, for 1 reason" in said
    assert "confidence must lie between 0 and 1, not 2" in said
    assert "1 was recorded more than 24 hours after it happened" in said
    assert "heuristic/3" in said
    run = taught.answer("published_run", run_id=taught.run_id).row(0, named=True)
    assert run["code_hash"] in said
    assert "with_field=confidence" in bodies(drawn(runs_page, taught, field="confidence"))


@pytest.mark.parametrize("draw", [*PAGES, interactions_page, memories_page])
def test_a_page_of_an_empty_publish_says_what_is_missing(empty, draw):
    page = drawn(draw, empty)
    said = words(page)
    assert not any(name.startswith("New since") for name in grids(page))
    expected: dict[Draw, Any] = {
        strategies_page: "No strategy to use is known: that needs outcomes with a strategy.",
        observations_page: "No fact is known yet: that needs active memories.",
        review_page: "Nothing needs review.",
        runs_page: "No row was ever refused.",
        sql_page: "memory_health",
        interactions_page: "No interaction is known.",
        memories_page: "No memory is known.",
    }
    assert expected[draw] in said
    assert "remove a filter" not in said


def hostile_addresses(published: Published) -> list[tuple[Draw, dict[str, str]]]:
    queries = {
        "strategy": "SELECT DISTINCT strategy_id FROM heuristics ORDER BY ALL LIMIT 3",
        "item": "SELECT item_id FROM review_queue ORDER BY rank LIMIT 3",
        "memory": "SELECT memory_id FROM memory_health ORDER BY ALL LIMIT 6",
        "interaction": "SELECT DISTINCT interaction_id FROM memory_references ORDER BY ALL LIMIT 6",
        "observation": "SELECT observation_id FROM observations ORDER BY ALL LIMIT 2",
        "error": "SELECT DISTINCT error_id FROM error_templates ORDER BY ALL LIMIT 2",
        "outcome": "SELECT outcome_id FROM counted_outcomes ORDER BY ALL LIMIT 2",
    }
    with published.cursor() as cursor:
        things = [f"{kind}:{id_}" for kind, sql in queries.items() for (id_,) in cursor.sql(sql).fetchall()]
    memory_id = next(row for row in hostile_rows() if "memory_id" in row)["memory_id"]
    return [
        *((draw, {}) for draw in (*PAGES, interactions_page)),
        (interactions_page, {"project": PROJECT, "session": TEXTS["script"], "since": TEXTS["handler"]}),
        (interactions_page, {"client": TEXTS["script"], "user": TEXTS["closing"]}),
        (strategies_page, {"project": PROJECT, "task_type": TEXTS["script"]}),
        (observations_page, {"search": TEXTS["handler"]}),
        *((draw_thing, {"open": thing}) for thing in things),
        *((draw_thing, {"open": text}) for text in TEXTS.values()),
        (review_page, {"project": PROJECT, "hold": memory_id}),
        (runs_page, {"field": TEXTS["script"]}),
        (sql_page, {"query": "FROM memory_health"}),
        (sql_page, {"query": "FROM interactions"}),
        (sql_page, {"query": TEXTS["script"]}),
        (sql_page, {"query": f'SELECT 1 AS "{TEXTS["script"]}"'}),
        (sql_page, {"query": "SELECT $a AS said", "with_a": TEXTS["closing"]}),
    ]


@pytest.mark.slow
def test_hostile_content_is_text_on_every_page(hostile):
    for draw, address in hostile_addresses(hostile):
        app = drawn(draw, hostile, **address)
        html = bodies(app)
        for tag in ("<script", "<img", "<h1", "</svg", "</style", 'onerror="', "\x1b", "\u202e"):
            assert tag not in html, (draw, address, tag)
        for mark in ("\x1b", "\u202e", HUGE):
            assert mark not in html + words(app), (draw, address)
        # what Streamlit takes for Markdown holds nothing of the log
        told = [*app.markdown, *app.caption, *app.header, *app.subheader, *app.title, *app.error, *app.info]
        labels = [*app.selectbox, *app.text_input, *app.text_area, *app.button, *app.expander]
        for text in [element.value for element in told] + [element.label for element in labels]:
            assert "bold" not in text, (draw, address)
            assert "owned" not in text, (draw, address)


def test_commands_on_hostile_items_print_on_one_line(hostile):
    items = hostile.answer("review_queue")["item_id"].to_list()
    lines = [line for item_id in items for line in commands(drawn(draw_thing, hostile, open=f"item:{item_id}"))]
    assert lines
    assert all(line.isprintable() and line.startswith("slowwave ") for line in lines)


def test_every_recipe_of_these_pages_is_in_the_cookbook():
    pages = Path(__file__).resolve().parents[3] / "dashboards" / "app" / "pages"
    for name in ("strategies", "observations", "review", "runs"):
        source = (pages / f"{name}.py").read_text()
        asked = set(re.findall(r'(?:rows|count|counts|asked)\(\s*"(\w+)"', source))
        assert asked
        assert asked <= cookbook().keys()
