"""How many interactions had a memory, and how many tokens of memories their prompts held, day by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl

from slowwave.transforms.core.carried import taken_over, with_made_of
from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.health.answerable.tables import InteractionsWithMemories, UseByDay
from slowwave.transforms.health.tables import MemoryHealth

_CHARACTERS_PER_TOKEN = 4
_HAD = {
    "given": pl.col("is_injected"),
    "echoed": pl.col("is_echoed"),
    "parroted": pl.col("in_prompt").fill_null(value=False),
    "used": pl.col("is_used"),
    "relied": is_reference(),
    "cited": pl.col("is_cited"),
}
_COUNTED = digest([f"{name}: {had}" for name, had in _HAD.items()])


def interactions_with_memories(
    before: Frame[InteractionsWithMemories], references: Lazy[MemoryReferences], days: Mapping[date, str]
) -> Frame[InteractionsWithMemories]:
    """Return how many interactions of each day had a memory, by project and agent: new or changed days are counted.

    Args:
        before: such rows, of whatever night.
        references: memory_references of all days, with `day`.
        days: by day what its references are named after.
    """
    made_of = {day.isoformat(): digest([_COUNTED, name]) for day, name in days.items()}
    kept = taken_over(before, made_of)
    known = set(kept["part"].unique())
    new = [day for day in days if day.isoformat() not in known]
    found = (
        references.filter(pl.col("day").is_in(new))
        .group_by(pl.col("day").cast(pl.String).alias("part"), "project", "agent", "interaction_id")
        .agg(had.any().alias(name) for name, had in _HAD.items())
        .group_by("part", "project", "agent")
        .agg(pl.col(*_HAD).sum().cast(pl.Int64))
        .collect()
    )
    rows = pl.concat([kept, with_made_of(found, made_of).select(kept.columns)])
    return framed(InteractionsWithMemories, rows.sort(InteractionsWithMemories.key))


def use_by_day(
    had: Frame[InteractionsWithMemories], references: Lazy[MemoryReferences], health: Frame[MemoryHealth]
) -> Frame[UseByDay]:
    """Return one row per day, project and agent with a memory injected, quoted, used or cited, sorted by them.

    Args:
        had: interactions_with_memories.
        references: memory_references of all days, with `day`.
        health: memory_id, content, use_state of every memory.
    """
    is_unused = pl.col("use_state") == "not_used"
    tokens = (pl.col("content").str.len_chars() / _CHARACTERS_PER_TOKEN).ceil().cast(pl.Int64)
    sizes = health.lazy().select("memory_id", tokens.alias("tokens"), is_unused.alias("is_unused"))
    injected = (
        references.filter("is_injected")
        .join(sizes, on="memory_id")
        .group_by("day", "project", "agent")
        .agg(
            pl.col("tokens").sum().alias("injected_tokens"),
            pl.col("tokens").filter("is_unused").sum().alias("unused_tokens"),
        )
    )
    rows = (
        had.lazy()
        .with_columns(pl.col("part").str.to_date("%Y-%m-%d").alias("day"))
        .join(injected, on=["day", "project", "agent"], how="left")
        .select(
            "day",
            "project",
            "agent",
            pl.col("given").alias("injected_interactions"),
            pl.col("echoed").alias("echoing_interactions"),
            pl.col("parroted").alias("parroting_interactions"),
            pl.col("used").alias("using_interactions"),
            pl.col("relied").alias("referencing_interactions"),
            pl.col("cited").alias("citing_interactions"),
            pl.col("injected_tokens", "unused_tokens").fill_null(0),
        )
    )
    return framed(UseByDay, rows.sort(UseByDay.key).collect())
