"""Two texts with what differs in brackets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.language.marked_texts import READ_WORDS, mark_differences


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("The port is 80.", "the port is 81", ("The port is [80.]", "the port is [81]")),
        ("Same Thing!", "same thing", ("Same Thing!", "same thing")),
        ("Build before deploy", "Deploy before build", ("Build [before deploy]", "[Deploy before] build")),
        ("", "new", ("", "[new]")),
        ("old", "", ("[old]", "")),
    ],
)
def test_what_only_one_of_them_says_stands_in_brackets(one: str, other: str, shown: tuple[str, str]) -> None:
    assert mark_differences(one, other) == shown


def test_a_long_stretch_that_both_say_is_cut_and_the_difference_is_not() -> None:
    same = " ".join(f"w{at}" for at in range(60))
    assert mark_differences(f"{same} old", f"{same} new stock") == (
        "w0 w1 w2 w3 w4 w5 … w54 w55 w56 w57 w58 w59 [old]",
        "w0 w1 w2 w3 w4 w5 … w54 w55 w56 w57 w58 w59 [new stock]",
    )


def test_of_a_long_text_the_first_words_are_read() -> None:
    first, second = mark_differences("a " * (READ_WORDS + 1), "b")
    assert first.endswith("] …")
    assert second == "[b]"


@given(st.text(), st.text())
def test_the_words_of_both_are_kept_in_order(one: str, other: str) -> None:
    for text, said in zip((one, other), mark_differences(one, other), strict=True):
        words = text.split()[:READ_WORDS]
        shown = iter(word for word in said.split() if word != "…")
        assert sum(len(word) for word in words) + 2 * len(words) >= sum(len(word) for word in shown)
    assert mark_differences(one, one) == mark_differences(one, one)[::-1]
