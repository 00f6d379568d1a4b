"""How many interactions of a day used each memory: sums of probabilities, which depend on no threshold.

Sums of integers, in steps of 1/10,000: the same in any order, and of any division of the day.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, conform, framed
from slowwave.transforms.evidence.references import listed_pairs
from slowwave.transforms.evidence.tables import ExpectedUse, UseProbabilities
from slowwave.transforms.evidence.used.memories import STEPS


def use_probabilities(interactions: pl.DataFrame, used: pl.DataFrame) -> Frame[UseProbabilities]:
    """Return one row per interaction and memory that its answer may rely on, sorted by key.

    Args:
        interactions: interaction_id, occurred_at, memories_used.
        used: interaction_id, memory_id, used_score, of `used_memories_by_day`, of these interactions.
    """
    given = listed_pairs(interactions, "memories_used").with_columns(is_injected=True)
    rows = (
        used.lazy()
        .join(interactions.lazy().select("interaction_id", "occurred_at"), on="interaction_id")
        .join(given, on=["interaction_id", "memory_id"], how="left")
        .with_columns(pl.col("used_score").alias("probability"), pl.col("is_injected").fill_null(value=False))
    )
    return conform(UseProbabilities, rows).sort(UseProbabilities.key).collect()


def expected_use(probabilities: Lazy[UseProbabilities]) -> Lazy[ExpectedUse]:
    """Return one row per memory that an answer of the day may rely on, sorted by memory_id."""
    chance = pl.col("probability")
    counts = probabilities.group_by("memory_id").agg(
        pl.len().alias("compared_count"),
        chance.sum().alias("expected"),
        chance.filter("is_injected").sum().alias("injected_expected"),
        (chance * (STEPS - chance) // STEPS).sum().alias("variance"),
    )
    return conform(ExpectedUse, counts).sort("memory_id")


def expected_use_of_parts(probabilities: Iterable[Lazy[UseProbabilities]]) -> Frame[ExpectedUse]:
    """`expected_use` of a day whose pairs are too many to be held."""
    parts = pl.concat([expected_use(part).collect() for part in probabilities]).lazy()
    return framed(ExpectedUse, parts.group_by("memory_id").agg(pl.all().sum()).sort("memory_id").collect())
