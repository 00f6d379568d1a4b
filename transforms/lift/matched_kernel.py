"""Interactions with a memory against the others of their strata, memory by memory, compiled.

Sums are kept as two whole numbers, in units of 2^-20 and 2^-60: those of `ordered_sum`, to the last bit.
"""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

_LOWER, _BITS = 2.0**60, 2.0**40
_MASK = np.int64(2**40 - 1)


@compile_kernel("void(int64[:, ::1], int64, float64)")
def _add(sums, at, value):
    fixed = np.rint(value * _LOWER)
    upper = np.floor(fixed / _BITS)
    lower = sums[at, 1] + np.int64(fixed - upper * _BITS)
    sums[at, 0] += np.int64(upper) + (lower >> 40)
    sums[at, 1] = lower & _MASK


@compile_kernel("float64(int64[:, ::1], int64)")
def _sum(sums, at):
    """Both parts are exact in 53 bits, so that adding them rounds once."""
    return (np.float64(sums[at, 0]) * _BITS + np.float64(sums[at, 1])) / _LOWER


@compile_kernel(
    "float64(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], float64[::1],"
    " float64[::1], int64, float64[:, ::1], int64[::1])"
)
def match_memories(start, nth, block, residual, usual, variance, all_n, all_usual, per_trial, blocks, found, is_found):
    """As `matched.matched_estimates`, of the memories whose rows begin at `start` (of the last, end there).

    Into `found` go estimate, standard_error, degrees and sessions of each. Returns more than the sizes of all that was
    added up come to together: sums hold 2^32 of it.
    """
    strata = len(all_n)
    n, own = np.zeros(strata, np.int64), np.zeros((strata, 2), np.int64)
    mean, overlap = np.zeros(strata), np.zeros(strata)
    parts = np.zeros((3 * blocks, 2), np.int64)  # weight, part and binomial of each session
    is_seen = np.zeros(blocks, np.bool_)
    touched, sessions = np.empty(strata, np.int64), np.empty(blocks, np.int64)
    size = 0.0
    for memory in range(len(start) - 1):
        first, end = start[memory], start[memory + 1]
        cells, totals = 0, np.zeros((9, 2), np.int64)
        for row in range(first, end):
            at = nth[row]
            if n[at] == 0:
                touched[cells] = at
                cells += 1
                own[at] = 0
            n[at] += 1
            _add(own, at, usual[row])
            size += abs(usual[row])
        compared = 0
        for cell in range(cells):
            at = touched[cell]
            count = all_n[at] - n[at]
            overlap[at] = 0.0
            if count > 0:
                compared += 1
                mean[at] = (all_usual[at] - _sum(own, at)) / count
                overlap[at] = count / all_n[at]
                weight = n[at] * count / all_n[at]
                of_others = weight * weight * (per_trial[at] / count)
                _add(totals, 0, weight)
                _add(totals, 1, of_others)
                size += weight + abs(of_others)
            n[at] = 0
        is_found[memory] = 0
        if compared == 0:
            continue
        for row in range(first, end):
            share = overlap[nth[row]]
            if share > 0:
                gap = share * (residual[row] - mean[nth[row]])
                _add(totals, 2, gap)
                _add(totals, 3, share)
                size += abs(gap) + share
        estimate = _sum(totals, 2) / _sum(totals, 3)
        of_memory = 0
        for row in range(first, end):
            share = overlap[nth[row]]
            if share > 0:
                session = block[row]
                if not is_seen[session]:
                    is_seen[session] = True
                    sessions[of_memory] = session
                    of_memory += 1
                    parts[3 * session : 3 * session + 3] = 0
                part = share * ((residual[row] - mean[nth[row]]) - estimate)
                binomial = share * share * variance[row]
                _add(parts, 3 * session, share)
                _add(parts, 3 * session + 1, part)
                _add(parts, 3 * session + 2, binomial)
                size += share + abs(part) + abs(binomial)
        for session in sessions[:of_memory]:
            weight, part = _sum(parts, 3 * session), _sum(parts, 3 * session + 1)
            binomial = _sum(parts, 3 * session + 2)
            _add(totals, 4, weight)
            _add(totals, 5, weight * weight)
            _add(totals, 6, part * part)
            _add(totals, 7, binomial)
            size += weight + weight * weight + part * part + abs(binomial)
            is_seen[session] = False
        total, all_weight = _sum(totals, 0), _sum(totals, 4)
        effective = all_weight * all_weight / _sum(totals, 5)
        if effective > 1 + 1e-9:
            clustered = _sum(totals, 6) * effective / (effective - 1)
            others = _sum(totals, 1) / (total * total)
            is_found[memory] = 1
            found[memory, 0] = estimate
            found[memory, 1] = np.sqrt(max(clustered, _sum(totals, 7)) / (total * total) + others)
            found[memory, 2] = effective - 1
            found[memory, 3] = effective
    return size
