"""How well the words of two texts match, of many pairs of texts at once: what their likeness is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers, SingleFloats
from slowwave.transforms.core.compiled import is_any_loaded, kernel
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts

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
