"""Prompts and answers weighed by the memories of their project, and the memories nearest to them, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, PLR0915, PLR2004, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.compiled import compiled
from slowwave.transforms.used_pool_kernel import direction, summed, weighed

DIMENSIONS = 256
PROMPT, ANSWER = 1, 2
# Directions kept of each interaction: meaning of prompt, answer and both, wording of answer and both.
SIDES = 5
_ROWS, _MEMORIES = 8, 64


@compiled(
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
            weight = weighed(rarity[frequency[words[at]]], prominence[words[at]])
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
            summed(
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


@compiled(
    "void(int16[:, :, ::1], int16[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int32[:, ::1])"
)
def nearest_memories(sides, memories, at, span_memory, span_from, span_until, is_whole, limit, chosen):
    """The memories nearest to answer and both in meaning and wording, nearest first; ties by place.

    Args:
        sides: by interaction, see `weighed_texts`.
        memories: by memory: direction of the summed vectors, then of the signs.
        at: when each interaction happened.
        span_memory: memories that were eligible from …
        span_from: … this time …
        span_until: … to before that one.
        is_whole: whether all were eligible all the time.
        limit: memories kept of each interaction.
        chosen: filled by interaction with `limit` places of memories, -1 none.
    """
    count = len(memories)
    queries = np.empty((_ROWS, 2 * DIMENSIONS), np.int16)
    best = np.empty((_ROWS, limit), np.int32)
    size = np.empty(_ROWS, np.int64)
    eligible = np.ones((_ROWS, count), np.bool_)
    for first in range(0, len(sides), _ROWS):
        rows = min(_ROWS, len(sides) - first)
        for nth in range(rows):
            row = first + nth
            size[nth] = 0
            chosen[row, :] = -1
            for place in range(DIMENSIONS):
                queries[nth, place] = sides[row, 1, place] + sides[row, 2, place]
                queries[nth, DIMENSIONS + place] = sides[row, 3, place] + sides[row, 4, place]
            if not is_whole:
                eligible[nth, :] = False
                for span in range(len(span_memory)):
                    if span_from[span] <= at[row] and at[row] < span_until[span]:
                        eligible[nth, span_memory[span]] = True
        for begin in range(0, count, _MEMORIES):
            end = min(count, begin + _MEMORIES)
            for nth in range(rows):
                held = size[nth]
                for memory in range(begin, end):
                    if not eligible[nth, memory]:
                        continue
                    score = np.int32(0)
                    for place in range(2 * DIMENSIONS):
                        score = np.int32(score + np.int32(queries[nth, place]) * np.int32(memories[memory, place]))
                    if held == limit and score <= best[nth, limit - 1]:
                        continue
                    place = held if held < limit else limit - 1
                    if held < limit:
                        held += 1
                    while place > 0 and best[nth, place - 1] < score:
                        best[nth, place] = best[nth, place - 1]
                        chosen[first + nth, place] = chosen[first + nth, place - 1]
                        place -= 1
                    best[nth, place] = score
                    chosen[first + nth, place] = memory
                size[nth] = held
