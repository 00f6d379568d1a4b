"""`used/3`: which memories an answer relied on, in other words.

Every eligible memory that shares a telling part of a word with the answer is compared with the prompt, the answer and
both together, and with the other memories of its pool (`ranked_memories`). A logistic model, fitted once and shipped,
gives a probability. A long memory stands for its passage that is nearest to the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays, ProjectDayMemories
from slowwave.transforms.evidence.used.ranking.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.evidence.used.ranking.meanings import Meanings, dot_products, text_directions
from slowwave.transforms.evidence.used.ranking.nearest_pairs import ComparedPools, compiled_nearest_pairs, nearest_pairs
from slowwave.transforms.evidence.used.ranking.pair_features import RankedPairs, ranked_pairs
from slowwave.transforms.evidence.used.ranking.shared_stems import MOST_COMMON
from slowwave.transforms.evidence.used.ranking.stem_numbers import CompiledStemNumbers, StemNumbers, TextStems
from slowwave.transforms.language.text_windows import WORD
from slowwave.transforms.language.word_vectors import WordVectors

# Scores, and log-odds, are integers in these steps.
STEPS = 10_000
# A lower score is not counted: all of them together are a tenth of what is expected, and two pairs in three.
LEAST = 100
USED = {
    "interaction_id": pl.String,
    "memory_id": pl.String,
    "used_score": pl.Int64,
    "passage": pl.String,
    "passage_at": pl.Int64,
    "used_method": pl.String,
}


def used_memories(
    interactions: pl.DataFrame, pool: pl.DataFrame, word_vectors: WordVectors, params: UsedParams
) -> pl.DataFrame:
    """The memories that each answer of a day may have relied on, and how likely.

    What is found for one interaction depends on the pool, not on the other interactions.

    Args:
        interactions: interaction_id, occurred_at, project, prompt, response, response_summary.
        pool: memory_id, is_global, project, content, valid_from, valid_until (NULL: for ever) of all memories that
            were eligible at some time of the day: the weight of a word comes from them.
        word_vectors: vectors of words.
        params: threshold and size of the comparison.

    Returns:
        interaction_id, memory_id, used_score (probability in steps of 1/10,000), passage (what of a long memory was
        compared; NULL: all of it), passage_at (code points of the memory before that), used_method, sorted. The last
        three are NULL below the threshold. An answer that shares no part of a word with the memory does not count,
        whatever its prompt says. Memories with equal texts are found alike, and stand in the pool as one.
    """
    day = pl.lit(0).alias("day")
    return used_memories_by_day(interactions.with_columns(day), pool.lazy().with_columns(day), word_vectors, params)


def used_memories_by_day(
    interactions: pl.DataFrame, pool: pl.LazyFrame, word_vectors: WordVectors, params: UsedParams
) -> pl.DataFrame:
    """`used_memories` of several days at once: both frames have a column `day`, and each day is judged by its pool."""
    asked = interactions.select(
        "interaction_id",
        "occurred_at",
        "project",
        "day",
        *[beginning(pl.col(name), params) for name in ("prompt", "response", "response_summary")],
    )
    looked_for = _looked_for(asked, pool, params)
    arrays = _arrays(asked, looked_for)
    del looked_for  # the texts of many days, which are not needed any more
    return _possible_pairs(*arrays, word_vectors, params)


def keep_injected_copies(used: pl.DataFrame, interactions: pl.DataFrame, pool: pl.LazyFrame) -> pl.DataFrame:
    """Return `used` without memories with the very text of one that was injected; where none was, each keeps the use.

    Args:
        used: of `used_memories_by_day`, within reach.
        interactions: interaction_id, occurred_at, day, memories_used.
        pool: memory_id, content_hash, valid_from, valid_until, day.
    """
    known = pool.join(used.lazy().select("memory_id").unique(), on="memory_id", how="semi")
    texts = known.select("memory_id", "content_hash", "valid_from", "valid_until", "day").collect()
    is_copied = pl.col("memory_id").n_unique().over("content_hash", "day") > 1
    copies = texts.filter(is_copied).lazy()
    at, ids = pl.col("occurred_at"), pl.col("memories_used").fill_null([])
    pairs = (
        used.lazy()
        .select("interaction_id", "memory_id")
        .join(interactions.lazy().select("interaction_id", at, "day", ids), on="interaction_id")
        .join(copies, on=["memory_id", "day"])
        .filter(pl.col("valid_from") <= at, (at < pl.col("valid_until")).fill_null(value=True))
        .with_columns(pl.col("memory_id").is_in("memories_used").alias("is_injected"))
        .filter(pl.col("is_injected").any().over("interaction_id", "content_hash"), ~pl.col("is_injected"))
        .select("interaction_id", "memory_id")
    )
    return used.join(pairs.collect(), on=["interaction_id", "memory_id"], how="anti", maintain_order="left")


def beginning(text: pl.Expr, params: UsedParams) -> pl.Expr:
    """What is read of a text; NULL is ''."""
    return text.fill_null("").str.slice(0, params.code_points)


def _looked_for(asked: pl.DataFrame, pool: pl.LazyFrame, params: UsedParams) -> pl.DataFrame:
    """The pool's rows that interactions may use and that have words enough, with the beginning of their content."""
    places = asked.lazy().select("project", "day").unique()
    pool = pool.select("memory_id", "is_global", "project", "content", "valid_from", "valid_until", "day")
    held = pl.concat(
        [
            pool.filter("is_global").join(places, on="day", how="semi"),
            pool.filter(~pl.col("is_global")).join(places, on=["project", "day"], how="semi"),
        ]
    ).collect()
    texts = held.select(_distinct())
    read = texts.with_columns(beginning(pl.col("content"), params).alias("beginning"))
    read = read.filter(pl.col("beginning").str.count_matches(WORD) >= params.min_words)
    if read.height == texts.height and (read["content"] == read["beginning"]).all():
        return held  # as mostly, and held once
    return held.join(read, on="content").with_columns(pl.col("beginning").alias("content")).drop("beginning")


def _distinct() -> pl.Expr:
    """The distinct texts; as they stand, for `unique` would copy them."""
    return pl.col("content").filter(pl.col("content").is_first_distinct())


def _arrays(asked: pl.DataFrame, pool: pl.DataFrame) -> tuple[InteractionArrays, PoolArrays]:
    places = (
        asked.select("project", "day")
        .unique()
        .with_columns(pl.col("project").rank("dense").alias("project_at"), pl.col("day").rank("dense").alias("day_at"))
    )
    days = places.select("day", "day_at").unique()
    projects = places.select("project", "project_at").unique()
    own = pool.filter(~pl.col("is_global")).join(projects, on="project").join(days, on="day")
    shared = pool.filter("is_global").join(days, on="day").with_columns(pl.lit(None, pl.UInt32).alias("project_at"))
    names = ["memory_id", "content", "project_at", "day_at", "valid_from", "valid_until"]
    spans = pl.concat([own.select(names), shared.select(names)])
    return InteractionArrays(asked.join(places, on=["project", "day"])), PoolArrays(spans)


def _possible_pairs(
    asked: InteractionArrays, memories: PoolArrays, word_vectors: WordVectors, params: UsedParams
) -> pl.DataFrame:
    """The candidates that the answer may rely on, sorted; those that are sure enough have a method."""
    none, sure_from = np.zeros(0, np.int64), round(params.threshold * STEPS)
    possible: list[tuple[Integers, Integers, Integers]] = [(none, none, none)]
    possible += ranked_candidates(asked, memories, word_vectors, params, min(sure_from, LEAST))
    # one frame of all, for one of each project's day takes longer than what is in it
    row, document, score = map(np.concatenate, zip(*possible, strict=True))
    order = np.lexsort((memories.ranks(document), asked.id_ranks[row]))  # of numbers, a tenth of what texts take
    row, document, score = row[order], document[order], score[order]
    is_sure = pl.lit(pl.Series(score >= sure_from))
    return memories.document_passages(document).select(
        asked.ids.gather(row).alias("interaction_id"),
        "memory_id",
        pl.Series("used_score", score, pl.Int64),
        *[pl.when(is_sure).then(name).alias(name) for name in ("passage", "passage_at")],
        pl.when(is_sure).then(pl.lit(params.method)).alias("used_method"),
    )


# Log-odds are integers in these steps.
_STEPS = 10_000
# Text compared at once; documents of several pools together.
_BYTES_AT_ONCE = 4 * 2**20
_DOCUMENTS_AT_ONCE = 500_000
# Less text than this is compared the plain way before the compiled loops would be loaded.
COMPILED_BYTES = 512 * 2**10


class RankedCandidates(NamedTuple):
    """Places of interactions and of passages, and how likely the answer relied on the memory, in steps of 1/10,000."""

    row: Integers
    document: Integers
    score: Integers


def ranked_candidates(
    asked: InteractionArrays, pool: PoolArrays, word_vectors: WordVectors, params: UsedParams, least: int
) -> Iterator[RankedCandidates]:
    """Of each interaction the memories nearest to its answer, as far as they score `least` or more."""
    for found in _ranked_texts(asked, pool, word_vectors, params):
        score = _score(log_odds(found.pairs.features))
        likely = np.flatnonzero(score >= least)
        pair, row, document = found.memories_with(likely, pool)
        yield RankedCandidates(row, document, score[pair])


def log_odds(features: dict[str, Floats]) -> Integers:
    """Of each pair, in steps of 1/10,000."""
    odds = np.full(len(features["memory_mass"]), INTERCEPT)
    for name, coefficient in COEFFICIENTS.items():
        odds += coefficient * features[name]
    return np.rint(np.clip(odds, -25, 25) * _STEPS).astype(np.int64)


def _score(odds: Integers) -> Integers:
    """Probability in steps."""
    return np.rint(_STEPS / (1 + np.exp(-odds / _STEPS))).astype(np.int64)


def memory_features(
    asked: InteractionArrays, pool: PoolArrays, word_vectors: WordVectors, params: UsedParams
) -> Iterator[RankedPairs]:
    """Places of interactions and documents, with the features that the model was fitted to."""
    for found in _ranked_texts(asked, pool, word_vectors, params):
        pair, row, document = found.memories_with(np.arange(len(found.pairs.row)), pool)
        yield RankedPairs(row, document, {name: values[pair] for name, values in found.pairs.features.items()})


def _ranked_texts(
    asked: InteractionArrays, pool: PoolArrays, word_vectors: WordVectors, params: UsedParams
) -> Iterator[_RankedTexts]:
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
            yield _RankedTexts(pairs, pools, some)


class _Pools(NamedTuple):
    """Consecutive interactions from `start` to `stop`, and the documents of their pools, end to end."""

    start: int
    stop: int
    group: Integers  # of each interaction
    held: list[ProjectDayMemories]
    documents: Integers


class _RankedTexts(NamedTuple):
    """Pairs of interactions and distinct texts of some pools."""

    pairs: RankedPairs
    compared: ComparedPools
    pools: _Pools

    def memories_with(self, pair: Integers, pool: PoolArrays) -> tuple[Integers, Integers, Integers]:
        """Of some pairs every memory that had the text then: pair, place of the interaction, and document.

        A text of more than 1,000 memories tells nothing of one of them.
        """
        row, document = self.pairs.row, self.pools.documents[self.pairs.document]
        if self.compared.first_span[-1] == len(self.compared.first_span) - 1:  # one span each
            return pair, self.pools.start + row[pair], document[pair]
        memory = self.compared.memory[self.pairs.document[pair]]
        first, counts = self.compared.first_span[memory], np.diff(self.compared.first_span)[memory]
        counts = np.where(counts > MOST_COMMON, 0, counts)
        pair = np.repeat(pair, counts)
        span = np.arange(len(pair)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        at, most = self.compared.at[row[pair]], int(self.compared.span_rank.max()) + 1
        is_eligible = (self.compared.valid_from[span] <= at) & (at < self.compared.valid_until[span])
        each = np.unique((pair * most + self.compared.span_rank[span])[is_eligible])
        pair, rank = np.divmod(each, most)
        return pair, self.pools.start + row[pair], pool.documents_like(document[pair], rank)


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
        span_rank=np.concatenate([one.span_rank for one in pools.held])[order],
        valid_from=np.concatenate([one.span_from for one in pools.held])[order],
        valid_until=np.concatenate([one.span_until for one in pools.held])[order],
    )
