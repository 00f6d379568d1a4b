"""Which statements are worth comparing: those that share heavy words, looked up in buckets of bounded size.

Every statement is filed under each of its heaviest words and under each two of them. In a bucket it meets the latest
statements before it and the two first ones, so the work grows with the number of statements, however alike they are.
Buckets see the past only: what a statement meets does not change when later ones arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts, products
from slowwave.transforms.observations.params import ObservationParams

RELATED_LIKENESS = UNIT * UNIT * 3 // 10  # vectors less alike than this: the texts are not about one thing
_FIRSTS = 2
_PRESELECTED = 3
_BLOCK = 16_384
_MIX = np.uint64(0x9E3779B97F4A7C15)
_PARTS = 8  # of the buckets, by the last bits of their keys
_ASKED_AT_ONCE = 4_096  # a statement meets up to 700 others


class CandidatePairs(NamedTuple):
    """Pairs of statements, by number: `left` came before `right`; `likeness` is their vectors' product, an integer."""

    left: Integers
    right: Integers
    likeness: Integers


def mix_keys(*parts: np.ndarray) -> Integers:
    """A key of some integers of each row; different ones hardly ever share one."""
    state = np.zeros(parts[0].shape, np.uint64)
    for part in parts:
        state = (state ^ part.astype(np.uint64)) * _MIX
        state ^= state >> np.uint64(29)
    return state.astype(np.int64)


class _Buckets:
    """Every heavy word of each statement and every two of them, in order of key and statement: what shares a key.

    `statements` are those of all entries in that order. Of the statements asked about alone it is kept where their
    entries stand there: those of statement s are `places[begins[s]:begins[s + 1]]`, and each one's bucket begins at
    `first`, entry by entry.
    """

    def __init__(
        self, asked: Integers, texts: PairTexts, which: Integers, scopes: Integers, params: ObservationParams
    ) -> None:
        heavy = texts.words[:, : params.signature_words]
        bases = np.where(heavy >= 0, texts.bases[heavy] if len(texts.bases) else 0, -1)
        bases = np.sort(bases, axis=1)
        repeated = np.zeros(bases.shape, bool)
        repeated[:, 1:] = bases[:, 1:] == bases[:, :-1]
        bases = np.where(repeated, -1, bases).astype(np.int32)[which]
        columns = [*((place, None) for place in range(bases.shape[1])), *combinations(range(bases.shape[1]), 2)]
        none = np.full(len(which), -1, np.int32)
        # one column of keys after the other: there are 21 keys of a statement
        words = (bases >= 0).sum(axis=1)
        sizes = words + words * (words - 1) // 2
        ends = np.r_[0, np.cumsum(sizes)]
        keys, free = np.empty(ends[-1], np.int64), ends[:-1].copy()
        for a, b in columns:
            other = none if b is None else bases[:, b]
            valid = (bases[:, a] >= 0) & ((other >= 0) | (b is None))
            keys[free[valid]] = mix_keys(scopes[valid], bases[valid, a], other[valid])
            free += valid
        is_asked = np.zeros(len(which), bool)
        is_asked[asked] = True
        self.begins = np.r_[0, np.cumsum(np.where(is_asked, sizes, 0))]
        unasked = ends[:-1] - self.begins[:-1]  # entries before a statement's own
        of_entry = np.repeat(np.arange(len(which), dtype=np.int32), sizes)
        self.statements = np.empty(len(keys), np.int32)
        self.first, self.places = (np.empty(self.begins[-1], np.int32) for _ in range(2))
        parts, end = (keys & (_PARTS - 1)).astype(np.uint8), 0
        for part in range(_PARTS):  # to sort all at once takes several times their memory
            entries = np.flatnonzero(parts == part)
            entries = entries[np.argsort(keys[entries], kind="stable")]
            of_part, begin = keys[entries], end
            end += len(entries)
            starts = np.flatnonzero(np.r_[True, of_part[1:] != of_part[:-1]][: len(of_part)])
            statements = of_entry[entries]
            self.statements[begin:end] = statements
            own = np.flatnonzero(is_asked[statements])
            at = entries[own] - unasked[statements[own]]
            self.places[at] = begin + own
            self.first[at] = begin + np.repeat(starts, np.diff(np.r_[starts, len(entries)]))[own]

    def find_pairs(self, asked: Integers, is_known: np.ndarray, bucket: int) -> tuple[Integers, Integers, Integers]:
        """Pairs of an earlier statement and one of `asked`, sorted by the latter, and how many buckets they share."""
        sizes = self.begins[asked + 1] - self.begins[asked]
        entries = np.repeat(self.begins[asked] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        places, first = self.places[entries].astype(np.int64), self.first[entries]
        right, count, codes = np.repeat(asked, sizes), len(self.begins) - 1, list[Integers]()
        for back in [*range(1, bucket + 1), *(-1 - place for place in range(_FIRSTS))]:
            at = places - back if back > 0 else first.astype(np.int64) - 1 - back
            met = (at >= first) & (at < places) & ((back > 0) | (places - at > bucket))
            left, known = self.statements[at[met]], right[met]
            is_met = is_known[left]
            codes.append(known[is_met] * count + left[is_met])
        pairs, shared = np.unique(np.concatenate(codes), return_counts=True)
        return pairs % count, pairs // count, shared


def pair_candidates(
    texts: PairTexts, which: Integers, scopes: Integers, is_known: np.ndarray, params: ObservationParams
) -> CandidatePairs:
    """`candidates_of` all statements, without those that are too little alike to have a relation."""
    none = CandidatePairs(*(np.zeros(0, np.int64) for _ in range(3)))
    met = candidates_of(np.arange(len(which)), texts, which, scopes, is_known, params)
    # of each some thousands at once: all that were met take several times as much memory
    found = [none, *(CandidatePairs(*(part[some.likeness >= RELATED_LIKENESS] for part in some)) for some in met)]
    return CandidatePairs(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def candidates_of(
    asked: Integers,
    texts: PairTexts,
    which: Integers,
    scopes: Integers,
    is_known: np.ndarray,
    params: ObservationParams,
) -> Iterator[CandidatePairs]:
    """The most alike statements before each one asked about, at most `params.neighbours`, most alike first.

    Args:
        asked: statements, by number, in order; what is found comes some thousands of them at a time.
        texts: the texts.
        which: per statement, in order of time, the number of its text.
        scopes: per statement a number; statements of different scopes never meet.
        is_known: whether later statements may meet this one.
        params: sizes.
    """
    if len(which) < 2:  # noqa: PLR2004 - a pair
        return
    buckets = _Buckets(asked, texts, which, scopes, params)
    for start in range(0, len(asked), _ASKED_AT_ONCE):
        left, right, shared = buckets.find_pairs(asked[start : start + _ASKED_AT_ONCE], is_known, params.bucket)
        best = first_per(right, np.lexsort((-left, -shared, right)), _PRESELECTED * params.neighbours)
        left, right = left[best], right[best]
        likeness = np.concatenate(
            [
                products(texts.sums[which[left[at : at + _BLOCK]]], texts.sums[which[right[at : at + _BLOCK]]])
                for at in range(0, max(1, len(left)), _BLOCK)
            ]
        )
        best = first_per(right, np.lexsort((-left, -likeness, right)), params.neighbours)
        yield CandidatePairs(left[best], right[best], likeness[best])


def first_per(group: Integers, order: Integers, count: int) -> Integers:
    """Of each group the first `count` in `order`, which has groups side by side."""
    ordered = group[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.int64)
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    return order[place < count]
