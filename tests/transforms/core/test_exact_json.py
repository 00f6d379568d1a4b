"""Whole numbers of more than 64 bits keep every digit, as text; all else is as JSON has it."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.exact_json import exact_json
from slowwave.transforms.landing.posted_records import posted_records

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**140), 2**140),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(alphabet='1234567890-.,:"\\[e ', max_size=30),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


def as_read(value: Any) -> Any:
    """What is expected of a value."""
    if isinstance(value, dict):
        return {name: as_read(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_read(one) for one in value]
    is_large = isinstance(value, int) and not -(2**63) <= value < 2**64
    return str(value) if is_large else value


@given(VALUES)
def test_every_digit_is_kept(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=1)):
        assert exact_json(text) == exact_json(text.encode()) == as_read(value)


@pytest.mark.parametrize("number", [str(2**64), str(-(2**63) - 1), "1" * 39, "9" * 300])
def test_a_posted_id_keeps_every_digit(number: str) -> None:
    row = f'{{"interaction_id": {number}, "memories_used": [{number}], "cost": 1e30, "x": {{"y": {number}}}}}'
    expected = {"interaction_id": number, "memories_used": [number], "cost": 1e30, "x": {"y": number}}
    assert posted_records(row.encode()) == [expected]
    assert posted_records(f"{row}\n{row}".encode()) == [expected] * 2


@pytest.mark.parametrize("text", ['{"a": 12345678901234567890123', '{"a": 012345678901234567890}', "1e400"])
def test_what_is_no_json_stays_that(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        exact_json(text)
