"""Which memories of one project are nearest to an answer: compiled."""

# ruff: noqa: ANN001, ANN201, C901, PLR0912, RUF100 - see the signatures; one loop
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

DIMENSIONS = 256
_LEAST = -(2**31)
_ROWS, _MEMORIES = 8, 64


@compile_kernel(
    "void(int16[:, :, ::1], int16[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64,"
    " int32[:, ::1])"
)
def nearest_passages(sides, passages, firsts, at, span_memory, span_from, span_until, is_whole, limit, chosen):
    """The memories nearest to answer and both in meaning and wording, each by its nearest passage, nearest first.

    Ties go by place.

    Args:
        sides: by interaction, see `pool_kernel.weighed_texts`.
        passages: of the memories: direction of the summed vectors, then of the signs.
        firsts: by memory, its first passage; and the number of passages.
        at: when each interaction happened.
        span_memory: memories that were eligible from …
        span_from: … this time …
        span_until: … to before that one.
        is_whole: whether all were eligible all the time.
        limit: memories kept of each interaction.
        chosen: filled by interaction with `limit` places of passages, -1 none.
    """
    count = len(firsts) - 1
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
                    highest = np.int32(_LEAST)
                    nearest = np.int64(0)
                    for passage in range(firsts[memory], firsts[memory + 1]):
                        score = np.int32(0)
                        for place in range(2 * DIMENSIONS):
                            score = np.int32(score + np.int32(queries[nth, place]) * np.int32(passages[passage, place]))
                        if score > highest:
                            highest, nearest = score, passage
                    if held == limit and highest <= best[nth, limit - 1]:
                        continue
                    place = held if held < limit else limit - 1
                    if held < limit:
                        held += 1
                    while place > 0 and best[nth, place - 1] < highest:
                        best[nth, place] = best[nth, place - 1]
                        chosen[first + nth, place] = chosen[first + nth, place - 1]
                        place -= 1
                    best[nth, place] = highest
                    chosen[first + nth, place] = nearest
                size[nth] = held
