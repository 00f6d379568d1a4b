"""The SQL page: asks, draws, downloads; changes and reaches nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from browser_pages import drawn, opened, rows_of
from playwright.sync_api import Page, expect


def _ask(page: Page, query: str) -> None:
    page.get_by_label("Query").fill(query)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_query_is_answered_and_stands_in_the_address(dashboard, page: Page):
    opened(page, f"{dashboard.address}/sql")
    _ask(page, "SELECT 41 + 1 AS answer, NULL AS nothing, '<b>x</b>' AS text")
    assert rows_of(page, "Result") == [["answer", "nothing", "text"], ["42", "", "<b>x</b>"]]
    opened(page, page.url)
    assert rows_of(page, "Result")[1][0] == "42"


def test_a_recipe_is_a_starting_point_with_a_chart_and_files(dashboard, page: Page, tmp_path: Path):
    opened(page, f"{dashboard.address}/sql?recipe=references_by_day")
    assert rows_of(page, "Result")
    with page.expect_download() as download:
        page.get_by_role("button", name="Parquet").click()
    download.value.save_as(tmp_path / "result.parquet")
    told = dashboard.home.run("sql", "references_by_day", "--format", "csv").stdout
    assert pl.read_parquet(tmp_path / "result.parquet").height == len(told.splitlines()) - 1
    page.get_by_role("tab", name="Chart").click()
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_be_visible()


@pytest.mark.parametrize(
    "query",
    [
        "COPY memory_health TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'other.duckdb'",
        "DELETE FROM memory_health",
        "SET memory_limit = '100GB'",
        "INSTALL httpfs",
        "SELEC 1",
    ],
)
def test_what_would_change_or_reach_anything_is_refused(dashboard, page: Page, query):
    before = dashboard.home.contents()
    opened(page, f"{dashboard.address}/sql")
    _ask(page, query)
    expect(page.locator(".sw-error").first).to_be_visible(timeout=120_000)
    drawn(page)
    assert page.locator("[data-testid=stDataFrame] [aria-label=Result]").count() == 0
    assert dashboard.home.contents() == before
