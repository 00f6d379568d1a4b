"""`used/1` for many interactions at once: the same results as its reference, from compiled loops over arrays.

Interactions are taken project by project and day by day. What was made for the interactions before is kept while it
holds: the forms of words, and their likeness to the words of many memories, for good; the likeness of the rest by
project, as far as there is room; the weights of memories for a day's memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.evidence.used.at_hand import Pool, TextWords, TouchedCandidates
from slowwave.transforms.evidence.used.coefficients import COEFFICIENTS, INTERCEPT
from slowwave.transforms.evidence.used.columns import MOST_WORDS, ByWord, Columns
from slowwave.transforms.evidence.used.contents import Contents
from slowwave.transforms.evidence.used.left_projects import LeftProjects
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.pool_arrays import InteractionArrays, PoolArrays, ProjectDayMemories
from slowwave.transforms.evidence.used.vocabulary import DIMENSIONS, Vocabulary
from slowwave.transforms.evidence.used.word_matches import ONE
from slowwave.transforms.language.word_vectors import TokenVectors, WordVectors

_NAMES = ("common", "forms", "likeness", "nearest", "odds", "pool", "words")
KERNELS = ("language.byte_pairs_kernel", *(f"evidence.used.kernels.{name}_kernel" for name in _NAMES))
# Text whose words are counted at once; words (1 kB each) kept from one such part to the next.
_BYTES_AT_ONCE = 4 * 2**20
_WORDS_KEPT = 200_000
# So many memories at a time are read before any answer, while there is room; their words stay when words are forgotten.
_FIRST_MEMORIES = 5_000
# Products of tokens with the words of a project's memories that are kept (2 bytes each).
_PRODUCTS = 64 * 2**20
# Words of several memories to which others are compared once, when they have come so often, in projects or at times.
_MOST_COMMON = 32_768
_OFTEN = 12
# Words that are alike take 6 bytes each: from so many on no more words are compared with common ones, and those of a
# project are forgotten. So many pairs of words are compared in one go.
_MOST_ENTRIES = 20_000_000
_MOST_PAIRS = 2**27
# What is like a project's words is looked up among common words if so many times the pairs of its words with those that
# are asked come to more than are compared for it; so many words are compared before looking whether there is room.
_GAIN = 1
_ENTRY_COST = 8
_TURNED_AT_ONCE = 4_096
_SIDES = 5
_NOT_TOUCHED = -(2**62)


def compilable(word_vectors: WordVectors) -> TokenVectors | None:
    """The same, if the loops can be had and are made for such vectors."""
    if not isinstance(word_vectors, TokenVectors) or not all(kernel(name) for name in KERNELS):
        return None
    return word_vectors if word_vectors.table.shape[1] == DIMENSIONS else None


def touched_candidates(
    asked: InteractionArrays, pool: PoolArrays, token_vectors: TokenVectors, params: UsedParams
) -> Iterator[TouchedCandidates]:
    """Of each interaction the nearest memories that its answer touches."""
    idle = _idle(token_vectors)
    try:
        comparison = idle.pop()
    except IndexError:
        comparison = _Comparison(token_vectors)
    yield from comparison.of(asked, pool, params)
    # one that failed is not used again
    idle.append(comparison)


@cache
def _idle(token_vectors: TokenVectors) -> list[_Comparison]:  # noqa: ARG001 - the key
    """Comparisons that wait for work: what they keep saves time and changes nothing."""
    return []


def forget_comparisons() -> None:
    """Drop those that wait."""
    _idle.cache_clear()


class _Comparison:
    """Words met, and what is kept of the project at hand."""

    def __init__(self, token_vectors: TokenVectors) -> None:
        self._token_vectors = token_vectors
        self._pools: Any = kernel("evidence.used.kernels.pool_kernel")
        self._likeness: Any = kernel("evidence.used.kernels.likeness_kernel")
        self._commonly: Any = kernel("evidence.used.kernels.common_kernel")
        self._nearest: Any = kernel("evidence.used.kernels.nearest_kernel")
        self._odds: Any = kernel("evidence.used.kernels.odds_kernel")
        self._coefficients = np.array(list(COEFFICIENTS.values()))
        self._vocabulary = Vocabulary(self._token_vectors)
        self._by_word = ByWord()
        self._columns = Columns(len(self._token_vectors.table), _PRODUCTS)
        self._common = Columns(len(self._token_vectors.table), 2 * _PRODUCTS)
        self._column_of_common = np.zeros(0, np.int32)
        self._run_of_common = np.zeros(0, np.int32)
        self._contents = Contents()
        self._pool: Pool | None = None
        self._project, self._name = -1, ""
        self._left = LeftProjects()
        self._words_kept = 0

    def _forget(self) -> None:
        """Forget the words but those of the first memories; all, where most of these are gone."""
        self._leave()
        self._left.forget()
        if self._contents.most_are_gone():
            self._words_kept = 0
            self._contents = Contents()
            self._take_back(self._common)
            self._common.clear()
        common = self._common
        self._contents.forget_later()
        self._vocabulary.forget(self._words_kept)
        self._by_word.forget(self._words_kept)
        self._commonly.runs_joined(
            self._words_kept, self._by_word.common_part, common.part_next, common.part_begin, common.part_end,
            common.entry_column, common.entry_value, common.entries,
        )  # fmt: skip

    def _look_up(self, pool: PoolArrays) -> None:
        """The memories' texts that are known; the first ones are taken in before any answer."""
        self._contents.look_up(pool.contents)
        if not len(self._vocabulary):
            first = np.arange(len(pool.contents))
            for start in range(0, len(first), _FIRST_MEMORIES):
                self._contents.add(first[start : start + _FIRST_MEMORIES], pool.contents, self._vocabulary)
                if len(self._vocabulary) > _WORDS_KEPT:
                    break
                self._words_kept = len(self._vocabulary)
                self._contents.keep()
            self._list_common()

    def _list_common(self) -> None:
        """Words of several memories become common columns, those of most memories first."""
        self._by_word.make_room(len(self._vocabulary.scale))
        times = np.bincount(self._contents.words, minlength=self._words_kept)[: self._words_kept]
        words = np.argsort(-times, kind="stable")[: min(int((times > 1).sum()), _MOST_COMMON)].astype(np.int32)
        self._common.append(words)
        self._by_word.common_column_of[words] = np.arange(len(words))
        self._column_of_common = np.full(len(words), -1, np.int32)
        self._run_of_common = np.full(len(words), -1, np.int32)
        self._add_columns(self._common, 0)
        ordered = np.empty_like(self._common.nodes)
        self._likeness.nodes_in_order(self._common.newest, self._common.nodes, ordered)
        self._common.nodes = ordered

    def of(self, asked: InteractionArrays, pool: PoolArrays, params: UsedParams) -> Iterator[TouchedCandidates]:
        """See `touched_candidates`."""
        self._look_up(pool)
        for start, stop in asked.parts(_BYTES_AT_ONCE):
            if len(self._vocabulary) > max(_WORDS_KEPT, 2 * self._words_kept):
                self._forget()
                self._look_up(pool)
            groups = asked.groups(start, stop)
            held = [pool.of(group.project, group.day) for group in groups]
            texts = [pool.text[of_day.documents] for of_day in held]
            self._contents.add(np.concatenate([*texts, np.zeros(0, np.int64)]), pool.contents, self._vocabulary)
            prompted, answered = asked.texts(start, stop)
            prompts, prompt_ends = self._vocabulary.words_of(prompted)
            answers, answer_ends = self._vocabulary.words_of(answered)
            self._by_word.make_room(len(self._vocabulary.scale))
            part = TextWords(prompts, prompt_ends, answers, answer_ends)
            slots = [self._contents.slots[own] for own in texts]
            for nth, (group, of_day) in enumerate(zip(groups, held, strict=True)):
                if group.project != self._project or not nth:
                    same = [own for other, own in zip(groups, slots, strict=True) if other.project == group.project]
                    last = max(other.stop for other in groups if other.project == group.project) - start
                    words = int(part.ends[last] - part.ends[group.start - start])
                    self._foresee(group.project, asked.project(group.start), np.unique(np.concatenate(same)), words)
                if len(of_day.documents):
                    self._enter(of_day.documents, slots[nth])
                    for first, last in self._pieces(part, group.start - start, group.stop - start):
                        yield self._find_candidates(part, first, last, start, asked, of_day, params)
        self._leave()
        self._columns.release()

    def _pieces(self, part: TextWords, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Consecutive interactions from `first` to `last` with so many words that what is found fits into memory."""
        ends = part.ends
        most = _MOST_PAIRS // max(self._columns.count, 1)
        while first < last:
            if self._columns.entries[1] > _MOST_ENTRIES:
                self._columns.void()
            after = min(max(int(np.searchsorted(ends, ends[first] + most, side="right")) - 1, first + 1), last)
            yield first, after
            first = after

    def _leave(self) -> None:
        """Put the project aside, or forget it."""
        self._clear_pool()
        columns, by_word = self._columns, self._by_word
        by_word.column_of[columns.words[: columns.count]] = -1
        self._column_of_common[by_word.common_column_of[columns.words[: columns.listed]]] = -1
        self._take_back(columns)
        if columns.count and self._left.leave(self._name, columns, by_word, self._run_of_common):
            self._columns = Columns(len(self._token_vectors.table), _PRODUCTS, columns)
        else:
            columns.clear()
        self._project = -1

    def _come_again(self, words: NDArray[np.int32]) -> None:
        """Go on with what was found of the project, if it was put aside; `words` are those of its memories."""
        columns = self._left.enter(self._name, len(np.unique(words)), self._by_word, self._run_of_common)
        if columns is not None:
            self._columns = columns
            self._column_of_common[columns.common] = np.arange(columns.listed)
            self._add_columns(columns, 0)

    def _take_back(self, columns: Columns) -> None:
        vocabulary = self._vocabulary
        self._likeness.columns_dropped(
            columns.count, columns.words, vocabulary.grams, vocabulary.gram_ends, columns.newest, columns.has_gram
        )

    def _clear_pool(self) -> None:
        if self._pool is not None:
            self._pools.reset_words(self._pool.known, self._by_word.frequency, self._by_word.is_plain)
            self._pool = None

    def _foresee(self, project: int, name: str, slots: Integers, asked: int) -> None:
        """Note the words of a project's memories, of all days together: `asked` words are compared with them once."""
        contents, column_of = self._contents, self._by_word.column_of
        sizes = contents.ends[slots + 1] - contents.ends[slots]
        # of longer ones it is known only when they are weighed
        slots, sizes = slots[sizes <= MOST_WORDS], sizes[sizes <= MOST_WORDS]
        at = np.repeat(contents.ends[slots] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        words = contents.words[at]
        if project != self._project:
            self._leave()
            self._project, self._name = project, name
            self._come_again(words)
        columns = self._columns
        new = np.unique(words[column_of[words] < 0])
        listed = self._by_word.common_column_of[new] >= 0
        before = columns.append(np.concatenate([new[listed], new[~listed]]))
        column_of[columns.words[before : columns.count]] = np.arange(before, columns.count)
        if not before:
            columns.listed = columns.settled = int(listed.sum())
            columns.common = self._by_word.common_column_of[columns.words[: columns.listed]]
            self._column_of_common[columns.common] = np.arange(columns.listed)
        self._add_columns(columns, before)
        if not before:
            self._turn(asked)

    def _turn(self, asked: int) -> None:
        """Find what is like the project's words among common words, if that takes less than asking word by word."""
        columns, common, by_word = self._columns, self._common, self._by_word
        words = columns.words[: columns.count]
        is_known = by_word.common_era_of[words] == common.era
        unknown = words[~(is_known & (by_word.common_done_of[words] == common.count))]
        gain = _GAIN * asked * columns.count - len(unknown) * common.count
        if not common.count or gain < 0:
            return
        for start in range(0, len(unknown), _TURNED_AT_ONCE):
            if common.entries[1] >= _MOST_ENTRIES:
                return
            self._compare(unknown[start : start + _TURNED_AT_ONCE], common, by_word.of_common)
        found = (by_word.common_part, common.part_next, common.part_begin, common.part_end)
        count = self._commonly.entries_of(words, *found)
        if count > _MOST_ENTRIES // 2 or _ENTRY_COST * count > gain:
            return
        columns.make_entries(common.count, count)
        self._commonly.turned_lists(
            words, *found, common.entry_column, common.entry_value, self._run_of_common, columns.part_next,
            columns.part_begin, columns.part_end, columns.entry_column, columns.entry_value, columns.entries,
        )  # fmt: skip
        columns.turned = columns.settled = columns.count
        columns.has_gram[1] = 0

    def _add_columns(self, columns: Columns, before: int) -> None:
        vocabulary = self._vocabulary
        columns.make_nodes(vocabulary, before)
        self._likeness.columns_added(
            before, columns.count, columns.settled, columns.words, vocabulary.vectors, vocabulary.scale,
            vocabulary.grams, vocabulary.gram_counts, vocabulary.gram_ends, vocabulary.gram_length, columns.sides,
            columns.lengths, columns.newest, columns.has_gram, columns.nodes, columns.nodes_count,
        )  # fmt: skip

    def _enter(self, documents: Integers, slots: Integers) -> None:
        """Make ready the passages of a project's day."""
        if self._pool is not None and np.array_equal(self._pool.documents, documents):
            return
        self._clear_pool()
        vocabulary, words, columns, contents = self._vocabulary, self._by_word, self._columns, self._contents
        sizes = contents.ends[slots + 1] - contents.ends[slots]
        plain_sizes = contents.plain_ends[slots + 1] - contents.plain_ends[slots]
        most = int(np.minimum(sizes, MOST_WORDS).sum())
        # the words of others are columns since they were foreseen
        columns.make_room(columns.count + int(np.minimum(sizes[sizes > MOST_WORDS], MOST_WORDS).sum()))
        count = len(slots)
        pool = Pool(
            documents,
            np.zeros(int((sizes + plain_sizes).sum()) + 1, np.int32),
            np.maximum(np.log((count + 1) / (np.arange(count + 1) + 0.5)), 0.05),
            np.empty(most, np.int32),
            np.zeros(count + 1, np.int64),
            np.empty(count, np.int64),
            np.empty(count, np.int64),
            np.empty((count, 2 * DIMENSIONS), np.int16),
        )
        before = columns.count
        columns.count = self._pools.prepare_pool(
            slots, contents.words, contents.ends, contents.plain, contents.plain_ends, pool.rarity,
            vocabulary.prominence, vocabulary.largest, vocabulary.vectors, vocabulary.signs,
            words.frequency, words.is_plain, pool.known, words.column_of, columns.words, before, columns.weights,
            columns.is_name, pool.kept, pool.kept_ends, pool.masses, pool.squares, pool.sides,
        )  # fmt: skip
        pool.log_masses = np.log1p(pool.masses / (ONE * 4))
        self._add_columns(columns, before)
        self._pool = pool

    def _compare_words(self, places: NDArray[np.int32]) -> None:
        """Compare words with the project's columns: those that come often with common columns only once."""
        by_word, columns, common = self._by_word, self._columns, self._common
        if columns.listed or columns.turned:
            often, left = np.empty((2, len(places)), np.int32)
            count, more = self._commonly.words_begun(
                places, columns.era, columns.count, _OFTEN, by_word.eras, by_word.era_of, by_word.done_of,
                by_word.newest_part, columns.turned, by_word.common_column_of, self._run_of_common, often, left,
            )  # fmt: skip
            often, places = often[:count], left[:more]
            if common.entries[1] < _MOST_ENTRIES:
                self._compare(often, common, by_word.of_common)
            else:
                often = often[by_word.common_done_of[often] == common.count]
            done = 0
            while True:
                done = self._commonly.taken_over(
                    often, done, columns.listed, by_word.common_part, self._column_of_common, common.part_next,
                    common.part_begin, common.part_end, common.entry_column, common.entry_value,
                    by_word.done_of, by_word.newest_part, columns.part_next, columns.part_begin, columns.part_end,
                    columns.entry_column, columns.entry_value, columns.entries,
                )  # fmt: skip
                if done == len(often):
                    break
                columns.make_entries()
        self._compare(places, columns, by_word.of_project)

    def _compare(self, places: NDArray[np.int32], columns: Columns, by_word: tuple[NDArray[np.int32], ...]) -> None:
        vocabulary, common = self._vocabulary, self._common
        done = 0
        while True:
            done = self._likeness.compared_words(
                places, done, columns is common, columns.settled, columns.count, columns.words,
                vocabulary.vectors, vocabulary.scale, vocabulary.largest, vocabulary.tokens, vocabulary.token_ends,
                self._token_vectors.table, vocabulary.grams, vocabulary.gram_counts, vocabulary.gram_ends,
                vocabulary.gram_length, columns.sides, columns.lengths, columns.newest, columns.has_gram, columns.nodes,
                columns.era, columns.token_era, columns.token_row, columns.token_done, columns.rows, columns.common,
                common.era, common.token_era, common.token_row, common.rows, *by_word, columns.part_next,
                columns.part_begin, columns.part_end, columns.entry_column, columns.entry_value, columns.entries,
                columns.shared, columns.touched, columns.products,
            )  # fmt: skip
            if done == len(places):
                return
            columns.make_entries()

    def _find_candidates(
        self,
        part: TextWords,
        first: int,
        last: int,
        start: int,
        asked: InteractionArrays,
        held: ProjectDayMemories,
        params: UsedParams,
    ) -> TouchedCandidates:
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
        is_whole = bool((held.span_from <= at.min()).all() and (held.span_until > at.max()).all())
        self._nearest.nearest_passages(
            sides, pool.sides, held.firsts, at, held.span_memory, held.span_from, held.span_until, is_whole,
            params.candidates, chosen,
        )  # fmt: skip
        odds = np.empty(chosen.shape, np.int64)
        self._odds.log_odds(
            own, weights, marks, ends, masses, squares, np.log1p(masses / (ONE * 4)), sides, chosen, pool.kept,
            pool.kept_ends, pool.masses, pool.squares, pool.log_masses, pool.sides, columns.weights, columns.is_name,
            words.column_of, words.newest_part, columns.part_next, columns.part_begin,
            columns.part_end, columns.entry_column, columns.entry_value, columns.noted, columns.touched,
            INTERCEPT, self._coefficients, odds,
        )  # fmt: skip
        row, nth = np.nonzero(odds > _NOT_TOUCHED)
        return TouchedCandidates(start + first + row, pool.documents[chosen[row, nth]], odds[row, nth], held.is_long)
