"""What came before a moment in a group: the same plain and compiled, and what the rule says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.lift import trials
from slowwave.transforms.lift.trials import Moments, counts_before

_rows = st.lists(st.tuples(st.integers(-1, 4) | st.just(2**40), st.integers(0, 9), st.integers(0, 1)), max_size=30)


def _moments(rows: list[tuple[int, int, int]]) -> Moments:
    group, moment = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(2))
    return Moments(group, moment)


@given(_rows, _rows)
def test_events_of_the_group_strictly_before_are_counted(events, asked):
    successes = np.array([success for _, _, success in events], dtype=np.int64)
    ways = []
    with pytest.MonkeyPatch.context() as patch:
        for from_rows in (0, 2**60):
            patch.setattr(trials, "_COMPILED_ROWS", from_rows)
            n, succeeded = counts_before(_moments(events), successes, _moments(asked))
            ways.append((n.tolist(), succeeded.tolist()))
    before = [[s for g, m, s in events if g == group and g >= 0 and m < moment] for group, moment, _ in asked]
    assert ways == [([len(each) for each in before], [sum(each) for each in before])] * 2


@given(_rows, st.integers(0, 3))
def test_each_of_several_levels_is_counted_by_itself(rows, levels):
    one = _moments(rows)
    several = Moments(
        np.stack([one.group, *[np.where(one.group < 0, -1, one.group // 2**at) for at in range(levels)]]), one.moment
    )
    successes = np.array([success for _, _, success in rows], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        for from_rows in (0, 2**60):
            patch.setattr(trials, "_COMPILED_ROWS", from_rows)
            together = counts_before(several, successes, several)
            alone = [
                counts_before(Moments(group, one.moment), successes, Moments(group, one.moment))
                for group in several.group
            ]
            assert [of.tolist() for of in together] == [[each[at].tolist() for each in alone] for at in range(2)]
