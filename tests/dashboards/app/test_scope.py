"""Which project, agent and days a page is about, and with what it compares them: as the address says."""

from __future__ import annotations

import shutil
from contextlib import closing
from datetime import datetime
from urllib.parse import parse_qs, urlsplit

import duckdb
import pytest
from drawn_pages import bodies, drawn, published_by, words
from small_home import SmallHome, interaction
from taught_rows import taught_rows

from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.app.scope import earlier_publishes
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.narrowed import Narrowed

# naive times hold UTC
EARLIER, AS_OF = datetime(2026, 3, 10), datetime(2026, 4, 1)  # noqa: DTZ001
CUSTOM = {"days": "custom", "since": "2026-03-02", "until": "2026-03-04"}


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    home = SmallHome(tmp_path_factory.mktemp("taught") / "home")
    of_keeper = {"created_at": "2026-03-03T08:00:00Z", "agent": "keeper", "memories_used": ["bad advice"]}
    keeper = [interaction(f"k{n}", **of_keeper) for n in range(45)]
    home.land(*taught_rows(), *keeper)
    home.nightly(EARLIER)
    home.nightly(AS_OF)
    with closing(published_by(home)) as published:
        yield published


@pytest.fixture(scope="module")
def earlier(taught):
    ((run_id, _),) = earlier_publishes(taught)
    return run_id


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"days": "7"}, "2026-03-25 to 2026-03-31, compared with 2026-03-18 to 2026-03-24"),
        ({"days": "7", "compare": "nothing"}, "2026-03-25 to 2026-03-31. UTC days."),
        (CUSTOM, "2026-03-02 to 2026-03-04, compared with 2026-02-27 to 2026-03-01"),
        ({**CUSTOM, "compare": "agent keeper"}, "2026-03-02 to 2026-03-04, compared with agent keeper"),
        ({**CUSTOM, "until": "2026-02-01"}, "the days end (2026-02-01) before they begin (2026-03-02)"),
        ({"days": "custom", "since": "<b>", "until": "0000-99"}, "2026-03-02 to 2026-03-31, compared with"),
        ({"days": "custom", "since": "0001-01-01", "until": "9999-12-31"}, "All days to 2100-01-01"),
        ({"days": "-1", "compare": "project no-such"}, "2026-03-02 to 2026-03-31, compared with 2026-01-31"),
    ],
)
def test_the_overview_is_of_the_days_that_the_address_says(taught, chosen, says):
    assert says in words(drawn(overview_page, taught, **chosen))


def test_an_agent_alone_is_shown_and_what_the_page_leads_to_is_of_it_too(taught):
    everybody = words(drawn(overview_page, taught, days="0"))
    alone = drawn(overview_page, taught, days="0", agent="keeper")
    assert "of 45 answers" in words(alone)
    assert "of 45 answers" not in everybody
    links = [part.partition('"')[0] for part in bodies(alone).split('href="')]
    tile = next(link for link in links if link.startswith("memories?") and "sort=" in link)
    query = parse_qs(urlsplit(tile.replace("&amp;", "&")).query)
    assert query == {"sort": ["references"], "agent": ["keeper"], "days": ["0"]}


def test_pages_show_the_days_that_the_address_says(taught):
    listed = words(drawn(memories_page, taught, list="cost", **CUSTOM))
    assert listed != words(drawn(memories_page, taught, list="cost"))
    for page in (runs_page, strategies_page):
        assert "since=2026-03-02" in bodies(drawn(page, taught, **CUSTOM)).replace("with_", "")
    of_memory = drawn(memory_page, taught, memory_id="bad advice", **CUSTOM)
    assert "with_until=2026-03-04" in bodies(of_memory)
    assert "with_until" not in bodies(drawn(memory_page, taught, memory_id="bad advice"))
    from_the_first = {"days": "custom", "since": "1970-01-01", "until": "2026-03-04"}
    assert "with_until=2026-03-04" in bodies(drawn(memory_page, taught, memory_id="bad advice", **from_the_first))


def test_what_memories_cost_says_how_concentrated_it_is_and_what_is_dead_weight(taught):
    listed = words(drawn(memories_page, taught, list="cost"))
    assert "The 1 memory injected most: 100 % of injections. Active memories: 1 unproven." in listed


def test_interactions_of_some_days_are_those_of_these_times(taught, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(taught.path.parents[2]))
    named = drawn(interactions_page, taught, days="7")
    custom = drawn(interactions_page, taught, days="custom", since="2026-03-25", until="2026-03-31")
    assert words(named) == words(custom) == words(drawn(interactions_page, taught, since="2026-03-25"))
    exact = drawn(interactions_page, taught, **{"from": "2026-03-25", "before": "2026-04-01"})
    assert "of 7 interactions" in words(named)
    assert "of 7 interactions" in words(exact)


def test_days_that_end_before_they_begin_are_corrected(taught):
    page = drawn(overview_page, taught, days="custom", since="2026-03-02", until="2026-02-01")
    assert page.query_params["until"] == "2026-03-02"
    assert [f"{box.value}" for box in page.date_input] == ["2026-03-02", "2026-03-02"]
    no_day = drawn(overview_page, taught, days="custom", since="<b>", until="2026-03-04T08:00:00Z")
    assert no_day.query_params["until"] == "2026-03-04"
    assert "<b>" not in no_day.query_params["since"]


def test_an_earlier_publish_is_compared_with_differences_first(taught, earlier):
    chosen = {"compare": f"publish {earlier}", "project": "depot"}
    said = words(drawn(memories_page, taught, **chosen))
    assert "compared with the publish of 2026-03-10 00:00:00Z" in said
    assert "Differences from the publish of 2026-03-10 00:00:00Z" in said
    compared = words(drawn(overview_page, taught, days="30", **chosen))
    assert "compared with the publish of 2026-03-10" in compared
    for page in (strategies_page, review_page, observations_page, runs_page):
        assert "compared with the publish" in words(drawn(page, taught, **chosen))


def test_a_publish_that_is_none_is_compared_with_nothing(taught):
    for name in ("../../runs", "20261128T000000000000-0000", "'; DROP TABLE runs; --"):
        assert "the publish of" not in words(drawn(memories_page, taught, compare=f"publish {name}"))


def test_a_publish_that_cannot_be_narrowed_is_compared_with_nothing(taught, earlier, tmp_path):
    for name in (taught.path.name, f"{earlier}.duckdb"):
        shutil.copy(taught.path.with_name(name), tmp_path)
    with duckdb.connect(tmp_path / f"{earlier}.duckdb") as connection:  # as of a release that knew no users
        connection.execute("ALTER TABLE memory_health DROP COLUMN user_id")
    with closing(Published(tmp_path / taught.path.name, Narrowed(user="ada"))) as published:
        said = words(drawn(memories_page, published, compare=f"publish {earlier}", days="7"))
    assert f"publish {earlier} cannot be compared with" in said
    assert "No memory is known" in said


def test_a_user_and_a_tag_narrow_what_knows_them(taught):
    everything = drawn(memories_page, taught)
    assert {"User", "Tag"}.isdisjoint(box.label for box in everything.selectbox)  # nobody has any
    assert "No memory fits" in words(drawn(memories_page, taught, user="no such user"))
    assert "No memory fits" in words(drawn(memories_page, taught, tag="no such tag"))
    strategies = drawn(strategies_page, taught, user="no such user", tag="no such tag")
    assert {"User", "Tag"}.isdisjoint(box.label for box in strategies.selectbox)
    assert words(strategies) == words(drawn(strategies_page, taught))
    assert "user=no+such+user" in bodies(strategies)
