"""The most alike pairs of statements, for a closer look: of one type as they were compared, and across types."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import get_args

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.pairs.candidates import CandidatePairs, first_per, mix_keys
from slowwave.transforms.observations.pairs.conflicts import Conflict, ConflictKind
from slowwave.transforms.observations.pairs.relations import pair_similarity
from slowwave.transforms.observations.pairs.scores import FEATURES, FULL, matched_words, matching_size, pair_features
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts, products
from slowwave.transforms.observations.params import ObservationParams

# How likely people are to call two statements one, of those that are near.
# Beside the likeness of `pair_scores` it weighs what keeps the two apart (names, dates, tense, ...) and which words
# the other side lacks: "little" is missed less than "black". Both are fitted once; what is proposed is shown to
# people.

# The shipped weights: a logistic regression (ridge 0.001 on standardised features, 0.3 on those of words, L-BFGS) of
# "people scored this pair of English sentences 4.5 or more of 5" (softened with a width of 0.25) on 3,464 scored pairs
# of captions, headlines and forum posts. Log odds per unit. A released version does not change.
_INTERCEPT = -8.431

_LIKENESS: dict[str, float] = {
    "alignment": 4.681,
    "alignment_of_shorter": 2.040,
    "vectors": 3.468,
    "odd_word": -0.801,
    "coverage": 0.210,
    "coverage_of_shorter": -1.435,
    "length_ratio": 0.901,
    "numbers_differ": -0.726,
    "shortness": 0.096,
}

_CONFLICTS: dict[str, float] = {
    "number": -0.923,
    "negation": -0.784,
    "date": -0.269,
    "name": 0.265,
    "opposite": -0.050,
    "role": -0.100,
    "qualifier": -0.033,
    "tense": -0.299,
    "question": -1.574,
    "change": -0.181,
}

_MISSED = 0.001
"""Log odds per unit of `words_missed`."""

_MISSED_BY_WORD = (
    33, -6, 33, -62, -27, 26, -20, 4, 39, 19, 22, 5, 43, -25, -9, -34, -20, -38, -21, -18, 48, -16, -24, -15, 4,
    -11, -26, 16, -6, 29, 1, -34, -46, 15, -44, 27, 14, -3, -10, 28, 24, -15, 8, -16, 41, 7, -21, -34, 65, 11, 14,
    -7, 11, -42, -14, -8, -7, 25, -3, 28, 14, -14, 28, 26, -25, -34, 62, 77, 50, 11, -17, -45, 40, -2, -37, -66, 29,
    -15, 14, -4, 31, 55, 66, 4, 8, -56, -38, 3, -52, 41, 8, -26, 24, 8, 43, -12, -29, -11, -42, 7, -18, 9, 5, 11,
    -17, -7, -14, -50, 13, -17, 15, 9, -1, -3, 5, 18, 12, 0, -13, 27, -5, -37, 25, 58, 14, 30, 37, -15, -27, -6, 17,
    -24, 39, 1, 28, -50, -9, 0, 7, -19, -47, 10, -35, 18, -39, -19, -38, 21, -19, -1, -18, 13, -37, -45, 0, 44, 59,
    21, -30, 36, -16, 28, -37, 41, -46, 2, 31, -25, 26, -2, -32, 19, -5, -31, -27, -50, -12, 2, 10, 15, -40, -4, 48,
    25, 17, 47, 55, 48, 45, -18, 32, 16, 35, 44, 20, -4, 2, 49, -43, 15, 14, 33, 65, 9, 13, 20, 2, -22, -23, -6, -2,
    -16, 17, 21, 20, 20, -6, -24, -9, -29, 50, -36, 43, -69, 11, -6, -38, 16, -90, -7, -27, 31, 59, -27, 25, 47,
    -44, -17, 61, -54, -7, -46, 20, -5, 3, 58, -6, -4, -14, -8, -3, -27, -14, 26, -2, 11,
)  # fmt: skip
"""How much a word is missed, per component of its unit vector: a thousandth of the log odds."""

KINDS: tuple[ConflictKind, ...] = get_args(ConflictKind)
# Whatever else two statements share, these make two facts of them; the others count against it.
_ALWAYS_APART = frozenset({"number", "date", "negation", "opposite", "role", "change", "question"})


def words_missed(texts: PairTexts, left: Integers, right: Integers) -> Floats:
    """Per pair how much its words that the other side does not cover are missed, on the scale of the fit.

    A word that is half covered is missed half. Folds are of integers, so that they are exact.
    """
    told = np.zeros(len(texts.units) + 1, np.int64)  # the last is that of padding
    said = np.unique(texts.words[np.union1d(left, right)])
    said = said[said >= 0]  # of all words it would take longer than all else
    told[said] = texts.units[said].astype(np.int64) @ np.array(_MISSED_BY_WORD, np.int64)
    out = np.zeros(len(left))
    size = matching_size(len(left))
    for start in range(0, len(left), size):
        block = slice(start, start + size)
        one, other = (
            ((FULL - side.best) * told[side.words]).sum(axis=1)
            for side in matched_words(texts, left[block], right[block], pairs=len(left))
        )
        out[block] = (one + other) / (FULL * UNIT)
    return out


def likeness_logits(texts: PairTexts, left: Integers, right: Integers) -> Floats:
    """What words and vectors say of each pair, in log odds; see `merge_likelihood`."""
    features = pair_features(texts, left, right)
    logit = _INTERCEPT + _MISSED * words_missed(texts, left, right)
    for place, name in enumerate(FEATURES):
        logit = logit + _LIKENESS[name] * features[:, place]
    return logit


def merge_likelihood(logit: float, apart: Sequence[Conflict]) -> int:
    """Fitted probability that a person calls the two one (4.5 or more of 5), in 1/10,000; 0: they are two facts."""
    if any(is_two_facts(one) for one in apart):
        return 0
    kinds = {one.kind for one in apart}
    total = logit + sum(_CONFLICTS[kind] for kind in KINDS if kind in kinds)
    return int(ten_thousandths(np.array([total]))[0])


def is_two_facts(conflict: Conflict) -> bool:
    """Whether a conflict alone keeps two statements apart: a value against another, another order, a negation."""
    return conflict.kind in _ALWAYS_APART or (conflict.is_two_sided and conflict.kind != "tense")


_SIGNATURE = 5  # heaviest words, of which every two and every three are looked up across types
_ACROSS = 2  # statements of other types that each is compared with
_BLOCK = 16_384
_SCORED_PER_COMPARED = 2
_NEVER = -1


class NearStatements:
    """The statements in use that are nearly one, gathered while they are compared: of each project the most alike.

    left, right: numbers of statements, the smaller first; logits: see `likeness_logits`; filled by `look_closer`.
    """

    def __init__(self, statements: pl.DataFrame, params: ObservationParams) -> None:
        """`statements`: see `distinct_statements`."""
        self._statements, self._params = statements, params
        self._projects = statements["project"].rank("dense").cast(pl.Int64).to_numpy()
        self.left, self.right = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._alike, self.logits = np.zeros(0, np.int64), np.zeros(0)

    def is_alone(self) -> bool:
        """Whether no statement has another of its project and agent beside it, of whatever type."""
        return self._statements.select("project", "owner").is_unique().all()

    def add(self, left: Integers, right: Integers, alike: Integers) -> None:
        """Pairs that were compared, and how alike they are in 1/10,000; some at a time, in any order."""
        near = np.flatnonzero(alike >= round(self._params.near_similarity * 10_000))
        left, right = np.r_[self.left, left[near]], np.r_[self.right, right[near]]
        alike = np.r_[self._alike, alike[near]]
        of_project = self._projects[left]
        best = first_per(of_project, np.lexsort((right, left, -alike, of_project)), self._params.most_compared)
        self.left, self.right, self._alike = left[best], right[best], alike[best]

    def look_closer(self, texts: PairTexts) -> None:
        """Add pairs across types, and tell how likely each pair is one; `texts`: of the statements."""
        found = across_types(self._statements, texts)
        # only of the most alike by their vectors: to tell how alike two texts are takes as long as finding many
        of_project = self._projects[found.left]
        order = np.lexsort((found.right, found.left, -found.likeness, of_project))
        best = first_per(of_project, order, _SCORED_PER_COMPARED * self._params.most_compared)
        left, right = found.left[best], found.right[best]
        self.add(left, right, pair_similarity(texts, left, right, found.likeness[best]))
        self.logits = likeness_logits(texts, self.left, self.right)


def across_types(statements: pl.DataFrame, texts: PairTexts) -> CandidatePairs:
    """For each statement the most alike ones of its project and agent that are of another type, at most two.

    Statements are filed under every two and three of their heaviest words and under all their words. In a bucket one
    meets the last before it of another type, so the work grows with the number of statements, however alike they are.
    """
    none = CandidatePairs(*(np.zeros(0, np.int64) for _ in range(3)))
    numbered = statements.select(
        pl.struct("project", "owner").rank("dense").cast(pl.Int64).alias("family"),
        pl.struct("project", "scope").rank("dense").cast(pl.Int64).alias("scope"),
    )
    several = numbered.with_row_index("statement").filter(pl.col("scope").n_unique().over("family") > 1)
    if several.is_empty():
        return none
    asked = several["statement"].to_numpy().astype(np.int64)
    left, right = _find_pairs(asked, several["family"].to_numpy(), several["scope"].to_numpy(), texts)
    likeness = np.concatenate(
        [
            products(texts.sums[left[at : at + _BLOCK]], texts.sums[right[at : at + _BLOCK]])
            for at in range(0, max(1, len(left)), _BLOCK)
        ]
    )
    best = first_per(right, np.lexsort((-left, -likeness, right)), _ACROSS)
    return CandidatePairs(left[best], right[best], likeness[best])


def _find_pairs(asked: Integers, families: Integers, scopes: Integers, texts: PairTexts) -> tuple[Integers, Integers]:
    """Pairs of an earlier statement and one of `asked` that share a bucket and are of different types, each once."""
    words = texts.words[asked]
    bases = np.where(words >= 0, texts.bases.astype(np.int32)[words] if len(texts.bases) else 0, np.int32(_NEVER))
    heavy, count = bases[:, :_SIGNATURE].copy(), len(texts.lengths)
    bases.sort(axis=1)
    keys_of_all = mix_keys(families, *bases.T)
    del words, bases
    codes = [np.zeros(0, np.int64)]
    for places in (None, *combinations(range(_SIGNATURE), 2), *combinations(range(_SIGNATURE), 3)):
        if places is None:
            key, is_filed = keys_of_all, heavy[:, 0] >= 0
        else:
            chosen = np.sort(heavy[:, places], axis=1)
            key, is_filed = mix_keys(families, *chosen.T), chosen[:, 0] >= 0
        entries = np.flatnonzero(is_filed)
        entries = entries[np.argsort(key[entries], kind="stable")]
        keys, of_scope = key[entries], scopes[entries]
        is_begun = np.r_[True, (keys[1:] != keys[:-1]) | (of_scope[1:] != of_scope[:-1])][: len(entries)]
        begins = np.maximum.accumulate(np.where(is_begun, np.arange(len(entries)), 0))
        before = begins - 1  # of another type, if it has the same key
        is_met = (begins > 0) & (keys[before] == keys)
        one, other = asked[entries[before[is_met]]], asked[entries[is_met]]
        codes.append(np.maximum(one, other) * count + np.minimum(one, other))
    pairs = np.unique(np.concatenate(codes))
    return pairs % count, pairs // count
