"""`used/2` and `used/3`: which memories an answer relied on, in other words.

Every memory that was eligible when the answer was given is compared with the prompt, the answer and both together: the
words they share by weight, words of the same stem or meaning, the direction of their summed word vectors, and how a
memory stands among the others. A logistic model of these, fitted once and shipped, gives a probability. A long memory
stands for its passage that is nearest to the answer; `used/1` compares it whole, and is the same where none is long.
`used/3` looks only at memories that share a telling part of a word with the answer (`ranked_memories`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.at_hand import TouchedCandidates
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays, answer, text_bytes
from slowwave.transforms.evidence.used.ranked_memories import ranked_candidates
from slowwave.transforms.evidence.used.reference import touched_memories
from slowwave.transforms.language.word_runs import WORD
from slowwave.transforms.language.word_vectors import TokenVectors, WordVectors

# Scores, and log-odds, are integers in these steps.
STEPS = 10_000
# Less text than this is compared the plain way before the compiled loops would be loaded.
_COMPILED_BYTES = 512 * 2**10
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
    """The memories that each answer of a day relied on, where the model is sure enough.

    What is found for one interaction depends on the pool, not on the other interactions.

    Args:
        interactions: interaction_id, occurred_at, project, prompt, response, response_summary.
        pool: memory_id, is_global, project, content, valid_from, valid_until (NULL: for ever) of all memories that
            were eligible at some time of the day: the weight of a word comes from them.
        word_vectors: vectors of words.
        params: threshold and size of the comparison.

    Returns:
        interaction_id, memory_id, used_score (probability in steps of 1/10,000), passage (what of a long memory was
        compared; NULL: all of it), passage_at (code points of the memory before that), used_method (`used/1` where no
        memory of the pool is long: both methods are the same), sorted; an answer without a word like one of the
        memory's does not count, whatever its prompt says.
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
    found = pl.concat([pl.DataFrame(schema=USED), *_score_memories(asked, pool, word_vectors, params)])
    return found.sort("interaction_id", "memory_id")


def _score_memories(
    asked: pl.DataFrame, pool: pl.LazyFrame, word_vectors: WordVectors, params: UsedParams
) -> Iterator[pl.DataFrame]:
    looked_for = _looked_for(asked, pool, params)
    if params.method == "used/3":
        arrays = _arrays(asked, looked_for, params)
        del looked_for  # the texts of many days, which are not needed any more
        yield _sure_pairs(*arrays, ranked_candidates(*arrays, params), params, lambda _: pl.lit("used/3"))
        return
    size = asked.select(text_bytes().sum()).item()
    size += looked_for.select(_distinct().str.len_bytes().sum()).item()
    token_vectors = None
    if size >= _COMPILED_BYTES:
        from slowwave.transforms.evidence.used.compiled import compilable

        token_vectors = compilable(word_vectors)
    if token_vectors is None:
        yield from _plainly(asked.with_columns(answer()), looked_for, word_vectors, params)
        return
    arrays = _arrays(asked, looked_for, params)
    del looked_for  # the texts of many days, which are not needed any more
    yield from _score_compiled(*arrays, token_vectors, params)


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


def _plainly(
    asked: pl.DataFrame, pool: pl.DataFrame, word_vectors: WordVectors, params: UsedParams
) -> Iterator[pl.DataFrame]:
    for (day,), of_day in asked.group_by("day", maintain_order=True):
        touched = touched_memories(of_day, pool.filter(pl.col("day") == day), word_vectors, params)
        score = pl.Series("used_score", _score(touched["odds"].to_numpy()))
        yield (
            touched.with_columns(score, used_method=_method(pl.col("is_long")))
            .select(*USED)
            .filter(pl.col("used_score") >= round(params.threshold * STEPS))
        )


def _method(is_long: pl.Expr) -> pl.Expr:
    return pl.when(is_long).then(pl.lit("used/2")).otherwise(pl.lit("used/1"))


def _arrays(asked: pl.DataFrame, pool: pl.DataFrame, params: UsedParams) -> tuple[InteractionArrays, PoolArrays]:
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
    return InteractionArrays(asked.join(places, on=["project", "day"])), PoolArrays(
        spans, in_passages=params.in_passages
    )


def _score_compiled(
    asked: InteractionArrays, memories: PoolArrays, token_vectors: TokenVectors, params: UsedParams
) -> Iterator[pl.DataFrame]:
    from slowwave.transforms.evidence.used.compiled import touched_candidates

    yield _sure_pairs(asked, memories, touched_candidates(asked, memories, token_vectors, params), params, _method)


def _sure_pairs(
    asked: InteractionArrays,
    memories: PoolArrays,
    candidates: Iterator[TouchedCandidates],
    params: UsedParams,
    method: Callable[[pl.Expr], pl.Expr],
) -> pl.DataFrame:
    """The candidates that are sure enough; `method` names it, given whether a memory of the pool is long."""
    none = np.zeros(0, np.int64)
    sure = [(none, none, none, none.astype(bool))]
    for found in candidates:
        score = _score(found.odds)
        at = np.flatnonzero(score >= round(params.threshold * STEPS))
        sure.append((found.row[at], found.document[at], score[at], np.full(len(at), found.is_long)))
    # one frame of all, for one of each project's day takes longer than what is in it
    row, document, score, is_long = map(np.concatenate, zip(*sure, strict=True))
    return memories.document_passages(document).select(
        asked.ids.gather(row).alias("interaction_id"),
        "memory_id",
        pl.Series("used_score", score, pl.Int64),
        "passage",
        "passage_at",
        method(pl.lit(pl.Series(is_long))).alias("used_method"),
    )


def forget_words() -> None:
    """Free what is kept from one call to the next: it takes hundreds of megabytes, and changes nothing."""
    from slowwave.transforms.evidence.used.compiled import forget_comparisons

    forget_comparisons()


def _score(odds: Integers) -> Integers:
    """Probability in steps."""
    return np.rint(STEPS / (1 + np.exp(-odds / STEPS))).astype(np.int64)
