"""Words of memories' texts, for the compiled `used/1`."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.evidence.used.columns import MOST_WORDS
from slowwave.transforms.evidence.used.pool import uncapitalised_words
from slowwave.transforms.evidence.used.vocabulary import Vocabulary


class Contents:
    """Words of memories' texts, in slots by order of arrival; `slots` is by text looked up, -1: not yet."""

    def __init__(self) -> None:
        self.slots = np.zeros(0, np.int64)
        self._known = pl.DataFrame(schema={"content": pl.String, "slot": pl.Int64})
        self._kept = 0
        self.words = np.zeros(0, np.int32)
        self.ends = np.zeros(1, np.int64)
        self.plain = np.zeros(0, np.int32)
        self.plain_ends = np.zeros(1, np.int64)

    def look_up(self, contents: pl.Series) -> None:
        """These texts are spoken of."""
        found = contents.to_frame("content").join(self._known, on="content", how="left", maintain_order="left")
        self.slots = found["slot"].fill_null(-1).to_numpy(writable=True)

    def keep(self) -> None:
        """Those known now outlast `forget_later`."""
        self._kept = len(self._known)

    def most_are_gone(self) -> bool:
        """Whether of those that are kept less than half are spoken of."""
        return 2 * int(((self.slots >= 0) & (self.slots < self._kept)).sum()) < self._kept

    def forget_later(self) -> None:
        """Forget what came after those that are kept."""
        self._known = self._known.head(self._kept)
        self.ends, self.plain_ends = self.ends[: self._kept + 1], self.plain_ends[: self._kept + 1]
        self.words, self.plain = self.words[: self.ends[-1]], self.plain[: self.plain_ends[-1]]

    def add(self, texts: Integers, contents: pl.Series, vocabulary: Vocabulary) -> None:
        """Take in those of the texts looked up that are new."""
        new = np.unique(texts[self.slots[texts] < 0])
        if not len(new):
            return
        self.slots[new] = np.arange(len(new)) + len(self.ends) - 1
        added = contents.gather(new)
        self._known = pl.concat([self._known, pl.DataFrame({"content": added, "slot": self.slots[new]})])
        words, ends = vocabulary.words_of(added)
        words = _sorted_if_many(words, ends, vocabulary)
        plain, plain_ends = vocabulary.words_of(uncapitalised_words(added))
        self.ends = np.concatenate([self.ends, ends[1:] + self.ends[-1]])
        self.plain_ends = np.concatenate([self.plain_ends, plain_ends[1:] + self.plain_ends[-1]])
        self.words, self.plain = np.concatenate([self.words, words]), np.concatenate([self.plain, plain])


def _sorted_if_many(words: NDArray[np.int32], ends: Integers, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Texts of so many words that the most telling are chosen hold theirs in order: it settles ties."""
    sizes = np.diff(ends)
    many = np.repeat(sizes > MOST_WORDS, sizes)
    if not many.any():
        return words
    text = np.repeat(np.arange(len(sizes)), sizes)[many]
    frame = pl.DataFrame({"text": text, "place": words[many], "word": vocabulary.words(words[many])})
    words[many] = frame.sort("text", "word")["place"].to_numpy()
    return words
