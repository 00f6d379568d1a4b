"""Columns of projects that were left and may come again, with what is like their words: for the compiled `used/1`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.columns import ByWord, Columns

# Of all together. Who finds no room is compared anew each time: of many that come in turn, none would be found again if
# they took each other's place.
_MOST_BYTES = 128 * 2**20


class _Left(NamedTuple):
    """What `columns` hold, and what was noted of them by word and by common column."""

    columns: Columns
    words: Integers
    done: NDArray[np.int32]
    newest_part: NDArray[np.int32]
    run_of_common: NDArray[np.int32]


class LeftProjects:
    """By project, as long as words and common columns stay at their places."""

    def __init__(self) -> None:
        self._left: dict[str, _Left] = {}
        self._bytes = 0

    def forget(self) -> None:
        """Keep none: places have changed."""
        self._left.clear()
        self._bytes = 0

    def leave(self, project: str, columns: Columns, by_word: ByWord, run_of_common: NDArray[np.int32]) -> bool:
        """Keep the columns, if there is room."""
        if self._bytes + columns.bytes > _MOST_BYTES:
            return False
        words = np.flatnonzero(by_word.era_of == columns.era)
        noted = by_word.done_of[words], by_word.newest_part[words]
        self._left[project] = _Left(columns, words, *noted, run_of_common.copy())
        self._bytes += columns.bytes
        return True

    def enter(self, project: str, words: int, by_word: ByWord, run_of_common: NDArray[np.int32]) -> Columns | None:
        """The columns as they were left, if they were kept and are not many more than the `words` that are wanted."""
        left = self._left.pop(project, None)
        if left is None:
            return None
        columns = left.columns
        self._bytes -= columns.bytes
        if columns.count > 2 * words:
            return None
        columns.nodes_count[:] = 0  # what is noted by n-gram is noted anew
        by_word.column_of[columns.words[: columns.count]] = np.arange(columns.count)
        by_word.era_of[left.words] = columns.era
        by_word.done_of[left.words], by_word.newest_part[left.words] = left.done, left.newest_part
        run_of_common[:] = left.run_of_common
        return columns
