"""`used/2`, and `used/1`, written plainly: what the compiled loops must equal to the last bit; reads small logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.evidence.used.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.evidence.used.features import CandidateFeatures, Texts, candidate_features
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.passages import compared_texts
from slowwave.transforms.evidence.used.pool import ComparedMemories, compared_memories, uncapitalised_words
from slowwave.transforms.evidence.used.word_matches import WordForms, word_forms, word_likeness
from slowwave.transforms.language.terms import word_counts
from slowwave.transforms.language.word_vectors import WordVectors

# Log-odds are integers in these steps.
_STEPS = 10_000
# Log-odds of a memory that was not among the candidates.
NOT_COMPARED = -30 * _STEPS
# Text whose words are counted at once, and cells (interactions x words or memories) compared at once.
_BYTES_AT_ONCE = 8 * 2**20
_CELLS = 2_000_000
_SCHEMA = {
    "interaction_id": pl.String,
    "memory_id": pl.String,
    "odds": pl.Int64,
    "passage": pl.String,
    "passage_at": pl.Int64,
    "is_long": pl.Boolean,
}


def touched_memories(
    asked: pl.DataFrame, pool: pl.DataFrame, word_vectors: WordVectors, params: UsedParams
) -> pl.DataFrame:
    """Of each interaction of a day the nearest memories that its answer touches.

    Args:
        asked: interaction_id, occurred_at, project, prompt, answer.
        pool: memory_id, is_global, project, content, valid_from, valid_until.
        word_vectors: vectors of words.
        params: size of the comparison.

    Returns:
        interaction_id, memory_id, odds (log-odds that the answer relied on it, in steps of 1/10,000), passage and
        passage_at (of a long memory), is_long (whether a memory of those it may have used is).
    """
    found = [pl.DataFrame(schema=_SCHEMA)]
    asked = asked.filter(pl.col("answer").str.contains(r"[\p{L}\p{N}]"))
    # the texts of one project stand together, so that its memories are prepared once
    asked = asked.sort("project", "interaction_id")
    size = pl.col("prompt").str.len_bytes() + pl.col("answer").str.len_bytes()
    slices = asked.with_columns((size.cast(pl.Int64).cum_sum() // _BYTES_AT_ONCE).alias("slice"))
    for part in slices.partition_by("slice", maintain_order=True, include_key=False):
        found += _of_projects(part, pool, word_vectors, params)
    return pl.concat(found)


def used_log_odds(
    prompts: pl.Series, answers: pl.Series, contents: pl.Series, word_vectors: WordVectors, params: UsedParams
) -> Integers:
    """Log-odds that each answer relied on each memory, in steps of 1/10,000: answers x memories.

    Args:
        prompts: what was asked.
        answers: what was answered, in the same order.
        contents: every memory that could have been used.
        word_vectors: vectors of words.
        params: size of the comparison; memories left out of it have -300,000.
    """
    read = compared_texts(contents, in_passages=params.in_passages)
    counted = _count_words(prompts.fill_null(""), answers.fill_null(""), read["read"], word_vectors)
    out = np.full((len(answers), len(contents)), NOT_COMPARED)
    owner = read["text"].to_numpy()
    places = np.arange(len(answers))
    for rows, candidates, odds in _compare_blocks(counted, places, np.arange(len(read)), _firsts(owner), params):
        is_real = candidates.memory >= 0
        row = np.broadcast_to(rows[:, None], odds.shape)
        out[row[is_real], owner[candidates.memory[is_real]]] = odds[is_real]
    return out


def memory_candidates(
    prompts: pl.Series, answers: pl.Series, contents: pl.Series, word_vectors: WordVectors, params: UsedParams
) -> CandidateFeatures:
    """The memories (places in `contents`) compared with each answer, and the features the model was fitted to."""
    read = compared_texts(contents, in_passages=params.in_passages)
    counted = _count_words(prompts.fill_null(""), answers.fill_null(""), read["read"], word_vectors)
    memories = compared_memories(counted.memories, counted.uncapitalised, counted.forms)
    likeness = _likeness(counted, np.arange(len(answers)), memories)
    texts, owner = Texts(counted.prompts, counted.answers), read["text"].to_numpy()
    found = candidate_features(texts, memories, None, likeness, params.candidates, _firsts(owner))
    return CandidateFeatures(np.where(found.memory < 0, -1, owner[found.memory]), found.features)


def _firsts(owner: Integers) -> Integers:
    """Where each owner's run begins."""
    return np.flatnonzero(np.diff(owner, prepend=-1))


@dataclass(frozen=True)
class _Counted:
    """Texts and memories as counts of the same words."""

    prompts: Any
    answers: Any
    memories: Any
    uncapitalised: Any
    forms: WordForms


def _count_words(prompts: pl.Series, answers: pl.Series, contents: pl.Series, word_vectors: WordVectors) -> _Counted:
    given = (prompts, answers, contents, uncapitalised_words(contents))
    texts = [texts.cast(pl.String).rename("text") for texts in given]
    counts = word_counts(pl.concat(texts))
    ends = np.cumsum([len(part) for part in texts])
    prompt, answer, memory, plain = (counts.matrix[start:end] for start, end in pairwise([0, *ends]))
    return _Counted(prompt, answer, memory, plain, word_forms(counts.words, word_vectors))


def _of_projects(
    interactions: pl.DataFrame, pool: pl.DataFrame, word_vectors: WordVectors, params: UsedParams
) -> Iterator[pl.DataFrame]:
    contents = pool["content"].unique().sort()
    read = compared_texts(contents, in_passages=params.in_passages).with_row_index("place")
    counted = _count_words(interactions["prompt"], interactions["answer"], read["read"], word_vectors)
    numbered_contents = pl.DataFrame({"content": contents}).with_row_index("text")
    known = pool.join(numbered_contents.with_columns(pl.col("text").cast(pl.Int64)), on="content")
    numbered = interactions.with_row_index("row")
    for (project,), asked in numbered.group_by("project", maintain_order=True):
        seen = known.filter(pl.col("is_global") | (pl.col("project") == project))
        if seen.height:
            yield from _of_project(asked, seen, read, counted, params)


def _of_project(
    asked: pl.DataFrame, seen: pl.DataFrame, read: pl.DataFrame, counted: _Counted, params: UsedParams
) -> Iterator[pl.DataFrame]:
    memories = seen.select("memory_id", "text").unique().sort("memory_id", "text").with_row_index("memory")
    spans = seen.join(memories, on=["memory_id", "text"]).select("memory", "valid_from", "valid_until")
    documents = memories.join(read, on="text", maintain_order="left_right")
    is_long = pl.lit(documents.height > memories.height).alias("is_long")
    at = asked["occurred_at"]
    eligible = None if _is_whole(spans, at) else _Eligible(spans, at, memories.height)
    places, firsts = asked["row"].to_numpy(), _firsts(documents["memory"].cast(pl.Int64).to_numpy())
    for rows, candidates, odds in _compare_blocks(
        counted, places, documents["place"].to_numpy(), firsts, params, eligible
    ):
        row, nth = np.nonzero((candidates.memory >= 0) & (candidates.features["answer_nearly"] > 0))
        of_pair = documents[candidates.memory[row, nth]].with_columns(
            asked["interaction_id"].gather(np.searchsorted(places, rows[row])),
            pl.Series("odds", odds[row, nth]),
            is_long,
        )
        yield of_pair.select(*_SCHEMA)


def _is_whole(spans: pl.DataFrame, at: pl.Series) -> bool:
    """Whether every memory was eligible all the time."""
    first, last = at.min(), at.max()
    return spans.select(
        ((pl.col("valid_from") <= first) & (pl.col("valid_until").is_null() | (pl.col("valid_until") > last))).all()
    ).item()


class _Eligible:
    """Which memories were eligible at each interaction."""

    def __init__(self, spans: pl.DataFrame, at: pl.Series, memories: int) -> None:
        self._memory = spans["memory"].to_numpy()
        self._from = spans["valid_from"].dt.timestamp("us").to_numpy()
        forever = np.iinfo(np.int64).max
        self._until = spans["valid_until"].dt.timestamp("us").fill_null(forever).to_numpy()
        self._at = at.dt.timestamp("us").to_numpy()
        self._memories = memories

    def of(self, rows: slice) -> Booleans:
        """Interactions x memories."""
        at = self._at[rows, None]
        out = np.zeros((len(at), self._memories), bool)
        row, span = np.nonzero((self._from <= at) & (at < self._until))
        out[row, self._memory[span]] = True
        return out


def _compare_blocks(
    counted: _Counted,
    places: Integers,
    texts: Integers,
    firsts: Integers,
    params: UsedParams,
    eligible: _Eligible | None = None,
) -> Iterator[tuple[Integers, CandidateFeatures, Integers]]:
    """Blocks of interactions (places among those counted), their candidates, and the log-odds of each."""
    memories = compared_memories(counted.memories[texts], counted.uncapitalised[texts], counted.forms)
    likeness = _likeness(counted, places, memories)
    step = max(16, _CELLS // (len(memories.known) + len(texts)))
    for start in range(0, len(places), step):
        rows = places[start : start + step]
        asked = Texts(counted.prompts[rows], counted.answers[rows])
        allowed = eligible.of(slice(start, start + step)) if eligible else None
        candidates = candidate_features(asked, memories, allowed, likeness, params.candidates, firsts)
        yield rows, candidates, _log_odds(candidates)


def _likeness(counted: _Counted, places: Integers, memories: ComparedMemories) -> Any:  # noqa: ANN401 - scipy has no types
    """Likeness of the words that occur in these texts with those of the memories: all words x known words."""
    texts = (counted.prompts[places], counted.answers[places])
    occurring = np.unique(np.concatenate([text.indices for text in texts]))
    found = word_likeness(counted.forms, occurring, memories.known).tocoo()
    shape = (len(counted.forms.words), len(memories.known))
    return sp.csr_array((found.data, (occurring[found.row], found.col)), shape=shape)


def _log_odds(candidates: CandidateFeatures) -> Integers:
    """Of each candidate, in steps of 1/10,000."""
    odds = np.full(candidates.memory.shape, INTERCEPT)
    for name, coefficient in COEFFICIENTS.items():
        odds += coefficient * candidates.features[name]
    return np.rint(np.clip(odds, -25, 25) * _STEPS).astype(np.int64)
