"""Likeness of two statements, pinned where the last bit decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from slowwave.flows.word_vectors import word_vectors
from slowwave.transforms.pair_scores import pair_features, similarity
from slowwave.transforms.pair_texts import ReadyTexts, pair_texts

# Just above the middle of two steps: a feature divided with 64 bits instead of 32 falls below it.
TEXTS = [
    "The partition sweeper fails at line 92 of pipelines/backfill/window.py whenever clocks drift between the workers, "
    f"and a restart only hides it for {hours} hours."
    for hours in (864, 6)
]


def test_a_released_likeness_stays_as_it_was_to_the_last_digit() -> None:
    texts = pair_texts(pl.Series(TEXTS), word_vectors)
    assert similarity(pair_features(texts, np.array([0, 1]), np.array([1, 0]))).tolist() == [5432, 5432]


def test_texts_asked_for_again_are_as_when_made_alone_and_not_made_anew() -> None:
    asked: list[int] = []

    def counted(words: pl.Series) -> Any:
        asked.append(len(words))
        return word_vectors(words)

    ready = ReadyTexts(counted)
    ready(pl.Series(["Backups run at 4", *TEXTS, "Deploys wait for a signature of 2 people"]))
    again = pl.Series([TEXTS[1], "Backups run at 4", TEXTS[0], TEXTS[1]])
    made = len(asked)
    pairs = np.array([0, 1, 2]), np.array([2, 3, 3])
    assert np.array_equal(pair_features(ready(again), *pairs), pair_features(pair_texts(again, word_vectors), *pairs))
    assert len(asked) == made
    new = pl.Series(["Nothing of it was said before"])
    assert ready(new).lengths.tolist() == [6]


@pytest.mark.parametrize(("one", "other"), [("1 4", "2 3"), ("10 40", "20 30")])
def test_other_numbers_are_told_apart_however_they_add_up(one: str, other: str) -> None:
    texts = pair_texts(pl.Series([f"Ports {one}", f"Ports {other}", f"Ports {one}"]), word_vectors)
    assert texts.digits[0] == texts.digits[2] != texts.digits[1]
