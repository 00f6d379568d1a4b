"""Which statements are worth comparing: those that share heavy words, looked up in buckets of bounded size.

Every statement is filed under each of its heaviest words and under each two of them. In a bucket it meets the latest
statements before it and the two first ones, so the work grows with the number of statements, however alike they are.
Buckets see the past only: what a statement meets does not change when later ones arrive.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from slowwave.transforms.observation_params import ObservationParams
from slowwave.transforms.pair_texts import Integers, PairTexts, products

_FIRSTS = 2
_PRESELECTED = 3
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 16_384


class Candidates(NamedTuple):
    """Pairs of statements, by number: `left` came before `right`; `likeness` is their vectors' product, an integer."""

    left: Integers
    right: Integers
    likeness: Integers


def _mixed(*parts: np.ndarray) -> Integers:
    state = np.zeros(parts[0].shape, np.uint64)
    for part in parts:
        state = (state ^ part.astype(np.uint64)) * _MIX
        state ^= state >> np.uint64(29)
    return state.astype(np.int64)


def _keys(texts: PairTexts, which: Integers, scopes: Integers, params: ObservationParams) -> tuple[Integers, Integers]:
    """(key, statement) for every heavy word of each statement and every two of them, by statement."""
    heavy = texts.words[:, : params.signature_words]
    bases = np.where(heavy >= 0, texts.bases[heavy] if len(texts.bases) else 0, -1)
    bases = np.sort(bases, axis=1)
    repeated = np.zeros(bases.shape, bool)
    repeated[:, 1:] = bases[:, 1:] == bases[:, :-1]
    bases = np.where(repeated, -1, bases)[which]
    columns, valid = [], []
    none = np.full(len(which), -1)
    for a, b in [*((place, None) for place in range(bases.shape[1])), *combinations(range(bases.shape[1]), 2)]:
        other = none if b is None else bases[:, b]
        columns.append(_mixed(scopes, bases[:, a], other))
        valid.append((bases[:, a] >= 0) & ((other >= 0) | (b is None)))
    keys, chosen = np.column_stack(columns), np.column_stack(valid)
    statements = np.repeat(np.arange(len(which)), keys.shape[1]).reshape(keys.shape)
    return keys[chosen], statements[chosen]


def pair_candidates(
    texts: PairTexts, which: Integers, scopes: Integers, is_known: Integers, params: ObservationParams
) -> Candidates:
    """For each statement the most alike statements before it, at most `params.neighbours`, most alike first.

    Args:
        texts: the texts.
        which: per statement, in order of time, the number of its text.
        scopes: per statement a number; statements of different scopes never meet.
        is_known: whether later statements may meet this one.
        params: sizes.
    """
    empty = np.zeros(0, np.int64)
    if len(which) < 2:  # noqa: PLR2004 - a pair
        return Candidates(empty, empty, empty)
    keys, statements = _keys(texts, which, scopes, params)
    order = np.argsort(keys, kind="stable")
    keys, statements = keys[order], statements[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else empty
    first = np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    places = np.arange(len(keys))
    codes = []
    for back in [*range(1, params.bucket + 1), *(-1 - place for place in range(_FIRSTS))]:
        at = places - back if back > 0 else first - 1 - back
        met = (at >= first) & (at < places) & ((back > 0) | (places - at > params.bucket))
        left, right = statements[at[met]], statements[met]
        known = is_known[left]
        codes.append(right[known] * np.int64(len(which)) + left[known])
    codes = np.concatenate(codes)
    pairs, shared = np.unique(codes, return_counts=True)
    right, left = pairs // len(which), pairs % len(which)
    best = first_per(right, np.lexsort((-left, -shared, right)), _PRESELECTED * params.neighbours)
    left, right = left[best], right[best]
    likeness = np.concatenate(
        [
            products(texts.sums[which[left[at : at + _BLOCK]]], texts.sums[which[right[at : at + _BLOCK]]])
            for at in range(0, max(1, len(left)), _BLOCK)
        ]
    )
    best = first_per(right, np.lexsort((-left, -likeness, right)), params.neighbours)
    return Candidates(left[best], right[best], likeness[best])


def first_per(group: Integers, order: Integers, count: int) -> Integers:
    """Of each group the first `count` in `order`, which has groups side by side."""
    ordered = group[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.int64)
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    return order[place < count]
