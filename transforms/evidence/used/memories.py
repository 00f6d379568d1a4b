"""`used/3`: which memories an answer relied on, in other words.

Every eligible memory that shares a telling part of a word with the answer is compared with the prompt, the answer and
both together, and with the other memories of its pool (`ranked_memories`). A logistic model, fitted once and shipped,
gives a probability. A long memory stands for its passage that is nearest to the answer.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays
from slowwave.transforms.evidence.used.ranked_memories import ranked_candidates
from slowwave.transforms.language.word_runs import WORD
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
        whatever its prompt says.
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
    possible = [(none, none, none)]
    for found in ranked_candidates(asked, memories, word_vectors, params):
        score = _score(found.odds)
        at = np.flatnonzero(score >= min(sure_from, LEAST))
        possible.append((found.row[at], found.document[at], score[at]))
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


def _score(odds: Integers) -> Integers:
    """Probability in steps."""
    return np.rint(STEPS / (1 + np.exp(-odds / STEPS))).astype(np.int64)
