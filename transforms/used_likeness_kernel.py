"""How alike the words of answers and of memories are: `used_words.word_likeness`, compiled."""

# ruff: noqa: ANN001, ANN201, C901, PLR0912, PLR2004 - a signature says the types; a loop calls nothing
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.compiled import compiled

DIMENSIONS = 256
_ONE = 256
_UNLIKE = 128
_STEP = np.float32(256 / 2000**2)


@compiled(
    "void(int64, int64, int32[::1], int16[:, ::1], float64[::1], int32[::1], int32[::1], int64[::1], float64[::1],"
    " int16[:, ::1], float64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64[::1])"
)
def columns_added(
    first, last, columns, vectors, scale, grams, counts, gram_ends, lengths,
    sides, column_lengths, newest, node_next, node_column, node_count, state,
):  # fmt: skip
    """Note the columns from `first` to `last`: their directions, and under each n-gram its columns, newest first.

    Args:
        first: column.
        last: column after the last.
        columns: word of each column.
        vectors: by word; so are `scale`, `gram_ends` and `lengths`.
        scale: what brings a vector to the length of directions.
        grams: n-grams of the words, end to end.
        counts: how often the word has each.
        gram_ends: 0, and where each word ends in `grams`.
        lengths: of the words' n-gram counts.
        sides: by column, filled with directions.
        column_lengths: by column, filled.
        newest: by n-gram, its newest node, or -1.
        node_next: by node, filled; so are `node_column` and `node_count`.
        node_column: the column.
        node_count: how often it has the n-gram.
        state: number of nodes.
    """
    node = state[0]
    for column in range(first, last):
        word = columns[column]
        for at in range(DIMENSIONS):
            sides[column, at] = np.int16(np.rint(vectors[word, at] * scale[word]))
        column_lengths[column] = lengths[word]
        for at in range(gram_ends[word], gram_ends[word + 1]):
            gram = grams[at]
            node_column[node] = column
            node_count[node] = counts[at]
            node_next[node] = newest[gram]
            newest[gram] = node
            node += 1
    state[0] = node


@compiled("void(int64, int32[::1], int32[::1], int64[::1], int32[::1])")
def columns_dropped(count, columns, grams, gram_ends, newest):
    """Take all columns back."""
    for column in range(count):
        word = columns[column]
        for at in range(gram_ends[word], gram_ends[word + 1]):
            newest[grams[at]] = -1


@compiled(
    "int64(int32[::1], int64, int64, int32[::1], int16[:, ::1], float64[::1], int32[::1], int32[::1], int64[::1],"
    " float64[::1], int16[:, ::1], float64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64,"
    " int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int16[::1], int64[::1],"
    " int64[::1])"
)
def compared_words(
    words, first, total, columns, vectors, scale, grams, counts, gram_ends,
    lengths, sides, column_lengths, newest, node_next, node_column, node_count, era,
    era_of, done_of, newest_part, part_next, part_begin, part_end, entry_column, entry_value, state,
    shared,
):  # fmt: skip
    """Compare words with the columns they were not compared with; returns the first for which there is no room.

    Args:
        words: places of words; more than once is once.
        first: the first of them to compare.
        total: number of columns.
        columns: as for `columns_added`; so are all up to `node_count`.
        vectors: by word.
        scale: by word.
        grams: of words.
        counts: of n-grams.
        gram_ends: by word.
        lengths: by word.
        sides: by column.
        column_lengths: by column.
        newest: by n-gram.
        node_next: by node.
        node_column: by node.
        node_count: by node.
        era: what is noted under another era is void.
        era_of: by word.
        done_of: by word, the columns it was compared with.
        newest_part: by word, its newest run of entries, or -1.
        part_next: by run.
        part_begin: by run, its first entry.
        part_end: by run, the entry after its last.
        entry_column: by entry, a column whose word is like the word.
        entry_value: by entry, how much, 1-256.
        state: numbers of runs and of entries.
        shared: zeros, by column: room to work in.
    """
    side = np.empty(DIMENSIONS, np.int16)
    parts, entries = state[0], state[1]
    for nth in range(first, len(words)):
        word = words[nth]
        if era_of[word] != era:
            era_of[word] = era
            done_of[word] = 0
            newest_part[word] = -1
        start = done_of[word]
        if start == total:
            continue
        if parts == len(part_next) or entries + total - start > len(entry_column):
            state[0], state[1] = parts, entries
            return nth
        for at in range(DIMENSIONS):
            side[at] = np.int16(np.rint(vectors[word, at] * scale[word]))
        for at in range(gram_ends[word], gram_ends[word + 1]):
            node = newest[grams[at]]
            count = counts[at]
            while node >= 0 and node_column[node] >= start:
                shared[node_column[node]] += count * node_count[node]
                node = node_next[node]
        begin = entries
        for column in range(start, total):
            alike = np.int32(0)
            for at in range(DIMENSIONS):
                alike = np.int32(alike + np.int32(side[at]) * np.int32(sides[column, at]))
            both = shared[column]
            # 128.5 steps: with less, and no n-gram in common, they are unlike
            if both == 0 and alike < 2_007_000:
                continue
            shared[column] = 0
            if columns[column] == word:
                squared = _ONE * _ONE
            else:
                meaning = np.int64(np.rint(np.float32(np.float32(max(alike, 0)) * _STEP)))
                stem = np.int64(np.rint(both * (_ONE / (lengths[word] * column_lengths[column]))))
                squared = meaning * meaning + stem * stem
            if squared > _UNLIKE * _UNLIKE:
                value = np.int64(np.rint(np.sqrt(float(squared))))
                value = min((value - _UNLIKE) * _ONE // (_ONE - _UNLIKE), _ONE)
                if value > 0:
                    entry_column[entries] = column
                    entry_value[entries] = value
                    entries += 1
        done_of[word] = total
        if entries > begin:
            part_begin[parts], part_end[parts] = begin, entries
            part_next[parts] = newest_part[word]
            newest_part[word] = parts
            parts += 1
    state[0], state[1] = parts, entries
    return len(words)
