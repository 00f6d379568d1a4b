"""Likeness of two statements, pinned where the last bit decides."""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.flows.word_vectors import word_vectors
from slowwave.transforms.pair_scores import pair_features, similarity
from slowwave.transforms.pair_texts import pair_texts

# Just above the middle of two steps: a feature divided with 64 bits instead of 32 falls below it.
TEXTS = [
    "The partition sweeper fails at line 92 of pipelines/backfill/window.py whenever clocks drift between the workers, "
    f"and a restart only hides it for {hours} hours."
    for hours in (864, 6)
]


def test_a_released_likeness_stays_as_it_was_to_the_last_digit() -> None:
    texts = pair_texts(pl.Series(TEXTS), word_vectors)
    assert similarity(pair_features(texts, np.array([0, 1]), np.array([1, 0]))).tolist() == [5432, 5432]
