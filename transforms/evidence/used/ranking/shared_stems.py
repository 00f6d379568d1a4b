"""Stems that texts share with memories, by weight: sparse products of integers, the same in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.ranking.stem_numbers import TextStems

# Steps of a weight: that of the rarest stem among 250,000 memories is 210.
STEP = 16
# A stem of more memories of the pool tells nothing of one of them: an eighth, or so many.
_COMMON_SHARE, _LEAST_COMMON, MOST_COMMON = 8, 8, 1_000
# Pairs that share a stem, each as often as they do, that are looked at in one go.
_SHARED_AT_ONCE = 1_000_000
# A square (of 40,000 stems at most: below 2**31) and a weight (below 2**23) in one integer.
_SQUARE = 24
_GROUP = np.int64(2**32)
_WIDTH = 2**31 - 1


class TextMass(NamedTuple):
    """Of each text (or memory) the sum of the weights of its stems, and of their squares."""

    weights: Integers
    squares: Integers


# Names of `TextMasses.parts`.
TEXTS = ("answer", "new", "prompt", "all")


@dataclass(frozen=True)
class TextMasses:
    """What answers, prompts, and stems that both have weigh: all of them, or those that a document has, too."""

    answer: TextMass
    prompt: TextMass
    both: TextMass

    def parts(self) -> dict[str, TextMass]:
        """By name: the answer, what is new in it, the prompt, and answer and prompt together."""
        new = TextMass(self.answer.weights - self.both.weights, self.answer.squares - self.both.squares)
        together = TextMass(new.weights + self.prompt.weights, new.squares + self.prompt.squares)
        return dict(zip(TEXTS, (self.answer, new, self.prompt, together), strict=True))


@dataclass(frozen=True)
class SharedPairs(TextMasses):
    """Pairs of interactions and documents whose answer or prompt shares a stem, and what the stems weigh.

    They are sorted by interaction, then document.
    """

    row: Integers
    document: Integers

    def at(self, places: Integers) -> SharedPairs:
        """Some of them."""
        answer, prompt, both = (
            TextMass(mass.weights[places], mass.squares[places]) for mass in (self.answer, self.prompt, self.both)
        )
        return SharedPairs(answer, prompt, both, self.row[places], self.document[places])


def join_pairs(parts: list[SharedPairs]) -> SharedPairs:
    """All of them, one after the other; there must be some."""

    def join_masses(masses: list[TextMass]) -> TextMass:
        return TextMass(
            np.concatenate([mass.weights for mass in masses]), np.concatenate([mass.squares for mass in masses])
        )

    return SharedPairs(
        join_masses([part.answer for part in parts]),
        join_masses([part.prompt for part in parts]),
        join_masses([part.both for part in parts]),
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.document for part in parts]),
    )


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


def stem_rows(texts: TextStems) -> Any:  # noqa: ANN401 - scipy has no types
    """Texts x stems (CSR), 1 where a text has a stem."""
    first, last = int(texts.ends[0]), int(texts.ends[-1])
    cells = np.ones(last - first, np.int64), texts.stems[first:last].astype(np.int64), texts.ends - first
    return sp.csr_array(cells, shape=(len(texts.ends) - 1, _WIDTH))


def weighed_pool(contents: Any, group: Integers, groups: int) -> WeighedPool:  # noqa: ANN401 - scipy has no types
    """Documents as rows of stems, each of a `group`."""
    sizes = np.diff(contents.indptr)
    of_stem = np.repeat(group, sizes) * _GROUP + contents.indices
    keys, column, frequency = np.unique(of_stem, return_inverse=True, return_counts=True)
    count = np.bincount(group, minlength=groups)
    weight = stem_weights(count[keys // _GROUP], frequency)
    pack = (weight**2 << _SQUARE) + weight
    # `eliminate_zeros` writes to what it is given
    ends = contents.indptr.copy()
    cells = sp.csr_array((pack[column], column.astype(np.int64), ends), shape=(len(group), len(keys)))
    mass = unpacked_mass(np.asarray(cells.sum(axis=1), np.int64).ravel())
    cells.eliminate_zeros()
    return WeighedPool(keys, weight, frequency, stem_weights(count, np.zeros(groups, np.int64)), cells.T.tocsr(), mass)


def stem_weights(count: Integers, frequency: Integers) -> Integers:
    """The weight of a stem that so many of `count` documents have: 0 if it is common."""
    rarity = np.maximum(np.rint(STEP * np.log((count + 1) / (frequency + 0.5))), 1).astype(np.int64)
    return np.where(frequency <= np.clip(count // _COMMON_SHARE, _LEAST_COMMON, MOST_COMMON), rarity, 0)


def unpacked_mass(packed: Integers) -> TextMass:
    """Weights and squares that were summed in one integer."""
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
    prompts: WeighedTexts, answers: WeighedTexts, boths: WeighedTexts, pool: WeighedPool
) -> Iterator[SharedPairs]:
    """All pairs that share a stem, interactions in order, as many at a time as fit."""
    work = (answers.cells + prompts.cells).astype(bool).astype(np.int64) @ pool.frequency
    cut = np.cumsum(work) // _SHARED_AT_ONCE
    starts = np.flatnonzero(np.diff(cut, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(work)], strict=True):
        products = [(text.cells[start:stop] @ pool.packed).tocoo() for text in (answers, prompts, boths)]
        documents = pool.packed.shape[1]
        keys = [product.row.astype(np.int64) * documents + product.col for product in products]
        pairs = np.union1d(keys[0], keys[1])
        masses = []
        for key, product in zip(keys, products, strict=True):
            packed = np.zeros(len(pairs), np.int64)
            packed[np.searchsorted(pairs, key)] = product.data
            masses.append(unpacked_mass(packed))
        answer, prompt, both = masses
        yield SharedPairs(answer, prompt, both, start + pairs // documents, pairs % documents)
