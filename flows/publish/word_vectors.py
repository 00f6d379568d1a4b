"""The static word vectors of wordllama, read from its own package: no download, no GPU."""

from __future__ import annotations

import os
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.core.compiled import kernel

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from slowwave.transforms.core.arrays import Bytes, Integers

DIMENSIONS = 256
_TENSOR = "embedding.weight"
_MOST_KEPT = 100_000  # words: 50 MB
_BLOCK = 8_192
# The loop is three times as fast, but to read the merges takes as long as so many words.
_MANY_WORDS = 50_000
_BEFORE_A_WORD, _BYTE_0 = "▁", "<0x00>"


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


def _in_steps(vectors: NDArray[np.float16]) -> NDArray[np.int16]:
    """Vectors of tokens in steps of 1/1024 of the largest component of all."""
    return np.round(vectors.astype(np.float32) * _embedding()[1]).astype(np.int16)


def _end_to_end(words: list[str]) -> tuple[Bytes, Integers]:
    """Words as UTF-8, end to end, and 0 and where each one's end."""
    encoded = [word.encode() for word in words]
    return np.frombuffer(bytearray(b"".join(encoded)), np.uint8), np.cumsum([0, *map(len, encoded)])


class _WordLlama:
    """The vector of each word: the sum of the vectors of its tokens. Common words have short ones."""

    def __init__(self) -> None:
        # looked up before: what is said tonight is said in the same words again and again
        self._places: dict[str, int] = {}
        self._kept = np.zeros((0, DIMENSIONS), np.int16)
        self._embedded = 0

    def __call__(self, words: pl.Series) -> NDArray[np.int16]:
        """Words x 256."""
        listed, places = words.to_list(), self._places
        new = [word for word in dict.fromkeys(listed) if word not in places]
        if len(places) + len(new) > _MOST_KEPT:
            return self._embed_words(listed)
        if new:
            if len(self._kept) < len(places) + len(new):  # of half as many again, so that they are seldom copied
                room = np.zeros(((len(places) + len(new)) * 3 // 2, DIMENSIONS), np.int16)
                room[: len(places)] = self._kept[: len(places)]
                self._kept = room
            self._kept[len(places) : len(places) + len(new)] = self._embed_words(new)
            places.update(zip(new, range(len(places), len(places) + len(new)), strict=True))
        return self._kept[np.fromiter((places[word] for word in listed), np.int64, len(listed))]

    def _embed_words(self, words: list[str]) -> NDArray[np.int16]:
        if not words:
            return np.zeros((0, DIMENSIONS), np.int16)
        self._embedded += len(words)
        is_much = self._embedded > _MANY_WORDS or "_merges" in self.__dict__
        tokens, ends = self.tokens(*_end_to_end(words)) if is_much else self._tokenize_words(words)
        # a product of sparse rows sums without a copy of each token's vector for each of its words
        known, column = np.unique(tokens, return_inverse=True)
        counts = sp.csr_array((np.ones(len(tokens), np.int32), column, ends), shape=(len(words), len(known)))
        table = _in_steps(_embedding()[0][known]).astype(np.int32)
        told = np.empty((len(words), DIMENSIONS), np.int16)
        for start in range(0, len(words), _BLOCK):  # with more bits than they are kept in, not all of them are held
            told[start : start + _BLOCK] = (counts[start : start + _BLOCK] @ table).clip(-32767, 32767)
        return told

    def tokens(self, text: Bytes, ends: Integers) -> tuple[NDArray[np.int32], Integers]:
        """Tokens of words, end to end, and 0 and where each word's end; the words are UTF-8, with ends alike."""
        loops: Any = kernel("language.byte_pairs_kernel")
        if loops is None:
            return self._tokenize_words([bytes(text[at:end]).decode() for at, end in pairwise(ends.tolist())])
        found = np.empty(len(text) + len(ends), np.int32)
        found_ends = np.zeros(len(ends), np.int64)
        done = 0
        while True:
            done = loops.tokens_of(text, ends, done, *self._merges, found, found_ends)
            if done == len(ends) - 1:
                return found[: found_ends[-1]], found_ends
            # one word of many letters, for which the loop would take long
            own, _ = self._tokenize_words([bytes(text[ends[done] : ends[done + 1]]).decode()])
            found_ends[done + 1] = found_ends[done] + len(own)
            found[found_ends[done] : found_ends[done + 1]] = own
            done += 1

    def _tokenize_words(self, words: list[str]) -> tuple[NDArray[np.int32], Integers]:
        found: list[list[int]] = []
        for start in range(0, len(words), _BLOCK):  # what is known of a word takes a kilobyte, its tokens a few bytes
            block = words[start : start + _BLOCK]
            found += [word.ids for word in _tokenizer().encode_batch_fast(block, add_special_tokens=False)]
        ends = np.cumsum([0, *map(len, found)])
        return np.fromiter(chain.from_iterable(found), np.int32, ends[-1]), ends

    @cached_property
    def _merges(self) -> tuple[Any, ...]:
        """What `byte_pairs_kernel.tokens_of` needs to know of the tokenizer."""
        model = orjson.loads(_tokenizer().to_str())["model"]
        places: dict[str, int] = model["vocab"]
        characters = np.full(0x110000, -1, np.int32)
        for token, place in places.items():
            if len(token) == 1:
                characters[ord(token)] = place
        merges: list[list[str]] = model["merges"]
        pairs = np.array([places[left] << 32 | places[right] for left, right in merges])
        merged = np.array([places[left + right] for left, right in merges], np.int32)
        slots = np.full(2 ** int(2 * len(pairs)).bit_length(), -1)
        loops: Any = kernel("language.byte_pairs_kernel")
        loops.pairs_placed(pairs, slots)
        return characters, np.int32(places[_BEFORE_A_WORD]), np.int32(places[_BYTE_0]), pairs, merged, slots


word_vectors = _WordLlama()
