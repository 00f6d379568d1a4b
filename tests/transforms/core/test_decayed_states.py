"""Counts carried from day to day in whole numbers: the same however the log is cut, and never out of order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.counts import decayed_states
from slowwave.transforms.core.counts.decayed_states import UNIT, DecayedStates, daily_factor

_known = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400), st.integers(0, 50)), max_size=20)
_half_lives = st.sampled_from([0.1, 2, 7, 30, 180, 10_000, None])


def _decayed(known, asked):
    owner, day, counts = (np.array([row[at] for row in known], dtype=np.int64) for at in range(3))
    asked_owner, asked_day = (np.array([row[at] for row in asked], dtype=np.int64) for at in range(2))
    counts = np.column_stack([counts, 2 * counts]) * UNIT
    return DecayedStates(owner, day, counts.reshape(-1, 2), asked_owner, asked_day)


def _states(known, asked, half_life):
    return _decayed(known, asked).decayed_counts(daily_factor(half_life))


def _day_by_day(known, owner, until, factor):
    """The rule itself, in whole numbers without end."""
    state = 0
    for day in range(until + 1):
        state = state * factor // UNIT + sum(n for o, d, n in known if o == owner and d == day) * UNIT
    return state


@given(_known, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 500)), max_size=6), _half_lives)
def test_a_state_is_that_of_the_day_before_faded_and_rounded_down_plus_the_day_s(known, asked, half_life):
    factor = daily_factor(half_life)
    found = _states(known, asked, half_life)
    assert found[:, 0].tolist() == [_day_by_day(known, owner, day, factor) for owner, day in asked]


@given(_known, _half_lives, st.randoms(use_true_random=False), st.integers(0, 450))
def test_order_and_what_else_is_counted_change_nothing(known, half_life, random, day):
    asked = [(owner, day) for owner in range(4)]
    shuffled = random.sample(known, len(known))
    more = [*shuffled, *[(owner + 4, at, n) for owner, at, n in known]]
    assert _states(known, asked, half_life).tolist() == _states(more, asked, half_life).tolist()


@pytest.mark.slow
@given(_known, st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 500)), max_size=6), _half_lives)
def test_the_compiled_loop_says_the_same(known, asked, half_life):
    plain = _states(known, asked, half_life)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decayed_states, "_COMPILED_ROWS", 0)
        assert _states(known, asked, half_life).tolist() == plain.tolist()


@pytest.mark.parametrize("compiled_rows", [0, 10**6])
@given(
    known=_known,
    asked=st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 500)), max_size=6),
    half_life=_half_lives,
    whole=st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_a_whole_has_what_its_parts_have(compiled_rows, known, asked, half_life, whole):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decayed_states, "_COMPILED_ROWS", compiled_rows)
        found = _decayed(known, asked).decayed_counts(daily_factor(half_life), np.array(whole), columns=1)
    of_whole = [(whole[owner], day, n) for owner, day, n in known]
    expected = _states(of_whole, [(whole[owner], day) for owner, day in asked], half_life)
    assert found.tolist() == expected[:, :1].tolist()


def test_owners_may_be_told_of_in_turns(monkeypatch: pytest.MonkeyPatch):
    known = [(owner, 3 * owner + at, 1 + at) for owner in range(7) for at in range(5)]
    asked = [(owner, 40) for owner in (6, 0, 3)]
    whole = _states(known, asked, 7)
    monkeypatch.setattr(decayed_states, "_DENSE_ROWS", 4)
    assert _states(known, asked, 7).tolist() == whole.tolist()


def test_days_far_apart_and_before_1970():
    known = [(0, -700_000, 5), (0, 0, 1), (1, -700_000, 3)]
    asked = [(0, -700_000), (0, -699_999), (0, 0), (1, 3_000_000)]
    found = _states(known, asked, 1)[:, 0].tolist()
    assert found == [5 * UNIT, 5 * UNIT // 2, UNIT, 0]


@given(
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3)), min_size=1, max_size=8),
    st.sampled_from([2, 30, 3_650, 10_000]),
    st.integers(0, 5_000),
    st.randoms(use_true_random=False),
)
def test_what_was_never_less_counted_back_is_never_less(days, half_life, later, random):
    worse = sorted(days)
    better = list(worse)
    for _ in range(4):  # a success comes later than it did
        earlier, at = sorted(random.choices(range(len(better)), k=2))
        if earlier < at and better[earlier][1]:
            better[earlier] = (better[earlier][0], better[earlier][1] - 1)
            better[at] = (better[at][0], better[at][1] + 1)
    known = [(0, day, n) for day, n in worse] + [(1, day, n) for day, n in better]
    found = _states(known, [(0, 900 + later), (1, 900 + later)], half_life)[:, 0]
    assert found[1] >= found[0]
