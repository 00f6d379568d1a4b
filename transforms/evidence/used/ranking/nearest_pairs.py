"""The memories nearest to each answer, by the stems that they share, and how they stand in their pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.evidence.used.ranking.shared_stems import (
    MOST_COMMON,
    TEXTS,
    SharedPairs,
    TextMass,
    TextMasses,
    join_pairs,
    shared_pairs,
    stem_rows,
    stem_weights,
    unpacked_mass,
    weighed_pool,
    weighed_texts,
)
from slowwave.transforms.evidence.used.ranking.stem_numbers import TextStems

# Cosines are integers in these steps: sums and spreads over a pool are sums of integers.
STEPS = 10_000
# The best of many passages is near by chance: what it shares counts less, by the logarithm of their number.
_DISCOUNT = 0.5


@dataclass(frozen=True)
class ComparedPools:
    """Rows (interactions) and documents of several pools, both in order of their pool.

    `pool` is of each row, `document_pool` of each document; `text`, by document, is its place in `contents`;
    `memory`, by document, is whose passage it is; `at` is when, by row; `size`, by pool, how many memories it has;
    `stems` is how many stems there are.
    Memory m was eligible in the spans from `first_span[m]` to `first_span[m + 1]`.
    """

    pool: Integers
    at: Integers
    prompts: TextStems
    answers: TextStems
    document_pool: Integers
    text: Integers
    memory: Integers
    contents: TextStems
    stems: int
    size: Integers
    first_span: Integers
    valid_from: Integers
    valid_until: Integers

    def are_eligible(self, row: Integers, memory: Integers) -> Booleans:
        """Whether the memory of each pair was eligible at the interaction."""
        found, at = np.zeros(len(memory), bool), self.at[row]
        span, last = self.first_span[memory], self.first_span[memory + 1]
        while (left := np.flatnonzero(span < last)).size:
            place = span[left]
            found[left] |= (self.valid_from[place] <= at[left]) & (at[left] < self.valid_until[place])
            span[left] += 1
        return found


class PoolCosines(NamedTuple):
    """By row, of the cosines of its eligible memories: sum, sum of squares, the best and the second."""

    total: Integers
    squares: Integers
    best: Integers
    second: Integers


@dataclass(frozen=True)
class NearestPairs:
    """The memories nearest to each answer, each by its nearest passage, sorted by row, then document.

    `texts` is what each row weighs, `documents` what each document does; `pool` is by name of a text.
    """

    shared: SharedPairs
    texts: TextMasses
    documents: TextMass
    pool: dict[str, PoolCosines]


def nearest_pairs(pools: ComparedPools, limit: int) -> NearestPairs:
    """The `limit` memories nearest to each answer that share a stem with it."""
    of_contents, of_prompts, of_answers = map(stem_rows, (pools.contents, pools.prompts, pools.answers))
    weighed = weighed_pool(of_contents[pools.text], pools.document_pool, len(pools.size))
    of_both = of_answers.multiply(of_prompts).tocsr()
    answer, prompt, both = (weighed_texts(texts, pools.pool, weighed) for texts in (of_answers, of_prompts, of_both))
    texts = TextMasses(answer.mass, prompt.mass, both.mass)
    standing = np.zeros((len(TEXTS), len(PoolCosines._fields), len(pools.pool)), np.int64)
    found = []
    for pairs in shared_pairs(prompt, answer, both, weighed):
        values = pair_cosines(pairs, texts, weighed.mass, pools.memory)
        nearness = values["answer"] + values["all"]
        memory = pools.memory[pairs.document]
        kept = np.flatnonzero(pools.are_eligible(pairs.row, memory))
        kept = kept[_nearest_passages(pairs.row[kept], memory[kept], nearness[kept])]
        for name, into in zip(TEXTS, standing, strict=True):
            _add_cosines(into, pairs.row[kept], values[name][kept])
        touched = kept[pairs.answer.weights[kept] > 0]
        found.append(pairs.at(touched[_first_of_each(pairs.row[touched], nearness[touched], limit)]))
    by_name = {name: PoolCosines(*of) for name, of in zip(TEXTS, standing, strict=True)}
    return NearestPairs(join_pairs(found), texts, weighed.mass, by_name)


def compiled_nearest_pairs(kernels: Any, pools: ComparedPools, limit: int) -> NearestPairs:  # noqa: ANN401 - a module
    """The same, by a compiled loop."""
    count = np.bincount(pools.document_pool, minlength=len(pools.size))
    sizes, weights_of = np.unique(count, return_inverse=True)
    weights = stem_weights(sizes[:, None], np.arange(min(int(sizes[-1]), MOST_COMMON) + 1))
    unknown = stem_weights(count, np.zeros(len(count), np.int64))
    places = np.arange(len(pools.size) + 1)
    chosen, rows, documents, standing = kernels.nearest_pairs(
        np.searchsorted(pools.pool, places), np.searchsorted(pools.document_pool, places), pools.text,
        *pools.contents, *pools.prompts, *pools.answers, pools.stems, weights, weights_of, unknown,
        pools.memory, _scale(pools.memory), pools.first_span, pools.valid_from, pools.valid_until, pools.at, limit,
    )  # fmt: skip
    row, document, *packed = np.ascontiguousarray(chosen.T)
    answer, prompt, both = map(unpacked_mass, packed)
    texts = TextMasses(TextMass(*rows.T[:2]), TextMass(*rows.T[2:4]), TextMass(*rows.T[4:]))
    by_name = {name: PoolCosines(*standing[:, at].T) for at, name in enumerate(TEXTS)}
    pairs = SharedPairs(answer, prompt, both, row, document)
    return NearestPairs(pairs, texts, TextMass(*documents.T), by_name)


def passages_of(memory: Integers) -> Integers:
    """By document, how many passages its memory has."""
    return np.bincount(memory)[memory]


def _scale(memory: Integers) -> Floats:
    return STEPS * (1 / (1 + _DISCOUNT * np.log(passages_of(memory))))


def pair_cosines(shared: SharedPairs, texts: TextMasses, documents: TextMass, memory: Integers) -> dict[str, Integers]:
    """By name of a text, the cosine of each pair in steps."""
    common, whole = shared.parts(), texts.parts()
    scale, root = _scale(memory)[shared.document], np.sqrt(np.maximum(documents.squares[shared.document] * 1.0, 1))
    return {
        name: np.rint(
            scale * (common[name].squares / np.sqrt(np.maximum(whole[name].squares[shared.row] * 1.0, 1))) / root
        ).astype(np.int64)
        for name in TEXTS
    }


def _nearest_passages(row: Integers, memory: Integers, nearness: Integers) -> Integers:
    """Places of those pairs that are the nearest of their row and memory; of equal ones the first."""
    order = np.lexsort((-nearness, memory, row))
    is_first = (np.diff(memory[order], prepend=-1) != 0) | (np.diff(row[order], prepend=-1) != 0)
    return order[is_first]


def pool_cosines(row: Integers, cosine: Integers, rows: int) -> PoolCosines:
    """Return what the pairs of each row say of it; `row` is sorted."""
    standing = np.zeros((len(PoolCosines._fields), rows), np.int64)
    _add_cosines(standing, row, cosine)
    return PoolCosines(*standing)


def _add_cosines(standing: Integers, row: Integers, cosine: Integers) -> None:
    """Add sum, squares, best and second of some rows; `row` is sorted, and all pairs of a row are there."""
    # whole numbers below 2**53: exact in any order
    standing[0] += np.bincount(row, cosine, standing.shape[1]).astype(np.int64)
    standing[1] += np.bincount(row, cosine**2, standing.shape[1]).astype(np.int64)
    order = np.lexsort((-cosine, row))
    for nth in (0, 1):
        first = np.flatnonzero(np.diff(row[order], prepend=-1))
        standing[2 + nth, row[order][first]] = cosine[order][first]
        order = np.delete(order, first)


def _first_of_each(row: Integers, nearness: Integers, limit: int) -> Integers:
    """Places of the `limit` nearest of each row, in order; ties go by place."""
    order = np.lexsort((-nearness, row))
    first = np.flatnonzero(np.diff(row[order], prepend=-1))
    nth = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return np.sort(order[nth < limit])
