"""How likely people are to call two statements one, of those that are near: `curate/2`.

Beside the likeness of `pair_scores` it weighs what keeps the two apart (names, dates, tense, ...) and which words the
other side lacks: "little" is missed less than "black". Both are fitted once; what is proposed is shown to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.merges.coefficients import CONFLICTS, INTERCEPT, LIKENESS, MISSED, MISSED_BY_WORD
from slowwave.transforms.observations.pairs.conflicts import Conflict, ConflictKind
from slowwave.transforms.observations.pairs.matches import FULL, matched_words, matching_size
from slowwave.transforms.observations.pairs.scores import FEATURES, pair_features
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts

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
    told[said] = texts.units[said].astype(np.int64) @ np.array(MISSED_BY_WORD, np.int64)
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
