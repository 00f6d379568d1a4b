"""Counts that fade with age, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.counts.decayed_counts import Timeline

_histories = st.lists(
    st.dictionaries(
        st.integers(0, 4_000), st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ns: (max(ns), min(ns)))
    ),
    max_size=6,
)
_half_life = st.sampled_from([0.5, 7.0, 30.0, 3650.0])
_crowd = st.sampled_from([None, 1.0, 16.0])


def _timeline(histories):
    """One owner per history: counts by day."""
    rows = [(owner, day, *counts) for owner, days in enumerate(histories) for day, counts in sorted(days.items())]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Timeline(columns[0], columns[1].astype(float), columns[2], columns[3])


def _plain(days, half_life, crowd):
    """Decayed counts before each day of one owner, from the definition."""
    found = []
    for day in sorted(days):
        sums = [0.0, 0.0]
        for earlier in sorted(days):
            if earlier < day:
                later = sum(days[one][0] for one in days if earlier < one < day)
                weight = 2 ** (-(day - earlier) / half_life)
                weight *= 2 ** (-later / crowd) if crowd else 1
                sums = [total + weight * count for total, count in zip(sums, days[earlier], strict=True)]
        found.append(sums)
    return found


@given(_histories, _half_life, _crowd)
def test_an_attempt_weighs_by_its_age_and_by_what_came_later(histories, half_life, crowd):
    # an attempt fades by what came on later days, and its own day's attempts crowd out older ones
    found = np.column_stack(_timeline(histories).decayed(half_life, crowd))
    expected = [row for days in histories for row in _plain(days, half_life, crowd)]
    assert found == pytest.approx(np.array(expected).reshape(-1, 2), rel=1e-9, abs=1e-12)


@given(_histories, _histories, _half_life, _crowd)
def test_owners_do_not_touch_bit_for_bit(histories, others, half_life, crowd):
    alone = np.column_stack(_timeline(histories).decayed(half_life, crowd))
    together = np.column_stack(_timeline([*others, *histories, *others]).decayed(half_life, crowd))
    before = sum(len(days) for days in others)
    assert (together[before : before + len(alone)] == alone).all()


@given(st.integers(0, 500), st.integers(0, 500), _half_life)
def test_decay_over_two_spans_is_the_product(a, b, half_life):
    def faded(*days):
        return _timeline([{0: (1, 1), **dict.fromkeys(days, (0, 0))}]).decayed(half_life)[0][-1]

    if a and b:
        assert faded(a, a + b) == pytest.approx(faded(a) * faded(b), rel=1e-12, abs=1e-300)
        assert faded(a, a + b) == pytest.approx(faded(a + b), rel=1e-12, abs=1e-300)


@given(_histories, _half_life, _crowd)
def test_rows_of_some_owners_keep_their_past(histories, half_life, crowd):
    whole = _timeline(histories)
    chosen = np.flatnonzero(whole.owner % 2 == 0)
    kept = np.column_stack(whole.rows(chosen).decayed(half_life, crowd))
    assert (kept == np.column_stack(whole.decayed(half_life, crowd))[chosen]).all()


def test_half_lives():
    days = {0: (4, 2), 10: (2, 2), 20: (0, 0)}
    attempts, successes = _timeline([days]).decayed(10)
    assert attempts.tolist() == [0, 2, 2]
    assert successes.tolist() == [0, 1, 1.5]
    crowded, _ = _timeline([days]).decayed(10, 2)
    assert crowded.tolist() == [0, 2, 1.5]


def test_an_owner_may_follow_one_that_ends_centuries_later():
    attempts, _ = _timeline([{200_000: (1, 1)}, {0: (1, 1), 1: (0, 0)}]).decayed(1)
    assert attempts.tolist() == [0, 0, 0.5]


def test_nothing():
    assert [len(counts) for counts in _timeline([]).decayed(7)] == [0, 0]
