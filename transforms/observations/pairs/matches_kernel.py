"""How well the words of two texts match: `matches.matched_words`, compiled."""

# ruff: noqa: ANN001, ANN201, ANN202, PLR2004, RUF100 - see the signatures
# pyright: reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.compiled import compile_kernel

_FULL = np.int32(127 * 127)


@compile_kernel(
    "void(int32[:, ::1], int32[:, ::1], int8[:, ::1], int64[::1],"
    " int64[:, ::1], int64[:, ::1], boolean[:, ::1], boolean[:, ::1])"
)
def fill_coverage(words, other_words, units, bases, best, other_best, is_same, other_is_same):
    """Fill what is 0 and false with how well each word of a pair's texts is covered by the other text.

    Args:
        words: by pair those of the one text, those that are not -1 first.
        other_words: of the other text.
        units: by word.
        bases: by word.
        best: by pair and word of the one text, filled; so are the next three.
        other_best: of the other text.
        is_same: whether the other text has it in some form.
        other_is_same: of the other text.
    """
    size = units.shape[1]
    for pair in range(len(words)):
        for at in range(words.shape[1]):
            word = words[pair, at]
            if word < 0:
                break
            for place in range(other_words.shape[1]):
                other = other_words[pair, place]
                if other < 0:
                    break
                if bases[word] == bases[other]:
                    best[pair, at] = other_best[pair, place] = np.int64(_FULL)
                    is_same[pair, at] = other_is_same[pair, place] = True
                    continue
                alike = np.int32(0)
                for part in range(size):
                    alike = np.int32(alike + np.int32(units[word, part]) * np.int32(units[other, part]))
                covered = np.int64(min(alike, _FULL))
                best[pair, at] = max(best[pair, at], covered)
                other_best[pair, place] = max(other_best[pair, place], covered)
