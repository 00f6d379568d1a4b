"""Numbers in sentences: the number itself, rounded, and its noun."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.figures import count_with_noun, decimals, tenths


@given(st.floats(-1000, 1000))
def test_two_decimals_are_the_number(number):
    text = pl.select(decimals(pl.lit(number))).item()
    assert re.fullmatch(r"-?(0|[1-9]\d*)\.\d\d", text)
    assert abs(float(text) - number) <= 0.005 + 1e-9


@given(st.floats(0, 1e6))
def test_one_decimal_is_the_number(number):
    text = pl.select(tenths(pl.lit(number))).item()
    assert re.fullmatch(r"(0|[1-9]\d*)\.\d", text)
    assert abs(float(text) - number) <= 0.05 + 1e-9


@pytest.mark.parametrize("number", [None, float("nan"), float("inf")])
def test_no_figure_for_what_is_no_number(number):
    made = pl.DataFrame({"x": [number]}, schema={"x": pl.Float64}).select(
        decimals(pl.col("x")).alias("a"), tenths(pl.col("x")).alias("b")
    )
    assert made.row(0) == (None, None)


def test_nouns_follow_their_count():
    counts = pl.DataFrame({"x": [0, 1, 2]})
    assert counts.select(count_with_noun(pl.col("x"), "use")).to_series().to_list() == ["0 uses", "1 use", "2 uses"]
