"""An answer as an HTML table: escaped, with units, meanings and links, for the report and the dashboard alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl
from markupsafe import Markup

from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.templates import rendered
from slowwave.flows.kernel.terminal import shortened, terminal_safe
from slowwave.flows.kernel.times import utc_text

Row = Mapping[str, Any]
Link = Callable[[Row], str]

_MAX_CELL = 300
_MISSING = "–"
_SMALL, _LARGE, _HUGE = 0.001, 1e3, 1e9


@dataclass(frozen=True)
class ShownColumn:
    """The head of a column; `meaning` is the cookbook's."""

    name: str
    label: str
    unit: str
    meaning: str
    is_numeric: bool


@dataclass(frozen=True)
class ShownCell:
    """A cell's text, and where it leads ('' nowhere)."""

    text: str
    link: str


def table_html(
    frame: pl.DataFrame,
    recipe: Recipe,
    *,
    caption: str,
    columns: Sequence[str] = (),
    links: Mapping[str, Link] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Markup:
    """Rows of an answer as a table.

    Args:
        frame: rows of `recipe`.
        recipe: says what its columns mean and their units.
        caption: what the table shows, also for screen readers.
        columns: those shown, in this order; none: all.
        links: by column, from a row to a relative address.
        labels: by column, a head in place of its name.
    """
    known = {column.name: column for column in recipe.columns}
    shown = [
        ShownColumn(
            name=name,
            label=(labels or {}).get(name, name.replace("_", " ")),
            unit=_unit(known[name].unit if name in known else "", (labels or {}).get(name, name.replace("_", " "))),
            meaning=known[name].meaning if name in known else "",
            is_numeric=frame.schema[name].is_numeric(),
        )
        for name in columns or frame.columns
    ]
    wanted = links or {}
    rows = [
        [(column, ShownCell(cell_text(row[column.name]), _link(wanted, column.name, row))) for column in shown]
        for row in frame.iter_rows(named=True)
    ]
    return rendered("table.html.jinja", caption=caption, columns=shown, rows=rows)


def _unit(unit: str, label: str) -> str:
    """The unit, where the head does not say it already."""
    return "" if unit in label.split() else unit


def _link(links: Mapping[str, Link], name: str, row: Row) -> str:
    """Where a cell leads; one whose value is missing leads nowhere."""
    return links[name](row) if name in links and row[name] is not None else ""


def cell_text(value: object) -> str:
    """A value as a person reads it: `–` where it is missing, times in UTC to the second, numbers to three digits."""
    if value is None:
        return _MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number_text(value)
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if isinstance(value, (list, tuple)):
        return shortened(", ".join(map(cell_text, value)), _MAX_CELL)
    # shortened first: a text may be megabytes long
    return shortened(terminal_safe(shortened(str(value), _MAX_CELL)), _MAX_CELL) or _MISSING


def _number_text(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return _MISSING
    if 0 < abs(value) < _SMALL or abs(value) >= _HUGE:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.3g}"
