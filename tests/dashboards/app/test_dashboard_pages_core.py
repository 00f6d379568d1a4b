"""The dashboard's overview, explorer and page of one memory, as Streamlit draws them from a small publish."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from drawn_pages import IGNORED, Draw, bodies, drawn, grids, published_by, words
from each import each
from small_home import SmallHome, interaction, memory, outcome
from streamlit.testing.v1 import AppTest
from thorough import some

from slowwave.dashboards.app.pages.memories import LISTS, memories_page
from slowwave.dashboards.app.pages.memory import memory_page, use
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.strategies import strategy_to_use
from slowwave.dashboards.app.widgets import csv_of
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import memory_link, project_view, view
from slowwave.dashboards.words import shown_of

pytestmark = pytest.mark.filterwarnings(IGNORED)

HOSTILE = "**b** <img src=x onerror=alert(1)> :red[x] $x$ [l](http://x) </script> \x1b[31m \u202e =1+1"
AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - UTC, as the flows take it
LONG = "A word of a very long text. " * 40_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    home = SmallHome(tmp_path_factory.mktemp("dashboard") / "home")
    used = {"memories_used": ["m1", "m2"], "response": memory("m1")["content"], "success": True, "strategy": "look"}
    home.land(
        memory("m1", memory_type="preference", confidence=0.5),
        memory("m2", content=HOSTILE, project=HOSTILE, memory_type="preference"),
        memory("m3", status="archived", project=""),
        memory("100%_sure", content="An id with what patterns are made of."),
        memory("long", content=LONG),
        memory(HOSTILE, content="Its id is hostile."),
        *(interaction(f"i{n}", created_at=f"2026-03-{n + 2:02}T09:00:00Z", **used) for n in range(8)),
        interaction("i9", memories_used=["never landed"]),
        outcome("o1", interaction_id="i3", created_at="2026-03-12T09:00:00Z", success=False, strategy="look"),
    )
    home.nightly(AS_OF)
    return home


@pytest.fixture(scope="module")
def published(home: SmallHome) -> Iterator[Published]:
    found = published_by(home)
    yield found
    found.close()


def listed(session: AppTest) -> list[str]:
    """The ids in the explorer's grid."""
    return [found for grid in grids(session).values() for found in grid["memory_id"]]


def test_explorer_lists_every_memory(published: Published) -> None:
    session = drawn(memories_page, published)
    assert sorted(found for found in listed(session) if len(found) < 20) == [
        "100%_sure",
        "long",
        "m1",
        "m2",
        "m3",
        "never landed",
    ]
    assert "1 to 7 of 7 memories" in words(session)


@each(
    ("chosen", "found"),
    [
        ({"search": "INTEGERS"}, ["m1", "m3"]),
        ({"search": "100%_"}, ["100%_sure"]),
        ({"search": "%"}, ["100%_sure"]),
        ({"project": HOSTILE}, ["m2"]),
        ({"status": "archived"}, ["m3"]),
        ({"status": "never landed"}, ["never landed"]),
        ({"no_project": "yes"}, ["m3", "never landed"]),
        ({"project": "sho_"}, []),
        ({"type": "preference", "sort": "memory_id"}, ["m1", "m2"]),
        ({"verdict": "no such verdict", "search": "m1"}, ["m1"]),
        ({"page": "999999999999", "search": "m1"}, ["m1"]),
        ({"page": "²", "search": "m1"}, ["m1"]),
    ],
)
def test_explorer_filters_by_address(published: Published, chosen: dict[str, str], found: list[str]) -> None:
    assert sorted(listed(drawn(memories_page, published, **chosen))) == found


def test_choices_are_written_to_address(published: Published) -> None:
    session = drawn(memories_page, published, page="3")
    session.text_input(key="typed_search").set_value("coin").run()
    assert session.query_params["search"] == "coin"
    assert "page" not in session.query_params
    session.selectbox(key="choice_status").set_value("archived").run()
    session.selectbox(key="choice_project").set_value("").run()
    assert session.query_params["no_project"] == "yes"
    assert listed(session) == ["m3"]
    session.selectbox(key="choice_project").set_value(HOSTILE).run()
    assert session.query_params["project"] == HOSTILE
    assert "no_project" not in session.query_params


def test_rows_are_downloaded_safe_for_spreadsheets(published: Published) -> None:
    rows = published.answer("memory_explorer", sort="memory_id")
    cells = list(csv.reader(io.StringIO(csv_of(rows))))
    assert cells[0] == rows.columns
    assert len(cells) == rows.height + 1
    formulas = pl.DataFrame({"=content": ["=1+1", "@cmd", "a,b"], "days": [["=x"], None, []]})
    assert list(csv.reader(io.StringIO(csv_of(formulas)))) == [
        ["'=content", "days"],
        ["'=1+1", '["=x"]'],
        ["'@cmd", ""],
        ["a,b", "[]"],
    ]


@pytest.mark.parametrize("memory_id", some(["m1", "m2", "m3", "never landed", "long", HOSTILE], 3))
def test_memory_page_says_what_why_says(home: SmallHome, published: Published, memory_id: str) -> None:
    counts = json.loads(home.run("why", memory_id, "--format", "json").stdout)["counts"]
    session = drawn(memory_page, published, memory_id=memory_id)
    shown = grids(session)["Interactions counted for this memory"]
    assert dict(shown.select("count", "number").iter_rows()) == counts


@pytest.mark.parametrize(
    ("counted", "name"),
    some([("injected", "injected"), ("echoed", "echoed"), ("referenced", "references"), ("confirmed", "confirmed"),
          ("contradicted", "contradicted")], 3),
)  # fmt: skip
def test_memory_page_lists_interactions_behind_a_count(
    home: SmallHome, published: Published, counted: str, name: str
) -> None:
    behind = json.loads(home.run("why", "m1", "--format", "json").stdout)[name]
    shown = words(drawn(memory_page, published, memory_id="m1", counted=counted))
    assert behind
    assert re.findall(r"\bi\d\b", shown) == [row["interaction_id"] for row in behind]


def test_memory_page_gives_reasons_first(published: Published) -> None:
    session = drawn(memory_page, published, memory_id="m1")
    reasons = published.answer("why_verdict", memory_id="m1")["reason"].to_list()
    headings = [header.value for header in session.header]
    assert headings[:2] == ["What it says", f"Verdict: {published.answer('memory', memory_id='m1')['verdict'][0]}"]
    assert all(reason in words(session) for reason in reasons)


def test_memory_page_shortens_a_long_text(published: Published) -> None:
    session = drawn(memory_page, published, memory_id="long")
    assert len(bodies(session)) < 100_000
    assert f"of {len(LONG):,} characters" in words(session)
    assert "Download the whole text" in [button.proto.label for button in session.get("download_button")]


def test_unknown_memory_is_offered_near_ones(published: Published) -> None:
    session = drawn(memory_page, published, memory_id="lon")
    assert "no memory lon is known" in words(session)
    assert listed(session) == ["long"]
    assert "No id is like it" in words(drawn(memory_page, published, memory_id="zzzzzzzzzz"))


@pytest.mark.parametrize("page", [overview_page, memories_page, memory_page])
def test_hostile_text_is_shown_as_text(published: Published, page: Draw) -> None:
    session = drawn(page, published, project=HOSTILE, memory_id="m2", question="x")
    assert "<img" not in bodies(session)
    assert "onerror=alert(1)>" in words(session)
    assert "\x1b" not in bodies(session) + words(session)
    assert "\u202e" not in bodies(session) + words(session)
    kinds = ("markdown", "caption", "title", "header", "subheader")
    assert not any("onerror" in str(element) for kind in kinds for element in session.get(kind))
    labels = [
        box.proto.label for box in [*session.get("selectbox"), *session.get("text_input"), *session.get("button")]
    ]
    assert not any("onerror" in label for label in labels)


def test_overview_answers_six_questions_before_anything_else(published: Published) -> None:
    body = bodies(drawn(overview_page, published))
    questions = re.findall(r"<h2><a [^>]*>(.*?)</a></h2>", body)
    assert questions == [
        "Do memories help?",
        "Are they used?",
        "What do they cost?",
        "What is ignored?",
        "What keeps failing?",
        "What shall I do now?",
    ]
    assert len(re.sub("<[^>]*>", " ", body[: body.index("</ul>")]).split()) <= 120


def test_overview_says_what_to_record_where_the_log_cannot_answer(published: Published) -> None:
    assert "Every attempt had a memory: hold some back" in words(drawn(overview_page, published))
    nobody = words(drawn(overview_page, published, project="nobody's"))
    assert nobody.count("No injection is known") == 1
    assert "No attempt is known" in nobody
    assert "Log what the other tiles name." in nobody
    assert "No references yet" not in nobody  # a section without rows is not drawn


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "2026-02-11 to 2026-03-12, compared with 2026-01-12 to 2026-02-10"),
        ({"days": "7"}, "2026-03-06 to 2026-03-12, compared with 2026-02-27 to 2026-03-05"),
        ({"days": "7", "compare": "nothing"}, "2026-03-06 to 2026-03-12. UTC days."),
        ({"days": "0"}, "All days to 2026-03-12. UTC days."),
        ({"days": "a week"}, "2026-02-11 to 2026-03-12"),
    ],
)
def test_the_days_of_the_overview_stand_in_its_address(published: Published, chosen: dict[str, str], said: str) -> None:
    assert said in words(drawn(overview_page, published, **chosen))


@pytest.mark.parametrize("listed", LISTS)
def test_a_tile_leads_to_the_memories_it_counts(published: Published, listed: str) -> None:
    session = drawn(memories_page, published, list=listed)
    rows = published.count(LISTS[listed].recipe)
    assert (f"Memories {LISTS[listed].title}" in words(session)) == bool(rows)
    assert ("No memories are known that" in words(session)) == (not rows)


def strategies(*names: str, trend: str = "stable") -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"project": name, "agent": "", "task_type": "git", "strategy": f"look in {name}", "confidence": 0.7}
            | {"confidence_low": 0.6, "confidence_high": 0.8, "attempts": 9, "inferred": 0, "strategies_tried": 1}
            | {"is_reliable": True, "trend": trend}
            for name in names
        ]
    )


def test_the_strategy_to_use_says_whose_it_is() -> None:
    one = strategy_to_use(strategies("shop"), 1, "")
    assert (
        one == "Best so far of 1 tried strategy: “look in shop” (shop / git), estimate 0.70 (0.60–0.80), reliable; "
        "9 attempts."
    )
    assert "not tried lately" not in one
    stale = strategy_to_use(strategies("shop", trend="stale"), 1, "")
    assert "It was not tried lately" in stale
    several = strategy_to_use(strategies("shop", "barn"), 2, "")
    assert "look in" not in several
    assert "choose a kind of task" in several
    assert "look in shop" in strategy_to_use(strategies("shop", "barn"), 2, "git")


def test_a_caption_says_how_many_of_how_many_are_shown() -> None:
    assert shown_of("All", 2, 2) == "All"
    assert shown_of("Some", 2, 3) == "Some: 2 of 3"


def test_folded_filters_say_how_many_are_chosen(published: Published) -> None:
    for chosen, label in (({"search": "m1"}, "More"), ({"status": "archived"}, "More (1)")):
        page = drawn(memories_page, published, **chosen)
        assert label in [block.proto.popover.label for block in page.get("popover")]


def test_fading_in_the_far_future_is_no_day(published: Published) -> None:
    memory = {**published.answer("memory", memory_id="m1").row(0, named=True)}
    near, far = ({**memory, "fades_at": AS_OF + timedelta(days=days)} for days in (366, 367))
    assert "fades without a new reference on 2027-03-21" in use(near)
    assert use(far).endswith("Without a new reference it does not fade within a year.")
    assert "2027" not in use(far)


def test_an_empty_publish_says_what_to_do(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.nightly(AS_OF)
    empty = published_by(home)
    said = words(drawn(overview_page, empty))
    empty.close()
    assert "slowwave land PATH" in said
    assert "slowwave demo" in said


def test_addresses() -> None:
    assert view("overview") == "./"
    assert view("overview", question="worse", project="") == "./?question=worse"
    assert project_view("memories", "", status="active") == "memories?no_project=yes&status=active"
    assert project_view("memories", None) == "memories"
    assert memory_link("a&b=c d/\n") == "memory?memory_id=a%26b%3Dc+d%2F%0A"
