"""How sure the source of a preference or of knowledge makes of it: a column beside the confidence that use moves."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.health.params import StatedConfidenceParams


def stated_confidence(params: StatedConfidenceParams) -> pl.Expr:
    """1 where the source states it, less where it was inferred (`stated/1`); 0-1.

    Of the columns memory_type and source. NULL where no source is said, and for memories of other types.
    """
    source = pl.col("source").str.strip_chars().str.to_lowercase()
    rules = (
        ("preference", params.preference_sources, params.inferred_preference),
        ("knowledge", params.knowledge_sources, params.inferred_knowledge),
    )
    told = pl.lit(None, dtype=pl.Float64)
    for memory_type, sources, inferred in rules:
        worth = pl.when(source.is_in([name.lower() for name in sources])).then(1.0).otherwise(inferred)
        is_told = (pl.col("memory_type") == memory_type) & ~is_blank(pl.col("source"))
        told = pl.when(is_told).then(worth).otherwise(told)
    return told
