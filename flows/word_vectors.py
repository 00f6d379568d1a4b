"""The static word vectors of wordllama, read from its own package: no download, no GPU."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSIONS = 256
_TENSOR = "embedding.weight"


@cache
def _folder() -> Path:
    # found, not imported: that loads what downloads models, which takes twice as long as reading this one
    (folder,) = find_spec("wordllama").submodule_search_locations  # type: ignore[union-attr] - it is installed
    return Path(folder)


@cache
def _tokenizer() -> Tokenizer:
    # its threads wait for each other by spinning, which costs more than they save
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    # padding would add the unknown token to short words, as often as the longest word beside them has tokens
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@cache
def _embedding() -> tuple[np.ndarray[Any, Any], Any]:
    """The vectors of the tokens, and what brings their largest component to 1024."""
    from safetensors import safe_open

    with safe_open(_folder() / "weights" / f"l2_supercat_{DIMENSIONS}.safetensors", framework="np") as weights:
        table = weights.get_tensor(_TENSOR)
    # without their sign, halves are in the order of their bits, which are compared 30 times as fast
    largest = (table.view(np.uint16) & 0x7FFF).max().view(np.float16)
    return table, 1024 / largest.astype(np.float32)


def _token_vectors(ids: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int16]]:
    """The vectors of tokens, in steps of 1/1024 of the largest component."""
    table, scale = _embedding()
    seen, places = np.unique(ids, return_inverse=True)
    return np.round(table[seen].astype(np.float32) * scale).astype(np.int16)[places]


class _Kept:
    """Vectors told before: what is said tonight is said in the same words again and again."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.vectors = np.zeros((0, DIMENSIONS), np.int16)


_kept = _Kept()
_MOST_KEPT = 100_000  # 50 MB


def word_vectors(words: pl.Series) -> np.ndarray[Any, np.dtype[np.int16]]:
    """The vector of each word: the sum of the vectors of its tokens. Common words have short ones."""
    listed, places = words.to_list(), _kept.places
    new = [word for word in dict.fromkeys(listed) if word not in places]
    if len(places) + len(new) > _MOST_KEPT:
        return _told(listed)
    if new:
        _kept.vectors = np.concatenate([_kept.vectors, _told(new)])
        places.update(zip(new, range(len(places), len(places) + len(new)), strict=True))
    return _kept.vectors[np.fromiter((places[word] for word in listed), np.int64, len(listed))]


def _told(words: list[str]) -> np.ndarray[Any, np.dtype[np.int16]]:
    out = np.zeros((len(words), DIMENSIONS), np.int32)
    if words:
        encoded = _tokenizer().encode_batch_fast(words, add_special_tokens=False)
        ids = [word.ids for word in encoded]
        sizes = list(map(len, ids))
        flat = np.fromiter(chain.from_iterable(ids), np.int64, sum(sizes))
        np.add.at(out, np.repeat(np.arange(len(words)), sizes), _token_vectors(flat).astype(np.int32))
    return out.clip(-32767, 32767).astype(np.int16)
