"""How alike two statements are: features of many pairs at once, and the fitted score made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Floats, Integers, SingleFloats
from slowwave.transforms.core.compiled import is_any_loaded, kernel
from slowwave.transforms.core.statistics import ten_thousandths
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts, products

# How well the words of two texts match, of many pairs of texts at once: what their likeness is made of.

FULL = UNIT * UNIT
# From so many on the compiled loop is worth loading: as the first of a night, and beside others.
_COMPILED_PAIRS, _FURTHER_PAIRS = 8_000, 500
# Pairs matched at once: of the compiled loop, and without, where the vectors of their words stay in the cache.
_COMPILED_BLOCK, _BLOCK = 4_096, 256


class WordCoverage(NamedTuple):
    """Of one text of each pair its words (padding is -1), and how well the other text covers each.

    best: the product with the most alike word of the other text, 0 to 127²; that is full with one of its own base.
    is_same: whether there is such a one.
    """

    words: NDArray[np.int32]
    best: Integers
    is_same: NDArray[np.bool_]


def matching_size(pairs: int) -> int:
    """How many of so many pairs are best matched at once."""
    return _COMPILED_BLOCK if _loops(pairs) is not None else _BLOCK


def matched_words(
    texts: PairTexts, left: Integers, right: Integers, *, pairs: int
) -> tuple[WordCoverage, WordCoverage]:
    """The words of the texts of each pair, as wide as the longest; of `pairs` in all these are some."""
    a, b = (_words(texts, of) for of in (left, right))
    loops = _loops(pairs)
    if loops is None or not len(texts.units):
        return _compute_coverage(texts, a, b)
    one, other = _empty_coverage(a), _empty_coverage(b)
    loops.fill_coverage(a, b, texts.units, texts.bases, one.best, other.best, one.is_same, other.is_same)
    return one, other


def _loops(pairs: int) -> Any:  # noqa: ANN401 - a module, or None
    least = _FURTHER_PAIRS if is_any_loaded() else _COMPILED_PAIRS
    return kernel("observations.pairs.matches_kernel") if pairs >= least else None


def _words(texts: PairTexts, of: Integers) -> NDArray[np.int32]:
    words = texts.words[of]
    return np.ascontiguousarray(words[:, : max(1, int((words >= 0).sum(axis=1).max(initial=0)))])


def _compute_coverage(
    texts: PairTexts, a: NDArray[np.int32], b: NDArray[np.int32]
) -> tuple[WordCoverage, WordCoverage]:
    """Without the compiled loop; products of two vectors are exact as single floats."""
    if not len(texts.units):
        return _empty_coverage(a), _empty_coverage(b)
    units_a, units_b = (texts.units[words].astype(np.float32) for words in (a, b))
    units_a[a < 0], units_b[b < 0] = 0, 0  # padding is like nothing
    cosines: SingleFloats = units_a @ units_b.transpose(0, 2, 1)
    base_a, base_b = (
        np.where(words >= 0, texts.bases[words], none).astype(np.int32) for words, none in ((a, -1), (b, -2))
    )
    same = base_a[:, :, None] == base_b[:, None, :]
    np.clip(cosines, 0, FULL, out=cosines)
    np.copyto(cosines, FULL, where=same)
    return (
        WordCoverage(a, cosines.max(axis=2).astype(np.int64), same.any(axis=2)),
        WordCoverage(b, cosines.max(axis=1).astype(np.int64), same.any(axis=1)),
    )


def _empty_coverage(words: NDArray[np.int32]) -> WordCoverage:
    return WordCoverage(words, np.zeros(words.shape, np.int64), np.zeros(words.shape, bool))


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
