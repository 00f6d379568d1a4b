"""Every run of 40 characters of texts, as numbers: to tell whether a text stands anywhere else, whole or in part.

Case and white space do not count. A window's number is a polynomial over the characters, mixed, modulo 2**64, so that
the windows of a text are two sums apart from each other; two different windows meet once in 10**19.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

WINDOW = 40
Numbers = npt.NDArray[np.uint64]

_SPACE = re.compile(r"\s+")
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
# Characters that are looked at together: the powers of as many are held.
_CHUNK = 2**18
# Windows are first looked for in a table by their first bits, in which one place in sixteen is taken.
_SPARE_BITS, _LEAST_BITS, _MOST_BITS = 4, 8, 27
# No character, and so in no window: it parts texts that are looked at together.
BETWEEN = "\uffff"


def normalise_text(text: str) -> str:
    """A text as windows see it."""
    return _SPACE.sub(" ", text).lower()


def text_windows(texts: Sequence[str]) -> Numbers:
    """The numbers of all windows of these texts, sorted, each once."""
    found = [_windows(normalise_text(text.replace(BETWEEN, " ")))[0] for text in texts if len(text) >= WINDOW]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)


class WindowSet:
    """Windows that are looked for in other texts."""

    def __init__(self, windows: Numbers) -> None:
        self.windows = windows
        bits = min(max(len(windows).bit_length() + _SPARE_BITS, _LEAST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(2**bits, np.bool_)
        self._table[windows >> self._shift] = True

    def __len__(self) -> int:
        return len(self.windows)

    def find_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The places of the texts that have one of the windows, and which windows were found, sorted, each once.

        A text may be several with `BETWEEN` between them: no window reaches over that.
        """
        if not len(self.windows) or not texts:
            return np.empty(0, np.int64), np.empty(0, np.uint64)
        clean = [normalise_text(text) for text in texts]
        ends = np.cumsum([len(text) + 1 for text in clean])
        numbers, starts = _windows(BETWEEN.join(clean))
        maybe = np.flatnonzero(self._table[numbers >> self._shift])
        numbers, starts = numbers[maybe], starts[maybe]
        at = np.minimum(np.searchsorted(self.windows, numbers), len(self.windows) - 1)
        hits = self.windows[at] == numbers
        places = np.unique(np.searchsorted(ends, starts[hits], side="right"))
        return places, np.unique(numbers[hits])

    def without(self, others: Numbers) -> WindowSet:
        """Those of the windows that are none of the others."""
        return WindowSet(np.setdiff1d(self.windows, others, assume_unique=True))


def _windows(text: str) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """The numbers of a text's windows, and where each begins."""
    code_points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    count = len(code_points) - WINDOW + 1
    if count <= 0:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    ends = [(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK)]
    found = [_chunk_windows(code_points[start : end + WINDOW - 1]) for start, end in ends]
    return np.concatenate(found), np.arange(count, dtype=np.int64)


def _chunk_windows(code_points: npt.NDArray[np.uint32]) -> Numbers:
    length = len(code_points)
    with np.errstate(over="ignore"):
        sums = np.zeros(length + 1, np.uint64)
        np.cumsum(_mix_bits(code_points.astype(np.uint64)) * _powers(_BASE, length), out=sums[1:])
        return _mix_bits((sums[WINDOW:] - sums[:-WINDOW]) * _powers(_INVERSE, length - WINDOW + 1))


def _powers(base: int, count: int) -> Numbers:
    return _all_powers(base)[:count]


@cache
def _all_powers(base: int) -> Numbers:
    powers = np.full(_CHUNK + WINDOW, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers)


def _mix_bits(values: Numbers) -> Numbers:
    """splitmix64: values that differ little become numbers that have nothing in common."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_MIX[0])
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_MIX[1])
    return values ^ (values >> np.uint64(31))
