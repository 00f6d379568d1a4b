# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Normalising and prefixes against their plain definitions, over all of Unicode."""

import memory_model as model
import polars as pl
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.evidence.echo.echo import echo_pattern, normalise_text
from slowwave.transforms.evidence.params import EvidenceParams

PARAMS = EvidenceParams()
# White space, what only looks like it, and letters whose lower case is longer, or depends on its neighbours.
TRICKY = " \t\r\n\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u200a\u200b\u2028\u202f\u205f\u2060\u3000\ufeff"
TRICKY += "İIıßẞΣσςʼnDžÅa.\u0301\u0307𝒳"
tricky = st.text(st.sampled_from(TRICKY)) | st.text()


def column(expression, values):
    return pl.DataFrame({"t": values}, schema={"t": pl.String}).select(expression).to_series().to_list()


@given(st.lists(tricky, max_size=5))
def test_normalised_is_lower_case_with_single_spaces_and_trimmed(values):
    assert column(normalise_text(pl.col("t")), values) == [model.normalised(value) for value in values]


@each("char", sorted(model.WHITE_SPACE))
def test_every_white_space_character_is_one_space(char):
    assert column(normalise_text(pl.col("t")), [f"{char}A{char}b{char}{char}C{char}"]) == ["a b c"]


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\ufeff", "\x1c", "\x1f", "\u180e"])
def test_what_is_no_white_space_stays(char):
    assert column(normalise_text(pl.col("t")), [f" a{char} "]) == [f"a{char}"]


@pytest.mark.parametrize(
    ("text", "lower"),
    [("ΟΔΟΣ ΟΔΟΣ", "οδος οδος"), ("İ", "i\u0307"), ("ẞ", "ß"), ("STRASSE", "strasse"), ("A\r\nB", "a b"), ("Σ", "σ")],
)
def test_lower_case_of_letters_that_are_not_one_to_one(text, lower):
    assert column(normalise_text(pl.col("t")), [text]) == [lower]


@given(st.lists(tricky | st.text(st.sampled_from("ab İ\u2003"), min_size=8, max_size=200), max_size=5))
def test_the_pattern_is_the_prefix_that_is_not_trimmed_again(values):
    found = column(echo_pattern(pl.col("t"), PARAMS), values)
    assert found == [model.pattern(value) for value in values]


@pytest.mark.parametrize("first", [79, 80, 81])
def test_eighty_code_points_of_whatever_size(first):
    text = "é𝒳" * 60
    assert column(echo_pattern(pl.col("t"), EvidenceParams(echo_code_points=first)), [text]) == [text.lower()[:first]]
    (spaced,) = column(echo_pattern(pl.col("t"), PARAMS), ["é" * 79 + "  and more"])
    assert spaced == "é" * 79 + " "


def test_null_stays_null():
    assert column(normalise_text(pl.col("t")), [None, " A "]) == [None, "a"]
    assert column(echo_pattern(pl.col("t"), PARAMS), [None]) == [None]
