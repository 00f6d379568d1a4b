"""Lift where chance decided what was injected, and the producer logged with which probability."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.lift.contrast import contrasts
from slowwave.transforms.lift.params import MemoryOutcomeParams

_EXPECTED_SPLITS = 5  # were draws separate, none at all would then have a chance below 1 %


def randomised_estimates(places: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Per memory the columns of `contrasts`, and is_joint.

    Augmented inverse propensity weighting (Robins, Rotnitzky & Zhao 1994) with the logged propensity and weights that
    sum to one on each side (Hájek 1971): weighted mean of success less forecast where injected, less the same where
    offered and not. Right whatever the forecast, which only takes variance out. The population is the interactions that
    offered the memory; probabilities near 0 or 1 are left out (Crump et al. 2009). Echo plays no part: the effect is
    that of injecting. Strength: no selection, seen or unseen. Limit: `is_joint` tells that interactions which offered
    several memories always injected all or none of them though chance would have split some; then what was injected
    together cannot be distinguished.
    """
    probability = pl.col("injection_probability")
    drawn = places.filter(probability.is_between(params.min_propensity, 1 - params.min_propensity))
    shown = pl.len().over("trial")
    split = pl.col("is_injected").n_unique().over("trial") > 1
    chance = pl.when(shown > 1).then(1 - probability.pow(shown) - (1 - probability).pow(shown)).otherwise(0.0)
    rows = drawn.with_columns(
        pl.col("is_injected").alias("is_treated"),
        pl.when("is_injected").then(1 / probability).otherwise(1 / (1 - probability)).alias("weight"),
        pl.lit(0.0).alias("position"),
        split.alias("is_split"),
        (chance * 1e6).round().cast(pl.Int64).alias("split_chance"),
    )
    joint = rows.group_by("memory").agg(
        (~pl.col("is_split").any() & (pl.col("split_chance").sum() >= _EXPECTED_SPLITS * 1e6)).alias("is_joint")
    )
    return contrasts(rows).join(joint, on="memory", maintain_order="left")
