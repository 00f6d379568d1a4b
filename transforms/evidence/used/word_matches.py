"""What the words of answers and memories have in common: the same word, the same stem, or the same meaning."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Floats, Integers, SingleFloats
from slowwave.transforms.language.terms import gram_counts
from slowwave.transforms.language.word_vectors import WordVectors

# Directions are rounded to integer vectors of this length: products of two stay below 2**24, exact in float32.
LENGTH = 2000
# Likeness of two words, and prominence of one, in steps of 1 / ONE.
ONE = 256
# A word whose vector is this long is worth its full weight; "of" has 220, "dog" 1970.
_PROMINENT = 1600
_LEAST_PROMINENCE = 12
# Likeness below this is chance; it is counted from here to 1.
_UNLIKE = 128
_CELLS = 4_000_000


@dataclass(frozen=True)
class WordForms:
    """Words with what tells their likeness.

    `vectors` are words x dimensions; `directions` the same, all of one length, float32 holding integers; `signs`
    words x 256, -1 or 1; `grams` words x n-grams (CSR); `prominence` is 0-256.
    """

    words: pl.Series
    vectors: NDArray[np.int16]
    directions: SingleFloats
    signs: NDArray[np.int16]
    grams: Any
    prominence: Integers


def word_forms(words: pl.Series, word_vectors: WordVectors) -> WordForms:
    """Forms of distinct words. A word that points nowhere has direction 0."""
    vectors = word_vectors(words)
    lengths = np.sqrt((vectors.astype(np.int64) ** 2).sum(axis=1))
    return WordForms(
        words,
        vectors,
        directions(vectors.astype(np.float64)),
        word_signs(words),
        gram_counts(words),
        prominences(lengths),
    )


def prominences(lengths: Floats) -> Integers:
    """What words with vectors of these lengths are worth."""
    return np.clip(np.rint(lengths * (ONE / _PROMINENT)).astype(np.int64), _LEAST_PROMINENCE, ONE)


def word_signs(words: pl.Series) -> NDArray[np.int16]:
    """Signs by which sums of words can be distinguished: 256 bits of a hash (Charikar 2002, random projections)."""
    bits = b"".join(hashlib.blake2b(word.encode(), digest_size=32).digest() for word in words.to_list())
    signs = np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(-1, 256)
    return signs.astype(np.int16) * 2 - 1


def directions(vectors: Floats) -> SingleFloats:
    """Vectors of integers brought to one length and rounded."""
    lengths = np.sqrt((vectors**2).sum(axis=1))
    return np.rint(vectors * (LENGTH / np.maximum(lengths, 1))[:, None]).astype(np.float32)


def word_likeness(forms: WordForms, rows: Integers, columns: Integers) -> Any:  # noqa: ANN401 - scipy has no types
    """How alike words are, 0-256: sparse, `rows` x `columns` (places in `forms`); the same word is 256.

    The square root of the squared cosines of their character n-grams and of their vectors, from 0.5 (0) to 1 (256).
    """
    grams = forms.grams.astype(np.int64)
    lengths = np.sqrt(grams.multiply(grams).sum(axis=1).astype(np.float64))
    across = grams[columns].T.tocsr()
    step = max(1, _CELLS // max(1, len(columns)))
    blocks = []
    for start in range(0, len(rows), step):
        chosen = rows[start : start + step]
        meaning = np.maximum(forms.directions[chosen] @ forms.directions[columns].T, 0) * np.float32(ONE / LENGTH**2)
        likeness = np.rint(meaning).astype(np.int32) ** 2
        shared = (grams[chosen] @ across).tocoo()
        stem = shared.data * (ONE / (lengths[chosen][shared.row] * lengths[columns][shared.col]))
        likeness[shared.row, shared.col] += np.rint(stem).astype(np.int32) ** 2
        likeness[chosen[:, None] == columns] = ONE**2
        row, column = np.nonzero(likeness > _UNLIKE**2)
        found = np.rint(np.sqrt(likeness[row, column].astype(np.float64))).astype(np.int64)
        scaled = np.minimum((found - _UNLIKE) * ONE // (ONE - _UNLIKE), ONE)
        blocks.append(sp.csr_array((scaled.astype(np.int32), (row, column)), shape=(len(chosen), len(columns))))
    return sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(columns)), dtype=np.int32)
