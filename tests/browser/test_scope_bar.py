"""The scope bar: one row on every page, in the address, carried from page to page."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from browser_pages import chosen, drawn, opened, row_chosen
from dashboard_process import Dashboard
from playwright.sync_api import Browser, Page, expect

_SCOPE = {"project": ["harbour-shop"], "tag": ["no-such-tag"], "days": ["7"], "compare": ["nothing"]}
_ADDRESS = "?project=harbour-shop&tag=no-such-tag&days=7&compare=nothing"
_HOSTILE = (
    "?project=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&agent='%3B%20DROP%20TABLE%20runs%3B--&user=%25%5C&tag=%5C"
    "&days=-1&since=%3Cb%3E&until=9999-99-99&compare=publish%20..%2F..%2Fetc%2Fpasswd"
)


def _said(page: Page) -> dict[str, list[str]]:
    return {name: text for name, text in parse_qs(urlsplit(page.url).query).items() if name in _SCOPE}


def test_the_scope_goes_from_page_to_page(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/{_ADDRESS}")
    for name in ("Strategies", "Review", "SQL", "Runs", "Review"):  # not all of them can be about a tag
        page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
        page.wait_for_url(f"**/{name.lower()}?*")
        drawn(page)
        assert _said(page) == _SCOPE
        if name != "SQL":
            expect(page.get_by_label("Project", exact=True)).to_have_value("harbour-shop")
            expect(page.get_by_label("Days", exact=True)).to_have_value("Last 7 days")


def test_back_goes_to_the_page_before_at_once(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/?days=7")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Review").click()
    page.wait_for_url("**/review?days=7")
    drawn(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    assert page.url == f"{dashboard.address}/?days=7"


def test_two_pages_back_the_second_page_of_a_table_has_the_scope_too(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/memories?page=2")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Strategies").click()
    page.wait_for_url("**/strategies")
    drawn(page)
    chosen(page, "Project", "harbour-shop")
    page.wait_for_url("**/strategies?project=harbour-shop")
    page.evaluate("history.go(-2)")  # as from the list of a browser's back button
    page.wait_for_url("**/memories?page=2&project=harbour-shop")
    drawn(page)
    assert page.locator(".sw-error").count() == 0


def test_a_row_and_a_tile_carry_the_scope_on(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/memories?project=harbour-shop&days=0")
    row_chosen(page, "1 to")
    page.wait_for_url("**open=memory*")
    assert "project=harbour-shop&days=0" in page.url
    opened(page, f"{dashboard.address}/?days=7")
    page.get_by_role("link", name="What keeps failing?").click()
    page.wait_for_url("**/strategies?*days=7*")
    assert urlsplit(page.url).path == "/strategies"


def test_a_choice_is_compared_and_stands_in_the_address(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/review")
    chosen(page, "Days", "Last 7 days")
    expect(page.locator(".sw-caption").first).to_contain_text("Compared with 2026-02-25 to 2026-03-03")
    assert "days=7" in page.url
    expect(page.get_by_label("Kind", exact=True)).to_be_visible()


def test_days_that_end_before_they_begin_are_said_and_corrected(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/runs?days=custom&since=2026-03-09&until=2026-03-01")
    expect(page.get_by_text("the days end (2026-03-01) before they begin (2026-03-09)")).to_be_visible()
    page.wait_for_url("**until=2026-03-09*")


@pytest.mark.parametrize("path", ["", "memories", "interactions", "strategies", "review", "observations", "runs"])
def test_a_hostile_address_is_inert(dashboard: Dashboard, page: Page, path: str) -> None:
    opened(page, f"{dashboard.address}/{path}{_HOSTILE}")
    main = page.locator("[data-testid=stMain]")
    expect(main.locator("h1")).to_have_count(1)
    assert main.locator("img[src='x'], script, [onerror], [data-testid=stException], .sw-error").count() == 0


@pytest.mark.parametrize("path", ["", "memories", "interactions", "strategies", "review", "observations"])
def test_a_phone_folds_the_scope(dashboard: Dashboard, browser: Browser, path: str) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    opened(page, f"{dashboard.address}/{path}")
    project = page.get_by_label("Project", exact=True)
    expect(project).to_be_hidden()
    page.locator(".sw-filters summary").click()
    expect(project).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("path", ["", "memories", "interactions", "strategies", "review", "observations", "runs"])
def test_the_row_is_compact_on_a_desk(dashboard: Dashboard, browser: Browser, path: str) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    opened(page, f"{dashboard.address}/{path}")
    box = page.locator(".st-key-scope").bounding_box()
    assert box is not None
    assert box["height"] <= 110
    expect(page.locator(".sw-filters")).to_be_hidden()
    page.context.close()


def test_a_week_that_goes_on_is_marked(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/strategies")
    expect(page.get_by_text("Ring: a week that had not ended").first).to_be_visible()


def test_a_pattern_that_ends_in_a_backslash_is_explained(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/sql?recipe=verdicts&with_project=%25%5C")
    expect(page.get_by_text("a pattern ends in a single")).to_be_visible()
