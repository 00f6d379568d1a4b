"""Directions of texts among meanings of words, as integers: how alike two texts are is the same in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.language.terms import WordCounts
from slowwave.transforms.language.word_vectors import WordVectors

# Length of a direction: products of two stay below 2**24, exact in float32.
_LENGTH = 2000
_TEXTS_AT_ONCE, _PAIRS_AT_ONCE = 8_192, 65_536

Directions = NDArray[np.int16]


def meaning_sums(counted: WordCounts, word_vectors: WordVectors) -> NDArray[np.int32]:
    """Return the sum of the vectors of each text's distinct words, texts x dimensions. Common words have short ones."""
    has = counted.matrix.astype(bool).astype(np.int32)
    parts = [_sum_vectors(has[:0], counted, word_vectors)]
    parts += [
        _sum_vectors(has[at : at + _TEXTS_AT_ONCE], counted, word_vectors)
        for at in range(0, has.shape[0], _TEXTS_AT_ONCE)
    ]
    return np.concatenate(parts)


def _sum_vectors(has: Any, counted: WordCounts, word_vectors: WordVectors) -> NDArray[np.int32]:  # noqa: ANN401 - scipy has no types
    own = np.unique(has.indices)
    return has[:, own] @ word_vectors(counted.words.gather(own)).astype(np.int32)


def text_directions(sums: NDArray[np.int32]) -> Directions:
    """Return sums brought to one length and rounded; of a text without words all is 0."""
    lengths = np.sqrt((sums.astype(np.int64) ** 2).sum(axis=1))
    return np.rint(sums * (_LENGTH / np.maximum(lengths, 1))[:, None]).astype(np.int16)


@dataclass(frozen=True)
class Meanings:
    """Directions of `answers`, and of them with their prompts, by interaction; of `contents`, and each document's."""

    answers: Directions
    together: Directions
    contents: Directions
    text: Integers


def dot_products(texts: Directions, contents: Directions, row: Integers, text: Integers) -> Integers:
    """Return the product of each pair of a row of `texts` and one of `contents`."""
    found = np.zeros(len(row), np.int64)
    for at in range(0, len(row), _PAIRS_AT_ONCE):
        part = slice(at, at + _PAIRS_AT_ONCE)
        one, other = (
            directions[place[part]].astype(np.float32) for directions, place in ((texts, row), (contents, text))
        )
        found[part] = np.einsum("ij,ij->i", one, other)
    return found


def likeness(products: Integers, steps: int) -> Integers:
    """Return cosines by `dot_products`, in `steps`; 0 where they are negative."""
    return np.maximum(np.rint(products * (steps / _LENGTH**2)).astype(np.int64), 0)
