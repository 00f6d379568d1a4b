"""Every figure of every page is drawn: what a browser has rendered is measured, not what it was sent."""

from __future__ import annotations

import pytest
from browser_pages import PAGES, drawn, opened
from hostile_rows import PROJECT
from playwright.sync_api import Locator, Page, expect

from slowwave.dashboards.links import project_view
from slowwave.transforms.graph import PUBLISHED

_LEAST_PIXELS = 50
_TRIES = 60
_FIGURES = "[data-testid=stVegaLiteChart], [data-testid=stIFrame]"
# How many figures each page has at least; a page without any holds tables and text.
_WITH_FIGURES = {
    "": 2,
    "memories?list=charts": 2,
    "strategies": 3,
    "runs": 2,
    "lineage": 1,
    "memory?memory_id=mem-0001": 1,
}
# Marks of a chart stand in a `role-mark` group, those of lineage in a group with a title.
_MARKS = ".role-mark path, .role-mark text, .role-mark line, g > rect"
_DRAWN_MARKS = f"""svg => [...svg.querySelectorAll('{_MARKS}')].filter(
    (mark) => {{
        const box = mark.getBoundingClientRect();
        const style = getComputedStyle(mark);
        const is_seen = style.visibility === 'visible' && style.opacity !== '0';
        return is_seen && box.width + box.height > 0 && (style.fill !== 'none' || style.stroke !== 'none');
    }}).length"""


def figure_drawing(figure: Locator) -> Locator:
    """The SVG of a figure, which stands in the page or in a frame of it."""
    is_frame = figure.evaluate("element => element.tagName === 'IFRAME'")
    return figure.content_frame.locator(".drawing > svg") if is_frame else figure.locator("svg.marks")


def is_large(drawn: Locator) -> bool:
    """Whether it is wide and high enough, once its chart has taken the width of its column."""
    for _ in range(_TRIES):
        box = drawn.bounding_box()
        if box is not None and min(box["width"], box["height"]) > _LEAST_PIXELS:
            return True
        drawn.page.wait_for_timeout(500)
    return False


@pytest.mark.parametrize("path", [*PAGES, *(path for path in _WITH_FIGURES if path not in PAGES)])
def test_each_figure_has_a_box_with_marks_in_it(dashboard, page: Page, path: str) -> None:
    opened(page, f"{dashboard.address}/{path}")
    expected = _WITH_FIGURES.get(path, 0)
    figures = page.locator(_FIGURES)
    if expected:
        expect(figures.first).to_be_attached()
    folded = page.locator("[data-testid=stExpander] details:not([open]) > summary:visible")
    seen = set[int]()
    tabs = page.get_by_role("tab")
    for at in range(max(1, tabs.count())):
        if tabs.count():
            tabs.nth(at).click()
            drawn(page)
        while folded.count():
            folded.first.click()
            page.wait_for_timeout(500)
        page.wait_for_timeout(1_000)  # what unfolds takes a moment
        seen |= {number for number, figure in enumerate(figures.all()) if figure.is_visible() and has_marks(figure)}
    assert len(seen) >= expected


def has_marks(figure: Locator) -> bool:
    """Check that a figure is drawn, large enough and with marks in it."""
    figure.scroll_into_view_if_needed()
    drawing = figure_drawing(figure)
    expect(drawing).to_be_visible()
    assert is_large(figure)
    assert is_large(drawing)
    assert drawing.evaluate(_DRAWN_MARKS) > 0
    return True


def test_lineage_names_every_table_and_is_scrolled_by_keyboard(dashboard, page: Page) -> None:
    opened(page, f"{dashboard.address}/{project_view('lineage', PROJECT)}")
    frame = page.get_by_title("What is made from what, drawn").content_frame
    expect(frame.locator("svg text").first).to_be_visible()
    named = frame.locator("svg text").all_text_contents()
    assert {table.name for table in PUBLISHED} <= set(named)
    region = frame.get_by_role("region", name="Drawing, scrolls sideways")
    page.get_by_label("Table").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if region.evaluate("element => element === document.activeElement"):
            break
    before = region.evaluate("element => element.scrollLeft")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert region.evaluate("element => element.scrollLeft") > before
