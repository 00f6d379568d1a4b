"""How likely people are to call two statements one, of those that are near.

Beside the likeness of `pair_scores` it weighs what keeps the two apart (names, dates, tense, ...) and which words the
other side lacks: "little" is missed less than "black". Both are fitted once; what is proposed is shown to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.pairs.conflicts import Conflict, ConflictKind
from slowwave.transforms.observations.pairs.matches import FULL, matched_words, matching_size
from slowwave.transforms.observations.pairs.scores import FEATURES, pair_features
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts

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
