"""Ids and texts that are looked for in the texts of rows, or of files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.transforms.language.text_windows import BETWEEN, Numbers, WindowSet

# Of a shorter id every text would tell: it is looked for as a whole value only.
_LEAST_ID = 4


class Sought:
    """Ids and texts that are looked for in rows.

    An id stands in a row as a value, or in a text between what cannot be part of it.
    """

    def __init__(self, ids: Iterable[str], windows: WindowSet) -> None:
        self.ids = sorted({one for one in ids if one})
        self.windows = windows
        self._forms = {one: _form(one) for one in self.ids}

    def match_rows(self, rows: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which rows name one of the ids, or hold one of the texts."""
        hits = np.zeros(len(rows), np.bool_)
        hits[self.windows.find_windows(rows)[0]] = True
        for place, _ in self.find_named_ids(rows):
            hits[place] = True
        return hits

    def find_named_ids(self, rows: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The places of rows, and the ids that each names."""
        if not self.ids or not rows:
            return
        texts = pl.Series(rows, dtype=pl.String)
        maybe = texts.str.contains_any(self.ids).arg_true()
        if maybe.is_empty():
            return
        several = texts.gather(maybe).str.extract_many(self.ids, overlapping=True)
        for place, ids in zip(maybe, several, strict=True):
            for one in ids.unique().sort():
                if self._forms[one].search(rows[int(place)]):
                    yield int(place), one

    def find_repeated_windows(self, rows: Sequence[str]) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The places of rows that hold one of the texts, and which of their windows those are."""
        return self.windows.find_windows(rows)


def _form(one: str) -> re.Pattern[str]:
    if len(one) < _LEAST_ID:
        return re.compile(f"{BETWEEN}{re.escape(one)}{BETWEEN}")
    return re.compile(rf"(?<![\w-]){re.escape(one)}(?![\w-])")
