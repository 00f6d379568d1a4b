"""`used/1` for many interactions at once: the same results as its reference, from compiled loops over arrays.

Interactions are taken project by project and day by day. What was made for the interactions before is kept while it
holds: the forms of words for good, the likeness of words for a project, the weights of memories for a day's memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.compiled import kernel
from slowwave.transforms.text_terms import GRAMS
from slowwave.transforms.used_coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.used_params import UsedParams
from slowwave.transforms.used_pool import uncapitalised
from slowwave.transforms.used_pool_arrays import Asked, PoolArrays
from slowwave.transforms.used_vocabulary import DIMENSIONS, Vocabulary, roomy
from slowwave.transforms.used_words import ONE, Integers
from slowwave.transforms.word_vectors import TokenVectors, WordVectors

KERNELS = tuple(
    f"{name}_kernel" for name in ("byte_pairs", "used_forms", "used_words", "used_pool", "used_likeness", "used_odds")
)
# Text whose words are counted at once; words kept from one such part to the next (1 kB each).
_BYTES_AT_ONCE = 4 * 2**20
_WORDS_KEPT = 200_000
_MOST_WORDS = 48
_ROOM = 1024
# Products of tokens with the words of a project's memories that are kept (2 bytes each).
_PRODUCTS = 64 * 2**20
_SIDES = 5
_NOT_TOUCHED = -(2**62)


@dataclass(frozen=True)
class Found:
    """Candidates that an answer touches: place of the interaction, of the memory, and the log-odds in steps."""

    row: Integers
    memory: Integers
    odds: Integers


def compilable(word_vectors: WordVectors) -> TokenVectors | None:
    """The same, if the loops can be had and are made for such vectors."""
    if not isinstance(word_vectors, TokenVectors) or not all(kernel(name) for name in KERNELS):
        return None
    return word_vectors if word_vectors.table.shape[1] == DIMENSIONS else None


def touched_candidates(
    asked: Asked, pool: PoolArrays, token_vectors: TokenVectors, params: UsedParams
) -> Iterator[Found]:
    """Of each interaction the nearest memories that its answer touches."""
    idle = _idle(token_vectors)
    comparison = idle.pop() if idle else _Comparison(token_vectors)
    yield from comparison.of(asked, pool, params)
    # one that failed is not used again
    idle.append(comparison)


@cache
def _idle(token_vectors: TokenVectors) -> list[_Comparison]:  # noqa: ARG001 - the key
    """Comparisons that wait for work: what they keep saves time and changes nothing."""
    return []


class _Comparison:
    """Words met, and what is kept of the project at hand."""

    def __init__(self, token_vectors: TokenVectors) -> None:
        self._token_vectors = token_vectors
        self._pools: Any = kernel("used_pool_kernel")
        self._likeness: Any = kernel("used_likeness_kernel")
        self._odds: Any = kernel("used_odds_kernel")
        self._coefficients = np.array(list(COEFFICIENTS.values()))
        self._vocabulary = Vocabulary(self._token_vectors)
        self._by_word = _ByWord()
        self._columns = _Columns(len(self._token_vectors.table))
        self._contents = _Contents(0)
        self._pool: _Pool | None = None
        self._project = -1

    def _begin_anew(self, texts: int) -> None:
        """Forget every word."""
        self._leave()
        self._vocabulary.forget()
        self._by_word.forget()
        self._contents = _Contents(texts)

    def of(self, asked: Asked, pool: PoolArrays, params: UsedParams) -> Iterator[Found]:
        """See `touched_candidates`."""
        self._contents = _Contents(len(pool.contents))
        for start, stop in asked.parts(_BYTES_AT_ONCE):
            if len(self._vocabulary) > _WORDS_KEPT:
                self._begin_anew(len(pool.contents))
            groups = asked.groups(start, stop)
            documents = [pool.of(group.project, group.day) for group in groups]
            texts = [pool.text[ranks] for ranks, *_ in documents]
            self._contents.add(np.concatenate([*texts, np.zeros(0, np.int64)]), pool.contents, self._vocabulary)
            prompts, prompt_ends = self._vocabulary.words_of(asked.prompts[start:stop])
            answers, answer_ends = self._vocabulary.words_of(asked.answers[start:stop])
            self._by_word.make_room(len(self._vocabulary.scale))
            part = _Part(prompts, prompt_ends, answers, answer_ends)
            slots = [self._contents.slots[own] for own in texts]
            for nth, (group, (ranks, *spans)) in enumerate(zip(groups, documents, strict=True)):
                if group.project != self._project or not nth:
                    same = [own for other, own in zip(groups, slots, strict=True) if other.project == group.project]
                    self._foresee(group.project, np.unique(np.concatenate(same)))
                if len(ranks):
                    self._enter(ranks, slots[nth])
                    yield self._found(part, group.start - start, group.stop - start, start, asked, spans, params)
        self._leave()

    def _leave(self) -> None:
        """Forget the project."""
        self._clear_pool()
        columns, vocabulary = self._columns, self._vocabulary
        self._likeness.columns_dropped(
            columns.count, columns.words, vocabulary.grams, vocabulary.gram_ends, columns.newest
        )
        self._by_word.column_of[columns.words[: columns.count]] = -1
        columns.clear()
        self._project = -1

    def _clear_pool(self) -> None:
        if self._pool is not None:
            self._pools.forgotten(self._pool.known, self._by_word.frequency, self._by_word.is_plain)
            self._pool = None

    def _foresee(self, project: int, slots: Integers) -> None:
        """Note the words of a project's memories, of all days together: answers are compared with them once."""
        if project != self._project:
            self._leave()
            self._project = project
        columns, contents, column_of = self._columns, self._contents, self._by_word.column_of
        sizes = contents.ends[slots + 1] - contents.ends[slots]
        # of longer ones it is known only when they are weighed
        slots, sizes = slots[sizes <= _MOST_WORDS], sizes[sizes <= _MOST_WORDS]
        at = np.repeat(contents.ends[slots] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        words = contents.words[at]
        new = np.unique(words[column_of[words] < 0])
        before = columns.count
        columns.make_room(before + len(new))
        columns.words[before : before + len(new)] = new
        column_of[new] = np.arange(before, before + len(new))
        columns.count += len(new)
        columns.is_name[before : columns.count] = False
        self._add_columns(before)

    def _add_columns(self, before: int) -> None:
        columns, vocabulary = self._columns, self._vocabulary
        columns.make_nodes(vocabulary, before)
        self._likeness.columns_added(
            before, columns.count, columns.words, vocabulary.vectors, vocabulary.scale, vocabulary.grams,
            vocabulary.gram_counts, vocabulary.gram_ends, vocabulary.gram_length, columns.sides, columns.lengths,
            columns.newest, columns.nodes, columns.nodes_count,
        )  # fmt: skip

    def _enter(self, ranks: Integers, slots: Integers) -> None:
        """Make ready the memories of a project's day."""
        if self._pool is not None and np.array_equal(self._pool.ranks, ranks):
            return
        self._clear_pool()
        vocabulary, words, columns, contents = self._vocabulary, self._by_word, self._columns, self._contents
        sizes = contents.ends[slots + 1] - contents.ends[slots]
        plain_sizes = contents.plain_ends[slots + 1] - contents.plain_ends[slots]
        most = int(np.minimum(sizes, _MOST_WORDS).sum())
        columns.make_room(columns.count + most)
        count = len(slots)
        pool = _Pool(
            ranks,
            np.zeros(int((sizes + plain_sizes).sum()) + 1, np.int32),
            np.maximum(np.log((count + 1) / (np.arange(count + 1) + 0.5)), 0.05),
            np.empty(most, np.int32),
            np.zeros(count + 1, np.int64),
            np.empty(count, np.int64),
            np.empty(count, np.int64),
            np.empty((count, 2 * DIMENSIONS), np.int16),
        )
        before = columns.count
        columns.count = self._pools.prepared(
            slots, contents.words, contents.ends, contents.plain, contents.plain_ends, pool.rarity,
            vocabulary.prominence, vocabulary.largest, vocabulary.vectors, vocabulary.signs,
            words.frequency, words.is_plain, pool.known, words.column_of, columns.words, before, columns.weights,
            columns.is_name, pool.kept, pool.kept_ends, pool.masses, pool.squares, pool.sides,
        )  # fmt: skip
        pool.log_masses = np.log1p(pool.masses / (ONE * 4))
        self._add_columns(before)
        self._pool = pool

    def _compare_words(self, places: NDArray[np.int32]) -> None:
        vocabulary, words, columns = self._vocabulary, self._by_word, self._columns
        done = 0
        while True:
            done = self._likeness.compared_words(
                places, done, columns.count, columns.words, vocabulary.vectors, vocabulary.scale, vocabulary.largest,
                vocabulary.tokens, vocabulary.token_ends, self._token_vectors.table, vocabulary.grams,
                vocabulary.gram_counts, vocabulary.gram_ends, vocabulary.gram_length, columns.sides, columns.lengths,
                columns.newest, columns.nodes, columns.era,
                columns.token_era, columns.token_row, columns.token_done, columns.rows,
                words.era_of, words.done_of, words.newest_part, columns.part_next, columns.part_begin,
                columns.part_end, columns.entry_column, columns.entry_value, columns.entries, columns.shared,
                columns.touched, columns.products,
            )  # fmt: skip
            if done == len(places):
                return
            columns.make_entries()

    def _found(
        self, part: _Part, first: int, last: int, start: int, asked: Asked, spans: list[Integers], params: UsedParams
    ) -> Found:
        pool, vocabulary, words, columns = self._pool, self._vocabulary, self._by_word, self._columns
        assert pool is not None  # noqa: S101 - just entered
        self._compare_words(part.prompts[part.prompt_ends[first] : part.prompt_ends[last]])
        self._compare_words(part.answers[part.answer_ends[first] : part.answer_ends[last]])
        count = last - first
        most = int(part.prompt_ends[last] - part.prompt_ends[first] + part.answer_ends[last] - part.answer_ends[first])
        own, weights, marks = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.uint8)
        ends = np.zeros(count + 1, np.int64)
        masses, squares = np.empty((count, 3), np.int64), np.empty((count, 3), np.int64)
        sides = np.empty((count, _SIDES, DIMENSIONS), np.int16)
        self._pools.weighed_texts(
            first, last, part.prompts, part.prompt_ends, part.answers, part.answer_ends, words.frequency, pool.rarity,
            vocabulary.prominence, vocabulary.largest, vocabulary.vectors, vocabulary.signs, words.mark,
            own, weights, marks, ends, masses, squares, sides,
        )  # fmt: skip
        chosen = np.empty((count, params.candidates), np.int32)
        at = asked.at[start + first : start + last]
        memory, valid_from, valid_until = spans
        is_whole = bool((valid_from <= at.min()).all() and (valid_until > at.max()).all())
        self._pools.nearest_memories(
            sides, pool.sides, at, memory, valid_from, valid_until, is_whole, params.candidates, chosen
        )
        odds = np.empty(chosen.shape, np.int64)
        self._odds.log_odds(
            own, weights, marks, ends, masses, squares, np.log1p(masses / (ONE * 4)), sides, chosen, pool.kept,
            pool.kept_ends, pool.masses, pool.squares, pool.log_masses, pool.sides, columns.weights, columns.is_name,
            words.column_of, words.newest_part, columns.part_next, columns.part_begin,
            columns.part_end, columns.entry_column, columns.entry_value, columns.noted, columns.touched,
            INTERCEPT, self._coefficients, odds,
        )  # fmt: skip
        row, nth = np.nonzero(odds > _NOT_TOUCHED)
        return Found(start + first + row, pool.ranks[chosen[row, nth]], odds[row, nth])


@dataclass(frozen=True)
class _Part:
    """Distinct words of some prompts and answers, end to end."""

    prompts: NDArray[np.int32]
    prompt_ends: Integers
    answers: NDArray[np.int32]
    answer_ends: Integers


@dataclass
class _Pool:
    """Memories of a day, see `used_pool_kernel.prepared`."""

    ranks: Integers
    known: NDArray[np.int32]
    rarity: NDArray[np.float64]
    kept: NDArray[np.int32]
    kept_ends: Integers
    masses: Integers
    squares: Integers
    sides: NDArray[np.int16]
    log_masses: NDArray[np.float64] | None = None


class _ByWord:
    """What kernels note by word."""

    def __init__(self) -> None:
        self.frequency = np.zeros(0, np.int32)
        self.is_plain = np.zeros(0, bool)
        self.mark = np.zeros(0, np.uint8)
        self.column_of = np.zeros(0, np.int32)
        self.era_of = np.zeros(0, np.int32)
        self.done_of = np.zeros(0, np.int32)
        self.newest_part = np.zeros(0, np.int32)

    def make_room(self, words: int) -> None:
        """For so many words."""
        had = len(self.mark)
        if words > had:
            for name, array in vars(self).items():
                setattr(self, name, roomy(array, words))
            self.column_of[had:] = -1

    def forget(self) -> None:
        """Note nothing."""
        for array in vars(self).values():
            array.fill(0)
        self.column_of.fill(-1)


class _Columns:
    """Words of the project's memories that are compared, and what is like them."""

    def __init__(self, tokens: int) -> None:
        self.words = np.zeros(0, np.int32)
        self.weights = np.zeros(0, np.int64)
        self.is_name = np.zeros(0, bool)
        self.sides = np.zeros((0, DIMENSIONS), np.int16)
        self.lengths = np.zeros(0)
        self.shared = np.zeros(0, np.int64)
        self.noted = np.zeros((0, 8), np.int64)
        self.touched = np.zeros(0, np.int32)
        self.products = np.zeros(0, np.int32)
        self._by_column = tuple(vars(self))
        self.rows = np.zeros((0, 0), np.int16)
        self.token_era = np.zeros(tokens, np.int32)
        self.token_row = np.zeros(tokens, np.int32)
        self.token_done = np.zeros(tokens, np.int32)
        self.newest = np.full(GRAMS, -1, np.int32)
        self.nodes = np.zeros((0, 3), np.int32)
        self.part_next = np.zeros(_ROOM, np.int32)
        self.part_begin = np.zeros(_ROOM, np.int64)
        self.part_end = np.zeros(_ROOM, np.int64)
        self.entry_column, self.entry_value = np.zeros(_ROOM, np.int32), np.zeros(_ROOM, np.int16)
        self.era = 0
        self.clear()

    def clear(self) -> None:
        """Drop all."""
        self.count = 0
        self.era += 1
        self.nodes_count = np.zeros(1, np.int64)
        self.entries = np.zeros(3, np.int64)

    def make_room(self, columns: int) -> None:
        """For so many columns."""
        if columns > len(self.words):
            room = max(columns, 2 * len(self.words))
            for name in self._by_column:
                setattr(self, name, roomy(getattr(self, name), room))
            filled = self.rows[: self.entries[2]]
            self.rows = np.empty((max(_PRODUCTS // room, len(filled)), room), np.int16)
            self.rows[: len(filled), : filled.shape[1]] = filled

    def make_nodes(self, vocabulary: Vocabulary, first: int) -> None:
        """For the n-grams of the columns from `first` on."""
        added = self.words[first : self.count]
        nodes = int(self.nodes_count[0] + (vocabulary.gram_ends[added + 1] - vocabulary.gram_ends[added]).sum())
        if nodes > len(self.nodes):
            self.nodes = roomy(self.nodes, max(nodes, 2 * len(self.nodes)))

    def make_entries(self) -> None:
        """For the entries of more words."""
        for name in ("part_next", "part_begin", "part_end"):
            setattr(self, name, roomy(getattr(self, name), 2 * len(self.part_next)))
        entries = max(2 * len(self.entry_column), int(self.entries[1]) + self.count)
        self.entry_column, self.entry_value = roomy(self.entry_column, entries), roomy(self.entry_value, entries)


class _Contents:
    """Words of memories' texts, in slots by order of arrival; `slots` is by text, -1: not yet."""

    def __init__(self, texts: int) -> None:
        self.slots = np.full(texts, -1)
        self.words = np.zeros(0, np.int32)
        self.ends = np.zeros(1, np.int64)
        self.plain = np.zeros(0, np.int32)
        self.plain_ends = np.zeros(1, np.int64)

    def add(self, texts: Integers, contents: pl.Series, vocabulary: Vocabulary) -> None:
        """Take in those of the texts that are new."""
        new = np.unique(texts[self.slots[texts] < 0])
        if not len(new):
            return
        self.slots[new] = np.arange(len(new)) + len(self.ends) - 1
        added = contents.gather(new)
        words, ends = vocabulary.words_of(added)
        words = _sorted_if_many(words, ends, vocabulary)
        plain, plain_ends = vocabulary.words_of(uncapitalised(added))
        self.ends = np.concatenate([self.ends, ends[1:] + self.ends[-1]])
        self.plain_ends = np.concatenate([self.plain_ends, plain_ends[1:] + self.plain_ends[-1]])
        self.words, self.plain = np.concatenate([self.words, words]), np.concatenate([self.plain, plain])


def _sorted_if_many(words: NDArray[np.int32], ends: Integers, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Texts of so many words that the most telling are chosen hold theirs in order: it settles ties."""
    sizes = np.diff(ends)
    many = np.repeat(sizes > _MOST_WORDS, sizes)
    if not many.any():
        return words
    text = np.repeat(np.arange(len(sizes)), sizes)[many]
    frame = pl.DataFrame({"text": text, "place": words[many], "word": vocabulary.words(words[many])})
    words[many] = frame.sort("text", "word")["place"].to_numpy()
    return words
