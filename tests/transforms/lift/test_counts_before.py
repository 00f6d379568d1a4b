"""What came before a moment in a group: the same plain and compiled, and what the rule says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.lift import trials
from slowwave.transforms.lift.trials import Moments, counts_before

_rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 4) | st.just(90), st.integers(0, 9), st.integers(0, 1)), max_size=30
)


def _moments(rows: list[tuple[int, int, int, int]]) -> Moments:
    return Moments(*(np.array([row[at] for row in rows], dtype=np.int64) for at in range(3)))


@given(_rows, _rows)
def test_events_of_the_owner_and_group_strictly_before_are_counted(events, asked):
    successes = np.array([success for *_, success in events], dtype=np.int64)
    ways = []
    with pytest.MonkeyPatch.context() as patch:
        for from_rows in (0, 2**60):
            patch.setattr(trials, "_COMPILED_ROWS", from_rows)
            n, succeeded = counts_before(_moments(events), successes, _moments(asked))
            ways.append((n.tolist(), succeeded.tolist()))
    before = [
        [s for o, g, m, s in events if (o, g) == (owner, group) and g >= 0 and m < moment]
        for owner, group, moment, _ in asked
    ]
    assert ways == [([len(each) for each in before], [sum(each) for each in before])] * 2


@given(_rows, st.integers(0, 3))
def test_each_of_several_levels_is_counted_by_itself(rows, levels):
    one = _moments(rows)
    groups = [one.group, *[np.where(one.group < 0, -1, one.group // 2**at) for at in range(levels)]]
    several = Moments(one.owner, np.stack(groups), one.moment)
    successes = np.array([success for *_, success in rows], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        for from_rows in (0, 2**60):
            patch.setattr(trials, "_COMPILED_ROWS", from_rows)
            together = counts_before(several, successes, several)
            each = [Moments(one.owner, group, one.moment) for group in several.group]
            alone = [counts_before(of, successes, of) for of in each]
            assert [of.tolist() for of in together] == [[found[at].tolist() for found in alone] for at in range(2)]
