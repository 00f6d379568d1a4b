"""How alike two statements are: features of many pairs at once, and the fitted score made of them."""

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.pairs.matches import FULL, matched_words, matching_size
from slowwave.transforms.observations.pairs.texts import PairTexts, products

FEATURES = (
    "alignment", "alignment_of_shorter", "vectors", "odd_word", "coverage", "coverage_of_shorter", "length_ratio",
    "numbers_differ", "shortness",
)  # fmt: skip
# A logistic regression (ridge 0.001 on standardised features, L-BFGS) of "people scored this pair of English sentences
# 4.5 or more of 5", fitted once on 5,223 scored pairs of captions, headlines and forum posts. Fitted on one half it
# ranks the pairs of the other as well as when fitted on all. Log odds per unit. A released version does not change.
_INTERCEPT = -9.741
_COEFFICIENTS: dict[str, float] = {
    "alignment": 6.189,
    "alignment_of_shorter": 2.225,
    "vectors": 3.037,
    "odd_word": -1.392,
    "coverage": 0.579,
    "coverage_of_shorter": -1.578,
    "length_ratio": 1.410,
    "numbers_differ": -1.613,
    "shortness": 0.319,
}
_HEAVY_WORD = 1 / 2000  # the weight of a telling word, so that `odd_word` is of the order of 1


def _share(part: Integers, whole: Integers) -> Floats:
    return part / np.maximum(whole, 1)


def pair_features(texts: PairTexts, left: Integers, right: Integers) -> Floats:
    """One row of `FEATURES` per pair of texts (numbers of them); the order within a pair does not matter.

    alignment: each word finds its most alike word on the other side; the cosines' mean by weight, of the side that is
    covered worse; of_shorter: of the side that is covered better. vectors: cosine of the summed word vectors.
    odd_word: weight of the word that is least covered, times what it lacks. coverage: share of the weight of words that
    stand on the other side in some form. Folds are of integers, so that they are exact.
    """
    longest = (texts.words >= 0).sum(axis=1)
    out = np.empty((len(left), len(FEATURES)))
    # pairs of like size side by side, so that a block is padded little
    order = np.argsort(np.maximum(longest[left], longest[right]), kind="stable")
    size = matching_size(len(left))
    for start in range(0, len(left), size):
        block = order[start : start + size]
        out[block] = _features(texts, left[block], right[block], len(left))
    return out


def _features(texts: PairTexts, left: Integers, right: Integers, pairs: int) -> Floats:
    sides = matched_words(texts, left, right, pairs=pairs)
    weights = [texts.weights[side.words] for side in sides]
    total = [weight.sum(axis=1) for weight in weights]
    aligned = [
        _share((side.best * weight).sum(axis=1), of * FULL)
        for side, weight, of in zip(sides, weights, total, strict=True)
    ]
    covered = [
        _share((side.is_same * weight).sum(axis=1), of) for side, weight, of in zip(sides, weights, total, strict=True)
    ]
    odd = np.maximum(*(((FULL - side.best) * weight).max(axis=1) for side, weight in zip(sides, weights, strict=True)))
    lengths_a, lengths_b = texts.lengths[left], texts.lengths[right]
    shorter, longer = np.minimum(lengths_a, lengths_b), np.maximum(lengths_a, lengths_b)
    # divided with 32 bits, as it was released
    vectors = np.clip(products(texts.sums[left], texts.sums[right]), 0, FULL).astype(np.float32) / np.float32(FULL)
    return np.column_stack(
        [
            np.minimum(*aligned),
            np.maximum(*aligned),
            vectors.astype(np.float64),
            odd / FULL * _HEAVY_WORD,
            np.minimum(*covered),
            np.maximum(*covered),
            _share(shorter, longer),
            (texts.digits[left] != texts.digits[right]).astype(np.float64),
            1 / np.sqrt(shorter + 1.0),
        ]
    )


def similarity(features: Floats) -> Integers:
    """Fitted probability that a person calls the two one statement (4.5 or more of 5 for likeness), in 1/10,000."""
    logit = np.full(len(features), _INTERCEPT)
    for place, name in enumerate(FEATURES):
        logit = logit + _COEFFICIENTS[name] * features[:, place]
    return ten_thousandths(logit)
