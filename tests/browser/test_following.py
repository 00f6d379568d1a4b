"""A dashboard that stays open: a new publish appears, and nothing, an empty and a damaged home are told as that."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from browser_pages import PAGES, opened, serious_findings
from dashboard_process import AS_OF, published_home, started, stopped
from playwright.sync_api import Page, expect
from small_home import SmallHome, interaction, memory


@pytest.fixture
def running(tmp_path: Path):
    started_here = []

    def start(home: SmallHome):
        started_here.append(started(home, tmp_path))
        return started_here[-1]

    yield start
    for dashboard in started_here:
        if dashboard.process.poll() is None:
            stopped(dashboard)


def test_a_new_publish_appears_in_an_open_page(tmp_path: Path, running, page: Page):
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"), interaction("i1", memories_used=["m1"]))
    first = home.nightly(AS_OF)
    dashboard = running(home)
    opened(page, f"{dashboard.address}/memories")
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(first.run_id)
    home.land(memory("brand new"))
    second = home.nightly(AS_OF + timedelta(days=1))
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(second.run_id, timeout=120_000)
    expect(page.locator("[data-testid=stDataFrame] canvas").first).to_contain_text("brand new")
    opened(page, f"{dashboard.address}/memory?memory_id=brand+new")
    expect(page.get_by_text("no memory")).to_have_count(0)


def test_before_the_first_publish_it_says_what_to_do_and_then_shows_it(tmp_path: Path, running, page: Page):
    home = SmallHome(tmp_path / "home")
    dashboard = running(home)
    opened(page, dashboard.address)
    expect(page.get_by_text("Nothing is published yet")).to_be_visible()
    expect(page.get_by_text("slowwave demo").first).to_be_visible()
    home.land(memory("m1"))
    home.nightly(AS_OF)
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible(timeout=120_000)


@pytest.mark.parametrize("path", PAGES)
def test_a_publish_of_nothing_is_drawn(tmp_path: Path, running, page: Page, path):
    home = SmallHome(tmp_path / "home")
    home.nightly(AS_OF)
    dashboard = running(home)
    opened(page, f"{dashboard.address}/{path}")
    assert page.locator("[data-testid=stException], .sw-error").count() == 0
    assert serious_findings(page) == []


def test_a_damaged_file_is_told_as_that(tmp_path: Path, running, page: Page):
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"))
    result = home.nightly(AS_OF)
    assert result.serving is not None
    result.serving.write_bytes(b"not a database")
    dashboard = running(home)
    opened(page, dashboard.address)
    expect(page.get_by_text("The published tables cannot be read")).to_be_visible()


def test_it_ends_when_it_is_told_to(tmp_path: Path):
    dashboard = started(published_home(tmp_path / "home"), tmp_path)
    assert stopped(dashboard) in {0, 143, -15}
    assert list((tmp_path / "user").iterdir()) == []
