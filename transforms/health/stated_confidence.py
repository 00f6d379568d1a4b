"""How sure the source of a preference or of knowledge makes of it: a column beside the confidence that use moves."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.health.params import StatedConfidenceParams


def stated_confidence(params: StatedConfidenceParams) -> pl.Expr:
    """1 where the source states it, less where it was inferred; 0-1.

    Of the columns memory_type and source. NULL where no source is said, and for memories of other types. Case is no
    difference, nor are hyphens and spaces for `_`; what states a preference states knowledge too.
    """
    memory_type, source = _plain(pl.col("memory_type")), _plain(pl.col("source"))
    knowledge_sources = (*params.knowledge_sources, *params.preference_sources)
    told = pl.lit(None, dtype=pl.Float64)
    for types, sources, inferred in (
        (params.preference_types, params.preference_sources, params.inferred_preference),
        (params.knowledge_types, knowledge_sources, params.inferred_knowledge),
    ):
        worth = pl.when(source.is_in([name.lower() for name in sources])).then(1.0).otherwise(inferred)
        is_told = memory_type.is_in(types) & ~is_blank(pl.col("source"))
        told = pl.when(is_told).then(worth).otherwise(told)
    return told


def _plain(name: pl.Expr) -> pl.Expr:
    return name.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s-]+", "_")
