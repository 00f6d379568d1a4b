"""How well the words of two texts match: the compiled loop and its reference are one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.observations.near import likeness_logits
from slowwave.transforms.observations.pairs.scores import matched_words, matching_size, pair_features
from slowwave.transforms.observations.pairs.texts import pair_texts

MANY = 1_000_000
WORDS = st.sampled_from([
    "deploys", "deploy", "deployed", "the", "on", "Fridays", "never", "8080", "9090", "naïve", "port", "ports", "is",
    "staging", "production", "kubernetes", "zugzwang", "a", "of", "2026", "éclair", "東京", "config_file",
    "hate", "love",
])  # fmt: skip
TEXTS = st.lists(st.lists(WORDS, max_size=40).map(" ".join), min_size=1, max_size=6)


@pytest.mark.slow
@settings(max_examples=60)
@given(TEXTS)
def test_the_compiled_loop_is_its_reference(said: list[str]) -> None:
    texts = pair_texts(pl.Series(said, dtype=pl.String), word_vectors)
    left, right = (of.ravel() for of in np.indices((len(said), len(said))))
    assert kernel("observations.pairs.matches_kernel") is not None
    assert matching_size(MANY) > matching_size(1)
    for one, other in zip(
        matched_words(texts, left, right, pairs=1), matched_words(texts, left, right, pairs=MANY), strict=True
    ):
        for of, of_loop in zip(one, other, strict=True):
            assert of.dtype == of_loop.dtype
            assert of.tolist() == of_loop.tolist()


@pytest.mark.slow
def test_many_pairs_are_as_alike_as_few() -> None:
    said = ["The port is 8080", "The ports are 9090", "", "Never deploy on Fridays", "Deploys happen on Fridays", "tea"]
    texts = pair_texts(pl.Series(said), word_vectors)
    left, right = (of.ravel() for of in np.indices((len(said), len(said))))
    times = 6_000 // len(left) + 1
    for of in (pair_features, likeness_logits):
        many = of(texts, np.tile(left, times), np.tile(right, times))
        few = of(texts, left, right)
        assert many.tobytes() == np.concatenate([few] * times).tobytes()
