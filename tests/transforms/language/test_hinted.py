"""Patterns that are looked for only where a text stands without which they find nothing."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave.transforms.observations.states import successions
from slowwave.transforms.observations.states.successions import Hinted, fold_case

EVERY = {
    one.pattern.pattern: one
    for value in vars(successions).values()
    if isinstance(value, tuple)
    for one in value
    if isinstance(one, Hinted)
}


def test_letters_are_folded_as_patterns_take_them() -> None:
    letter = re.compile(r"[a-z]", re.IGNORECASE)
    taken = [text for text in map(chr, range(sys.maxunicode + 1)) if letter.fullmatch(text)]
    assert len(taken) > 52
    for text in taken:
        assert re.fullmatch(r"[a-z]", fold_case(text))
        assert re.fullmatch(fold_case(text), text, re.IGNORECASE)
        assert fold_case(f"é{text}") == f"é{fold_case(text)}"


def test_what_a_text_says_is_found_with_its_hint_and_not_looked_for_without() -> None:
    hinted = Hinted(r"\bmov\w+", "mov|shift")
    assert [one.group() for one in hinted.finditer("Moved, and MOVING")] == ["Moved", "MOVING"]
    assert hinted.search("is moved") is not None
    assert hinted.match("is moved") is None
    lying = Hinted(r"\bmov\w+", "shift")
    assert lying.search("moved") is lying.match("moved") is None
    assert [*lying.finditer("moved")] == []


@pytest.mark.slow
@pytest.mark.parametrize("hinted", EVERY.values(), ids=[pattern[:60] for pattern in EVERY])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_nothing_is_found_without_a_hint(hinted: Hinted, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(hinted.pattern))
    assert hinted.pattern.search(text) is not None
    assert hinted.search(text) is not None
    assert all(hint == hint.lower() and hint.isascii() and hint for hint in hinted.hints)


def test_there_are_patterns_to_look_at() -> None:
    assert len(EVERY) == 15
