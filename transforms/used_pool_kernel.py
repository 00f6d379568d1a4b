"""The memories of one project as `used/1` compares them: `used_pool.compared_memories`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.compiled import compiled

MAX_WORDS = 48
DIMENSIONS = 256
_LENGTH = 2000.0
_INT32 = 2**31 - 1


@compiled("float64(float64[::1], int64)")
def _sum_of_128(values, first):
    """As NumPy adds up a row: eight sums, then these in pairs."""
    a, b, c, d = values[first], values[first + 1], values[first + 2], values[first + 3]
    e, f, g, h = values[first + 4], values[first + 5], values[first + 6], values[first + 7]
    for at in range(first + 8, first + 128, 8):
        a += values[at]
        b += values[at + 1]
        c += values[at + 2]
        d += values[at + 3]
        e += values[at + 4]
        f += values[at + 5]
        g += values[at + 6]
        h += values[at + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@compiled("void(int64[::1], float64[::1], float64[::1], int16[:])")
def direction(sums, values, squares, found):
    """`used_words.directions` of one sum of 256 dimensions; `values` and `squares` are room to work in."""
    for at in range(DIMENSIONS):
        value = float(sums[at])
        values[at] = value
        squares[at] = value * value
    length = np.sqrt(_sum_of_128(squares, 0) + _sum_of_128(squares, 128))
    scale = _LENGTH / max(length, 1.0)
    for at in range(DIMENSIONS):
        found[at] = np.int16(np.rint(values[at] * scale))


@compiled(
    "void(int32[::1], int32[::1], int64[::1], int16[:, ::1], int8[:, ::1], int32[::1], int32[::1], int64[::1],"
    " int64[::1])"
)
def summed(words, weights, largest, vectors, signs, narrow, narrow_signs, meaning, wording):
    """Sums of the vectors and of the signs of some words, by weight; exact, in 32 bits where these suffice."""
    most = 0
    for nth in range(len(words)):
        most += np.int64(weights[nth]) * max(largest[words[nth]], 1)
    if most < _INT32:
        narrow[:] = 0
        narrow_signs[:] = 0
        for nth in range(len(words)):
            word = words[nth]
            weight = np.int32(weights[nth])
            for at in range(DIMENSIONS):
                narrow[at] = np.int32(narrow[at] + np.int32(weight * np.int32(vectors[word, at])))
            for at in range(DIMENSIONS):
                narrow_signs[at] = np.int32(narrow_signs[at] + np.int32(weight * np.int32(signs[word, at])))
        for at in range(DIMENSIONS):
            meaning[at] = np.int64(narrow[at])
            wording[at] = np.int64(narrow_signs[at])
        return
    meaning[:] = 0
    wording[:] = 0
    for nth in range(len(words)):
        word = words[nth]
        weight = np.int64(weights[nth])
        for at in range(DIMENSIONS):
            meaning[at] += weight * np.int64(vectors[word, at])
            wording[at] += weight * np.int64(signs[word, at])


@compiled("int64(float64, float64)")
def weighed(rarity, prominence):
    """Weight of a word."""
    return max(np.int64(np.rint(rarity * prominence)), 1)


@compiled("void(int32[::1], int32[::1], boolean[::1])")
def forgotten(known, frequency, is_plain):
    """Undo what `prepared` noted by word, of the memories before."""
    for nth in range(known[len(known) - 1]):
        frequency[known[nth]] = 0
        is_plain[known[nth]] = False


@compiled(
    "int64(int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], float64[::1], float64[::1], int64[::1],"
    " int16[:, ::1], int8[:, ::1], int32[::1], boolean[::1], int32[::1], int32[::1], int32[::1], int64, int64[::1],"
    " boolean[::1], int32[::1], int64[::1], int64[::1], int64[::1], int16[:, ::1])"
)
def prepared(
    texts, words, word_ends, plain, plain_ends, rarity, prominence, largest, vectors, signs,
    frequency, is_plain, known, column_of, columns, columns_count, weights, is_name,
    kept, kept_ends, masses, squares, sides,
):  # fmt: skip
    """Count the words of the memories, weigh them and keep each memory's most telling ones; returns how many columns.

    Args:
        texts: of each memory, its text.
        words: distinct words of the texts, end to end; of a text with more than 48, sorted.
        word_ends: 0, and where each text ends in `words`.
        plain: words that a text writes without a capital.
        plain_ends: 0, and where each text ends in `plain`.
        rarity: by number of memories that have a word.
        prominence: by word.
        largest: by word, the largest component of its vector.
        vectors: by word.
        signs: by word.
        frequency: by word, filled: memories that have it.
        is_plain: by word, filled: written without a capital.
        known: filled with the words for which something was noted; its last place holds how many.
        column_of: by word, -1 or its column; those of words that are compared are added.
        columns: by column, its word.
        columns_count: how many there are.
        weights: by column, filled.
        is_name: by column, filled: never written without a capital, here.
        kept: filled: columns of the memories' most telling words, end to end.
        kept_ends: 0, and where each memory ends in `kept`.
        masses: by memory, filled; so is `squares`.
        squares: sum of squared weights.
        sides: by memory, filled: direction of the summed vectors, then of the signs.
    """
    noted = 0
    for nth in range(len(texts)):
        text = texts[nth]
        for at in range(word_ends[text], word_ends[text + 1]):
            word = words[at]
            if frequency[word] == 0 and not is_plain[word]:
                known[noted] = word
                noted += 1
            frequency[word] += 1
        for at in range(plain_ends[text], plain_ends[text + 1]):
            word = plain[at]
            if frequency[word] == 0 and not is_plain[word]:
                known[noted] = word
                noted += 1
            is_plain[word] = True
    known[len(known) - 1] = noted
    weights[:columns_count] = 0
    is_name[:columns_count] = False
    longest = 1
    for nth in range(len(texts)):
        longest = max(longest, word_ends[texts[nth] + 1] - word_ends[texts[nth]])
    own = np.empty(longest, np.int32)
    weight = np.empty(longest, np.int32)
    meaning = np.empty(DIMENSIONS, np.int64)
    wording = np.empty(DIMENSIONS, np.int64)
    narrow = np.empty(DIMENSIONS, np.int32)
    narrow_signs = np.empty(DIMENSIONS, np.int32)
    values = np.empty(DIMENSIONS, np.float64)
    squared = np.empty(DIMENSIONS, np.float64)
    filled = 0
    for nth in range(len(texts)):
        text = texts[nth]
        count = word_ends[text + 1] - word_ends[text]
        for at in range(count):
            word = words[word_ends[text] + at]
            own[at] = word
            weight[at] = weighed(rarity[frequency[word]], prominence[word])
        summed(own[:count], weight[:count], largest, vectors, signs, narrow, narrow_signs, meaning, wording)
        direction(meaning, values, squared, sides[nth, :DIMENSIONS])
        direction(wording, values, squared, sides[nth, DIMENSIONS:])
        if count > MAX_WORDS:
            order = np.argsort(-weight[:count].astype(np.int64), kind="mergesort")
        else:
            order = np.arange(count)
        mass, square = 0, 0
        for place in order[:MAX_WORDS]:
            word = own[place]
            column = column_of[word]
            if column < 0:
                column = columns_count
                column_of[word] = column
                columns[column] = word
                columns_count += 1
            own_weight = np.int64(weight[place])
            weights[column] = own_weight
            is_name[column] = not is_plain[word]
            kept[filled] = column
            filled += 1
            mass += own_weight
            square += own_weight * own_weight
        kept_ends[nth + 1] = filled
        masses[nth] = mass
        squares[nth] = square
    return columns_count
