"""Memories, prompts and answers of one project as `used/1` compares them: compiled.

Beside each other in one file, for numba keeps a loop until its own file changes, whatever becomes of those it calls.
"""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# numba gives `_prefetch_row` its context; what LLVM is told in has no public name
# pyright: reportMissingParameterType=false, reportCallIssue=false, reportPrivateImportUsage=false

from __future__ import annotations

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from slowwave.transforms.core.compiled import compile_kernel

MAX_WORDS = 48
DIMENSIONS = 256
_LENGTH = 2000.0
_INT32 = 2**31 - 1
PROMPT, ANSWER = 1, 2
# Directions kept of each interaction: meaning of prompt, answer and both, wording of answer and both.
SIDES = 5
# What comes from memory at once, and so many words ahead of those that are summed.
_LINE, _AHEAD = 64, 6


@intrinsic
def _prefetch_row(typing_context, rows, row):  # noqa: ARG001 - numba gives it
    """Have a row brought from memory, in the meantime: it is of 256 numbers."""

    def generate_code(context, builder, signature, arguments):
        of_array = signature.args[0]
        array = context.make_array(of_array)(context, builder, arguments[0])
        size = context.get_abi_sizeof(context.get_data_type(of_array.dtype)) * DIMENSIONS
        begin = builder.ptrtoint(array.data, cgutils.intp_t)
        begin = builder.add(begin, builder.mul(arguments[1], cgutils.intp_t(size)))
        pointer, flag = cgutils.voidptr_t, cgutils.int32_t
        signed = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [pointer, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], signed)
        for at in range(0, size, _LINE):
            place = builder.inttoptr(builder.add(begin, cgutils.intp_t(at)), pointer)
            # to read, to be used again soon, data
            builder.call(prefetch, [place, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(rows, types.int64), generate_code


@compile_kernel("float64(float64[::1], int64)")
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


@compile_kernel("void(int64[::1], float64[::1], float64[::1], int16[:])")
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


@compile_kernel(
    "void(int32[::1], int32[::1], int64[::1], int16[:, ::1], int8[:, ::1], int32[::1], int32[::1], int64[::1],"
    " int64[::1])"
)
def sum_vectors(words, weights, largest, vectors, signs, narrow, narrow_signs, meaning, wording):
    """Sums of the vectors and of the signs of some words, by weight; exact, in 32 bits where these suffice."""
    most = 0
    for nth in range(min(len(words), _AHEAD)):
        _prefetch_row(vectors, np.int64(words[nth]))
        _prefetch_row(signs, np.int64(words[nth]))
    for nth in range(len(words)):
        most += np.int64(weights[nth]) * max(largest[words[nth]], 1)
    if most < _INT32:
        narrow[:] = 0
        narrow_signs[:] = 0
        # two at a time: a sum is loaded and stored half as often, and one word's vectors come while others are awaited
        for nth in range(1, len(words), 2):
            for later in range(nth - 1 + _AHEAD, min(nth + 1 + _AHEAD, len(words))):
                _prefetch_row(vectors, np.int64(words[later]))
                _prefetch_row(signs, np.int64(words[later]))
            weight, other = np.int32(weights[nth - 1]), np.int32(weights[nth])
            vector, other_vector = vectors[words[nth - 1]], vectors[words[nth]]
            for at in range(DIMENSIONS):
                added = np.int32(weight * np.int32(vector[at])) + np.int32(other * np.int32(other_vector[at]))
                narrow[at] = np.int32(narrow[at] + added)
            sign, other_sign = signs[words[nth - 1]], signs[words[nth]]
            for at in range(DIMENSIONS):
                added = np.int32(weight * np.int32(sign[at])) + np.int32(other * np.int32(other_sign[at]))
                narrow_signs[at] = np.int32(narrow_signs[at] + added)
        if len(words) % 2 == 1:
            weight, vector, sign = np.int32(weights[-1]), vectors[words[-1]], signs[words[-1]]
            for at in range(DIMENSIONS):
                narrow[at] = np.int32(narrow[at] + np.int32(weight * np.int32(vector[at])))
                narrow_signs[at] = np.int32(narrow_signs[at] + np.int32(weight * np.int32(sign[at])))
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


@compile_kernel("int64(float64, float64)")
def word_weight(rarity, prominence):
    """Weight of a word."""
    return max(np.int64(np.rint(rarity * prominence)), 1)


@compile_kernel("void(int32[::1], int32[::1], boolean[::1])")
def reset_words(known, frequency, is_plain):
    """Undo what `prepare_pool` noted by word, of the memories before."""
    for nth in range(known[len(known) - 1]):
        frequency[known[nth]] = 0
        is_plain[known[nth]] = False


@compile_kernel(
    "int64(int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], float64[::1], float64[::1], int64[::1],"
    " int16[:, ::1], int8[:, ::1], int32[::1], boolean[::1], int32[::1], int32[::1], int32[::1], int64, int64[::1],"
    " boolean[::1], int32[::1], int64[::1], int64[::1], int64[::1], int16[:, ::1])"
)
def prepare_pool(
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
            weight[at] = word_weight(rarity[frequency[word]], prominence[word])
        sum_vectors(own[:count], weight[:count], largest, vectors, signs, narrow, narrow_signs, meaning, wording)
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


@compile_kernel(
    "void(int64, int64, int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], float64[::1], float64[::1],"
    " int64[::1], int16[:, ::1], int8[:, ::1], uint8[::1], int32[::1], int32[::1], uint8[::1], int64[::1],"
    " int64[:, ::1], int64[:, ::1], int16[:, :, ::1])"
)
def weighed_texts(
    first, last, prompts, prompt_ends, answers, answer_ends, frequency, rarity, prominence,
    largest, vectors, signs, mark, words, weights, marks, ends,
    masses, squares, sides,
):  # fmt: skip
    """The words of interactions `first` to `last` with their weights, and the directions of their sums.

    Args:
        first: interaction.
        last: the one after the last.
        prompts: distinct words of the prompts, end to end.
        prompt_ends: 0, and where each prompt ends in `prompts`.
        answers: as `prompts`.
        answer_ends: as `prompt_ends`.
        frequency: by word, the memories that have it.
        rarity: by number of memories that have a word.
        prominence: of words.
        largest: of words, the largest component of the vector.
        vectors: of words.
        signs: of words.
        mark: by word, zeros: room to work in.
        words: filled with the distinct words of each interaction, end to end.
        weights: of `words`.
        marks: of `words`: 1 in the prompt, 2 in the answer, 3 in both.
        ends: filled: 0, and where each interaction ends in `words`.
        masses: filled by interaction: of prompt, answer and both; so are `squares`.
        squares: sums of squared weights.
        sides: filled by interaction: meaning of prompt, answer, both; wording of answer, both.
    """
    # meaning and wording of the words of the prompt alone, then of both, then of the answer alone
    sums = np.empty((6, DIMENSIONS), np.int64)
    total = np.empty(DIMENSIONS, np.int64)
    narrow = np.empty(DIMENSIONS, np.int32)
    narrow_signs = np.empty(DIMENSIONS, np.int32)
    values = np.empty(DIMENSIONS, np.float64)
    squared = np.empty(DIMENSIONS, np.float64)
    filled = 0
    for row in range(first, last):
        nth = row - first
        begin = filled
        for at in range(answer_ends[row], answer_ends[row + 1]):
            mark[answers[at]] = ANSWER
        # words of the prompt alone, of both, of the answer alone
        for at in range(prompt_ends[row], prompt_ends[row + 1]):
            if mark[prompts[at]] == 0:
                words[filled] = prompts[at]
                marks[filled] = PROMPT
                filled += 1
        only_prompt = filled
        for at in range(prompt_ends[row], prompt_ends[row + 1]):
            if mark[prompts[at]] == ANSWER:
                mark[prompts[at]] = 0
                words[filled] = prompts[at]
                marks[filled] = PROMPT | ANSWER
                filled += 1
        in_both = filled
        for at in range(answer_ends[row], answer_ends[row + 1]):
            if mark[answers[at]] == ANSWER:
                mark[answers[at]] = 0
                words[filled] = answers[at]
                marks[filled] = ANSWER
                filled += 1
        masses[nth, :] = 0
        squares[nth, :] = 0
        for at in range(begin, filled):
            weight = word_weight(rarity[frequency[words[at]]], prominence[words[at]])
            weights[at] = weight
            masses[nth, 2] += weight
            squares[nth, 2] += weight * weight
            if marks[at] & PROMPT:
                masses[nth, 0] += weight
                squares[nth, 0] += weight * weight
            if marks[at] & ANSWER:
                masses[nth, 1] += weight
                squares[nth, 1] += weight * weight
        bounds = (begin, only_prompt, in_both, filled)
        for part in range(3):
            sum_vectors(
                words[bounds[part] : bounds[part + 1]], weights[bounds[part] : bounds[part + 1]], largest, vectors,
                signs, narrow, narrow_signs, sums[2 * part], sums[2 * part + 1],
            )  # fmt: skip
        for side in range(SIDES):
            if side == 0:
                for at in range(DIMENSIONS):
                    total[at] = sums[0, at] + sums[2, at]
            elif side == 1:
                for at in range(DIMENSIONS):
                    total[at] = sums[4, at] + sums[2, at]
            elif side == 2:
                for at in range(DIMENSIONS):
                    total[at] = sums[0, at] + sums[2, at] + sums[4, at]
            elif side == 3:
                for at in range(DIMENSIONS):
                    total[at] = sums[5, at] + sums[3, at]
            else:
                for at in range(DIMENSIONS):
                    total[at] = sums[1, at] + sums[3, at] + sums[5, at]
            direction(total, values, squared, sides[nth, side])
        ends[nth + 1] = filled
