"""A page of the dashboard without a browser: what it draws at an address, and what a person reads in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from typing import Any

import polars as pl
import pytest
from small_home import SmallHome
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from slowwave.dashboards.app import grid, sql_answers, widgets
from slowwave.dashboards.cookbook.published import Published

Draw = Callable[[Published], None]
# Streamlit's own folder for the script below
IGNORED = "ignore:Implicitly cleaning up:ResourceWarning"

# Every AppTest looks through all installed packages for components, which takes longer than most pages: once is enough.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def _script(draw, published):
    """What is run in place of the app, as text: without names of this module."""
    draw(published)


def drawn(draw: Draw, published: Published, **address: str) -> AppTest:
    """A page at an address."""
    app = AppTest.from_function(_script, args=(draw, published), default_timeout=600)
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def bodies(app: AppTest) -> str:
    """The HTML that a page draws itself."""
    return "\n".join(element.proto.body for element in app.get("html"))


def grids(app: AppTest) -> dict[str, pl.DataFrame]:
    """The grids of a page by what each shows."""
    return {element.proto.alt: pl.from_pandas(element.value) for element in app.dataframe}


def addresses_of(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, list[str]]]:
    """Where rows of each grid that is drawn from now on lead, by its caption and column; and what each `opens`."""
    leading: dict[str, dict[str, list[str]]] = {}

    def draw(columns: Sequence[grid.GridColumn], **given: Any) -> None:
        opened = [row.get("open", "") for row in given.get("opens", ())]
        leading[given["caption"]] = {**(given.get("addresses") or {}), "opens": opened}
        grid.draw_grid(columns, **given)

    for module in (widgets, sql_answers):
        monkeypatch.setattr(module, "draw_grid", draw)
    return leading


def words(app: AppTest) -> str:
    """What a person reads in it: texts, and the cells of grids as they are sorted."""
    said = [unescape(re.sub(r"<[^>]*>", " ", bodies(app)))]
    for shown in grids(app).values():
        said += [" ".join(f"{cell}" for cell in row if cell is not None) for row in shown.iter_rows()]
    return " ".join(" ".join(said).split())


def commands(app: AppTest) -> list[str]:
    """The commands to copy."""
    return [code.value for code in app.code]


def published_by(home: SmallHome) -> Published:
    """What a home has published, open for reading."""
    return Published(home.settings.current.resolve(strict=True))
