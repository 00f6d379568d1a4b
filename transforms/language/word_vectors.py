"""Static word vectors, as integers: sums and products of them are exact, whatever the engine and its threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Bytes, Integers

# words -> len(words) x dimensions, int16
WordVectors = Callable[[pl.Series], "np.ndarray[Any, np.dtype[np.int16]]"]


@runtime_checkable
class TokenVectors(Protocol):
    """Word vectors that are sums over the tokens of a word, within 16 bits."""

    def __call__(self, words: pl.Series) -> NDArray[np.int16]:
        """Vectors of words."""
        ...

    @property
    def table(self) -> NDArray[np.int16]:
        """Vectors of the tokens."""
        ...

    def tokens(self, text: Bytes, ends: Integers) -> tuple[NDArray[np.int32], Integers]:
        """Tokens of words, end to end, and 0 and where each word's end; the words are UTF-8, with ends alike."""
        ...
