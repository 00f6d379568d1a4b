"""The page of interactions: a row opens what it names, and a session's rows are those that the command lists."""

from __future__ import annotations

import json

from browser_pages import opened, row_chosen, rows_of
from playwright.sync_api import Page, expect


def test_a_session_is_listed_as_the_command_lists_it(dashboard, page: Page):
    opened(page, f"{dashboard.address}/interactions")
    head, *rows = rows_of(page, "1 to 50 of")
    session = rows[0][head.index("Session")]
    row_chosen(page, "1 to 50 of")
    assert "interactions?open=interaction%3A" in page.url
    opened(page, f"{dashboard.address}/interactions?session={session}")
    asked = ("landed_interactions", "--param", f"session_id={session}", "--format", "json")
    told = json.loads(dashboard.home.run("sql", *asked).stdout)
    head, *rows = rows_of(page, f"of {len(told)} interactions")
    assert [row[0] for row in rows] == [row["created_at"] for row in told][: len(rows)]
    assert len(told) > 1


def test_a_time_is_exact_and_stands_in_the_address(dashboard, page: Page):
    opened(page, f"{dashboard.address}/interactions")
    newest = rows_of(page, "1 to 50 of")[1][0]
    page.get_by_role("button", name="More").click()
    page.get_by_label("From, exact (UTC)").fill(newest)
    page.keyboard.press("Enter")
    expect(page.locator(".sw-caption").first).to_contain_text("1 to 1 of 1 interaction")
    assert "from=" in page.url
