"""Search, filters, pages, addresses and downloads of the explorer, and the numbers of one memory."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import unquote_plus

import duckdb
import pytest
from browser_pages import chosen, drawn, opened, row_chosen, row_chosen_by_keys, rows_of
from hostile_rows import PROJECT, TEXTS
from playwright.sync_api import Browser, Page, expect

from slowwave.dashboards.links import memory_link, project_view
from slowwave.flows.kernel.terminal import terminal_safe

OF_PROJECT = "project = '" + PROJECT.replace("'", "''") + "'"
_ROWS_IN_SIGHT = 13


def _shown_count(page: Page) -> int:
    """The memories in all that the caption of the explorer tells."""
    caption = page.locator(".sw-caption").first.inner_text()
    found = re.search(r"of ([\d,]+) memor", caption)
    assert found is not None, caption
    return int(found[1].replace(",", ""))


def _counted(dashboard, holds: str) -> int:
    with duckdb.connect(dashboard.home.settings.current, read_only=True) as connection:
        ((count,),) = connection.sql("FROM memory_health").filter(holds).count("*").fetchall()
    return count


def test_a_search_finds_what_the_table_holds_and_stands_in_the_address(dashboard, page: Page):
    opened(page, f"{dashboard.address}/memories")
    everything = _shown_count(page)
    assert everything == _counted(dashboard, "true")
    page.get_by_label("Search in texts and ids").fill("CALLED")
    page.keyboard.press("Enter")
    expect(page.locator(".sw-caption").first).to_contain_text(f"of {len(TEXTS)} memories")
    assert "search=CALLED" in page.url
    opened(page, page.url)
    assert _shown_count(page) == len(TEXTS)


def test_a_filter_is_exact_and_stands_in_the_address(dashboard, page: Page):
    opened(page, f"{dashboard.address}/memories")
    page.get_by_role("button", name="More").click()
    chosen(page, "State", "candidate")
    candidates = _counted(dashboard, "status = 'candidate'")
    expect(page.locator(".sw-caption").first).to_contain_text(f"of {candidates:,} memories")
    assert "status=candidate" in page.url
    opened(page, f"{dashboard.address}/{project_view('memories', PROJECT)}")
    assert _shown_count(page) == _counted(dashboard, OF_PROJECT)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ("memories?verdict=review&sort=newest", "verdict = 'review'"),
        ("memories?trend=new&status=active", "trend = 'new' AND status = 'active'"),
        ("memories?search=%25_%27%3B--", "false"),
    ],
)
def test_an_address_alone_is_the_view(dashboard, browser: Browser, asked, holds):
    context = browser.new_context()
    page = context.new_page()
    opened(page, f"{dashboard.address}/{asked}")
    count = _counted(dashboard, holds)
    if count:
        assert _shown_count(page) == count
    else:
        expect(page.get_by_text("No memory fits")).to_be_visible()
    assert page.url.endswith(asked)
    context.close()


def test_a_second_page_goes_on_where_the_first_ended(dashboard, page: Page):
    opened(page, f"{dashboard.address}/memories?sort=memory_id")
    first = [row[0] for row in rows_of(page, "1 to 50 of")[1:]]
    page.get_by_role("button", name="Page 2", exact=True).click()
    expect(page.locator(".sw-caption").first).to_contain_text("51 to")
    drawn(page)
    second = [row[0] for row in rows_of(page, "51 to")[1:]]
    assert first
    assert max(first) < min(second)


def test_a_row_opens_its_memory_by_click_and_by_keyboard_and_esc_closes_it(dashboard, page: Page):
    opened(page, f"{dashboard.address}/memories?sort=references")
    address, (_, *listed) = page.url, rows_of(page, "1 to 50 of")
    # of a hostile id the table shows other characters than the address holds
    at, plain = next((at, row[0]) for at, row in enumerate(listed) if at and "\\" not in row[0])
    for choose in (row_chosen, row_chosen_by_keys):
        choose(page, "1 to 50 of", at)
        assert unquote_plus(page.url) == f"{unquote_plus(address)}&open=memory:{plain}"
        expect(page.get_by_role("dialog")).to_contain_text(f"{plain}: ")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_url(address)
        drawn(page)
    assert len(page.context.pages) == 1


@pytest.mark.parametrize(
    "path", ["memories", "strategies", "observations", "review", "runs", "lineage", "interactions"]
)
def test_a_grid_shows_its_columns_whole(dashboard, page: Page, path):
    opened(page, f"{dashboard.address}/{path}")
    expect(page.locator("[data-testid=stDataFrame] canvas").first).to_be_attached()
    page.wait_for_timeout(1_000)
    wider = "grids => grids.filter((grid) => grid.scrollWidth > grid.clientWidth + 1).length"
    assert page.locator(".dvn-scroller").evaluate_all(wider) == 0


@pytest.mark.parametrize("order", ["reference_count DESC", "contradicted_count DESC", "eligible_count"])
def test_a_memory_has_the_numbers_that_why_tells(dashboard, page: Page, order):
    with duckdb.connect(dashboard.home.settings.current, read_only=True) as connection:
        found = connection.sql("FROM memory_health").order(f"{order}, memory_id").limit(1).select("memory_id")
        ((memory_id,),) = found.fetchall()
    told = json.loads(dashboard.home.run("why", memory_id, "--format", "json").stdout)
    opened(page, f"{dashboard.address}/{memory_link(memory_id)}")
    page.get_by_role("tab", name="Interactions").click()
    _, *counts = rows_of(page, "Interactions counted for this memory")
    shown = {name: int(number.replace(",", "")) for name, number, _ in counts}
    assert shown == told["counts"]
    for reason in told["memory"]["reasons"]:
        expect(page.get_by_text(reason).first).to_be_visible()
    for name in ("injected", "confirmed", "references"):
        if not told["counts"][name]:
            continue
        chosen = "referenced" if name == "references" else name
        opened(page, f"{dashboard.address}/{memory_link(memory_id)}&counted={chosen}")
        page.get_by_role("tab", name="Interactions").click()
        head, *rows = rows_of(page, "newest first")
        at = head.index("Interaction")
        assert [row[at] for row in rows] == [terminal_safe(row["interaction_id"]) for row in told[name]][: len(rows)]
        assert len(rows) == min(len(told[name]), _ROWS_IN_SIGHT)


def test_a_download_is_the_rows_shown_with_no_formula_in_them(dashboard, page: Page, tmp_path: Path):
    opened(page, f"{dashboard.address}/{project_view('memories', PROJECT)}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download these rows as CSV").click()
    download.value.save_as(tmp_path / "memories.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "memories.csv").read_bytes().decode("utf-8-sig"))))
    assert len(rows) == 1 + _counted(dashboard, OF_PROJECT)
    cells = [cell for row in rows for cell in row]
    assert any(TEXTS["formula"] in cell for cell in cells)
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)


def test_an_unknown_memory_is_told_with_those_like_it(dashboard, page: Page):
    opened(page, f"{dashboard.address}/memory?memory_id=mem-00010")
    expect(page.get_by_text("no memory mem-00010 is known")).to_be_visible()
    at = [row[0] for row in rows_of(page, "Memories with a similar id")[1:]].index("mem-0001")
    row_chosen(page, "Memories with a similar id", at)
    assert unquote_plus(page.url).endswith("open=memory:mem-0001")
