"""Makes the pictures in README anew from the sample logs: `make pictures`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from dashboard_process import entrance, started, stopped
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from small_home import SmallHome

from slowwave.data.sample import write_sample
from slowwave.data.story import DAYS
from slowwave.flows.cli.demo import story_decisions
from slowwave.flows.decide.decisions import land_decisions
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.demo_home import midnight_after

FOLDER = Path(__file__).parents[3] / "dashboards" / "pictures"
_WIDTH, _COLOURS = 1100, 64
# name, address under the dashboard or '' for the report, height in pixels, dark or light
_PICTURES: tuple[tuple[str, str, int, Literal["light", "dark"]], ...] = (
    ("report", "", 1000, "light"),
    ("overview", "overview", 1000, "light"),
    ("memory", "memory?memory_id=mem-0001", 1500, "dark"),
)


def main() -> None:
    """Publish the sample logs, draw it, and write the pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        message = "no Chromium: on Debian, apt-get install chromium"
        raise SystemExit(message)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        home = SmallHome(Path(temporary) / "home")
        write_sample(home.settings.inbox)
        home.nightly(midnight_after(DAYS - 1))
        land_decisions(Lake(home.settings.lake_folder), story_decisions(DAYS))
        home.nightly(midnight_after(DAYS))
        report = Path(home.run("report").stdout.strip())
        dashboard = started(home, Path(temporary))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, path, height, scheme in _PICTURES:
            page = browser.new_page(color_scheme=scheme, viewport={"width": _WIDTH, "height": height})
            page.goto(entrance(f"{dashboard.address}/{path.removeprefix('overview')}") if path else report.as_uri())
            _settled(page, is_app=bool(path))
            _save(page, FOLDER / f"{name}.png")
        browser.close()
        stopped(dashboard)


def _settled(page: Page, *, is_app: bool) -> None:
    if is_app:
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        page.wait_for_timeout(4_000)  # charts are drawn after the script has ended
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")  # which may have run again
        page.wait_for_timeout(2_000)


def _save(page: Page, path: Path) -> None:
    page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
