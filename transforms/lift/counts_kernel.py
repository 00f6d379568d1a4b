"""What came before a moment in a group, counted in one go through time, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, RUF100 - see the signatures
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compiled

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@compiled("int64(int64[::1], int64[::1], int64)")
def _slot(slots, groups, group):
    """The slot of a group, by hash: its own, or a free one."""
    mask = np.uint64(len(slots) - 1)
    slot = np.int64(((np.uint64(group) * _SPREAD) >> _HALF) & mask)
    while slots[slot] >= 0 and groups[slots[slot]] != group:
        slot = (slot + 1) & np.int64(mask)
    return slot


@compiled("int64[::1](int64[::1], int64)")
def _by_moment(moment, moments):
    """Places in order of their moment."""
    start = np.zeros(moments + 1, np.int64)
    for at in range(len(moment)):
        start[moment[at] + 1] += 1
    for at in range(moments):
        start[at + 1] += start[at]
    order = np.empty(len(moment), np.int64)
    for at in range(len(moment)):
        order[start[moment[at]]] = at
        start[moment[at]] += 1
    return order


@compiled("void(int64[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int64, int64[:, ::1], int64[:, ::1])")
def counts_before(groups, moment, success, query_groups, query_moment, moments, n, successes):
    """As `trials.counts_before`, level by level, into `n` and `successes`; all moments are below `moments`."""
    size = 1
    while size < 2 * len(moment) + 2:
        size *= 2
    slots = np.empty(size, np.int64)  # by hash, the first row of a group
    so_far, succeeded = np.empty(len(moment), np.int64), np.empty(len(moment), np.int64)  # of a group, at its first row
    first = np.empty(len(moment), np.int64)
    events, queries = _by_moment(moment, moments), _by_moment(query_moment, moments)
    for level in range(len(groups)):
        group, query_group = groups[level], query_groups[level]
        slots[:] = -1
        so_far[:] = 0
        succeeded[:] = 0
        for row in range(len(group)):
            slot = _slot(slots, group, group[row])
            if slots[slot] < 0:
                slots[slot] = row
            first[row] = slots[slot]
        seen = 0
        for query in queries:
            while seen < len(events) and moment[events[seen]] < query_moment[query]:
                row = events[seen]
                so_far[first[row]] += 1
                succeeded[first[row]] += success[row]
                seen += 1
            if query_group[query] >= 0:
                found = slots[_slot(slots, group, query_group[query])]
                if found >= 0:
                    n[level, query], successes[level, query] = so_far[found], succeeded[found]
