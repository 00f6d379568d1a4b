"""The first screen of the dashboard: six answers, seen at once on a desk and one below the other on a phone."""

from __future__ import annotations

import pytest
from browser_pages import opened
from dashboard_process import Dashboard
from playwright.sync_api import Browser, Page, expect


def test_six_answers_are_seen_at_once(dashboard: Dashboard, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    opened(page, f"{dashboard.address}/")
    tiles = page.locator(".sw-tile")
    expect(tiles).to_have_count(6)
    assert all(box["y"] + box["height"] <= 800 for box in (tile.bounding_box() for tile in tiles.all()) if box)
    assert len(page.locator(".sw-tiles").inner_text().split()) <= 120
    heading = page.locator(".sw-chart").first.bounding_box()
    assert heading is not None
    assert heading["y"] + heading["height"] <= 800
    assert page.locator("[data-testid=stMainBlockContainer]").evaluate("main => main.scrollHeight") <= 2_200
    expect(page.locator(".sw-phone")).to_be_hidden()
    page.context.close()


def test_a_phone_shows_one_answer_below_the_other(dashboard: Dashboard, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    opened(page, f"{dashboard.address}/")
    fresh = page.locator(".sw-phone")
    expect(fresh).to_be_in_viewport()
    expect(fresh).to_contain_text("Data up to 2026-")
    boxes = [tile.bounding_box() for tile in page.locator(".sw-tile").all()]
    assert len({box["x"] for box in boxes if box}) == 1
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes if box)
    assert page.locator("[data-testid=stMainBlockContainer]").evaluate("main => main.scrollHeight") <= 2_200
    page.context.close()


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Do memories help?", "/memories?list=effect"),
        ("What do they cost?", "/memories?list=cost"),
        ("What is ignored?", "/memories?list=ignored"),
        ("What keeps failing?", "/strategies"),
        ("What shall I do now?", "/review"),
    ],
)
def test_an_answer_leads_to_what_it_rests_on(dashboard: Dashboard, page: Page, question: str, place: str) -> None:
    opened(page, f"{dashboard.address}/")
    page.get_by_role("link", name=question).click()
    page.wait_for_url(lambda url: place in url)
    expect(page.locator("h1").first).to_be_visible()


def test_a_word_of_a_tile_leads_to_what_it_means(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/")
    term = page.locator("a.sw-term").first
    assert term.get_attribute("title")
    term.click()
    page.wait_for_url(lambda url: "/glossary?word=" in url)
    expect(page.locator("h2").first).to_be_visible()


def test_the_days_are_chosen_in_the_address(dashboard: Dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/?days=7")
    expect(page.locator(".sw-said", has_text="2026-03-04 to 2026-03-10, compared with")).to_be_visible()
    expect(page.locator(".sw-change").first).to_be_visible()
    opened(page, f"{dashboard.address}/?days=7&compare=nothing")
    expect(page.locator(".sw-change")).to_have_count(0)
