"""Likeness of two statements, pinned where the last bit decides."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.observations.pairs.scores import pair_features, similarity
from slowwave.transforms.observations.pairs.texts import ReadyTexts, codes_apart, pair_texts

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
    texts = pair_texts(said, word_vectors)
    apart = texts.digits.tolist()
    assert apart[0] == apart[2]
    assert len(set(apart)) == len(said) - 1


@pytest.mark.slow
def test_no_two_sums_of_two_codes_are_the_same() -> None:
    codes = codes_apart(np.arange(2_000))
    sums = (codes[:, None] + codes[None, :])[np.triu_indices(len(codes), 1)]
    assert len(np.unique(np.concatenate([codes, sums]))) == len(codes) + len(sums)


def test_texts_that_were_made_ready_among_others_are_as_alike_as_if_they_had_been_alone() -> None:
    some = pl.Series([*TEXTS, "ports 1 4", "ports 2 3", "Zebras prefer ports 2 3", ""])
    every = pl.concat([pl.Series(["A zebra read 5 pages", "axolotl 4"]), some.reverse(), pl.Series(["Zebras: 7"])])
    ready = ReadyTexts()
    ready.keep(every, pair_texts(every, word_vectors))
    taken = ready.take(some)
    assert taken is not None
    left, right = np.triu_indices(len(some))
    alone = pair_texts(some, word_vectors)
    features = pair_features(taken, left, right)
    assert features.tolist() == pair_features(alone, left, right).tolist()
    assert ready.take(some) is None


def test_a_text_that_was_not_made_ready_is_not_taken() -> None:
    ready = ReadyTexts()
    ready.keep(pl.Series(TEXTS), pair_texts(pl.Series(TEXTS), word_vectors))
    assert ready.take(pl.Series([TEXTS[0], "Another"])) is None
