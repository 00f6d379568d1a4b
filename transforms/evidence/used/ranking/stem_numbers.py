"""Texts as the numbers of their stems: what `used/3` compares them by."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Booleans, Bytes, Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.evidence.used.ranking.meanings import meaning_sums
from slowwave.transforms.language.inflection import uninflected
from slowwave.transforms.language.terms import word_counts
from slowwave.transforms.language.word_runs import WORD
from slowwave.transforms.language.word_vectors import WordVectors

_BEGINNING, _RUN = 5, 4
_FIRST_SLOTS = 2**16
_SURROGATES = (0xD800, 0xE000)
Numbers = NDArray[np.int32]


class TextStems(NamedTuple):
    """Distinct stems of each text, end to end, and where each text's end (0 before the first)."""

    stems: Numbers
    ends: Integers


class ReadTexts(NamedTuple):
    """The stems of some texts, and what the words of each mean together (texts x dimensions)."""

    stems: TextStems
    meaning: Numbers


class StemNumbers:
    """Numbers of the stems met so far."""

    def __init__(self, word_vectors: WordVectors) -> None:
        self._word_vectors = word_vectors
        self._by_stem: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._by_stem)

    def number_texts(self, texts: pl.Series) -> ReadTexts:
        """Return the stems of each text, and its meaning."""
        counted = word_counts(texts)
        known = self._by_stem
        stems = [[known.setdefault(stem, len(known)) for stem in _stems(word)] for word in counted.words.to_list()]
        number = np.fromiter(chain.from_iterable(stems), np.int64)
        ends = np.cumsum([0, *map(len, stems)])
        cells = (np.ones(len(number), np.int64), number, ends)
        found = counted.matrix @ sp.csr_array(cells, shape=(len(stems), len(known)))
        found.sum_duplicates()
        return ReadTexts(
            TextStems(found.indices.astype(np.int32), found.indptr.astype(np.int64)),
            meaning_sums(counted, self._word_vectors),
        )


def _stems(word: str) -> list[str]:
    """A word, its uninflected form and the beginning of that, and its runs of four characters, each marked as such."""
    base, edged = uninflected(word), f" {word} "
    runs = (f"#{edged[at : at + _RUN]}" for at in range(max(len(edged) - _RUN + 1, 0)))
    return list(dict.fromkeys([base, f"={word}", f"~{base[:_BEGINNING]}", *runs]))


class CompiledStemNumbers(StemNumbers):
    """The same texts have the same stems, which have other numbers: each word is cut into its stems once."""

    def __init__(self, word_vectors: WordVectors) -> None:
        self._word_vectors = word_vectors
        self._vectors = word_vectors(pl.Series([], dtype=pl.String))
        self._kernels: Any = kernel("evidence.used.ranking.stems_kernel")
        self._word_slots, self._stem_slots = np.zeros((2, _FIRST_SLOTS, 2), np.uint64)
        self._texts = self._words = self._count = 0
        self._stems, self._stem_ends = np.zeros(0, np.int32), np.zeros(1, np.int64)

    def __len__(self) -> int:
        return self._count

    def number_texts(self, texts: pl.Series) -> ReadTexts:
        """Return the stems of each text, and its meaning."""
        text, ends = _buffers(texts.str.to_lowercase())
        most = len(text) // 2 + len(texts)
        words, word_ends = np.empty(most, np.int32), np.zeros(len(texts) + 1, np.int64)
        begins, before = np.empty((most, 2), np.int64), self._words
        self._word_slots, self._words, found = self._kernels.distinct_words(
            text, ends, word_points(), self._word_slots, before, self._texts, words, word_ends, begins
        )
        self._texts += len(texts)
        self._cut_words(text, begins[: self._words - before])
        meaning = self._kernels.sum_vectors(words, word_ends, self._vectors)
        lengths = np.diff(self._stem_ends)[words[:found]]
        stems, stem_ends = np.empty(int(lengths.sum()), np.int32), np.zeros(len(texts) + 1, np.int64)
        found = self._kernels.distinct_stems(
            words, word_ends, self._stems, self._stem_ends, np.zeros(self._count, np.int32), stems, stem_ends
        )
        return ReadTexts(TextStems(stems[:found].copy(), stem_ends), meaning)

    def _cut_words(self, text: Bytes, begins: Integers) -> None:
        """Add the stems and the vectors of new words."""
        if not len(begins):
            return
        read = text.tobytes()
        words = [read[begin:end].decode() for begin, end in begins.tolist()]
        if len(self._vectors) < self._words:  # of half as many again, so that they are seldom copied
            room = np.zeros((self._words * 3 // 2, self._vectors.shape[1]), np.int16)
            room[: len(self._vectors)] = self._vectors
            self._vectors = room
        self._vectors[self._words - len(words) : self._words] = self._word_vectors(pl.Series(words))
        bases, base_ends = _buffers(pl.Series([uninflected(word) for word in words]))
        edged, ends = _buffers(pl.Series([f" {word} " for word in words]))
        stems, stem_ends = np.empty(3 * len(words) + len(edged), np.int32), np.zeros(len(words) + 1, np.int64)
        self._stem_slots, self._count, found = self._kernels.word_stems(
            edged, ends, bases, base_ends, self._stem_slots, self._count, stems, stem_ends
        )
        self._stem_ends = np.append(self._stem_ends, self._stem_ends[-1] + stem_ends[1:])
        self._stems = np.append(self._stems, stems[:found])


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
