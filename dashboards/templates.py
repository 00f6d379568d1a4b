"""The HTML of report and dashboard, answers as tables too: every value that is put into a template is escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.links import view
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text
from slowwave.transforms.core.glossary import GLOSSARY

# by how a sentence may say them, the words of the glossary that are explained where they stand; the longest first
_TERMS = {
    "not comparable": "not comparable",
    "not randomised": "not randomised",
    "randomised": "randomised",
    "points": "effect",
    "mostly not followed": "ignored",
    "hard task": "hard task",
    "cost": "cost",
    "answers": "reference",
}
_TERM = re.compile(f"({'|'.join(map(re.escape, _TERMS))})")


def with_code(text: str) -> Markup:
    """Text escaped, with what stands between backticks set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one is left over
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def with_terms(text: str, is_linked: bool) -> Markup:
    """Text as `with_code` sets it, and words of the glossary with their meaning; `is_linked`: and with its page."""
    parts = _TERM.split(text)
    return Markup("").join(
        _term(part, is_linked) if number % 2 else with_code(part) for number, part in enumerate(parts)
    )


def _term(words: str, is_linked: bool) -> Markup:
    name = _TERMS[words]
    if not is_linked:
        return Markup('<abbr title="{}">{}</abbr>').format(GLOSSARY[name], words)
    link = view("glossary", word=name)
    shape = Markup('<a class="sw-term" href="{}" target="_self" title="{}">{}</a>')
    return shape.format(link, GLOSSARY[name], words)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("slowwave.dashboards"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"with_code": with_code, "with_terms": with_terms}
    return environment


def render_template(template: str, **values: object) -> Markup:
    """A template of `templates/` with these values; only what is Markup already is taken as it stands."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the environment


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
