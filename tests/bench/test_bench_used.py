"""`used/1` on a day of one project: answers per second, beside a plain loop over every pair.

`make bench` prints a table; nothing is asserted about time, only that something was found. The loop is AtoCore's second
rule without stemming: at least 70 % of a memory's words stand in the answer.
"""

from __future__ import annotations

import random
import resource
import time

import polars as pl
import pytest
from measured_steps import printed
from used_rows import interactions, pool

from slowwave.flows.word_vectors import word_vectors
from slowwave.transforms.text_terms import words
from slowwave.transforms.used import used_memories
from slowwave.transforms.used_params import UsedParams

pytestmark = pytest.mark.bench

_SHARE = 0.7
_LOOPED_PAIRS = 200_000


def _texts(drawn: random.Random, count: int, shortest: int, longest: int) -> list[str]:
    """Made-up words, the common ones far more often than the rare."""
    made = [
        "".join(drawn.choices("bdfgklmnprst aeiou", k=drawn.randint(3, 9))).replace(" ", "y") for _ in range(20_000)
    ]
    weights = [1 / (place + 3) for place in range(len(made))]
    return [" ".join(drawn.choices(made, weights, k=drawn.randint(shortest, longest))) for _ in range(count)]


def _seconds_per_pair_in_a_loop(answers: list[str], memories: list[str]) -> float:
    told = [set(found) for found in pl.select(words(pl.lit(pl.Series(answers)))).to_series()]
    held = [set(found) for found in pl.select(words(pl.lit(pl.Series(memories)))).to_series()]
    rounds = max(1, _LOOPED_PAIRS // len(held))
    start = time.perf_counter()
    sum(len(memory & answer) >= _SHARE * len(memory) for answer in told[:rounds] for memory in held)
    return (time.perf_counter() - start) / (min(rounds, len(told)) * len(held))


@pytest.mark.parametrize(("memories", "answers"), [(100, 20_000), (10_000, 5_000)])
def test_bench_used(memories: int, answers: int) -> None:
    drawn = random.Random(4)
    texts = _texts(drawn, answers + memories, 60, 220)
    held = [" ".join(text.split()[:14]) for text in texts[answers:]]
    told = [f"{text} {drawn.choice(held)}" if place % 10 == 0 else text for place, text in enumerate(texts[:answers])]
    rows = interactions(*({"interaction_id": f"i{n}", "response": text} for n, text in enumerate(told)))
    known = pool(*({"memory_id": f"m{n}", "content": text} for n, text in enumerate(held)))
    word_vectors(pl.Series(["warm"]))
    start = time.perf_counter()
    found = used_memories(rows, known, word_vectors, UsedParams())
    seconds = time.perf_counter() - start
    looped = _seconds_per_pair_in_a_loop(told, held) * answers * memories
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print()
    printed(
        f"{answers:,} answers, {memories:,} memories", f"{answers / seconds:,.0f}/s, {looped / seconds:.2f} x a loop"
    )
    printed("  peak memory of the process", f"{peak:,.0f} MB")
    assert not found.is_empty()
