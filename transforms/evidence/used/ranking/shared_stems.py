"""Stems that texts share with memories, by weight: sparse products of integers, the same in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.terms import word_counts

# Steps of a weight: that of the rarest stem among 250,000 memories is 210.
STEP = 16
# A stem of more memories of the pool tells nothing of one of them: an eighth, or so many.
_COMMON_SHARE, _LEAST_COMMON, _MOST_COMMON = 8, 8, 1_000
# Pairs that share a stem, each as often as they do, that are looked at in one go.
_SHARED_AT_ONCE = 4_000_000
# A square (of 40,000 stems at most: below 2**31) and a weight (below 2**23) in one integer.
_SQUARE = 24
_GROUP = np.int64(2**32)
_WIDTH = 2**31 - 1
_BEGINNING, _RUN = 5, 4


class StemNumbers:
    """Numbers of the stems met so far."""

    def __init__(self) -> None:
        self._by_stem: dict[str, int] = {}

    def stem_rows(self, texts: pl.Series) -> Any:  # noqa: ANN401 - scipy has no types
        """Texts x stems (CSR), 1 where a text has a stem."""
        counted = word_counts(texts)
        known = self._by_stem
        stems = [[known.setdefault(stem, len(known)) for stem in _stems(word)] for word in counted.words.to_list()]
        number = np.fromiter(chain.from_iterable(stems), np.int64)
        ends = np.cumsum([0, *map(len, stems)])
        cells = (np.ones(len(number), np.int64), number, ends)
        found = counted.matrix @ sp.csr_array(cells, shape=(len(stems), len(known)))
        found.sum_duplicates()
        # the width is fixed, so that rows of earlier texts have the same
        ones, places = np.ones(len(found.indices), np.int64), found.indices.astype(np.int64)
        return sp.csr_array((ones, places, found.indptr), shape=(len(texts), _WIDTH))


def _stems(word: str) -> list[str]:
    """A word, its uninflected form and the beginning of that, and its runs of four characters, each marked as such."""
    base, edged = inflection(word).base, f" {word} "
    runs = (f"#{edged[at : at + _RUN]}" for at in range(max(len(edged) - _RUN + 1, 0)))
    return list(dict.fromkeys([base, f"={word}", f"~{base[:_BEGINNING]}", *runs]))


class TextMass(NamedTuple):
    """Of each text (or memory) the sum of the weights of its stems, and of their squares."""

    weights: Integers
    squares: Integers


@dataclass(frozen=True)
class SharedPairs:
    """Pairs of interactions and documents whose answer or prompt shares a stem, sorted by interaction, then document.

    `answer`, `prompt` and `both` are what answer, prompt, and stems of answer and prompt alike have in common with
    the document.
    """

    row: Integers
    document: Integers
    answer: TextMass
    prompt: TextMass
    both: TextMass


@dataclass(frozen=True)
class WeighedPool:
    """Documents of several groups of interactions, stems weighed by how many documents of the group have them.

    Columns are stems of a group: `keys` are sorted. `unknown` is the weight, by group, of a stem that no document has.
    """

    keys: Integers
    weight: Integers
    frequency: Integers
    unknown: Integers
    packed: Any
    mass: TextMass


def weighed_pool(contents: Any, group: Integers, groups: int) -> WeighedPool:  # noqa: ANN401 - scipy has no types
    """Documents as rows of stems, each of a `group`."""
    sizes = np.diff(contents.indptr)
    of_stem = np.repeat(group, sizes) * _GROUP + contents.indices
    keys, column, frequency = np.unique(of_stem, return_inverse=True, return_counts=True)
    count = np.bincount(group, minlength=groups)
    most = np.clip(count // _COMMON_SHARE, _LEAST_COMMON, _MOST_COMMON)
    of_group = keys // _GROUP
    rarity = _rarity(count[of_group], frequency)
    weight = np.where(frequency <= most[of_group], rarity, 0)
    pack = (weight**2 << _SQUARE) + weight
    # `eliminate_zeros` writes to what it is given
    ends = contents.indptr.copy()
    cells = sp.csr_array((pack[column], column.astype(np.int64), ends), shape=(len(group), len(keys)))
    mass = _unpacked(np.asarray(cells.sum(axis=1), np.int64).ravel())
    cells.eliminate_zeros()
    return WeighedPool(keys, weight, frequency, _rarity(count, np.zeros(groups)), cells.T.tocsr(), mass)


def _rarity(count: Integers, frequency: Integers | Floats) -> Integers:
    return np.maximum(np.rint(STEP * np.log((count + 1) / (frequency + 0.5))), 1).astype(np.int64)


def _unpacked(packed: Integers) -> TextMass:
    return TextMass(packed & ((1 << _SQUARE) - 1), packed >> _SQUARE)


@dataclass(frozen=True)
class WeighedTexts:
    """Texts as rows of a pool's columns, and all their stems by weight, whether or not a document has them."""

    cells: Any
    mass: TextMass


def weighed_texts(texts: Any, group: Integers, pool: WeighedPool) -> WeighedTexts:  # noqa: ANN401 - scipy has no types
    """Texts as rows of stems, each of a `group`."""
    row = np.repeat(np.arange(len(group)), np.diff(texts.indptr))
    of_stem = group[row] * _GROUP + texts.indices
    place = np.minimum(np.searchsorted(pool.keys, of_stem), max(len(pool.keys) - 1, 0))
    is_known = pool.keys[place] == of_stem if len(pool.keys) else np.zeros(len(of_stem), bool)
    weight = pool.unknown[group[row]]
    weight[is_known] = pool.weight[place[is_known]]
    weights, squares = np.zeros((2, len(group)), np.int64)
    np.add.at(weights, row, weight)
    np.add.at(squares, row, weight**2)
    telling = is_known & (weight > 0)
    cells = (np.ones(int(telling.sum()), np.int64), (row[telling], place[telling]))
    return WeighedTexts(sp.csr_array(cells, shape=(len(group), len(pool.keys))), TextMass(weights, squares))


def shared_pairs(
    prompts: WeighedTexts, answers: WeighedTexts, both: WeighedTexts, pool: WeighedPool
) -> Iterator[SharedPairs]:
    """All pairs that share a stem, interactions in order, as many at a time as fit."""
    work = (answers.cells + prompts.cells).astype(bool).astype(np.int64) @ pool.frequency
    cut = np.cumsum(work) // _SHARED_AT_ONCE
    starts = np.flatnonzero(np.diff(cut, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(work)], strict=True):
        products = [(text.cells[start:stop] @ pool.packed).tocoo() for text in (answers, prompts, both)]
        documents = pool.packed.shape[1]
        keys = [product.row.astype(np.int64) * documents + product.col for product in products]
        pairs = np.union1d(keys[0], keys[1])
        masses = []
        for key, product in zip(keys, products, strict=True):
            packed = np.zeros(len(pairs), np.int64)
            packed[np.searchsorted(pairs, key)] = product.data
            masses.append(_unpacked(packed))
        yield SharedPairs(start + pairs // documents, pairs % documents, *masses)
