"""States of `decayed_states`, carried owner by owner, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, RUF100 - see the signatures
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

_BITS = 30
_LOW = 2**_BITS - 1


@compile_kernel("int64[::1](int64[::1])")
def by_day(day):
    """Places in order of their day, those of one day in the order given."""
    if not len(day):
        return np.empty(0, np.int64)
    first, days = day.min(), day.max() - day.min() + 1
    start = np.zeros(days + 1, np.int64)
    for at in range(len(day)):
        start[day[at] - first + 1] += 1
    for at in range(days):
        start[at + 1] += start[at]
    order = np.empty(len(day), np.int64)
    for at in range(len(day)):
        order[start[day[at] - first]] = at
        start[day[at] - first] += 1
    return order


@compile_kernel("void(int64[:, ::1], int64[::1], int64, int64, int64)")
def _fade(state, at_day, owner, day, factor):
    """Bring an owner's state to a day, rounded down from each day to the next."""
    if factor <= _LOW and at_day[owner] < day:
        # two columns at a time: neither waits for the other
        for column in range(0, state.shape[1], 2):
            other = min(column + 1, state.shape[1] - 1)
            one, two = state[owner, column], state[owner, other]
            for _ in range(at_day[owner], day):
                if not one | two:
                    break
                one = (one >> _BITS) * factor + (((one & _LOW) * factor) >> _BITS)
                two = (two >> _BITS) * factor + (((two & _LOW) * factor) >> _BITS)
            state[owner, column], state[owner, other] = one, two
    at_day[owner] = day


@compile_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64, int64,"
    " int64[:, ::1])"
)
def decay_counts(number, owner, day, known, query_owner, query_day, place, factor, owners, found):
    """As `DecayedStates.carried`, each asked state into its place in `found`; both kinds of rows in order of days.

    `number`: of each owner, below `owners`.
    """
    if not len(query_day):
        return
    first = query_day[0]
    if len(day):
        first = min(first, day[0])
    state = np.zeros((owners, found.shape[1]), np.int64)
    at_day = np.full(owners, first, np.int64)
    added = 0
    for query in range(len(query_day)):
        while added < len(day) and day[added] <= query_day[query]:
            mine = number[owner[added]]
            _fade(state, at_day, mine, day[added], factor)
            for column in range(found.shape[1]):
                state[mine, column] += known[added, column]
            added += 1
        wanted = number[query_owner[query]]
        _fade(state, at_day, wanted, query_day[query], factor)
        for column in range(found.shape[1]):
            found[place[query], column] = state[wanted, column]
