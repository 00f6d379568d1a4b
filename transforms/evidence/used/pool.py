"""The memories of one project as `used/1` compares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Booleans, Integers, SingleFloats
from slowwave.transforms.evidence.used.word_matches import WordForms, directions
from slowwave.transforms.language.word_runs import WORD

# Of a longer memory only so many words are compared: its most telling ones.
_MAX_WORDS = 48


@dataclass(frozen=True)
class ComparedMemories:
    """Memories of one project, with the weight of every word among them.

    `weight` is that of each word of the forms, whether or not a memory has it; `known` are the words that some memory
    has; `words` are memories x 48 places in `known` (len(known): none), most telling first. `is_name` is of each of
    `known`, and false for none. `meaning` and `wording` are the directions of the summed vectors and signs of their
    words.
    """

    weight: Integers
    known: Integers
    words: NDArray[np.int32]
    is_name: Booleans
    mass: Integers
    squares: Integers
    meaning: SingleFloats
    wording: SingleFloats
    forms: WordForms

    @property
    def known_weight(self) -> Integers:
        """Weight of each of `known`, and 0 for none."""
        return np.append(self.weight[self.known], 0)


def uncapitalised_words(contents: pl.Series) -> pl.Series:
    """The words of each text that are written without a capital at their beginning."""
    return contents.to_frame("text").select(
        pl.col("text").str.extract_all(WORD).list.filter(~pl.element().str.contains(r"^\p{Lu}")).list.join(" ")
    )["text"]


def compared_memories(
    counts: Any,  # noqa: ANN401 - scipy has no types
    uncapitalised: Any,  # noqa: ANN401
    forms: WordForms,
) -> ComparedMemories:
    """Memories as rows of word counts (CSR, memories x words of the forms).

    `uncapitalised` counts the words written without a capital: those that never are, here, are names.
    The weight of a word is 256 ln((n + 1) / (df + 1/2)), at least 13, times its prominence.
    """
    has = counts.astype(bool).astype(np.int64)
    frequency = np.bincount(has.indices, minlength=has.shape[1])
    rarity = np.log((has.shape[0] + 1) / (frequency + 0.5))
    weight = np.maximum(np.rint(np.maximum(rarity, 0.05) * forms.prominence).astype(np.int64), 1)
    rows = np.repeat(np.arange(has.shape[0]), np.diff(has.indptr))
    order = np.lexsort((has.indices, -weight[has.indices], rows))
    nth = np.arange(len(order)) - np.repeat(has.indptr[:-1], np.diff(has.indptr))
    kept = nth < _MAX_WORDS
    # only words that are compared, so that one endless memory does not make every comparison endless
    known = np.unique(has.indices[order][kept])
    place = np.zeros(has.shape[1], np.int32)
    place[known] = np.arange(len(known), dtype=np.int32)
    is_name = np.append(np.bincount(uncapitalised.indices, minlength=has.shape[1])[known] == 0, [False])
    words = np.full((has.shape[0], int(min(np.diff(has.indptr).max(initial=0), _MAX_WORDS))), len(known), np.int32)
    words[rows[order][kept], nth[kept]] = place[has.indices[order][kept]]
    meaning, wording = text_directions(has, weight, forms)
    padded = np.append(weight[known], 0)[words]
    return ComparedMemories(
        weight, known, words, is_name, padded.sum(axis=1), (padded**2).sum(axis=1), meaning, wording, forms
    )


def text_directions(
    has: Any,  # noqa: ANN401 - scipy has no types
    weight: Integers,
    forms: WordForms,
) -> tuple[SingleFloats, SingleFloats]:
    """Directions of the sums, by weight, of the vectors and of the signs of the words of each text.

    The sums are of integers, exact in float64.
    """
    used, column = np.unique(has.indices, return_inverse=True)
    weights = weight[used][column].astype(np.float64)
    cells = sp.csr_array((weights, column, has.indptr), shape=(has.shape[0], len(used)))
    meaning, wording = (cells @ vectors[used].astype(np.float64) for vectors in (forms.vectors, forms.signs))
    return directions(meaning), directions(wording)
