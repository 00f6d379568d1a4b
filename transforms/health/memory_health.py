"""What is known of each memory as of a time."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.schema import columns
from slowwave.transforms.health.params import HealthParams, ReinforcementParams
from slowwave.transforms.health.stated_confidence import stated_confidence
from slowwave.transforms.health.tables import COUNTS, MemoryHealth
from slowwave.transforms.landing.tables import Memories

# What a memory says of itself, as far as it is shown; `confidence` is another one there.
_STATED = [c for c in columns(Memories) if c.carried and c.name in MemoryHealth.model_fields]
_TEXTS = [c.name for c in _STATED if c.kind == "text" and not c.choices]
OUTCOME_COUNTS = ("confirmed_count", "contradicted_count")


def reinforced_confidence(initial: pl.Expr, echoed_count: pl.Expr, params: ReinforcementParams) -> pl.Expr:
    """AtoCore's rule: the initial confidence plus a delta per echoing interaction, capped; NULL without an initial one.

    The cap never lowers a confidence.
    """
    raised = pl.min_horizontal(initial + params.reinforcement_delta * echoed_count, pl.lit(params.reinforcement_cap))
    return pl.when(initial.is_not_null()).then(pl.max_horizontal(initial, raised))


def memory_health(
    states: pl.LazyFrame,
    days: pl.LazyFrame,
    eligible: pl.LazyFrame,
    outcomes: pl.LazyFrame,
    use: pl.LazyFrame,
    held: pl.LazyFrame,
    params: HealthParams,
) -> pl.LazyFrame:
    """One row per memory that was ever landed, injected, referenced or cited, sorted by memory_id; verdicts apart.

    Args:
        states: the memory states visible (see `memory_states`).
        days: reference_days of all days, stacked.
        eligible: memory_id, eligible_count, of all days.
        outcomes: per memory_id what is known from how the interactions that had it ended (see `memory_outcomes`).
        use: per memory_id what its references over time tell (see `memory_use`).
        held: per memory_id whether it is_held (see `effects.flag_holds`).
        params: reinforcement, and what a source's word is worth.

    A memory that is only known from `memories_used` or `memories_cited` has its counts, and NULL for all that was never
    said of it.
    """
    current = (
        states.sort("memory_id", "valid_from")
        .group_by("memory_id", maintain_order=True)
        .agg(
            pl.col("valid_from").first().alias("created_at"),
            pl.col([c.name for c in _STATED]).last(),
        )
    )
    is_unknown = pl.col("parroted").is_null() & (pl.col("echoed_count") > 0)
    referenced = days.group_by("memory_id").agg(
        pl.col(COUNTS[1:]).sum(),
        pl.when(~is_unknown.any()).then(pl.col("parroted").sum()).alias("parroted"),
        pl.col("first_referenced_at").min(),
        pl.col("last_referenced_at").max(),
    )
    counts = referenced.join(eligible.select("memory_id", COUNTS[0]), on="memory_id", how="full", coalesce=True)
    return (
        current.join(counts, on="memory_id", how="full", coalesce=True)
        .with_columns(pl.col(COUNTS).fill_null(0), *map(_blank_where_null, _TEXTS))
        .with_columns(pl.when(pl.col("echoed_count") > 0).then("parroted").otherwise(0).alias("parroted"))
        .with_columns(
            reinforced_confidence(pl.col("confidence"), pl.col("echoed_count"), params).alias("reinforced_confidence"),
            stated_confidence(params.stated).alias("stated_confidence"),
        )
        .drop("confidence")
        .join(outcomes, on="memory_id", how="left")
        .join(use, on="memory_id", how="left")
        .join(held, on="memory_id", how="left")
        .with_columns(pl.col(OUTCOME_COUNTS).fill_null(0), pl.col("pinned", "is_held").fill_null(value=False))
        .sort("memory_id")
    )


def _blank_where_null(name: str) -> pl.Expr:
    """The same column. After a join NULLs of texts stand on the text of another row, and every function reads that.

    With Polars 2.1 a text of 14 MB is so read once for each memory that is known by its id alone.
    """
    return pl.when(pl.col(name).is_not_null()).then(pl.col(name).fill_null("")).alias(name)
