"""`used/3`: which memories an answer relied on, by how far each stands out from its pool.

An answer is compared with the memories that share a telling stem with it; one that shares none costs
nothing. A logistic model of shared stems, by weight, and of likeness of meaning gives a probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays, ProjectDayMemories
from slowwave.transforms.evidence.used.ranking.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.evidence.used.ranking.meanings import Meanings, dot_products, text_directions
from slowwave.transforms.evidence.used.ranking.nearest_pairs import (
    ComparedPools,
    compiled_nearest_pairs,
    nearest_pairs,
)
from slowwave.transforms.evidence.used.ranking.pair_features import RankedPairs, ranked_pairs
from slowwave.transforms.evidence.used.ranking.stem_numbers import CompiledStemNumbers, StemNumbers, TextStems
from slowwave.transforms.language.word_vectors import WordVectors

# Log-odds are integers in these steps.
_STEPS = 10_000
# Text compared at once; documents of several pools together.
_BYTES_AT_ONCE = 4 * 2**20
_DOCUMENTS_AT_ONCE = 500_000
# Less text than this is compared the plain way before the compiled loops would be loaded.
COMPILED_BYTES = 512 * 2**10


class RankedCandidates(NamedTuple):
    """Places of interactions and of passages, and the log-odds, in steps, that the answer relied on the memory."""

    row: Integers
    document: Integers
    odds: Integers


def ranked_candidates(
    asked: InteractionArrays, pool: PoolArrays, word_vectors: WordVectors, params: UsedParams
) -> Iterator[RankedCandidates]:
    """Of each interaction the memories nearest to its answer, and the log-odds that it relied on them."""
    for pairs in memory_features(asked, pool, word_vectors, params):
        yield RankedCandidates(pairs.row, pairs.document, log_odds(pairs.features))


def log_odds(features: dict[str, Floats]) -> Integers:
    """Of each pair, in steps of 1/10,000."""
    odds = np.full(len(features["memory_mass"]), INTERCEPT)
    for name, coefficient in COEFFICIENTS.items():
        odds += coefficient * features[name]
    return np.rint(np.clip(odds, -25, 25) * _STEPS).astype(np.int64)


def memory_features(
    asked: InteractionArrays, pool: PoolArrays, word_vectors: WordVectors, params: UsedParams
) -> Iterator[RankedPairs]:
    """Places of interactions and documents, with the features that the model was fitted to."""
    size = asked.text_bytes + int(pool.contents.str.len_bytes().sum())
    kernels = kernel("evidence.used.ranking.nearest_kernel") if size >= COMPILED_BYTES else None
    numbers = CompiledStemNumbers(word_vectors) if kernels else StemNumbers(word_vectors)
    nearest = partial(compiled_nearest_pairs, kernels) if kernels else nearest_pairs
    multiply = kernels.dot_products if kernels else dot_products
    contents = numbers.number_texts(pool.contents)
    directions = text_directions(contents.meaning)
    for start, stop in asked.parts(_BYTES_AT_ONCE):
        prompts, answers = (numbers.number_texts(texts) for texts in asked.texts(start, stop))
        answered, together = text_directions(answers.meaning), text_directions(answers.meaning + prompts.meaning)
        for some in _together(asked, pool, start, stop):
            first, last = some.start - start, some.stop - start
            asked_of, told = (TextStems(of.stems.stems, of.stems.ends[first : last + 1]) for of in (prompts, answers))
            pools = _compared_pools(some, asked_of, told, contents.stems, pool.text, asked.at, len(numbers))
            meanings = Meanings(answered[first:last], together[first:last], directions, pools.text)
            found, sizes = nearest(pools, params.candidates), pools.size[pools.pool]
            pairs = ranked_pairs(found, meanings, multiply, pools.memory, sizes)
            yield RankedPairs(some.start + pairs.row, some.documents[pairs.document], pairs.features)


class _Pools(NamedTuple):
    """Consecutive interactions from `start` to `stop`, and the documents of their pools, end to end."""

    start: int
    stop: int
    group: Integers  # of each interaction
    held: list[ProjectDayMemories]
    documents: Integers


def _together(asked: InteractionArrays, pool: PoolArrays, start: int, stop: int) -> Iterator[_Pools]:
    """Interactions of several pools: of one after the other each step would take longer than what is in it."""
    lengths: list[int] = []
    held: list[ProjectDayMemories] = []
    begin = start
    groups = asked.groups(start, stop)
    for group in groups:
        held.append(pool.of(group.project, group.day))
        lengths.append(group.stop - group.start)
        if group.stop == stop or sum(len(one.documents) for one in held) >= _DOCUMENTS_AT_ONCE:
            documents = np.concatenate([one.documents for one in held])
            if len(documents):
                yield _Pools(begin, group.stop, np.repeat(np.arange(len(held)), lengths), held, documents)
            begin, lengths, held = group.stop, [], []


def _compared_pools(
    pools: _Pools,
    prompts: TextStems,
    answers: TextStems,
    contents: TextStems,
    text: Integers,
    at: Integers,
    stems: int,
) -> ComparedPools:
    counts = np.array([len(one.firsts) - 1 for one in pools.held])
    offsets = np.append(0, np.cumsum(counts))
    firsts = [np.repeat(np.arange(len(one.firsts) - 1), np.diff(one.firsts)) for one in pools.held]
    span_memory = np.concatenate([one.span_memory + offset for one, offset in zip(pools.held, offsets, strict=False)])
    order = np.argsort(span_memory, kind="stable")
    return ComparedPools(
        pool=pools.group,
        at=at[pools.start : pools.stop],
        prompts=prompts,
        answers=answers,
        document_pool=np.repeat(np.arange(len(pools.held)), [len(one.documents) for one in pools.held]),
        text=text[pools.documents],
        memory=np.concatenate([own + offset for own, offset in zip(firsts, offsets, strict=False)]),
        contents=contents,
        stems=stems,
        size=counts,
        first_span=np.searchsorted(span_memory[order], np.arange(offsets[-1] + 1)),
        valid_from=np.concatenate([one.span_from for one in pools.held])[order],
        valid_until=np.concatenate([one.span_until for one in pools.held])[order],
    )
