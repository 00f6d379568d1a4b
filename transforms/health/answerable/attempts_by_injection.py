"""How attempts ended with a memory in the prompt and without: what the question whether memories help rests on."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.health.answerable.tables import AttemptsByInjection


def attempts_by_injection(
    references: pl.DataFrame, interactions: pl.DataFrame, attempts: pl.DataFrame
) -> Frame[AttemptsByInjection]:
    """Return the attempts whose interaction landed, counted by key and sorted by it; run_id and as_of apart.

    Args:
        references: interaction (its number), is_injected, of interactions with an attempt.
        interactions: interaction_id, interaction, occurred_at, memories_offered, injection_probability.
        attempts: interaction_id, project, agent, task_type, block, success, of the attempts that count.
    """
    injected = references.lazy().filter("is_injected").select("interaction").unique().with_columns(has_memory=True)
    offered = pl.col("memories_offered").list.len().fill_null(0).cast(pl.Int64)
    probability = pl.col("injection_probability")
    is_drawn = (offered > 0) & (probability > 0) & (probability < 1)
    asked = (
        interactions.lazy()
        .join(injected, on="interaction", how="left")
        .select(
            "interaction_id",
            pl.col("occurred_at").dt.date().alias("day"),
            pl.col("has_memory").fill_null(value=False),
            offered.alias("offered_count"),
            pl.when(is_drawn.fill_null(value=False)).then(probability).otherwise(1.0).alias("probability"),
        )
    )
    counts = (
        attempts.lazy()
        .join(asked, on="interaction_id")
        .with_columns(pl.col("project", "agent", "task_type").fill_null(""))
        .group_by(AttemptsByInjection.key)
        .agg(
            pl.len().cast(pl.Int64).alias("attempts"),
            pl.col("success").sum().cast(pl.Int64).alias("successes"),
        )
    )
    return framed(AttemptsByInjection, counts.sort(AttemptsByInjection.key).collect())
