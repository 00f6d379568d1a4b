"""What came before a moment in a group, counted in one go through the time of each owner, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel


@compile_kernel("int64[::1](int64[::1], int64[::1], int64)")
def _sort_places(order, value, values):
    """Places, as they come in `order`, by their value, all of which are below `values`."""
    start = np.zeros(values + 1, np.int64)
    for at in range(len(order)):
        start[value[order[at]] + 1] += 1
    for at in range(values):
        start[at + 1] += start[at]
    found = np.empty(len(order), np.int64)
    for place in order:
        found[start[value[place]]] = place
        start[value[place]] += 1
    return found


@compile_kernel(
    "void(int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1],"
    " int64[:, ::1], int64[:, ::1])"
)
def counts_before(owner, group, moment, success, query_owner, query_group, query_moment, sizes, n, successes):
    """As `trials.counts_before`, into `n` and `successes`; `sizes`: all owners, groups and moments are below these."""
    owners, groups, moments = sizes
    events = _sort_places(_sort_places(np.arange(len(owner)), moment, moments), owner, owners)
    queries = _sort_places(_sort_places(np.arange(len(query_owner)), query_moment, moments), query_owner, owners)
    levels = len(group)
    so_far, succeeded = np.zeros((levels, groups), np.int64), np.zeros((levels, groups), np.int64)
    whose = np.full((levels, groups), -1)  # the owner of what was counted so far
    seen = 0
    for query in queries:
        asking, asked_at = query_owner[query], query_moment[query]
        while seen < len(events):
            row = events[seen]
            if owner[row] > asking or (owner[row] == asking and moment[row] >= asked_at):
                break
            seen += 1
            if owner[row] < asking:
                continue
            for level in range(levels):
                of = group[level, row]
                if of >= 0:
                    if whose[level, of] != asking:
                        whose[level, of] = asking
                        so_far[level, of] = 0
                        succeeded[level, of] = 0
                    so_far[level, of] += 1
                    succeeded[level, of] += success[row]
        for level in range(levels):
            of = query_group[level, query]
            if of >= 0 and whose[level, of] == asking:
                n[level, query], successes[level, query] = so_far[level, of], succeeded[level, of]
