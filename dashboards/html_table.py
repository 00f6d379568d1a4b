"""An answer as an HTML table for the report: escaped, with units and meanings; and a value as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import polars as pl
from markupsafe import Markup

from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.templates import render_template
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text

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


def table_html(
    frame: pl.DataFrame,
    recipe: Recipe,
    *,
    caption: str,
    columns: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
) -> Markup:
    """Rows of an answer as a table.

    Args:
        frame: rows of `recipe`.
        recipe: says what its columns mean and their units.
        caption: what the table shows, also for screen readers.
        columns: those shown, in this order; none: all.
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
    rows = [[(column, cell_text(row[column.name])) for column in shown] for row in frame.iter_rows(named=True)]
    return render_template("table.html.jinja", caption=caption, columns=shown, rows=rows)


def _unit(unit: str, label: str) -> str:
    """The unit, where the head does not say it already."""
    return "" if unit in label.split() else unit


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
        return shorten_to_width(", ".join(map(cell_text, value)), _MAX_CELL)
    # shortened first: a text may be megabytes long
    return shorten_to_width(terminal_safe(shorten_to_width(str(value), _MAX_CELL)), _MAX_CELL) or _MISSING


def _number_text(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return _MISSING
    if 0 < abs(value) < _SMALL or abs(value) >= _HUGE:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.3g}"
