"""Wording keeps no two statements apart; a number, a negation and a name do."""

from __future__ import annotations

from each import each
from hypothesis import given
from hypothesis import strategies as st
from worded_log import APART, ONE

from slowwave.transforms.observations.pairs.conflicts import conflicts
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.pairs.relation import RelationName, relation
from slowwave.transforms.observations.pairs.relations import plain_reading, plain_wording
from slowwave.transforms.observations.params import ObservationParams

PARAMS = ObservationParams()
DUTIES = ("must", "should", "shall", "has to", "needs to", "ought to", "is required to", "is supposed to")


def related(one: str, other: str) -> RelationName | None:
    """As alike as two texts can be that are not the same."""
    return relation(plain_reading(one), plain_reading(other), 9_500, PARAMS, is_later=False).relation


@each(("one", "other"), ONE)
def test_another_wording_is_one_fact(one: str, other: str) -> None:
    assert related(one, other) == related(other, one) == "same_fact"


@each(("one", "other"), APART)
def test_what_says_another_thing_stays_apart(one: str, other: str) -> None:
    assert "same_fact" not in (related(one, other), related(other, one))


@given(duties=st.tuples(*[st.sampled_from(DUTIES)] * 2), is_not=st.booleans(), port=st.integers(1, 9_999))
def test_no_duty_is_another(duties: tuple[str, str], is_not: bool, port: int) -> None:
    one, other = (f"The worker {duty}{' not' * is_not} listen on port {port}." for duty in duties)
    assert related(one, other) == "same_fact"
    turned = f"The worker {duties[1]}{' not' * (not is_not)} listen on port {port}."
    assert related(one, turned) != "same_fact"
    assert related(one, other.replace(str(port), str(port + 1))) != "same_fact"


@given(st.text("abcdef ,.'’ntmusho", max_size=40))
def test_a_statement_in_plain_wording_stays(text: str) -> None:
    plain = plain_wording(text)
    assert plain_wording(plain) == plain or conflicts(*map(reading, (plain, plain_wording(plain)))) == []
