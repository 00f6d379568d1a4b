"""What a person does on a page of the dashboard."""

from __future__ import annotations

import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_process import entrance
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

PAGES = (
    "",
    "memories",
    "memory",
    "interactions",
    "strategies",
    "observations",
    "review",
    "runs",
    "lineage",
    "sql",
    "glossary",
)
_TIMEOUT = 120_000
# the box that chooses a row of a grid, and each row
_BOX_PIXELS, _ROW_PIXELS = 34, 35


def opened(page: Page, address: str) -> None:
    """Go to an address and wait until it is drawn."""
    page.goto(entrance(address))
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until the script behind the page has run to its end."""
    app = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(app).to_be_attached(timeout=_TIMEOUT)
    expect(page.locator("h1").first).to_be_visible(timeout=_TIMEOUT)
    page.wait_for_timeout(300)  # what was drawn replaces what stood there
    expect(app).to_be_attached(timeout=_TIMEOUT)


def chosen(page: Page, label: str, option: str) -> None:
    """Choose of a list, which closes by itself while what it stands in still unfolds: a person opens it again."""
    until = time.monotonic() + _TIMEOUT / 1000
    while time.monotonic() < until:
        page.get_by_label(label, exact=True).click()
        try:
            page.get_by_role("option", name=option, exact=True).click(timeout=3_000)
        except TooLate:
            page.keyboard.press("Escape")
        else:
            return
    pytest.fail(f"the list {label!r} did not offer {option!r}")


def grid_of(page: Page, caption: str) -> Locator:
    """The grid whose caption holds these words, once its rows are drawn."""
    grid = page.locator(f"[data-testid=stDataFrame]:has([aria-label*='{caption}'])").first
    expect(grid.locator("canvas tbody tr").first).to_be_attached(timeout=_TIMEOUT)
    return grid


def rows_of(page: Page, caption: str) -> list[list[str]]:
    """What a screen reader reads of a grid: its head, and the rows in sight."""
    rows = grid_of(page, caption).locator("canvas tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def row_chosen(page: Page, caption: str, number: int = 0) -> None:
    """Press the box at the beginning of a row, and wait for where it leads."""
    grid, before = grid_of(page, caption), page.url
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + _BOX_PIXELS / 2, box["y"] + _ROW_PIXELS * (number + 1.5))
    _gone_on(page, before)


def row_chosen_by_keys(page: Page, caption: str, number: int = 0) -> None:
    """Go to a row of a grid by keyboard, choose it, and wait for where it leads."""
    before = page.url
    grid_of(page, caption).locator("canvas").first.focus()
    for _ in range(number):  # with the focus comes the first one
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")
    _gone_on(page, before)


def _gone_on(page: Page, before: str) -> None:
    expect(page).not_to_have_url(before, timeout=_TIMEOUT)
    drawn(page)


def serious_findings(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds that keeps people out: rule, how many elements, the first of them."""
    found = Axe().run(page).response["violations"]
    return [
        {"rule": finding["id"], "elements": len(finding["nodes"]), "first": finding["nodes"][0]["html"][:200]}
        for finding in found
        if finding["impact"] in {"serious", "critical"}
    ]
