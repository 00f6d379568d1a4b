"""What forgetting cost: how many later interactions would have used what was archived, beside what was predicted."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.statistics import beta_interval
from slowwave.transforms.decisions.forgetting.tables import Regret
from slowwave.transforms.decisions.params import ForgettingParams
from slowwave.transforms.evidence.references import is_reference
from slowwave.transforms.evidence.tables import MemoryReferences

_ONE = 2**30  # probabilities are summed in fixed point, so that no order matters
_PER = 1000


def regret(
    archived: pl.DataFrame, references: Lazy[MemoryReferences], as_of: datetime, params: ForgettingParams
) -> Frame[Regret]:
    """Return what was wanted after archiving, a row per `archived_as` and rule: the table `regret`, sorted by its key.

    Args:
        archived: every archiving (see `archivings`).
        references: memory_references: memory_id, interaction_id, occurred_at, is_injected, is_echoed, is_used.
        as_of: only archivings whose window of `regret_days` ended by then are counted.
        params: window and interval.

    A memory left active (shadow) is searched for in every answer: its references are counted, as `need_30d` predicts
    them. One really archived is not: what is seen is that it was restored, or injected by a producer that still had
    it, which may count memories that helped nothing and misses every use that was prevented. The interval is Jeffreys'
    (Brown, Cai and DasGupta, Statistical Science 16, 2001) for memories that are wanted or not.
    """
    window = timedelta(days=params.regret_days)
    matured = archived.filter(pl.col("decided_at") + window <= as_of)
    in_window = pl.col("occurred_at").is_between("decided_at", pl.col("decided_at") + window, closed="left")
    is_use = pl.when("is_shadow").then(is_reference()).otherwise("is_injected")
    uses = (
        references.select("memory_id", "interaction_id", "occurred_at", "is_injected", "is_echoed", "is_used")
        .join(matured.lazy().select("memory_id", "decision_id", "decided_at", "is_shadow"), on="memory_id")
        .filter(in_window, is_use)
        .group_by("decision_id")
        .agg(pl.col("interaction_id").n_unique().cast(pl.Int64).alias("uses"))
        .collect()
    )
    archived_as = pl.when("is_shadow").then(pl.lit("shadow")).otherwise(pl.lit("archived"))
    judged = matured.join(uses, on="decision_id", how="left").select(
        archived_as.alias("archived_as"),
        pl.col("rule").fill_null(""),
        pl.col("uses").fill_null(0),
        (pl.col("restored_at") < pl.col("decided_at") + window).fill_null(value=False).alias("is_restored"),
        (pl.col("need_30d") * _ONE).round().cast(pl.Int64).alias("need"),
    )
    every = judged.with_columns(pl.lit("").alias("rule"))
    counted = (
        pl.concat([judged.filter(pl.col("rule") != ""), every])
        .group_by("archived_as", "rule")
        .agg(
            pl.len().cast(pl.Int64).alias("memories_count"),
            ((pl.col("uses") > 0) | pl.col("is_restored")).sum().cast(pl.Int64).alias("wanted_count"),
            pl.col("uses").sum().alias("interactions_count"),
            pl.col("is_restored").sum().cast(pl.Int64).alias("restored_count"),
            pl.col("need").is_not_null().sum().cast(pl.Int64).alias("predicted_memories_count"),
            pl.col("need").sum().alias("needs"),
        )
        .sort("archived_as", "rule")
    )
    low, high = _jeffreys(counted["wanted_count"], counted["memories_count"], params.regret_interval)
    rows = counted.select(
        "archived_as",
        "rule",
        "memories_count",
        "wanted_count",
        (_PER * pl.col("wanted_count") / pl.col("memories_count")).alias("wanted_per_1000"),
        (_PER * pl.lit(low)).alias("wanted_per_1000_low"),
        (_PER * pl.lit(high)).alias("wanted_per_1000_high"),
        "interactions_count",
        (_PER * pl.col("interactions_count") / pl.col("memories_count")).alias("interactions_per_1000"),
        "restored_count",
        "predicted_memories_count",
        pl.when(pl.col("predicted_memories_count") > 0)
        .then(_PER * pl.col("needs") / pl.col("predicted_memories_count") / _ONE)
        .alias("predicted_per_1000"),
    )
    return framed(Regret, rows)


def _jeffreys(wanted: pl.Series, count: pl.Series, level: float) -> tuple[pl.Series, pl.Series]:
    """Ends of the equal-tailed Jeffreys interval of each share; 0 and 1 where nothing or everything was wanted."""
    yes, no = wanted.to_numpy(), (count - wanted).to_numpy()
    low, high = (pl.Series(end, dtype=pl.Float64) for end in beta_interval(yes + 0.5, no + 0.5, level))
    return low.zip_with(wanted > 0, pl.zeros(len(low), eager=True)), high.zip_with(
        wanted < count, pl.ones(len(high), eager=True)
    )
