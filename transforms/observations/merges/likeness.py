"""How likely people are to call two statements one, of those that are near: `curate/2`.

Beside the likeness of `pair_scores` it weighs what keeps the two apart (names, dates, tense, ...) and which words the
other side lacks: "little" is missed less than "black". Both are fitted once; what is proposed is shown to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.merges.coefficients import CONFLICTS, INTERCEPT, LIKENESS, MISSED, MISSED_BY_WORD
from slowwave.transforms.observations.pairs.conflicts import Conflict, ConflictKind
from slowwave.transforms.observations.pairs.scores import FEATURES, pair_features
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts

KINDS: tuple[ConflictKind, ...] = get_args(ConflictKind)
_FULL = UNIT * UNIT
_BLOCK = 256
# Whatever else two statements share, these make two facts of them; the others count against it.
_ALWAYS_APART = frozenset({"number", "date", "negation", "opposite", "role", "change", "question"})


def words_missed(texts: PairTexts, left: Integers, right: Integers) -> Floats:
    """Per pair how much its words that the other side does not cover are missed, on the scale of the fit.

    A word that is half covered is missed half. Folds are of integers, so that they are exact.
    """
    told = texts.units.astype(np.int64) @ np.array(MISSED_BY_WORD, np.int64) if len(texts.units) else np.zeros(0, int)
    out = np.zeros(len(left))
    for start in range(0, len(left), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b = texts.words[left[block]], texts.words[right[block]]
        best_a, best_b = _covered(texts, a, b)
        sums = ((_FULL - best_a) * _of_words(told, a)).sum(axis=1) + ((_FULL - best_b) * _of_words(told, b)).sum(axis=1)
        out[block] = sums / (_FULL * UNIT)
    return out


def _of_words(told: Integers, words: NDArray[np.int32]) -> Integers:
    return np.where(words >= 0, told[words] if len(told) else 0, 0)


def _covered(texts: PairTexts, a: NDArray[np.int32], b: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """Of each word how well the most alike one of the other side covers it, 0 to 127²; padding is not."""
    if not len(texts.units):
        return np.zeros(a.shape, np.int64), np.zeros(b.shape, np.int64)
    wide_a, wide_b = (max(1, int((words >= 0).sum(axis=1).max(initial=0))) for words in (a, b))
    a_best, b_best = np.zeros(a.shape, np.int64), np.zeros(b.shape, np.int64)
    a, b = a[:, :wide_a], b[:, :wide_b]
    units_a, units_b = (texts.units[words].astype(np.float32) for words in (a, b))
    units_a[a < 0], units_b[b < 0] = 0, 0
    cosines = np.clip(units_a @ units_b.transpose(0, 2, 1), 0, _FULL)
    base_a, base_b = np.where(a >= 0, texts.bases[a], -1), np.where(b >= 0, texts.bases[b], -2)
    np.copyto(cosines, np.float32(_FULL), where=base_a[:, :, None] == base_b[:, None, :])
    a_best[:, :wide_a], b_best[:, :wide_b] = cosines.max(axis=2), cosines.max(axis=1)
    return a_best, b_best


def likeness_logits(texts: PairTexts, left: Integers, right: Integers) -> Floats:
    """What words and vectors say of each pair, in log odds; see `merge_likelihood`."""
    features = pair_features(texts, left, right)
    logit = INTERCEPT + MISSED * words_missed(texts, left, right)
    for place, name in enumerate(FEATURES):
        logit = logit + LIKENESS[name] * features[:, place]
    return logit


def merge_likelihood(logit: float, apart: Sequence[Conflict]) -> int:
    """Fitted probability that a person calls the two one (4.5 or more of 5), in 1/10,000; 0: they are two facts."""
    if any(is_two_facts(one) for one in apart):
        return 0
    kinds = {one.kind for one in apart}
    total = logit + sum(CONFLICTS[kind] for kind in KINDS if kind in kinds)
    return int(ten_thousandths(np.array([total]))[0])


def is_two_facts(conflict: Conflict) -> bool:
    """Whether a conflict alone keeps two statements apart: a value against another, another order, a negation."""
    return conflict.kind in _ALWAYS_APART or (conflict.is_two_sided and conflict.kind != "tense")
