"""Grids: heads in plain words, columns that have room, formats that keep numbers apart."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards.app.grid import (
    GridColumn,
    _button_labels,
    _fit_widths,
    _float_format,
    column_label,
    recipe_columns,
)
from slowwave.dashboards.cookbook.cookbook import cookbook

ROOM = 900


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("memory_id", "Memory"),
        ("last_referenced_at", "Last referenced"),
        ("is_harmful", "Harmful"),
        ("injected_count", "Injected"),
        ("reference_count", "References"),
    ],
)
def test_a_head_is_in_plain_words(name: str, label: str) -> None:
    assert column_label(name) == label


@each("recipe", cookbook().values())
def test_no_two_heads_of_a_recipe_are_alike(recipe) -> None:
    names = [column.name for column in recipe.columns]
    columns = recipe_columns(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), recipe, names, {})
    labels = [column.label for column in columns]
    assert len(set(labels)) == len(labels)
    assert not any("_" in label for label in labels)


@given(st.lists(st.tuples(st.text("m", min_size=1, max_size=40), st.text("t", max_size=300)), min_size=1, max_size=20))
def test_columns_fit_and_the_first_one_is_always_there(shown: list[tuple[str, str]]) -> None:
    columns = [
        GridColumn(f"{at}", label, "", pl.Series(f"{at}", [text], dtype=pl.String))
        for at, (label, text) in enumerate(shown)
    ]
    widths = _fit_widths(columns, ROOM)
    assert [*widths] == [column.name for column in columns[: len(widths)]]
    assert widths
    assert sum(widths.values()) <= ROOM
    assert all(width > 7 * len(columns[int(name)].label) for name, width in widths.items())


def test_texts_that_streamlit_would_take_apart_are_labels_as_they_are() -> None:
    labels = _button_labels(pl.Series("id", ["m1", "[a, b]", " :material/x: c", None]))
    assert labels.to_list() == ["m1", "→ [a, b]", "→  :material/x: c", "–"]


def test_cells_are_sorted_as_what_they_are_and_text_is_on_one_line() -> None:
    frame = pl.DataFrame(
        {
            "content": ["a\n\x1b[31m" + "x" * 5_000],
            "reference_count": [7],
            "confidence": [float("nan")],
            "last_referenced_at": [datetime(2026, 3, 30, 22, 30)],  # noqa: DTZ001 - UTC, as everywhere
            "days": [["b", "a"]],
        }
    )
    columns = recipe_columns(frame, cookbook()["memory_explorer"], frame.columns, {})
    text, count, share, at, listed = (column.values.item() for column in columns)
    assert text.startswith("a\\n\\x1b[31mxxx")
    assert len(text) == 2_000
    assert (count, share, at, listed) == (7, None, frame["last_referenced_at"].item(), "b, a")


@pytest.mark.parametrize(
    ("values", "unit", "template"),
    [
        ([0.5, 1.0], "0-1", "%.2f"),
        ([0.5, 1e-7], "0-1", "%.3g"),
        ([1.5], "days", "%.3g"),
        ([12_345.6], "", "accounting"),
    ],
)
def test_small_shares_keep_their_digits_and_large_numbers_their_separators(values, unit, template) -> None:
    assert _float_format(GridColumn("a", "A", "", pl.Series(values), unit))[1] == template
