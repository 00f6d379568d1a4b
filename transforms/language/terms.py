"""Texts as counts of their words and character n-grams: sparse rows of integers, which every engine adds up alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from slowwave.transforms.language.word_runs import WORD

# n-grams are distinguished by a hash of this many bits; two that meet count as one.
_GRAM_BITS = 20
GRAMS = 2**_GRAM_BITS
# Texts whose words are held at once as texts.
_BLOCK = 16_384
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: multiplicative hashing (Knuth, TAOCP 3, 6.4)


@dataclass(frozen=True)
class WordCounts:
    """How often each text has each word: `matrix` is texts x words (CSR, int32); `words` are sorted."""

    matrix: Any
    words: pl.Series


def words(text: pl.Expr) -> pl.Expr:
    """The words of a text in order, lower case: runs of letters and digits. NULL has none."""
    return text.fill_null("").str.to_lowercase().str.extract_all(WORD)


def word_counts(texts: pl.Series) -> WordCounts:
    """The words of each text, counted."""
    numbered = [_numbered_words(some) for some in texts.rename("text").to_frame().iter_slices(_BLOCK)]
    known = pl.concat([pl.Series("word", [], pl.String), *(of_block.words for of_block in numbered)]).unique().sort()
    columns = [np.zeros(0, np.int32), *(_columns(of_block.words, known)[of_block.places] for of_block in numbered)]
    lengths = [np.zeros(1, np.int32), *(of_block.lengths for of_block in numbered)]
    column, end = np.concatenate(columns), np.cumsum(np.concatenate(lengths), dtype=np.int32)
    counts = sp.csr_array((np.ones(len(column), np.int32), column, end), shape=(len(texts), len(known)))
    counts.sum_duplicates()
    return WordCounts(counts, known)


class _Numbered(NamedTuple):
    """Texts as the places of their words in `words`, end to end, and how many words each has."""

    words: pl.Series
    places: NDArray[np.int32]
    lengths: NDArray[np.int32]


def _numbered_words(texts: pl.DataFrame) -> _Numbered:
    found = texts.select(words(pl.col("text")).alias("word"))["word"]
    every = found.explode(empty_as_null=False)
    known = every.unique()
    return _Numbered(known, _columns(every, known), found.list.len().cast(pl.Int32).to_numpy())


def _columns(of: pl.Series, known: pl.Series) -> NDArray[np.int32]:
    """The place of each word in `known`; a hash join is several times as fast as grouping by words."""
    numbers = known.to_frame().with_row_index("column")
    return of.to_frame().join(numbers, on="word", how="left", maintain_order="left")["column"].cast(pl.Int32).to_numpy()


def gram_counts(texts: pl.Series, sizes: tuple[int, ...] = (3, 4, 5)) -> Any:  # noqa: ANN401 - scipy has no types
    """Character n-grams of each text within its words, a space at either end of each: texts x 2**20 (CSR, int32).

    Columns are hashes of the n-grams.
    """
    spaced = pl.select(
        pl.lit(" ") + pl.lit(texts.fill_null("")).str.to_lowercase().str.extract_all(WORD).list.join("  ") + pl.lit(" ")
    ).to_series()
    points = np.frombuffer("".join(spaced.to_list()).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    lengths = spaced.str.len_chars().to_numpy()
    row = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    word = np.cumsum((points == 32) & (np.roll(points, 1) == 32))  # noqa: PLR2004 - a space
    rows, columns = [], []
    for size in sizes:
        if len(points) < size:
            continue
        count = len(points) - size + 1
        code = np.full(count, np.uint64(size))
        for at in range(size):
            code = (code ^ points[at : at + count]) * _MULTIPLIER
            code ^= code >> np.uint64(29)
        whole = (row[:count] == row[size - 1 :]) & (word[:count] == word[size - 1 :])
        rows.append(row[:count][whole])
        columns.append((code[whole] * _MULTIPLIER >> np.uint64(64 - _GRAM_BITS)).astype(np.int32))
    cells = (np.concatenate(rows), np.concatenate(columns)) if rows else (np.array([], int), np.array([], int))
    counts = sp.csr_array((np.ones(len(cells[0]), np.int32), cells), shape=(len(texts), GRAMS))
    counts.sum_duplicates()
    return counts
