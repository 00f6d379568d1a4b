"""Decisions on the dashboard: none without the flag; what lands is what the command lands, once, from its own pages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from browser_pages import drawn, grid_of, opened
from dashboard_process import Dashboard, entrance, started, stopped
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect
from review_acts import HOSTILE, STATED, item, items, landed, reviewable_rows, states
from shared_homes import read_only_home
from small_home import SmallHome

from slowwave.dashboards.links import memory_link
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.lake import Lake

_AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - UTC without a zone, as everywhere
_BUTTONS = ("Promote", "Reject", "Merge", "Hold", "Archive", "Restore", "Edit", "Undo")
# how Streamlit's grid is measured: the box that chooses a row, and each row
_BOX_PIXELS, _ROW_PIXELS = 34, 35
_OF_TIME = ("decided_at", "recorded_at", "changed_at", "row_hash", "key_hash")


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


def _press_decision(page: Page, button: str) -> None:
    """Press a button, and wait for the dialog that asks who decides."""
    page.get_by_role("button", name=button, exact=True).first.click()
    expect(page.get_by_label("Who decides")).to_be_visible()


def _land_decision(page: Page, by: str, reason: str = "") -> None:
    """Say who decides and why, and land it."""
    expect(page.get_by_label("Who decides")).to_have_count(1)  # a dialog that is drawn anew stands there twice
    page.get_by_label("Who decides").fill(by)
    page.get_by_label("Why", exact=True).fill(reason)
    page.get_by_role("button", name="Land this").click()


def _has_landed(page: Page, says: str) -> None:
    expect(page.get_by_text(says).first).to_be_visible()
    expect(page.get_by_label("Who decides")).to_have_count(0)
    drawn(page)


def _rows(home: SmallHome, table: str) -> list[dict[str, Any]]:
    """Rows of a landed table, but for when they were landed."""
    files = [file.path for of_day in Lake(Path(home.settings.lake)).files(table).values() for file in of_day]
    rows = pl.concat([pl.read_parquet(file, glob=False) for file in files], how="diagonal").sort("recorded_at")
    return rows.drop(_OF_TIME, strict=False).to_dicts()


def test_without_the_flag_there_are_no_buttons(dashboard: Dashboard, page: Page) -> None:
    item_id = items(dashboard.home)["item_id"][0]
    for address in ("review", f"review?open=item:{item_id}", memory_link("mem-0001")):
        opened(page, f"{dashboard.address}/{address}")
        expect(page.get_by_text("changes nothing").first).to_be_visible()
        for name in _BUTTONS:
            assert page.get_by_role("button", name=name, exact=True).count() == 0, (address, name)
        assert page.get_by_text("Choose items by the boxes").count() == 0


def test_a_promotion_and_its_undo_land_what_the_commands_land(deciding: Dashboard, page: Page, tmp_path: Path) -> None:
    by_command = SmallHome(tmp_path / "by-command")
    shutil.copytree(deciding.home.folder, by_command.folder, symlinks=True)
    item_id = item(by_command, text=STATED)["item_id"]
    for verb, reason in (("promote", "agreed on Monday"), ("reject", "it was a mistake")):
        assert by_command.ask("review", verb, item_id, "--by", "ada", "--reason", reason).returncode == 0
    opened(page, f"{deciding.address}/review?open=item:{item_id}")
    _press_decision(page, "Promote")
    expect(page.get_by_role("dialog").get_by_text(f"slowwave review promote {item_id}")).to_be_visible()
    assert landed(deciding.home)[0] == 0, "what is only looked at changes nothing"
    _land_decision(page, "ada", "agreed on Monday")
    _has_landed(page, "promoted 1 item")
    assert states(deciding.home)[item_id]["status"] == "active"
    _press_decision(page, "Reject instead")
    expect(page.get_by_role("dialog").get_by_text("active → invalid")).to_be_visible()
    expect(page.get_by_label("Who decides")).to_have_value("ada")
    _land_decision(page, "ada", "it was a mistake")
    _has_landed(page, "rejected 1 item")
    for table in ("decisions", "memories"):
        assert _rows(deciding.home, table) == _rows(by_command, table)


def test_several_chosen_rows_are_rejected_at_once(deciding: Dashboard, page: Page) -> None:
    opened(page, f"{deciding.address}/review?kind=candidate")
    grid = grid_of(page, "Items, most important first")
    grid.scroll_into_view_if_needed()
    for number in (0, 1):
        box = grid.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + _BOX_PIXELS / 2, box["y"] + _ROW_PIXELS * (number + 1.5))
        expect(page.get_by_role("button", name=f"Reject {number + 1} item")).to_be_visible()
        drawn(page)
    _press_decision(page, "Reject 2 items")
    _land_decision(page, "ada")
    _has_landed(page, "rejected 2 items")
    queue = deciding.home.ask("review", "list", "--kind", "candidate", "--format", "json").stdout
    assert queue.count('"decided":"rejected"') == 2
    assert landed(deciding.home)[0] == 2
    _press_decision(page, "Promote instead")
    expect(page.get_by_role("dialog").get_by_text("invalid → active")).to_have_count(2)


def test_nothing_lands_without_a_name_or_while_another_writes(deciding: Dashboard, page: Page) -> None:
    item_id = item(deciding.home, kind="unused")["item_id"]
    opened(page, f"{deciding.address}/review?open=item:{item_id}")
    with writer_lock(deciding.home.settings, "nightly"):
        page.get_by_role("button", name="Reject", exact=True).click()
        expect(page.get_by_role("dialog").get_by_text("slowwave nightly")).to_be_visible()
    page.get_by_role("button", name="Look again").click()
    _land_decision(page, "  ", "whoever")
    expect(page.get_by_text("say who decides")).to_be_visible()
    drawn(page)
    with writer_lock(deciding.home.settings, "nightly"):
        _land_decision(page, "ada")
        expect(page.get_by_role("dialog").get_by_text("run this again when it has finished").first).to_be_visible()
        assert landed(deciding.home)[0] == 0
        page.keyboard.press("Escape")
    drawn(page)
    _press_decision(page, "Reject")
    _land_decision(page, "ada")
    _has_landed(page, "rejected 1 item")
    assert states(deciding.home)["unused"]["status"] == "invalid"


def test_what_is_sent_again_lands_nothing(deciding: Dashboard, page: Page) -> None:
    sent: list[str | bytes] = []
    servers: list[WebSocketRoute] = []

    def proxied(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        servers.append(server)
        server.on_message(route.send)

        def passed(message: str | bytes) -> None:
            sent.append(message)
            server.send(message)

        route.on_message(passed)

    page.route_web_socket("**/_stcore/stream", proxied)
    opened(page, f"{deciding.address}/review?open=item:{item(deciding.home, text=STATED)['item_id']}")
    _press_decision(page, "Promote")
    before = len(sent)
    _land_decision(page, "ada")
    _has_landed(page, "promoted 1 item")
    (frame, *_) = [message for message in sent[before:] if b"land " in bytes(message)]  # type: ignore[arg-type]
    servers[-1].send(frame)
    _press_decision(page, "Reject instead")
    for _ in range(2):
        servers[-1].send(frame)
        page.wait_for_timeout(3_000)
        drawn(page)
    assert landed(deciding.home)[0] == 1
    _land_decision(page, "ada")
    _has_landed(page, "rejected 1 item")
    servers[-1].send(frame)
    page.wait_for_timeout(3_000)
    assert landed(deciding.home)[0] == 2
    another = page.context.new_page()
    another.route_web_socket("**/_stcore/stream", proxied)
    opened(another, page.url)
    _press_decision(another, "Promote")
    servers[-1].send(frame)
    another.wait_for_timeout(3_000)
    assert landed(deciding.home)[0] == 2, "the session of another page"


class _Foreign(BaseHTTPRequestHandler):
    """A page of somebody else on this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>Elsewhere</h1>")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ARG002 - as it is called above
        return


_CONNECTED = """
(address) => new Promise((done) => {
    const socket = new WebSocket(address, ["streamlit"]);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
})
"""


def test_a_page_of_others_gets_no_connection(deciding: Dashboard, context: BrowserContext) -> None:
    stream = f"ws{deciding.address.removeprefix('http')}/_stcore/stream"
    with ThreadingHTTPServer(("127.0.0.1", 0), _Foreign) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = context.new_page()
        opened(page, deciding.address)  # which gives this browser the cookie
        assert page.evaluate(_CONNECTED, stream) == "open"
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        assert page.evaluate(_CONNECTED, stream) == "refused"
        server.shutdown()


def test_another_name_that_leads_here_is_refused(deciding: Dashboard, browser: Browser) -> None:
    name = deciding.address.replace("127.0.0.1", "rebound.example")
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    token = entrance(deciding.address).partition("?")[2]
    rebinding = ["--no-sandbox", "--host-resolver-rules=MAP rebound.example 127.0.0.1"]
    rebound = browser.browser_type.launch(executable_path=executable, args=rebinding)
    answer = rebound.new_page().goto(f"{name}/?{token}")
    assert answer is not None
    assert (answer.status, answer.text()) == (403, "this dashboard is for its own machine alone\n")
    rebound.close()


def test_an_edit_keeps_hostile_text_as_text_and_a_memory_goes_and_comes_back(deciding: Dashboard, page: Page) -> None:
    text = f"<img src=x onerror=alert(1)> **b** :red[x] </script>\n{HOSTILE}"
    opened(page, f"{deciding.address}/{memory_link('unused')}")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("What it shall say").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog").get_by_text("<img src=x onerror=alert(1)> **b** :red[x]").last).to_be_visible()
    drawn(page)
    assert page.locator("img[src=x], [role=dialog] dd strong").count() == 0
    _land_decision(page, HOSTILE, HOSTILE)
    _has_landed(page, "edit of unused has landed")
    assert states(deciding.home)["unused"]["content"] == text
    for button, says, status in (
        ("Archive", "archive of unused has landed", "archived"),
        ("Undo", "undo of unused has landed", "active"),
    ):
        _press_decision(page, button)
        _land_decision(page, "ada")
        _has_landed(page, says)
        assert states(deciding.home)["unused"]["status"] == status
    assert states(deciding.home)["unused"]["content"] == text


def test_the_next_item_is_a_key_away(deciding: Dashboard, page: Page) -> None:
    ids = items(deciding.home)["item_id"]
    opened(page, f"{deciding.address}/review?open=item:{ids[0]}")
    expect(page.get_by_role("button", name="Next item")).to_be_visible()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(f"item(:|%3A){ids[1]}$"))
    drawn(page)
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile(f"item(:|%3A){ids[0]}$"))
