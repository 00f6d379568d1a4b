"""Every page as a person meets it: drawn without a complaint, reachable by keyboard, readable for screen readers."""

from __future__ import annotations

import pytest
from browser_pages import PAGES, drawn, opened, serious_findings
from hostile_rows import PROJECT, TEXTS
from playwright.sync_api import Browser, Page, expect

from slowwave.dashboards.links import memory_link, project_view
from slowwave.flows.kernel.terminal import terminal_safe

# every element that a mouse can use and a keyboard must reach
_USABLE = "a[href], button, input, textarea, select, summary, [role=tab], [role=region][tabindex='0']"
_MOST_TABS = 400
_FOCUSED = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    element.dataset.reached = 'yes';
    return element.tagName;
}"""
_UNREACHED = f"""() => [...document.querySelectorAll("{_USABLE}")].filter((element) => {{
    const shown = element.checkVisibility({{visibilityProperty: true, opacityProperty: true}});
    const grouped = element.matches('[role=tab]') || element.closest('[role=radiogroup]');
    return shown && !element.disabled && element.dataset.reached !== 'yes' && !grouped && element.tabIndex !== -1;
}}).map((element) => element.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_drawn_without_a_complaint(dashboard, page: Page, path):
    opened(page, f"{dashboard.address}/{path}")
    assert page.locator("[data-testid=stException], [role=dialog]").count() == 0
    assert page.locator("h1").count() == 1
    assert page.title()


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_finding_of_axe(dashboard, browser: Browser, path, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    opened(page, f"{dashboard.address}/{path}")
    found = serious_findings(page)
    context.close()
    assert found == []


@pytest.mark.parametrize("path", ["", "memories", "memory?memory_id=mem-0001", "review", "sql?recipe=most_referenced"])
def test_the_keyboard_alone_reaches_everything(dashboard, page: Page, path):
    opened(page, f"{dashboard.address}/{path}")
    nothing = 0
    for _ in range(_MOST_TABS):
        page.keyboard.press("Tab")
        nothing = nothing + 1 if page.evaluate(_FOCUSED) is None else 0
        if nothing > 1:
            break
    assert page.evaluate(_UNREACHED) == []


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_needs_no_sideways_scrolling(dashboard, browser: Browser, path):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    opened(page, f"{dashboard.address}/{path}")
    width = page.evaluate("document.scrollingElement.scrollWidth")
    main = page.evaluate("(() => { const m = document.querySelector('[data-testid=stMain]');"
                         " return m.scrollWidth - m.clientWidth; })()")  # fmt: skip
    context.close()
    assert width <= 390
    assert main <= 1


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_memory_is_shown_as_text(dashboard, page: Page, name):
    memory_id = f"{name} {TEXTS[name]}"
    opened(page, f"{dashboard.address}/{memory_link(memory_id)}")
    expect(page.locator("main, [data-testid=stMain]").first).to_contain_text("says the memory called")
    assert terminal_safe(TEXTS[name]) in " ".join(page.locator("[data-testid=stMain]").inner_text().split("\n"))
    _is_unharmed(page)


@pytest.mark.parametrize("path", PAGES)
def test_a_hostile_project_is_shown_as_text(dashboard, page: Page, path):
    opened(page, f"{dashboard.address}/{project_view(path or 'overview', PROJECT)}")
    _is_unharmed(page)


def test_a_text_of_a_megabyte_is_shown_in_part(dashboard, page: Page):
    opened(page, f"{dashboard.address}/{memory_link('huge')}")
    expect(page.get_by_text("These are the first 4,000 of 1,045,000 characters.")).to_be_visible()
    assert len(page.content()) < 1_000_000


def _is_unharmed(page: Page) -> None:
    """Nothing ran, nothing was loaded, nothing became markup."""
    drawn(page)
    assert "owned" not in page.title()
    main = page.locator("[data-testid=stMain]")
    assert main.locator("script, img[src='x'], [onerror], a[href^='javascript'], a[href*='http://x']").count() == 0
    assert main.locator("h1").count() == 1
