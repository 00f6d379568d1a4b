"""Likeness of two statements, pinned where the last bit decides."""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.flows.word_vectors import word_vectors
from slowwave.transforms.pair_scores import pair_features, similarity
from slowwave.transforms.pair_texts import codes_apart, codes_in_step, pair_texts

# Just above the middle of two steps: a feature divided with 64 bits instead of 32 falls below it.
TEXTS = [
    "The partition sweeper fails at line 92 of pipelines/backfill/window.py whenever clocks drift between the workers, "
    f"and a restart only hides it for {hours} hours."
    for hours in (864, 6)
]


def test_a_released_likeness_stays_as_it_was_to_the_last_digit() -> None:
    texts = pair_texts(pl.Series(TEXTS), word_vectors)
    assert similarity(pair_features(texts, np.array([0, 1]), np.array([1, 0]))).tolist() == [5432, 5432]


def test_sets_of_numbers_are_told_apart_whose_places_in_the_vocabulary_add_up_alike() -> None:
    said = pl.Series(["ports 1 4", "ports 2 3", "ports 4 1", "ports 2 3 5", "ports 1 4 5"])
    released = pair_texts(said, word_vectors, codes_in_step).digits.tolist()
    apart = pair_texts(said, word_vectors, codes_apart).digits.tolist()
    assert [released[0], released[3]] == [released[1], released[4]]
    assert apart[0] == apart[2]
    assert len(set(apart)) == len(said) - 1


def test_no_two_sums_of_two_codes_are_the_same() -> None:
    codes = codes_apart(np.arange(2_000))
    sums = (codes[:, None] + codes[None, :])[np.triu_indices(len(codes), 1)]
    assert len(np.unique(np.concatenate([codes, sums]))) == len(codes) + len(sums)
