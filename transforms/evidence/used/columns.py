"""What the compiled `used/1` keeps by word, and by column: a word of memories with which others are compared."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.evidence.used.vocabulary import DIMENSIONS, Vocabulary, roomy
from slowwave.transforms.language.terms import GRAMS

_ROOM = 1024
# Of long memories the most telling words are compared.
MOST_WORDS = 48
# No two columns share one, so that what is noted by word tells whose it is.
_eras = count(1)


class ByWord:
    """What kernels note by word."""

    def __init__(self) -> None:
        self.frequency = np.zeros(0, np.int32)
        self.is_plain = np.zeros(0, bool)
        self.mark = np.zeros(0, np.uint8)
        self.column_of = np.zeros(0, np.int32)
        self.era_of = np.zeros(0, np.int32)
        self.done_of = np.zeros(0, np.int32)
        self.newest_part = np.zeros(0, np.int32)
        self.eras = np.zeros(0, np.int32)
        self.common_column_of = np.zeros(0, np.int32)
        self.common_era_of = np.zeros(0, np.int32)
        self.common_done_of = np.zeros(0, np.int32)
        self.common_part = np.zeros(0, np.int32)

    def make_room(self, words: int) -> None:
        """For so many words."""
        had = len(self.mark)
        if words > had:
            for name, array in vars(self).items():
                setattr(self, name, roomy(array, words))
            self._blank(had)

    def forget(self, kept: int) -> None:
        """Note nothing of words after the first `kept`."""
        for array in vars(self).values():
            array[kept:] = 0
        self._blank(kept)

    @property
    def of_project(self) -> tuple[NDArray[np.int32], ...]:
        """What `compared_words` notes of the project's columns."""
        return self.era_of, self.done_of, self.newest_part

    @property
    def of_common(self) -> tuple[NDArray[np.int32], ...]:
        """What it notes of the common columns."""
        return self.common_era_of, self.common_done_of, self.common_part

    def _blank(self, first: int) -> None:
        self.column_of[first:] = self.common_column_of[first:] = self.common_part[first:] = -1


class Columns:
    """Words of memories that are compared, and what is like them: of a project, or of many."""

    def __init__(self, tokens: int, products: int, others: Columns | None = None) -> None:
        """`products`: of tokens with columns, that are kept; `others`: which are at hand while these are not."""
        self._products = products
        self.words = np.zeros(0, np.int32)
        self.weights = np.zeros(0, np.int64)
        self.is_name = np.zeros(0, bool)
        self.sides = np.zeros((0, DIMENSIONS), np.int16)
        self.lengths = np.zeros(0)
        self.shared = np.zeros(0, np.int64)
        self.noted = np.zeros((0, 8), np.int64)
        self.touched = np.zeros(0, np.int32)
        self.products = np.zeros(0, np.int32)
        self._by_column = tuple(name for name in vars(self) if name != "_products")
        self.rows = np.zeros((0, 0), np.int16)
        self.token_era = np.zeros(tokens, np.int32)
        self.token_row = np.zeros(tokens, np.int32)
        self.token_done = np.zeros(tokens, np.int32)
        # noted of those at hand alone, for they are large
        self.newest = others.newest if others else np.full(GRAMS, -1, np.int32)
        self.has_gram = others.has_gram if others else np.zeros((2, GRAMS // 32), np.uint32)
        self.nodes = np.zeros((0, 3), np.int32)
        self._make_runs()
        self.clear()

    def _make_runs(self) -> None:
        self.part_next = np.zeros(_ROOM, np.int32)
        self.part_begin = np.zeros(_ROOM, np.int64)
        self.part_end = np.zeros(_ROOM, np.int64)
        self.entry_column, self.entry_value = np.zeros(_ROOM, np.int32), np.zeros(_ROOM, np.int16)

    def clear(self) -> None:
        """Drop all."""
        self.count = 0
        self.listed = 0
        self.turned = 0
        self.settled = 0
        self.common = np.zeros(0, np.int32)
        self.era = next(_eras)
        self.nodes_count = np.zeros(1, np.int64)
        self.entries = np.zeros(3, np.int64)

    @property
    def bytes(self) -> int:
        """Memory they take: of products and entries what is filled, for no other page of these was touched."""
        held = (*(getattr(self, name) for name in self._by_column), self.nodes, self.token_era, self.token_row)
        runs = (self.token_done, self.part_next, self.part_begin, self.part_end)
        entries = int(self.entries[1]) * (self.entry_column.itemsize + self.entry_value.itemsize)
        products = int(self.entries[2]) * self.rows.shape[1] * self.rows.itemsize
        return entries + products + sum(array.nbytes for array in (*held, *runs))

    def release(self) -> None:
        """Give back the room of a project that is cleared: the next one may come after other work, and asks anew."""
        for name in (*self._by_column, "nodes"):
            setattr(self, name, getattr(self, name)[:0].copy())
        self.rows = np.zeros((0, 0), np.int16)
        self._make_runs()

    def void(self) -> None:
        """Forget what is like the columns; it is found again when it is wanted."""
        self.era = next(_eras)
        self.turned = 0
        self.entries[:] = 0

    def append(self, words: NDArray[np.int32]) -> int:
        """Take in words; returns the number of columns before."""
        before = self.count
        self.make_room(before + len(words))
        self.words[before : before + len(words)] = words
        self.is_name[before : before + len(words)] = False
        self.count += len(words)
        return before

    def make_room(self, columns: int) -> None:
        """For so many columns."""
        if columns > len(self.words):
            room = max(columns, 2 * len(self.words))
            for name in self._by_column:
                setattr(self, name, roomy(getattr(self, name), room))
            filled = self.rows[: self.entries[2]]
            self.rows = np.empty((self._products // room, room), np.int16)
            if len(filled) <= len(self.rows):
                self.rows[: len(filled), : filled.shape[1]] = filled
            else:  # they are made anew when they are wanted
                self.token_era.fill(0)
                self.entries[2] = 0

    def make_nodes(self, vocabulary: Vocabulary, first: int) -> None:
        """For the n-grams of the columns from `first` on."""
        added = self.words[first : self.count]
        nodes = int(self.nodes_count[0] + (vocabulary.gram_ends[added + 1] - vocabulary.gram_ends[added]).sum())
        if nodes > len(self.nodes):
            self.nodes = roomy(self.nodes, max(nodes, 2 * len(self.nodes)))

    def make_entries(self, runs: int = 1, count: int | None = None) -> None:
        """For more runs, of so many entries together: those of one more word, if that is not said."""
        runs += int(self.entries[0])
        if runs > len(self.part_next):
            for name in ("part_next", "part_begin", "part_end"):
                setattr(self, name, roomy(getattr(self, name), max(2 * len(self.part_next), runs)))
        entries = int(self.entries[1]) + (self.count if count is None else count)
        if entries > len(self.entry_column):
            entries = max(2 * len(self.entry_column), entries)
            self.entry_column, self.entry_value = roomy(self.entry_column, entries), roomy(self.entry_value, entries)
