"""The words met so far, with the forms that tell their likeness, at places that stay: for the compiled `used/1`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Booleans, Bytes, Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.evidence.used.word_matches import LENGTH, prominences
from slowwave.transforms.language.word_runs import WORD
from slowwave.transforms.language.word_vectors import TokenVectors

DIMENSIONS = 256
_FIRST_ROOM = 2**14
# Room for forms takes memory only as it is filled, and to make more of it copies them.
_FORMS_ROOM = 2**18
_SURROGATES = (0xD800, 0xE000)


class Vocabulary:
    """Distinct words in order of appearance, and what `WordForms` holds of each.

    `scale` is what brings a word's vector to the length of directions; `largest` its largest component; the n-grams of
    word w are those from `gram_ends[w]` to `gram_ends[w + 1]`.
    """

    def __init__(self, token_vectors: TokenVectors) -> None:
        self._token_vectors = token_vectors
        self._kernels: Any = kernel("evidence.used.kernels.words_kernel")
        self._forms: Any = kernel("evidence.used.kernels.forms_kernel")
        self._byte_pairs: Any = kernel("language.byte_pairs_kernel")
        self._slots = np.zeros((2 * _FIRST_ROOM, 2), np.uint64)
        self._hashes = np.zeros(_FIRST_ROOM, np.uint64)
        self._arena = np.zeros(8 * _FIRST_ROOM, np.uint8)
        self._word_ends = np.zeros(_FIRST_ROOM + 1, np.int64)
        self._seen = np.zeros(_FIRST_ROOM, np.int32)
        self._state = np.zeros(2, np.int64)
        self._formed = 0
        self.vectors = np.zeros((0, DIMENSIONS), np.int16)
        self.signs = np.zeros((0, DIMENSIONS), np.int8)
        self.scale = np.zeros(0)
        self.largest = np.zeros(0, np.int64)
        self.prominence = np.zeros(0)
        self.grams = np.zeros(0, np.int32)
        self.gram_counts = np.zeros(0, np.int32)
        self.gram_ends = np.zeros(1, np.int64)
        self.gram_length = np.zeros(0)
        self.tokens = np.zeros(0, np.int32)
        self.token_ends = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self._state[0])

    def words_of(self, texts: pl.Series) -> tuple[NDArray[np.int32], Integers]:
        """Places of the distinct words of each text, end to end, and where each text's end (0 before the first)."""
        text, ends = _buffers(texts.str.to_lowercase())
        found = np.empty(len(text) // 2 + len(texts), np.int32)
        found_ends = np.zeros(len(texts) + 1, np.int64)
        done = 0
        while True:
            done = self._kernels.distinct_words(
                text, ends, done, word_points(), self._slots, self._hashes, self._arena, self._word_ends, self._state,
                self._seen, found, found_ends,
            )  # fmt: skip
            if done == len(texts):
                break
            self._make_room(int(ends[done + 1] - ends[done]))
        self._form()
        return found[: found_ends[-1]], found_ends

    def words(self, places: NDArray[np.int32]) -> pl.Series:
        """The words at these places."""
        begins, ends = self._word_ends[places].tolist(), self._word_ends[places + 1].tolist()
        found = [bytes(self._arena[at:end]).decode() for at, end in zip(begins, ends, strict=True)]
        return pl.Series(found, dtype=pl.String)

    def forget(self, kept: int) -> None:
        """Drop all but the first `kept`; the room stays."""
        self._state[:] = kept, 0
        self._slots.fill(0)
        self._kernels.fill_slots(self._slots, self._hashes, self._arena, self._word_ends, kept)
        self._seen.fill(0)
        self._formed = kept

    def _make_room(self, size: int) -> None:
        words = max(2 * len(self._hashes), len(self) + size)
        self._hashes = roomy(self._hashes, words)
        self._seen = roomy(self._seen, words)
        self._word_ends = roomy(self._word_ends, words + 1)
        self._arena = roomy(self._arena, max(2 * len(self._arena), int(self._word_ends[len(self)]) + size))
        self._slots = np.zeros((2 ** int(2 * words - 1).bit_length(), 2), np.uint64)
        self._kernels.fill_slots(self._slots, self._hashes, self._arena, self._word_ends, len(self))

    def _form(self) -> None:
        """Form the words that are new."""
        first, last = self._formed, len(self)
        if first == last:
            return
        if last > len(self.scale):
            room = max(last, 2 * len(self.scale), _FORMS_ROOM)
            for name in ("vectors", "signs", "scale", "largest", "prominence", "gram_length"):
                setattr(self, name, roomy(getattr(self, name), room))
            self.gram_ends, self.token_ends = roomy(self.gram_ends, room + 1), roomy(self.token_ends, room + 1)
        text = self._arena[self._word_ends[first] : self._word_ends[last]]
        ends = self._word_ends[first : last + 1] - self._word_ends[first]
        vectors, signs = self.vectors[first:last], self.signs[first:last]
        tokens, token_ends = self._token_vectors.tokens(text, ends)
        self._byte_pairs.token_sums(tokens, token_ends, self._token_vectors.table, vectors)
        self.tokens = _append_rows(self.tokens, tokens, int(self.token_ends[first]))
        self.token_ends[first + 1 : last + 1] = self.token_ends[first] + token_ends[1:]
        self._forms.hashed_signs(text, ends, signs)
        # as `directions` has it: the squares are whole numbers, and exact
        lengths = np.empty(last - first)
        self._forms.sizes(vectors, lengths, self.largest[first:last])
        np.sqrt(lengths, out=lengths)
        self.scale[first:last] = LENGTH / np.maximum(lengths, 1)
        self.prominence[first:last] = prominences(lengths)
        grams, counts = (np.empty(3 * (len(text) + len(ends)), np.int32) for _ in range(2))
        gram_ends, squares = np.zeros(len(ends), np.int64), np.empty(len(ends) - 1, np.int64)
        self._forms.counted_grams(text, ends, grams, counts, gram_ends, squares)
        begin = int(self.gram_ends[first])
        self.grams = _append_rows(self.grams, grams[: gram_ends[-1]], begin)
        self.gram_counts = _append_rows(self.gram_counts, counts[: gram_ends[-1]], begin)
        self.gram_ends[first + 1 : last + 1] = begin + gram_ends[1:]
        self.gram_length[first:last] = np.sqrt(squares.astype(np.float64))
        self._formed = last


def roomy(array: NDArray[Any], room: int) -> NDArray[Any]:
    """The same with zeros behind it."""
    wider = np.zeros((room, *array.shape[1:]), array.dtype)
    wider[: len(array)] = array
    return wider


def _append_rows(array: NDArray[Any], added: NDArray[Any], at: int) -> NDArray[Any]:
    """The same with others from a place on."""
    if at + len(added) > len(array):
        array = roomy(array, max(at + len(added), 2 * len(array)))
    array[at : at + len(added)] = added
    return array


def _buffers(texts: pl.Series) -> tuple[Bytes, Integers]:
    """The bytes of texts without NULL, end to end, and 0 and where each ends."""
    array = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, data = array.buffers()
    places = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    # numba takes no array that cannot be written
    return np.frombuffer(data or b"", np.uint8)[places[0] : places[-1]].copy(), places - places[0]


@cache
def word_points() -> Booleans:
    """By code point, whether `WORD` takes it, as Polars says."""
    points = np.concatenate([np.arange(_SURROGATES[0]), np.arange(_SURROGATES[1], 0x110000)])
    text = points.astype("<u4").tobytes().decode("utf-32-le")
    taken = pl.select(pl.lit(text).str.extract_all(WORD).list.join("")).item()
    found = np.zeros(0x110000, bool)
    found[np.frombuffer(taken.encode("utf-32-le"), np.uint32)] = True
    return found
