"""A dashboard about one user shows no word of another's memories and interactions, whatever its address asks for."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from drawn_pages import IGNORED, Draw, bodies, commands, drawn
from small_home import SmallHome
from two_users import home_of_two

from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.app.panel import draw_thing
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.narrowed import Narrowed

pytestmark = pytest.mark.filterwarnings(IGNORED)
PAGES = (overview_page, memories_page, memory_page, observations_page, review_page, runs_page, strategies_page)

WITHOUT_TEXTS = (overview_page, runs_page)


@pytest.fixture(scope="module")
def home() -> SmallHome:
    return home_of_two()


def shown(home: SmallHome, about: Narrowed, page: Draw, **address: str) -> str:
    published = Published(home.settings.current.resolve(strict=True), about)
    try:
        app = drawn(page, published, **address)
        return "\n".join([bodies(app), *commands(app), *(str(element.proto) for element in app.main)])
    finally:
        published.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_no_page_says_a_word_of_the_other(home: SmallHome, page: Draw) -> None:
    address = {"memory_id": "bob port"} if page is memory_page else {}
    said = shown(home, Narrowed(user="ada"), page, **address)
    assert "zanzibar" not in said
    assert "zanzibar" in shown(home, Narrowed(), page, **address) or page in WITHOUT_TEXTS


def test_the_panel_says_not_a_word_of_the_other(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    with closing(Published(home.settings.current.resolve(strict=True))) as published, published.cursor() as cursor:
        interactions = cursor.sql("SELECT DISTINCT interaction_id FROM memory_references").fetchall()
    one_of_a_kind = {re.sub(r"\d+", "", id_): id_ for (id_,) in interactions}.values()
    assert len(one_of_a_kind) > 1
    for thing in ("memory:bob port", *(f"interaction:{id_}" for id_ in one_of_a_kind)):
        assert "zanzibar" not in shown(home, Narrowed(user="ada"), draw_thing, open=thing)
    assert "zanzibar" in shown(home, Narrowed(), draw_thing, open="memory:bob port")


def test_the_queue_says_whose_an_item_is_and_how_to_promote_it_for_all(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    published = Published(home.settings.current.resolve(strict=True))
    try:
        rows = published.answer("candidates")
    finally:
        published.close()
    row = next(row for row in rows.to_dicts() if row["user_id"] == "bob" and row["rules"])
    said = shown(home, Narrowed(), draw_thing, open=f"item:{row['item_id']}")
    assert "zanzibar" in said
    assert "of user bob alone" in said
    assert f"slowwave review promote {row['item_id']} --scope project" in said
