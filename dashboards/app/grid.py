"""Rows as a grid that the browser sorts and searches; what a row names is a click or Shift+Space away.

The browser draws a grid on a canvas: text from logs is drawn there as text, on one line. What does not fit beside the
first columns stays in the grid's own menu of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.links import CASE, OPEN
from slowwave.dashboards.templates import cell_text, render_template
from slowwave.dashboards.words import number_of
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe

# in the session: the address that a person chose in a grid, which `app` goes to
LEADS_TO = "leads_to"

_MISSING = "–"
_MOST_ROWS = 12
_ROW_PIXELS = 35
# what is beside the sidebar in a window 1280 pixels wide, and what the boxes that choose a row take of it
_WIDTH, _BOX_WIDTH = 910, 35
_CHARACTER_PIXELS, _PADDING_PIXELS = 7, 26
_WIDEST_TEXT, _NARROWEST_TEXT = 430, 190
_LONGEST_TEXT = 2_000
_TIME, _DAY = "YYYY-MM-DD HH:mm [UTC]", "YYYY-MM-DD"
_TIME_CHARACTERS, _DAY_CHARACTERS, _FLOAT_CHARACTERS = 20, 10, 7
_SHARES = frozenset({"0-1", "probability", "difference of shares"})
_SMALLEST_SHARE, _LARGE = 0.005, 1e3
# where a column's name says too little, or too much
_LABELS = {
    "reference_count": "References",
    "proof_count": "Sources",
    "contradicting_proof_count": "Its sources",
    "need_30d": "Need in 30 days",
    "stated_confidence": "Stated by its owner",
    "reinforced_confidence": "Score by quotes",
}
# units that the name of a column does not say
_SAID_UNITS = frozenset({"days", "hours", "seconds", "s", "tokens", "nats", "the owner's currency"})


@dataclass(frozen=True)
class GridColumn:
    """A column: its values as they are sorted, its head and what is said of it when somebody points there."""

    name: str
    label: str
    meaning: str
    values: pl.Series
    unit: str = ""
    is_number: bool = False  # of texts that are numbers


def column_label(name: str) -> str:
    """A column's name as a person says it: `last_referenced_at` is `Last referenced`, `is_harmful` is `Harmful`."""
    if name in _LABELS:
        return _LABELS[name]
    words = name.removeprefix("is_").removesuffix("_at").removesuffix("_count").removesuffix("_id").replace("_", " ")
    return words[:1].upper() + words[1:]


def recipe_columns(
    frame: pl.DataFrame, recipe: Recipe, names: Sequence[str], labels: Mapping[str, str]
) -> list[GridColumn]:
    """Columns of a recipe's answer; `labels`: heads in place of their names."""
    known = {column.name: column for column in recipe.columns}
    columns = []
    for name in names or frame.columns:
        unit, meaning = (known[name].unit, known[name].meaning) if name in known else ("", "")
        label = labels.get(name) or column_label(name)
        if name.endswith("_id") and name.removesuffix("_id") in frame.columns:
            label = f"{label} id"
        if unit in _SAID_UNITS and unit not in label.lower():
            label = f"{label} ({unit})"
        interval = "with its 90 % interval" if f"{name}_low" in frame.columns else ""
        said = " ".join(filter(None, (meaning, f"({unit})" if unit else "", interval)))
        columns.append(GridColumn(name, label, said, _sortable_values(frame[name]), unit))
    return columns


def _sortable_values(values: pl.Series) -> pl.Series:
    """Values as the grid sorts them; what is neither a number nor a time as text on one line."""
    if values.dtype.is_integer():
        return values.cast(pl.Int64)
    if values.dtype.is_float():
        return values.fill_nan(None)
    if values.dtype.is_temporal():
        return values
    return pl.Series(values.name, [_text(value) for value in values.to_list()], dtype=pl.String)


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None if value is None else cell_text(value)
    return shorten_to_width(terminal_safe(shorten_to_width(value, _LONGEST_TEXT)), _LONGEST_TEXT) or None


def draw_grid(
    columns: Sequence[GridColumn],
    *,
    caption: str,
    addresses: Mapping[str, Sequence[str]] | None = None,
    opens: Sequence[Mapping[str, str]] = (),
    key: str = "",
    room: int = _WIDTH,
    missing: str = _MISSING,
    is_fitted: bool = True,
    chooses_many: bool = False,
) -> list[int]:
    """Draw columns as a grid, and return the numbers of its chosen rows.

    Args:
        columns: the first one stays in sight.
        caption: what the grid shows, also for screen readers; another one on each page and for each grid.
        addresses: by column, where the cells of each row lead ('' nowhere). The first that leads somewhere is the
            row's, unless the row opens something.
        opens: by row, what the address says so that the panel shows what the row names.
        key: of the grid, where its caption may stand twice.
        room: pixels for its columns.
        missing: what stands where there is no value.
        is_fitted: columns that have no room stay in the grid's menu; else the grid is scrolled sideways.
        chooses_many: the boxes of rows choose several of them, and stay so; else the one chosen leads to its address.
    """
    leading = dict(addresses or {})
    is_opening = any(opens)
    opener = next((column.name for column in columns if is_opening and column.values.dtype == pl.String), None)
    has_boxes = bool(leading or is_opening or chooses_many)
    widths = _fit_widths(columns, room - (_BOX_WIDTH if has_boxes else 0)) if is_fitted else _needed_widths(columns)
    more = len(columns) - len(widths)
    key = f"grid {key or caption}"
    of_rows = [next(filter(None, of_row), "") for of_row in zip(*leading.values(), strict=True)]
    said = f"{caption} · {number_of(more, 'column')} hidden" if more else caption
    st.html(render_template("caption.html.jinja", text=said))
    rows = len(columns[0].values) if columns else 0
    choosing = partial(_choose_row, key, of_rows, opens) if leading or is_opening else "ignore"
    buttons = {name: partial(_choose_cell, f"{key} {name}", of_cells) for name, of_cells in leading.items()}
    if opener:
        buttons[opener] = partial(_open_cell, f"{key} {opener}", opens)
    st.dataframe(
        pl.DataFrame(
            [_button_labels(column.values) if column.name in buttons else column.values for column in columns]
        ),
        height=_ROW_PIXELS * (_MOST_ROWS + 1) + 2 if rows > _MOST_ROWS else "content",
        hide_index=True,
        column_order=list(widths),
        column_config={
            column.name: _config(
                column,
                width=widths.get(column.name),
                is_pinned=not number,
                on_click=buttons.get(column.name),
                key=f"{key} {column.name}",
            )
            for number, column in enumerate(columns)
        },
        key=key,
        on_select="rerun" if chooses_many else choosing,
        selection_mode="multi-row" if chooses_many else "single-row",
        placeholder=missing,
        alt=caption,
    )
    return st.session_state[key]["selection"]["rows"] if chooses_many else []


def _button_labels(texts: pl.Series) -> pl.Series:
    """Texts as labels of buttons: Streamlit takes one in brackets for several, one behind a colon for an icon."""
    if texts.dtype != pl.String:
        return texts
    labels = [f"→ {text}" if text and text.lstrip()[:1] in "[:" else text or _MISSING for text in texts]
    return pl.Series(texts.name, labels)


def _config(column: GridColumn, *, width: int | None, is_pinned: bool, on_click: Any, key: str) -> Any:  # noqa: ANN401 - Streamlit's own
    common: dict[str, Any] = {
        "label": column.label,
        "help": column.meaning or None,
        "width": width,
        "pinned": is_pinned,
    }
    dtype = column.values.dtype
    if dtype.is_numeric():
        step, template = (1, "accounting") if dtype.is_integer() else _float_format(column)
        return st.column_config.NumberColumn(**common, format=template, step=step)
    if dtype == pl.Datetime:
        return st.column_config.DatetimeColumn(**common, format=_TIME)
    if dtype == pl.Date:
        return st.column_config.DateColumn(**common, format=_DAY)
    if on_click is not None:
        return st.column_config.ButtonColumn(**common, type="tertiary", alignment="left", key=key, on_click=on_click)
    return st.column_config.TextColumn(**common, alignment="right" if column.is_number else "left")


def _float_format(column: GridColumn) -> tuple[int | None, str]:
    """The step and the format of numbers that are no counts: two places for shares, three digits for others."""
    sizes = column.values.abs()
    smallest, largest = sizes.filter(sizes > 0).min(), sizes.max()
    if isinstance(largest, float) and largest >= _LARGE:
        return 1, "accounting"
    is_small = isinstance(smallest, float) and smallest < _SMALLEST_SHARE
    return None, "%.2f" if column.unit in _SHARES and not is_small else "%.3g"


def _needed_widths(columns: Sequence[GridColumn]) -> dict[str, int]:
    """The pixels that each column takes at most."""
    needed = {}
    for column in columns:
        head = _CHARACTER_PIXELS * len(column.label) + _PADDING_PIXELS
        cells = _CHARACTER_PIXELS * _longest(column.values) + _PADDING_PIXELS
        needed[column.name] = max(head, min(cells, _WIDEST_TEXT))
    return needed


def _longest(values: pl.Series) -> int:
    if values.dtype == pl.String:
        found: Any = values.str.len_chars().max()
        return found or 1
    if values.dtype.is_integer():
        return max((len(f"{value:,}") for value in (values.min(), values.max()) if value is not None), default=1)
    if values.dtype == pl.Datetime:
        return _TIME_CHARACTERS
    return _DAY_CHARACTERS if values.dtype == pl.Date else _FLOAT_CHARACTERS


def _fit_widths(columns: Sequence[GridColumn], room: int) -> dict[str, int]:
    """The pixels of each column that has room, in order: texts give way first, then the last columns."""
    needed = _needed_widths(columns)
    least: dict[str, int] = {}
    for column in columns:
        head = _CHARACTER_PIXELS * len(column.label) + _PADDING_PIXELS
        is_text = column.values.dtype == pl.String
        least[column.name] = min(needed[column.name], max(head, _NARROWEST_TEXT)) if is_text else needed[column.name]
        if len(least) > 1 and sum(least.values()) > room:
            del least[column.name]
            break
    spare = room - sum(least.values())
    for name, width in least.items():
        more = max(0, min(needed[name] - width, spare))
        least[name] += more
        spare -= more
    return least


def _choose_row(key: str, addresses: Sequence[str], opens: Sequence[Mapping[str, str]]) -> None:
    """Open what a row names, or remember where it leads, and choose it no longer: it can be chosen again."""
    rows = st.session_state[key]["selection"]["rows"]
    if rows and opens and opens[rows[0]]:
        open_thing(opens[rows[0]])
    elif rows and addresses:
        st.session_state[LEADS_TO] = addresses[rows[0]]
    st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": []}}


def _open_cell(key: str, opens: Sequence[Mapping[str, str]]) -> None:
    open_thing(opens[st.session_state[key]["row"]])


def open_thing(says: Mapping[str, str]) -> None:
    """Write into the address what the panel shows; nothing: it shows nothing."""
    for name in (OPEN, CASE):
        st.query_params.pop(name, None)
    st.query_params.update(says)


def _choose_cell(key: str, addresses: Sequence[str]) -> None:
    st.session_state[LEADS_TO] = addresses[st.session_state[key]["row"]]
