"""Statements made ready to be compared in bulk: their words with weights and vectors, all of them integers.

A word weighs what its static vector is long: common words have short vectors, rare and compound ones long ones. So a
weight depends on the word alone, not on what else is remembered, and two statements are as alike today as they were
when the second was made (on pairs of sentences scored by people these weights do as well as document frequencies).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers, SmallIntegers
from slowwave.transforms.language.terms import word_counts
from slowwave.transforms.language.word_vectors import WordVectors
from slowwave.transforms.observations.pairs.statement_tokens import base_of

UNIT = 127  # length of a quantised unit vector: products of two stay below 2**24, exact in float32
_KEPT_WORDS = 32
_BLOCK = 8_192
_LONGEST_COMPONENT = 2**15  # of 16 bits
# What splitmix64 multiplies by (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
_GOLDEN, _MIX, _MIX_AGAIN = (
    np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True)
class PairTexts:
    """Texts by number. Padding is word -1.

    words: per text its heaviest 32 distinct words, heaviest first, as numbers. weights: per word, 0 for padding.
    bases: per word the number of its uninflected form. units: per word its vector with length 127, rounded; products of
    them are taken as float32, which is exact.
    sums: per text the sum of its words' vectors, likewise. lengths: words in the text. digits: the sum of the codes of
    its numbers (see `codes_apart`).
    """

    words: NDArray[np.int32]
    weights: NDArray[np.int32]
    bases: Integers
    units: SmallIntegers
    sums: SmallIntegers
    lengths: Integers
    digits: Integers

    def select_texts(self, places: Integers) -> PairTexts:
        """Some of the texts, in the order given."""
        rows = ("words", "sums", "lengths", "digits")
        return replace(self, **{name: getattr(self, name)[places] for name in rows})


class ReadyTexts:
    """Texts made ready that others will ask for the same night: curation compares all, observations those in use."""

    def __init__(self) -> None:
        self._kept: tuple[pl.Series, PairTexts] | None = None

    def keep(self, texts: pl.Series, made: PairTexts) -> None:
        """Hold `made`, of distinct `texts`."""
        self._kept = texts, made

    def take(self, texts: pl.Series) -> PairTexts | None:
        """These texts, of which all the rest is forgotten; None: not all of them are held."""
        if self._kept is None:
            return None
        (held, made), self._kept = self._kept, None
        known = pl.DataFrame({"text": held}).with_row_index("place")
        places = texts.to_frame("text").join(known, on="text", how="left", maintain_order="left")["place"]
        return None if places.has_nulls() else made.select_texts(places.cast(pl.Int64).to_numpy())


def ready_texts() -> ReadyTexts:
    """Return what holds them for a night."""
    return ReadyTexts()


def _squares(vectors: NDArray[np.integer]) -> Integers:
    return np.einsum("ij,ij->i", vectors, vectors, dtype=np.int64)


def products(left: SmallIntegers, right: SmallIntegers) -> Integers:
    """The product of each two vectors."""
    return np.einsum("ij,ij->i", left.astype(np.float32), right.astype(np.float32)).astype(np.int64)


def _units(vectors: NDArray[np.integer]) -> SmallIntegers:
    """In blocks: of many words each step in between takes as much memory as they all."""
    scale = UNIT / np.sqrt(np.maximum(_squares(vectors), 1).astype(np.float64))
    units = np.empty(vectors.shape, np.int8)
    for start in range(0, len(vectors), _BLOCK):
        block = slice(start, start + _BLOCK)
        units[block] = np.round(vectors[block] * scale[block, None])
    return units


def codes_apart(places: Integers) -> Integers:
    """Codes of the words at these places of the vocabulary: sums of different ones tell sets of numbers apart."""
    state = (places.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX
    state = (state ^ (state >> np.uint64(27))) * _MIX_AGAIN
    return (state ^ (state >> np.uint64(31))).astype(np.int64)


def pair_texts(texts: pl.Series, word_vectors: WordVectors) -> PairTexts:
    """`texts` (distinct or not, NULL is empty) made ready."""
    counts = word_counts(texts)
    vectors = word_vectors(counts.words)
    weights = np.round(np.sqrt(_squares(vectors).astype(np.float64))).astype(np.int32)
    bases = pl.Series([base_of(word) for word in counts.words.to_list()], dtype=pl.String)
    base_numbers = bases.rank("dense").cast(pl.Int64).to_numpy() - 1 if len(bases) else np.zeros(0, np.int64)
    is_number = counts.words.str.contains(r"^\d+$").to_numpy() if len(bases) else np.zeros(0, bool)
    matrix = counts.matrix
    found = np.full((len(texts), _KEPT_WORDS), -1, np.int32)
    digits = np.zeros(len(texts), np.int64)
    sums = np.empty((len(texts), vectors.shape[1]), np.int8)
    for start in range(0, len(texts), _BLOCK):  # of many texts each step in between takes as much memory as they all
        block = slice(start, start + _BLOCK)
        some = matrix[block]
        rows, columns = np.repeat(np.arange(some.shape[0]), np.diff(some.indptr)), some.indices
        order = np.lexsort((columns, -weights[columns], rows))
        rows, columns = rows[order], columns[order]
        place = np.arange(len(rows)) - some.indptr[rows]
        kept = place < _KEPT_WORDS
        found[start + rows[kept], place[kept]] = columns[kept]
        of_number = is_number[columns]
        np.add.at(digits, start + rows[of_number], codes_apart(columns[of_number]))
        sums[block] = _units(_sum_vectors(some, vectors))
    return PairTexts(
        words=found,
        weights=np.append(weights, np.int32(0)),
        bases=base_numbers,
        units=_units(vectors),
        sums=sums,
        lengths=np.asarray(matrix.sum(axis=1)).ravel().astype(np.int64),
        digits=digits,
    )


def _sum_vectors(counts: Any, vectors: NDArray[np.int16]) -> NDArray[np.integer]:  # noqa: ANN401 - scipy has no types
    """The sums of the vectors of each text's words; only the words of these texts are held with more bits."""
    used, column = np.unique(counts.indices, return_inverse=True)
    longest = int(counts.sum(axis=1).max(initial=0))
    bits = np.int32 if longest * _LONGEST_COMPONENT <= np.iinfo(np.int32).max else np.int64
    cells = (counts.data.astype(bits), column.astype(np.int32), counts.indptr)
    return np.asarray(sp.csr_array(cells, shape=(counts.shape[0], len(used))) @ vectors[used].astype(bits))
