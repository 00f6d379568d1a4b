"""What a person does on a page of the dashboard."""

from __future__ import annotations

import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from dashboard_process import entrance
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as TooLate

PAGES = ("", "memories", "memory", "interactions", "strategies", "observations", "review", "runs", "lineage", "sql")
_TIMEOUT = 120_000


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


def rows_of(page: Page, caption: str) -> list[list[str]]:
    """The cells of the table whose caption holds these words, the head first."""
    table = page.locator("table", has=page.locator("caption", has_text=caption)).first
    expect(table).to_be_visible(timeout=_TIMEOUT)
    return [row.locator("th, td").all_inner_texts() for row in table.locator("tr").all()]


def serious_findings(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds that keeps people out: rule, how many elements, the first of them."""
    found = Axe().run(page).response["violations"]
    return [
        {"rule": finding["id"], "elements": len(finding["nodes"]), "first": finding["nodes"][0]["html"][:200]}
        for finding in found
        if finding["impact"] in {"serious", "critical"}
    ]
