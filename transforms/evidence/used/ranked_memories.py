"""`used/3`: which memories an answer relied on, by how far each stands out from its pool.

An answer is compared with the memories that share a telling stem with it, found through sparse products; one that
shares none costs nothing. A logistic model of shared stems, by weight, gives a probability that is calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays, ProjectDayMemories
from slowwave.transforms.evidence.used.ranking.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.evidence.used.ranking.pair_features import RankedPairs, TextMasses, ranked_pairs
from slowwave.transforms.evidence.used.ranking.shared_stems import (
    SharedPairs,
    StemNumbers,
    shared_pairs,
    weighed_pool,
    weighed_texts,
)

# Log-odds are integers in these steps.
_STEPS = 10_000
# Text compared at once; documents of several pools together.
_BYTES_AT_ONCE = 4 * 2**20
_DOCUMENTS_AT_ONCE = 500_000


class RankedCandidates(NamedTuple):
    """Places of interactions and of passages, and the log-odds, in steps, that the answer relied on the memory."""

    row: Integers
    document: Integers
    odds: Integers


def ranked_candidates(asked: InteractionArrays, pool: PoolArrays, params: UsedParams) -> Iterator[RankedCandidates]:
    """Of each interaction the memories nearest to its answer, and the log-odds that it relied on them."""
    for pairs in memory_features(asked, pool, params):
        yield RankedCandidates(pairs.row, pairs.document, log_odds(pairs.features))


def log_odds(features: dict[str, Floats]) -> Integers:
    """Of each pair, in steps of 1/10,000."""
    odds = np.full(len(features["memory_mass"]), INTERCEPT)
    for name, coefficient in COEFFICIENTS.items():
        odds += coefficient * features[name]
    return np.rint(np.clip(odds, -25, 25) * _STEPS).astype(np.int64)


def memory_features(asked: InteractionArrays, pool: PoolArrays, params: UsedParams) -> Iterator[RankedPairs]:
    """Places of interactions and documents, with the features that the model was fitted to."""
    numbers = StemNumbers()
    contents = numbers.stem_rows(pool.contents)
    for start, stop in asked.parts(_BYTES_AT_ONCE):
        prompts, answers = (numbers.stem_rows(texts) for texts in asked.texts(start, stop))
        for pools in _together(asked, pool, start, stop):
            rows = slice(pools.start - start, pools.stop - start)
            for pairs in _ranked(prompts[rows], answers[rows], contents, pools, asked.at, pool, params):
                place = pools.start + pairs.row
                yield RankedPairs(place, pools.documents[pairs.document], pairs.features)


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


def _ranked(
    prompts: Any,  # noqa: ANN401 - scipy has no types
    answers: Any,  # noqa: ANN401
    contents: Any,  # noqa: ANN401
    pools: _Pools,
    at: Integers,
    pool: PoolArrays,
    params: UsedParams,
) -> Iterator[RankedPairs]:
    of_document = np.repeat(np.arange(len(pools.held)), [len(one.documents) for one in pools.held])
    weighed = weighed_pool(contents[pool.text[pools.documents]], of_document, len(pools.held))
    both = answers.multiply(prompts).tocsr()
    prompt, answer, shared = (weighed_texts(texts, pools.group, weighed) for texts in (prompts, answers, both))
    texts = TextMasses(answer.mass, prompt.mass, shared.mass)
    eligible = _Eligible(pools, at)
    pool_size = eligible.memories[pools.group]
    for pairs in shared_pairs(prompt, answer, shared, weighed):
        yield ranked_pairs(
            pairs, texts, weighed.mass, eligible.memory, eligible.of(pairs), pool_size, params.candidates
        )


class _Eligible:
    """Whose passage each document is (`memory`), how many `memories` a pool has, and which were eligible when."""

    def __init__(self, pools: _Pools, at: Integers) -> None:
        counts = [len(one.firsts) - 1 for one in pools.held]
        self.memories = np.array(counts)
        offsets = np.cumsum([0, *counts[:-1]])
        firsts = [np.repeat(np.arange(len(one.firsts) - 1), np.diff(one.firsts)) for one in pools.held]
        self.memory = np.concatenate([own + offset for own, offset in zip(firsts, offsets, strict=True)])
        span_memory = np.concatenate(
            [one.span_memory + offset for one, offset in zip(pools.held, offsets, strict=True)]
        )
        order = np.argsort(span_memory, kind="stable")
        self._first = np.searchsorted(span_memory[order], np.arange(sum(counts) + 1))
        self._from = np.concatenate([one.span_from for one in pools.held])[order]
        self._until = np.concatenate([one.span_until for one in pools.held])[order]
        self._at = at[pools.start : pools.stop]

    def of(self, pairs: SharedPairs) -> Booleans:
        """Whether the memory of each pair was eligible at the interaction."""
        memory, at = self.memory[pairs.document], self._at[pairs.row]
        found = np.zeros(len(memory), bool)
        span, last = self._first[memory], self._first[memory + 1]
        while (left := np.flatnonzero(span < last)).size:
            place = span[left]
            found[left] |= (self._from[place] <= at[left]) & (at[left] < self._until[place])
            span[left] += 1
        return found
