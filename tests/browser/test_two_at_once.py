"""People, nights and publishes that meet on one page: what lands is what its reader saw, or it is refused in words."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from browser_pages import drawn, opened
from dashboard_process import Dashboard, started, stopped
from playwright.sync_api import Browser, BrowserContext, Page, expect
from review_acts import STATED, item, landed, reviewable_rows, states
from shared_homes import read_only_home
from small_home import SmallHome, interaction

from slowwave.dashboards.links import memory_link
from slowwave.flows.nightly.nights import ledger

_AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - UTC without a zone, as everywhere


@pytest.fixture(scope="module")
def published() -> SmallHome:
    return read_only_home(*reviewable_rows(), as_of=_AS_OF)


@pytest.fixture
def deciding(published: SmallHome, tmp_path: Path) -> Iterator[Dashboard]:
    """A dashboard on which people may decide, over a home of its own."""
    shutil.copytree(published.folder, tmp_path / "home", symlinks=True)
    running = started(SmallHome(tmp_path / "home"), tmp_path, "--allow-decisions")
    yield running
    stopped(running)


@pytest.fixture
def other(browser: Browser, context: BrowserContext) -> Iterator[Page]:  # noqa: ARG001 - which is closed after it
    """A page of another person, in another browser."""
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(120_000)
    yield made.new_page()
    made.close()


def _press_decision(page: Page, button: str) -> None:
    """Press a button, and wait for the dialog that asks who decides."""
    page.get_by_role("button", name=button, exact=True).first.click()
    expect(page.get_by_label("Who decides")).to_be_visible()
    drawn(page)


def _land_decision(page: Page, by: str) -> None:
    """Say who decides, and land it."""
    expect(page.get_by_label("Who decides")).to_have_count(1)
    page.get_by_label("Who decides").fill(by)
    page.get_by_role("button", name="Land this").click()


def _has_landed(page: Page, says: str) -> None:
    expect(page.get_by_text(says).first).to_be_visible()
    expect(page.get_by_label("Who decides")).to_have_count(0)
    drawn(page)


def _is_refused(page: Page, pattern: str) -> None:
    expect(page.get_by_role("dialog").get_by_text(re.compile(pattern)).first).to_be_visible()


def test_of_two_who_look_at_one_item_the_second_is_told_who_decided(
    deciding: Dashboard, page: Page, other: Page
) -> None:
    item_id = item(deciding.home, text=STATED)["item_id"]
    for tab in (page, other):
        opened(tab, f"{deciding.address}/review?open=item:{item_id}")
        _press_decision(tab, "Promote")
    _land_decision(page, "ada")
    _has_landed(page, "promoted 1 item")
    _land_decision(other, "bob")
    _is_refused(other, r"'ada' decided this at 20.*Z \(review promote of '.*look again")
    assert landed(deciding.home)[0] == 1
    assert states(deciding.home)[item_id]["status"] == "active"


def _edited(page: Page, text: str, by: str) -> None:
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("What it shall say").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog").get_by_text(text).last).to_be_visible()
    drawn(page)
    _land_decision(page, by)
    _has_landed(page, "edit of unused has landed")


def test_undo_of_a_change_that_another_came_after_is_refused_with_whose(
    deciding: Dashboard, page: Page, other: Page
) -> None:
    for tab in (page, other):
        opened(tab, f"{deciding.address}/{memory_link('unused')}")
    _edited(page, "The first.", "ada")
    _press_decision(page, "Undo")  # of what has just landed, and looked at
    expect(
        page.get_by_role("dialog").get_by_text(re.compile("it takes back the memory edit of 20.* by ada"))
    ).to_be_visible()
    _edited(other, "The second.", "bob")
    refusal = r"'bob' decided this at 20.*Z \(memory edit of 'unused'\): look again"
    _land_decision(page, "ada")
    _is_refused(page, refusal)
    page.keyboard.press("Escape")
    drawn(page)
    page.get_by_role("button", name="Undo", exact=True).first.click()
    _is_refused(page, refusal)
    assert states(deciding.home)["unused"]["content"] == "The second."
    assert landed(deciding.home)[0] == 2


def test_a_publish_under_an_open_dialog_lands_what_it_shows(deciding: Dashboard, page: Page) -> None:
    home = deciding.home
    item_id = item(home, text=STATED)["item_id"]
    opened(page, f"{deciding.address}/review?open=item:{item_id}")
    _press_decision(page, "Promote")
    expect(page.get_by_role("dialog").get_by_text("j6")).to_have_count(0)
    home.land(interaction("j6", created_at="2026-06-01T09:00:00Z", response=f"{STATED} And so on."))
    home.nightly()
    run_id = home.settings.current.resolve().stem
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(run_id)
    dialog = page.get_by_role("dialog")
    is_writing = dialog.get_by_text("run this again when it has finished")  # drawn before the night had ended
    expect(dialog.get_by_text("j6").or_(is_writing).first).to_be_visible()
    drawn(page)
    if is_writing.count():
        page.keyboard.press("Escape")
        drawn(page)
        _press_decision(page, "Promote")
    _land_decision(page, "ada")
    _has_landed(page, "promoted 1 item")
    assert "j6" in states(home)[item_id]["source_ids"]
    assert landed(home)[0] == 1


def test_a_night_that_is_killed_under_an_open_page_is_told_and_the_page_goes_on(
    deciding: Dashboard, page: Page
) -> None:
    home = deciding.home
    item_id = item(home, kind="unused")["item_id"]
    opened(page, f"{deciding.address}/review?open=item:{item_id}")
    before = home.settings.current.resolve().stem
    home.land(interaction("j6", created_at="2026-06-01T09:00:00Z", response=f"{STATED} And so on."))
    _kill_a_night(home)
    expect(page.locator("[data-testid=stSidebar]").get_by_text("the last night has stopped")).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(before)
    assert page.locator("[data-testid=stException]").count() == 0
    _press_decision(page, "Reject")
    _land_decision(page, "ada")
    _has_landed(page, "rejected 1 item")
    assert states(home)["unused"]["status"] == "invalid"
    home.nightly()
    sidebar = page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_contain_text(home.settings.current.resolve().stem)
    expect(sidebar.get_by_text("the last night has stopped")).to_have_count(0)
    assert page.locator("[data-testid=stException]").count() == 0


def _kill_a_night(home: SmallHome) -> None:
    """`kill -9` of a nightly that has begun."""
    night = subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", "nightly"],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        cwd=home.folder.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not any(
            row["status"] == "started" and row["kind"] == "nightly" for row in ledger(home.settings.lake_folder)
        ):
            assert night.poll() is None, "the night ended before it was killed"
            time.sleep(0.05)
    finally:
        os.killpg(night.pid, signal.SIGKILL)
        night.wait()
