"""Directions of texts among meanings of words, as integers: how alike two texts are is the same in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers

# Length of a direction: products of two stay below 2**24, exact in float32.
_LENGTH = 2000
_TEXTS_AT_ONCE, _PAIRS_AT_ONCE = 8_192, 65_536

Directions = NDArray[np.int16]


def meaning_sums(has: Any, vectors: Callable[[Integers], NDArray[np.int16]]) -> NDArray[np.int32]:  # noqa: ANN401 - scipy has no types
    """Return the sum of the vectors of each text's distinct words, texts x dimensions. Common words have short ones.

    Args:
        has: texts x words (CSR, int32), 1 where a text has a word.
        vectors: of words, by place.
    """
    parts = [
        _sum_vectors(has[at : at + _TEXTS_AT_ONCE], vectors) for at in range(0, max(has.shape[0], 1), _TEXTS_AT_ONCE)
    ]
    return np.concatenate(parts)


def _sum_vectors(has: Any, vectors: Callable[[Integers], NDArray[np.int16]]) -> NDArray[np.int32]:  # noqa: ANN401
    own = np.unique(has.indices)
    return has[:, own] @ vectors(own).astype(np.int32)


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


def likeness(texts: Directions, contents: Directions, row: Integers, text: Integers, steps: int) -> Integers:
    """Return the cosine of each pair of a row of `texts` and one of `contents`, in `steps`; 0 where it is negative."""
    found = np.zeros(len(row), np.int64)
    for at in range(0, len(row), _PAIRS_AT_ONCE):
        part = slice(at, at + _PAIRS_AT_ONCE)
        one, other = (
            directions[place[part]].astype(np.float32) for directions, place in ((texts, row), (contents, text))
        )
        found[part] = np.rint(np.einsum("ij,ij->i", one, other).astype(np.float64) * (steps / _LENGTH**2))
    return np.maximum(found, 0)
