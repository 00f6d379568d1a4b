"""Rows in groups: what is told of each is what a dictionary of their keys tells."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.counts.integer_groups import KeyGroups

# few, so that they meet; and some so far apart that no one number holds all of their combinations
_keys = st.one_of(st.integers(-2, 2), st.sampled_from([-(2**62), 2**40, 2**62]))


@given(st.lists(st.tuples(_keys, _keys, _keys, st.integers(-9, 9)), max_size=30))
def test_groups_are_those_of_their_keys_in_order(rows):
    *keys, values = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(4))
    found = KeyGroups.of(*keys)
    expected: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for *key, value in rows:
        expected[tuple(key)].append(value)
    told = [expected[key] for key in sorted(expected)]
    assert [tuple(int(key[at]) for key in keys) for at in found.first] == sorted(expected)
    assert values[found.first].tolist() == [of[0] for of in told]
    assert found.sizes.tolist() == [len(of) for of in told]
    assert found.sums(values).tolist() == [sum(of) for of in told]
    assert found.most(values).tolist() == [max(of) for of in told]
    assert found.of_each(found.sizes).tolist() == [len(expected[row[:3]]) for row in rows]
