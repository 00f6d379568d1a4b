"""The panel beside a page: each kind of thing opens by its row and by its address, says what `why` says, and closes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlencode

import duckdb
import pytest
from browser_pages import drawn, opened, row_chosen, serious_findings
from dashboard_process import AS_OF, Dashboard, started, stopped
from hostile_rows import hostile_rows
from playwright.sync_api import Browser, Locator, Page, expect
from review_acts import reviewable_rows
from small_home import SmallHome, interaction, memory, outcome

MEMORY = "Prices are kept as integers of the smallest coin, never as floats."
LONG = "All went well. " * 400
# by kind: how to get the id of one, and a page, a tab ('' the first) and a grid whose rows open one
THINGS = {
    "interaction": ("SELECT 'asked'", "interactions", "", " to "),
    "memory": ("SELECT 'coin'", "memories", "", " to "),
    "strategy": ("SELECT strategy_id FROM heuristics LIMIT 1", "strategies", "", "Best so far"),
    "error": ("SELECT error_id FROM error_templates LIMIT 1", "strategies", "Errors", "Errors, most"),
    "item": ("SELECT item_id FROM review_queue ORDER BY rank LIMIT 1", "review", "", "Items, most important"),
    "observation": ("SELECT observation_id FROM observations LIMIT 1", "observations", "", "Facts, most"),
    "outcome": ("SELECT outcome_id FROM counted_outcomes WHERE interaction_id = 'asked' LIMIT 1", "", "", ""),
    "run": ("SELECT run_id FROM runs ORDER BY started_at LIMIT 1", "runs", "Runs and tables", "Runs, newest"),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard on which people may decide, over a log with one thing of each kind and hostile texts."""
    folder = tmp_path_factory.mktemp("panel")
    home = SmallHome(folder / "home")
    tried = {"strategy": "read the log first", "task_type": "fix"}
    home.land(
        memory("coin", content=MEMORY, memory_type="preference", project=""),
        *(
            interaction(f"i{day}", created_at=f"2026-03-{day:02}T09:00:00Z", memories_used=["coin"], session_id="s")
            for day in range(2, 6)
        ),
        interaction(
            "asked",
            created_at="2026-03-05T10:00:00Z",
            session_id="s",
            memories_used=["coin"],
            prompt="<img src=x onerror=alert(1)> **b** How are prices kept?",
            response=f"I know that {MEMORY.upper()} <script>document.title='owned'</script> {LONG}",
        ),
        *(
            outcome(f"o{day}", interaction_id=f"i{day}", created_at=f"2026-03-{day:02}T11:00:00Z", success=day > 3,
                    error_message=None if day > 3 else f"timeout after {day} s", **tried)
            for day in range(2, 6)
        ),
        outcome("ended", interaction_id="asked", created_at="2026-03-05T11:00:00Z", success=True, **tried),
        *reviewable_rows(),
        *hostile_rows(),
    )  # fmt: skip
    home.nightly(AS_OF)
    dashboard = started(home, folder, "--allow-decisions")
    yield dashboard
    stopped(dashboard)


def id_of(dashboard: Dashboard, kind: str) -> str:
    with duckdb.connect(dashboard.home.settings.current, read_only=True) as connection:
        return connection.sql(THINGS[kind][0]).fetchall()[0][0]


def panel_of(page: Page) -> Locator:
    panel = page.get_by_role("dialog")
    expect(panel).to_be_visible()
    drawn(page)
    return panel


def closed(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("open="))
    drawn(page)


@pytest.mark.parametrize("kind", THINGS)
def test_an_address_opens_it_without_a_serious_finding_and_esc_closes_it(running: Dashboard, page: Page, kind: str):
    id_ = id_of(running, kind)
    opened(page, f"{running.address}/glossary?open={kind}:{id_}")
    panel = panel_of(page)
    expect(panel).to_contain_text(id_)
    expect(panel.get_by_text("no memory, observation")).to_have_count(0)
    assert serious_findings(page) == []
    closed(page)


@pytest.mark.parametrize("kind", [kind for kind, thing in THINGS.items() if thing[1]])
def test_a_row_opens_what_it_names(running: Dashboard, page: Page, kind: str):
    _, path, tab, caption = THINGS[kind]
    opened(page, f"{running.address}/{path}")
    if tab:
        page.get_by_role("tab", name=tab).click()
    if kind == "item":  # the boxes of its rows choose several
        grid = page.locator(f"[data-testid=stDataFrame]:has([aria-label*='{caption}'])").first
        box = grid.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 160, box["y"] + 35 * 1.5)
    else:
        row_chosen(page, caption)
    panel_of(page)
    assert f"open={kind}:" in unquote(page.url)
    closed(page)


def test_quoted_words_are_marked_and_the_rest_is_folded(running: Dashboard, page: Page):
    opened(page, f"{running.address}/interactions?open=interaction:asked")
    panel = panel_of(page)
    expect(panel.locator("mark.sw-quoted")).to_have_text(MEMORY.upper())
    expect(panel.get_by_text("The rest of it")).to_be_visible()
    assert len(panel.inner_text()) < 4_000
    assert page.locator("[role=dialog] img[src=x], [role=dialog] script").count() == 0
    assert "owned" not in page.title()


def test_a_thing_leads_to_the_next_one_and_back_to_the_page(running: Dashboard, page: Page):
    opened(page, f"{running.address}/memories?open=memory:coin")
    panel_of(page)
    row_chosen(page, "Evidence")
    assert "open=interaction:" in unquote(page.url)
    expect(panel_of(page)).to_contain_text("Prompt")
    closed(page)
    assert page.url == f"{running.address}/memories"


@pytest.mark.parametrize("thing", ["memory:no such", "what:ever", "<img src=x onerror=alert(1)>", "item:"])
def test_what_is_not_known_is_said(running: Dashboard, page: Page, thing: str):
    opened(page, f"{running.address}/memories?open={thing}")
    expect(panel_of(page)).to_contain_text("is known as of")
    closed(page)


def test_hostile_memories_are_text_in_the_panel(running: Dashboard, page: Page):
    for row in [
        row for row in hostile_rows() if "memory_id" in row and row["memory_id"].startswith(("script", "handler"))
    ]:
        opened(page, f"{running.address}/memories?" + urlencode({"open": f"memory:{row['memory_id']}"}))
        expect(panel_of(page)).to_contain_text("says the memory called")
        assert page.locator("[role=dialog] img[src='x'], [role=dialog] script, [role=dialog] [onerror]").count() == 0
        assert "owned" not in page.title()


def test_a_decision_begins_in_the_panel_and_leads_back_to_it(running: Dashboard, page: Page):
    opened(page, f"{running.address}/review?open=item:{id_of(running, 'item')}")
    panel_of(page).get_by_role("button", name="Reject", exact=True).first.click()
    expect(page.get_by_label("Who decides")).to_be_visible()
    drawn(page)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Who decides")).to_have_count(0)
    expect(panel_of(page)).to_contain_text("waits for a decision")
    closed(page)


def test_a_phone_shows_it_whole(running: Dashboard, browser: Browser):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    for kind in ("interaction", "memory", "strategy"):
        opened(page, f"{running.address}/glossary?open={kind}:{id_of(running, kind)}")
        panel = panel_of(page)
        assert panel.evaluate("(panel) => panel.scrollWidth - panel.clientWidth") <= 1
        box = panel.bounding_box()
        assert box is not None
        assert box["width"] <= 390
    context.close()
