"""The static word vectors of wordllama, read from its own package: no download, no GPU."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DIMENSIONS = 256


@cache
def _model() -> Any:  # noqa: ANN401 - wordllama has no types
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    import wordllama  # takes a third of a second, and most commands need none of it

    # importing it sets up logging, so that every library's messages would appear on the terminal
    root.setLevel(level)
    root.handlers[:] = handlers
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=folder, disable_download=True)
    # padding would add the unknown token to short words, as often as the longest word beside them has tokens
    model.tokenizer.no_padding()
    return model


@cache
def _token_table() -> np.ndarray[Any, np.dtype[np.int16]]:
    """The vectors of the tokens, in steps of 1/1024 of the largest component."""
    table = _model().embedding
    return np.round(table * (1024 / np.abs(table).max())).astype(np.int16)


def word_vectors(words: pl.Series) -> np.ndarray[Any, np.dtype[np.int16]]:
    """The vector of each word: the sum of the vectors of its tokens. Common words have short ones."""
    out = np.zeros((len(words), DIMENSIONS), np.int32)
    if len(words):
        encoded = _model().tokenizer.encode_batch(words.to_list(), add_special_tokens=False)
        sizes = [len(word.ids) for word in encoded]
        ids = np.fromiter((token for word in encoded for token in word.ids), np.int64, sum(sizes))
        np.add.at(out, np.repeat(np.arange(len(words)), sizes), _token_table()[ids].astype(np.int32))
    return out.clip(-32767, 32767).astype(np.int16)
