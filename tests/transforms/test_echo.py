# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Normalising, prefixes and the matcher, each against its plain definition, over all of Unicode."""

import memory_model as model
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slowwave.transforms.echo import echo_matches, echo_pattern, normalised
from slowwave.transforms.params import EvidenceParams

PARAMS = EvidenceParams()
# White space, what only looks like it, and letters whose lower case is longer, or depends on its neighbours.
TRICKY = " \t\r\n\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u200a\u200b\u2028\u202f\u205f\u2060\u3000\ufeff"
TRICKY += "İIıßẞΣσςʼnDžÅa.\u0301\u0307𝒳"
tricky = st.text(st.sampled_from(TRICKY)) | st.text()


def column(expression, values):
    return pl.DataFrame({"t": values}, schema={"t": pl.String}).select(expression).to_series().to_list()


@given(st.lists(tricky, max_size=5))
def test_normalised_is_lower_case_with_single_spaces_and_trimmed(values):
    assert column(normalised(pl.col("t")), values) == [model.normalised(value) for value in values]


@pytest.mark.parametrize("char", sorted(model.WHITE_SPACE))
def test_every_white_space_character_is_one_space(char):
    assert column(normalised(pl.col("t")), [f"{char}A{char}b{char}{char}C{char}"]) == ["a b c"]


@pytest.mark.parametrize("char", ["\u200b", "\u2060", "\ufeff", "\x1c", "\x1f", "\u180e"])
def test_what_is_no_white_space_stays(char):
    assert column(normalised(pl.col("t")), [f" a{char} "]) == [f"a{char}"]


@pytest.mark.parametrize(
    ("text", "lower"),
    [("ΟΔΟΣ ΟΔΟΣ", "οδος οδος"), ("İ", "i\u0307"), ("ẞ", "ß"), ("STRASSE", "strasse"), ("A\r\nB", "a b"), ("Σ", "σ")],
)
def test_lower_case_of_letters_that_are_not_one_to_one(text, lower):
    assert column(normalised(pl.col("t")), [text]) == [lower]


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
    assert column(normalised(pl.col("t")), [None, " A "]) == [None, "a"]
    assert column(echo_pattern(pl.col("t"), PARAMS), [None]) == [None]


small = st.text(st.sampled_from("ab "), min_size=1, max_size=5)
scopes = st.sampled_from(["", "p", "q", "never asked"])
text_rows = st.lists(
    st.tuples(st.sampled_from(["", "p", "q"]), st.none() | st.text(st.sampled_from("ab "))), max_size=6
)
pattern_rows = st.lists(st.tuples(st.none() | scopes, small), max_size=12)


def frames(texts, patterns):
    rows = [(n, scope, text) for n, (scope, text) in enumerate(texts)]
    schema = {"text_id": pl.UInt32, "scope": pl.String, "text": pl.String}
    return (
        pl.DataFrame(rows, schema=schema, orient="row"),
        pl.DataFrame(patterns, schema={"scope": pl.String, "pattern": pl.String}, orient="row"),
    )


@given(text_rows, pattern_rows)
@example([("p", "abba b")], [("p", "abb"), ("p", "bba"), ("p", "b"), (None, "ba b"), ("q", "abba")])
def test_matches_hold_all_of_the_scope_once_and_nothing_that_is_not_there(texts, patterns):
    found = echo_matches(*frames(texts, patterns))
    assert found.is_unique().all()
    pairs = set(found.rows())
    for text_id, wanted in pairs:
        assert wanted in (texts[text_id][1] or "")
        assert wanted in {pattern for _, pattern in patterns}
    for text_id, (scope, text) in enumerate(texts):
        for pattern_scope, wanted in patterns:
            if pattern_scope in {None, scope} and text is not None and wanted in text:
                assert (text_id, wanted) in pairs


def test_more_patterns_than_one_automaton_holds():
    patterns = [(f"project {n % 7}", f"pattern number {n:05}") for n in range(1500)]
    texts = [(f"project {n % 7}", f"so: pattern number {n:05} it is") for n in range(0, 1500, 97)]
    expected = {(i, f"pattern number {n:05}") for i, n in enumerate(range(0, 1500, 97))}
    assert set(echo_matches(*frames(texts, patterns)).rows()) == expected
