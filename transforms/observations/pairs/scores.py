"""How alike two statements are: features of many pairs at once, and the fitted score made of them."""

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers, SingleFloats
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.pairs.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts, products

FEATURES = (
    "alignment", "alignment_of_shorter", "vectors", "odd_word", "coverage", "coverage_of_shorter", "length_ratio",
    "numbers_differ", "shortness",
)  # fmt: skip
_FULL = UNIT * UNIT
_BLOCK = 256  # the vectors of a block's words stay in the processor's cache
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
    for start in range(0, len(left), _BLOCK):
        block = order[start : start + _BLOCK]
        out[block] = _features(texts, left[block], right[block], longest)
    return out


def _features(texts: PairTexts, left: Integers, right: Integers, longest: Integers) -> Floats:
    wide_a, wide_b = (max(1, int(longest[side].max(initial=0))) for side in (left, right))
    a, b = texts.words[left, :wide_a], texts.words[right, :wide_b]
    weight_a, weight_b = texts.weights[a], texts.weights[b]
    if not len(texts.units):
        a_best, b_best = np.zeros(a.shape, np.int64), np.zeros(b.shape, np.int64)
        a_same, b_same = np.zeros(a.shape, bool), np.zeros(b.shape, bool)
    else:
        units_a, units_b = (texts.units[words].astype(np.float32) for words in (a, b))
        units_a[a < 0], units_b[b < 0] = 0, 0  # padding is like nothing
        cosines: SingleFloats = units_a @ units_b.transpose(0, 2, 1)
        base_a, base_b = (
            np.where(a >= 0, texts.bases[a], -1).astype(np.int32),
            np.where(b >= 0, texts.bases[b], -2).astype(np.int32),
        )
        same = base_a[:, :, None] == base_b[:, None, :]
        np.clip(cosines, 0, _FULL, out=cosines)
        np.copyto(cosines, _FULL, where=same)
        a_best, b_best = cosines.max(axis=2).astype(np.int64), cosines.max(axis=1).astype(np.int64)
        a_same, b_same = same.any(axis=2), same.any(axis=1)
    total_a, total_b = weight_a.sum(axis=1), weight_b.sum(axis=1)
    aligned = [
        _share((best * weight).sum(axis=1), total * _FULL)
        for best, weight, total in ((a_best, weight_a, total_a), (b_best, weight_b, total_b))
    ]
    covered = [
        _share((same * weight).sum(axis=1), total)
        for same, weight, total in ((a_same, weight_a, total_a), (b_same, weight_b, total_b))
    ]
    odd = np.maximum(((_FULL - a_best) * weight_a).max(axis=1), ((_FULL - b_best) * weight_b).max(axis=1))
    lengths_a, lengths_b = texts.lengths[left], texts.lengths[right]
    shorter, longer = np.minimum(lengths_a, lengths_b), np.maximum(lengths_a, lengths_b)
    # divided with 32 bits, as `curate/1` was released
    vectors = np.clip(products(texts.sums[left], texts.sums[right]), 0, _FULL).astype(np.float32) / np.float32(_FULL)
    return np.column_stack(
        [
            np.minimum(*aligned),
            np.maximum(*aligned),
            vectors.astype(np.float64),
            odd / _FULL * _HEAVY_WORD,
            np.minimum(*covered),
            np.maximum(*covered),
            _share(shorter, longer),
            (texts.digits[left] != texts.digits[right]).astype(np.float64),
            1 / np.sqrt(shorter + 1.0),
        ]
    )


def similarity(features: Floats) -> Integers:
    """Fitted probability that a person calls the two one statement (4.5 or more of 5 for likeness), in 1/10,000."""
    logit = np.full(len(features), INTERCEPT)
    for place, name in enumerate(FEATURES):
        logit = logit + COEFFICIENTS[name] * features[:, place]
    return ten_thousandths(logit)
