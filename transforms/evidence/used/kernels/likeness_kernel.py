"""How alike the words of answers and of memories are: `used_words.word_likeness`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR1702, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

DIMENSIONS = 256
_ONE = 256
_UNLIKE = 128
_STEP = np.float32(256 / 2000**2)
_SQUARE = 2000.0**2
# A product of less than 128.5 steps is unlike, if there is no n-gram in common.
_ENOUGH = 2_007_000
# Rounded, each of 256 components is off by up to a half: together 8 times the length of the other direction.
_SLACK = 16_200.0
_LEAST = -(2**31)
# Vectors of words may be cut off there; so many tokens are few.
_CLIPPED, _MOST_TOKENS = 32_767, 60
_BLOCK = 64
# n-grams that few words have more of.
_GRAMS = 64
# Products of tokens are kept in steps of 1024.
_SHIFT = 10


@compile_kernel(
    "void(int64, int64, int64, int32[::1], int16[:, ::1], float64[::1], int32[::1], int32[::1], int64[::1],"
    " float64[::1], int16[:, ::1], float64[::1], int32[::1], uint32[:, ::1], int32[:, ::1], int64[::1])"
)
def columns_added(
    first, last, settled, columns, vectors, scale, grams, counts, gram_ends, lengths,
    sides, column_lengths, newest, has_gram, nodes, state,
):  # fmt: skip
    """Note the columns from `first` to `last`: their directions, and under each n-gram its columns, newest first.

    Args:
        first: column.
        last: column after the last.
        settled: the first column with which most words are not compared elsewhere.
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
        has_gram: bits by n-gram, filled: a column has it; a column from `settled` on has it.
        nodes: filled: the next older node, the column, how often it has the n-gram.
        state: number of nodes.
    """
    node = state[0]
    for column in range(first, last):
        word = columns[column]
        # a number and rows of their own, or the loop is not vectorised
        factor, vector, side = scale[word], vectors[word], sides[column]
        for at in range(DIMENSIONS):
            side[at] = np.int16(np.rint(vector[at] * factor))
        column_lengths[column] = lengths[word]
        for at in range(gram_ends[word], gram_ends[word + 1]):
            gram = grams[at]
            nodes[node, 0], nodes[node, 1], nodes[node, 2] = newest[gram], column, counts[at]
            newest[gram] = node
            node += 1
            bit = np.uint32(1) << np.uint32(gram & 31)
            has_gram[0, gram >> 5] |= bit
            if column >= settled:
                has_gram[1, gram >> 5] |= bit
    state[0] = node


@compile_kernel("void(int16[::1], int16[:, ::1], int16[::1])")
def _products(vector, sides, found):
    """Of a token with columns, in steps of 1024 and within 16 bits."""
    for column in range(len(sides)):
        alike = np.int32(0)
        for at in range(DIMENSIONS):
            alike = np.int32(alike + np.int32(vector[at]) * np.int32(sides[column, at]))
        found[column] = np.int16(min(max(alike >> _SHIFT, -32768), 32767))


@compile_kernel("void(int16[::1], float64, int16[::1])")
def _scale_vector(vector, scale, side):
    """The direction of a word."""
    for at in range(DIMENSIONS):
        side[at] = np.int16(np.rint(vector[at] * scale))


@compile_kernel("void(int32[::1], int32[:, ::1], int32[:, ::1])")
def nodes_in_order(newest, nodes, ordered):
    """Fill `ordered` with the nodes, those of one n-gram side by side: where there are many, they are found sooner."""
    filled = 0
    for gram in range(len(newest)):
        node = np.int64(newest[gram])
        if node >= 0:
            newest[gram] = filled
        while node >= 0:
            ordered[filled] = nodes[node]
            node = np.int64(nodes[node, 0])
            ordered[filled, 0] = filled + 1 if node >= 0 else -1
            filled += 1


@compile_kernel("void(int64, int32[::1], int32[::1], int64[::1], int32[::1], uint32[:, ::1])")
def columns_dropped(count, columns, grams, gram_ends, newest, has_gram):
    """Take all columns back."""
    for column in range(count):
        word = columns[column]
        for at in range(gram_ends[word], gram_ends[word + 1]):
            newest[grams[at]] = -1
            has_gram[:, grams[at] >> 5] = 0


@compile_kernel(
    "int64(int32[::1], int64, boolean, int64, int64, int32[::1], int16[:, ::1], float64[::1], int64[::1], int32[::1],"
    " int64[::1], int16[:, ::1], int32[::1], int32[::1], int64[::1], float64[::1], int16[:, ::1], float64[::1],"
    " int32[::1], uint32[:, ::1], int32[:, ::1], int64, int32[::1], int32[::1], int32[::1], int16[:, ::1],"
    " int32[::1], int64, int32[::1], int32[::1], int16[:, ::1],"
    " int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int16[::1], int64[::1],"
    " int64[::1], int32[::1], int32[::1])"
)
def compared_words(
    words, first, is_for_good, settled, total, columns, vectors, scale, largest, tokens, token_ends,
    table, grams, counts, gram_ends, lengths, sides, column_lengths, newest,
    has_gram, nodes, era, token_era, token_row, token_done, rows,
    listed, common_era, common_token_era, common_token_row, common_rows,
    era_of, done_of, newest_part, part_next, part_begin, part_end, entry_column, entry_value, state,
    shared, touched, products,
):  # fmt: skip
    """Compare words with the columns they were not compared with; returns the first for which there is no room.

    The product of a word's direction with a column's is first estimated from products of the word's tokens, which many
    words share: what rounding did to the direction changes it by at most 8 lengths. Where that may matter it is taken.

    Args:
        words: places of words; more than once is once.
        first: the first of them to compare.
        is_for_good: whether the columns stay, so that products with tokens are wanted again.
        settled: number of columns, the first ones, that most words are compared with elsewhere.
        total: number of columns.
        columns: as for `columns_added`; so are all up to `nodes` that it knows.
        vectors: by word.
        scale: by word.
        largest: by word, the largest component of its vector.
        tokens: of words, end to end.
        token_ends: by word.
        table: vectors of tokens.
        grams: of words.
        counts: of n-grams.
        gram_ends: by word.
        lengths: by word.
        sides: by column.
        column_lengths: by column.
        newest: by n-gram.
        has_gram: by n-gram; see there.
        nodes: see there.
        era: what is noted under another era is void.
        token_era: by token.
        token_row: by token, its row of `rows`, -1: met once, -2: never.
        token_done: by token, the columns that its row holds.
        rows: products of tokens with columns, in steps of 1024.
        listed: common columns of the first columns, as many as are common.
        common_era: era of the common columns.
        common_token_era: of the common columns; so are the next two: whoever has a row, has it of all of them.
        common_token_row: by token.
        common_rows: products of tokens with common columns.
        era_of: by word.
        done_of: by word, the columns it was compared with.
        newest_part: by word, its newest run of entries, or -1.
        part_next: by run.
        part_begin: by run, its first entry.
        part_end: by run, the entry after its last.
        entry_column: by entry, a column whose word is like the word.
        entry_value: by entry, how much, 1-256.
        state: numbers of runs, of entries and of rows.
        shared: zeros, by column: room to work in; so are the next two.
        touched: by column.
        products: by column.
    """
    side = np.empty(DIMENSIONS, np.int16)
    none = np.zeros(total, np.int16)
    # columns that may be alike, and their products; room for one that is written and not kept
    near, exact = np.empty((2, total + 1), np.int32)
    # newest nodes of a word's n-grams, and how often it has these
    heads, times = np.empty((2, _GRAMS), np.int32)
    parts, entries = state[0], state[1]
    for nth in range(first, len(words)):
        word = words[nth]
        if era_of[word] != era:
            era_of[word] = era
            done_of[word] = 0
            newest_part[word] = -1
        start = np.int64(done_of[word])
        if start == total:
            continue
        if parts == len(part_next) or entries + total - start > len(entry_column):
            state[0], state[1] = parts, entries
            return nth
        token_first, token_last = token_ends[word], token_ends[word + 1]
        new, unmet = 0, 0
        for at in range(token_first, token_last):
            token = tokens[at]
            if token_era[token] != era:
                token_era[token] = era
                token_row[token] = -2
            if token_row[token] < 0 and not (
                len(listed) > 0 and common_token_era[token] == common_era and common_token_row[token] >= 0
            ):
                new += 1
                unmet += token_row[token] == -2
        is_single = token_last == token_first + 1
        is_estimated = (
            token_last - token_first <= _MOST_TOKENS
            and largest[word] < _CLIPPED
            and state[2] + token_last - token_first <= len(rows)
            and total <= rows.shape[1]
            and (is_for_good or unmet == 0 or (new == 1 and not is_single))
        )
        for at in range(token_first, token_last):
            if token_row[tokens[at]] == -2:
                token_row[tokens[at]] = -1
        is_formed = False
        if is_estimated:
            products[start:total] = 0
            for place in range(token_first, token_last):
                token = tokens[place]
                row = np.int64(token_row[token])
                if row < 0:
                    row = state[2]
                    token_row[token] = row
                    token_done[token] = 0
                    state[2] += 1
                    if len(listed) > 0 and common_token_era[token] == common_era and common_token_row[token] >= 0:
                        common_row = np.int64(common_token_row[token])
                        for column in range(len(listed)):
                            rows[row, column] = common_rows[common_row, listed[column]]
                        token_done[token] = len(listed)
                _products(table[token], sides[token_done[token] : total], rows[row, token_done[token] : total])
                token_done[token] = total
            # counted from 0, or the loop is not vectorised; four rows at once: sums are stored less often
            sums = products[start:total]
            sums[:] = 0
            for place in range(token_first, token_last, 4):
                one = rows[token_row[tokens[place]], start:total]
                two, three, four = none[start:total], none[start:total], none[start:total]
                if place + 1 < token_last:
                    two = rows[token_row[tokens[place + 1]], start:total]
                if place + 2 < token_last:
                    three = rows[token_row[tokens[place + 2]], start:total]
                if place + 3 < token_last:
                    four = rows[token_row[tokens[place + 3]], start:total]
                for at in range(len(sums)):
                    added = np.int32(np.int32(one[at]) + np.int32(two[at]))
                    added = np.int32(added + np.int32(np.int32(three[at]) + np.int32(four[at])))
                    sums[at] = np.int32(sums[at] + added)
            # what shifting lost is at most one step for each token
            factor = scale[word] * 2**_SHIFT
            slack = _SLACK + factor * (token_last - token_first)
        else:
            _scale_vector(vectors[word], scale[word], side)
            is_formed = True
            for column in range(start, total):
                alike = np.int32(0)
                for at in range(DIMENSIONS):
                    alike = np.int32(alike + np.int32(side[at]) * np.int32(sides[column, at]))
                products[column] = alike
            factor, slack = 1.0, 0.0
        # columns that share an n-gram, then those whose product alone suffices
        found = 0
        is_had = has_gram[np.int64(start >= settled)]
        begin, had = gram_ends[word], 0
        if gram_ends[word + 1] - begin > len(heads):
            heads, times = np.empty((2, 2 * (gram_ends[word + 1] - begin)), np.int32)
        # without a jump, so that what is looked up does not wait for what was looked up before
        own, often = grams[begin : gram_ends[word + 1]], counts[begin : gram_ends[word + 1]]
        for at in range(len(own)):
            gram = np.uint32(own[at])
            heads[had], times[had] = gram, often[at]
            had += np.int64((is_had[gram >> np.uint32(5)] >> (gram & np.uint32(31))) & np.uint32(1))
        for at in range(had):
            heads[at] = newest[np.uint32(heads[at])]
        for at in range(had):
            node = heads[at]
            count = np.int64(times[at])
            while node >= 0 and nodes[node, 1] >= start:
                column = nodes[node, 1]
                if shared[column] == 0:
                    touched[found] = column
                    found += 1
                shared[column] += count * nodes[node, 2]
                node = nodes[node, 0]
        kept = 0
        for at in range(found):
            column = touched[at]
            # at most one step more than either will be; without dividing, which takes long
            length = lengths[word] * column_lengths[column]
            stem = _ONE * shared[column] + length
            most = (max(products[column] * factor + slack, 0.0) * (_ONE / _SQUARE) + 1) * length
            if most * most + stem * stem > _UNLIKE * _UNLIKE * length * length:
                near[kept], exact[kept] = column, products[column]
                kept += 1
            else:
                shared[column] = 0
            products[column] = _LEAST
        least = np.int64(np.floor((_ENOUGH - slack) / factor))
        for begin in range(start, total, _BLOCK):
            block = products[begin : min(begin + _BLOCK, total)]
            highest = np.int32(_LEAST)
            for at in range(len(block)):
                highest = max(highest, block[at])
            if highest >= least:
                # without a jump, for none knows which way it will go
                for at in range(len(block)):
                    near[kept], exact[kept] = begin + at, block[at]
                    kept += np.int64(block[at] >= least)
        if kept and not is_formed:
            _scale_vector(vectors[word], scale[word], side)
        begin = entries
        for nth_kept in range(kept):
            column = np.int64(near[nth_kept])
            if columns[column] == word:
                likeness = np.int64(_ONE)
                shared[column] = 0
            else:
                alike = exact[nth_kept]
                if not is_formed:
                    alike = np.int32(0)
                    for at in range(DIMENSIONS):
                        alike = np.int32(alike + np.int32(side[at]) * np.int32(sides[column, at]))
                likeness = np.int64(np.rint(np.float32(np.float32(max(alike, 0)) * _STEP)))
                if shared[column] > 0:
                    stem = np.int64(np.rint(shared[column] * (_ONE / (lengths[word] * column_lengths[column]))))
                    # of one square the root is known
                    likeness = np.int64(np.rint(np.sqrt(float(likeness * likeness + stem * stem))))
                    shared[column] = 0
            value = min((likeness - _UNLIKE) * _ONE // (_ONE - _UNLIKE), _ONE)
            entry_column[entries], entry_value[entries] = column, value
            entries += np.int64(value > 0)
        done_of[word] = total
        if entries > begin:
            part_begin[parts], part_end[parts] = begin, entries
            part_next[parts] = newest_part[word]
            newest_part[word] = parts
            parts += 1
    state[0], state[1] = parts, entries
    return len(words)
