"""States of `decayed_states`, carried owner by owner, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, RUF100 - see the signatures
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compiled

_BITS = 30
_LOW = 2**_BITS - 1


@compiled("int64[::1](int64[::1], int64, int64)")
def _by_day(day, first, days):
    """Places in order of their day, those of one day in the order given."""
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


@compiled("void(int64[:, ::1], int64[::1], int64, int64, int64)")
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


@compiled("void(int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64, int64, int64[:, ::1])")
def carried(owner, day, known, query_owner, query_day, factor, owners, found):
    """As `decayed_states.carried`, into `found`; `owners`: how many there are."""
    if not len(query_day):
        return
    first, last = query_day.min(), query_day.max()
    if len(day):
        first, last = min(first, day.min()), max(last, day.max())
    state = np.zeros((owners, known.shape[1]), np.int64)
    at_day = np.full(owners, first, np.int64)
    adds = _by_day(day, first, last - first + 1)
    asks = _by_day(query_day, first, last - first + 1)
    added = 0
    for query in asks:
        while added < len(adds) and day[adds[added]] <= query_day[query]:
            row = adds[added]
            _fade(state, at_day, owner[row], day[row], factor)
            for column in range(known.shape[1]):
                state[owner[row], column] += known[row, column]
            added += 1
        _fade(state, at_day, query_owner[query], query_day[query], factor)
        for column in range(known.shape[1]):
            found[query, column] = state[query_owner[query], column]
