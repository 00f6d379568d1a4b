"""A published home, the dashboard over it as its own process, and pages that fail a test when they complain."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from hostile_rows import hostile_rows
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from small_home import SmallHome

from slowwave.data.sample import write_sample

AS_OF = datetime(2026, 3, 12)  # noqa: DTZ001 - times are UTC without a zone
_SECONDS_TO_START = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs the browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Dashboard:
    """A dashboard that runs, and the home it shows."""

    home: SmallHome
    address: str
    process: subprocess.Popen[str]


def published_home(folder: Path) -> SmallHome:
    """Ten days of the sample logs and a hostile project, published."""
    home = SmallHome(folder)
    write_sample(home.settings.inbox, days=10, interactions_per_day=40)
    home.land(*hostile_rows())
    home.nightly(AS_OF)
    return home


def started(home: SmallHome, folder: Path) -> Dashboard:
    """`slowwave dashboard` on a free port, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "user").mkdir(exist_ok=True)
    environment = {**os.environ, "SLOWWAVE_HOME": str(home.folder), "HOME": str(folder / "user")}
    slowwave = Path(sys.executable).parent / "slowwave"
    process = subprocess.Popen(
        [slowwave, "dashboard", "--port", str(port)],
        env=environment,
        cwd=folder,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=2):  # noqa: S310 - our own server
                return Dashboard(home, address, process)
        except (URLError, OSError):
            time.sleep(0.2)
    process.kill()
    pytest.fail(f"the dashboard did not start: exit code {process.wait()}")


def stopped(dashboard: Dashboard) -> int:
    """End it as a terminal would, and return its exit code."""
    dashboard.process.terminate()
    return dashboard.process.wait(timeout=20)


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    folder = tmp_path_factory.mktemp("dashboard")
    running = started(published_home(folder / "home"), folder)
    yield running
    stopped(running)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.fail("no Chromium: on Debian, apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without history, offline but for this machine: whatever else a page asks for fails the test."""
    made = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; the test fails if it logged an error, threw, or asked for anything outside this machine."""
    made = context.new_page()
    complaints: list[str] = []
    made.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("request", lambda asked: complaints.append(asked.url) if _is_elsewhere(asked.url) else None)
    yield made
    assert complaints == []


def _is_elsewhere(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "file://", "data:", "blob:"))
