"""The morning report in a browser: nothing loaded, nothing run, readable everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_pages import serious_findings
from dashboard_process import AS_OF, published_home
from hostile_rows import hostile_rows
from playwright.sync_api import Browser, Page
from small_home import SmallHome, memory

_MOST_BYTES = 2_000_000


def _homes(folder: Path) -> dict[str, SmallHome]:
    full, hostile, tiny, empty = (SmallHome(folder / name) for name in ("full", "hostile", "tiny", "empty"))
    published_home(full.folder)
    hostile.land(*hostile_rows())
    tiny.land(memory("m1"))
    for home in (hostile, tiny, empty):
        home.nightly(AS_OF)
    return {"full": full, "hostile": hostile, "tiny": tiny, "empty": empty}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name, home in _homes(tmp_path_factory.mktemp("reports")).items():
        done = home.run("report")
        assert done.returncode == 0, done.stderr
        made[name] = Path(done.stdout.strip().splitlines()[-1])
    return made


@pytest.mark.parametrize("name", ["full", "hostile", "tiny", "empty"])
def test_it_opens_without_a_complaint_and_runs_nothing(reports, page: Page, name):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(reports[name].as_uri())
    assert asked == [reports[name].as_uri()]
    assert reports[name].stat().st_size < _MOST_BYTES
    assert page.locator("h1").count() == 1
    assert page.locator("script, iframe, object, embed, img:not([src^='data:']), a[href^='http']").count() == 0
    assert "owned" not in page.title()


@pytest.mark.parametrize("name", ["full", "hostile", "empty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_finding_of_axe(reports, browser: Browser, name, scheme):
    # axe is injected by the driver, so the page's own policy must not stand in its way
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(reports[name].as_uri())
    found = serious_findings(page)
    context.close()
    assert found == []


@pytest.mark.parametrize("name", ["full", "hostile", "empty"])
def test_a_phone_needs_no_sideways_scrolling(reports, browser: Browser, name):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(reports[name].as_uri())
    width = page.evaluate("document.scrollingElement.scrollWidth")
    context.close()
    assert width <= 390


def test_it_prints_on_white_paper(reports, browser: Browser):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(reports["full"].as_uri())
    page.emulate_media(media="print")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.body).color")
    context.close()
    assert background in {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}
    assert max(int(part) for part in ink.removeprefix("rgb(").removesuffix(")").split(", ")) < 100


def test_it_is_short_on_a_screen_and_on_paper(reports, browser: Browser):
    page = browser.new_page()
    page.goto(reports["full"].as_uri())
    above = page.evaluate("document.body.innerText.split('What changed')[0]")
    assert len(above.split()) <= 150
    every = "[...document.querySelectorAll('style, svg')].forEach(one => one.remove()), document.body.textContent"
    pages = page.pdf(format="A4").count(b"/Type /Page\n")
    assert 1 <= pages <= 2
    assert len(page.evaluate(every).split()) <= 1_500
    page.close()
