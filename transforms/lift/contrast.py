"""The difference between two groups of interactions, with an error that knows of sessions."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.lift.params import MemoryOutcomeParams

_SIDE = ("memory", "is_treated")
SCHEMA = pl.Schema(
    {
        "memory": pl.Int64,
        **dict.fromkeys(["estimate", "standard_error", "degrees", "sessions"], pl.Float64),
        "is_sloped": pl.Boolean,
    }
)
_LEAST_SPREAD = 1e-6  # of positions, squared: along less no line can be drawn


def contrasts(rows: pl.DataFrame) -> pl.DataFrame:
    """Per memory the weighted mean of `value` where `is_treated` less that where not, at equal `position`.

    Args:
        rows: memory, block, is_treated, weight (> 0), value, variance (of `value`, were all as forecast), position (0
            where it does not matter).

    Returns:
        memory, estimate, standard_error, degrees, sessions (effective, of the side with fewer), is_sloped (whether
        positions vary within the sides), sorted by memory. A memory with fewer than two effective sessions on a side
        has no row.

    Least squares on an intercept, treatment and position (one slope for both sides). The error is the larger of two:
    clustered by session, each side scaled by G / (G - 1), G being Kish's effective number of sessions (sum of weights)²
    / sum of (session weights)²; and the binomial one of the forecast, so that a few sessions that ended alike do not
    look certain. Degrees of freedom after Satterthwaite (1946) and Welch (1947).
    """
    if rows["is_treated"].n_unique() < len(_SIDE):
        return SCHEMA.to_frame()
    weight, value, position = pl.col("weight"), pl.col("value"), pl.col("position")
    sides = _sides(rows)
    both = sides.filter("is_treated").join(sides.filter(~pl.col("is_treated")), on="memory", suffix="_control")
    gap = pl.col("position_mean") - pl.col("position_mean_control")
    centred = rows.join(sides, on=_SIDE).with_columns(
        (position - pl.col("position_mean")).alias("position"), (value - pl.col("value_mean")).alias("value")
    )
    slopes = centred.group_by("memory").agg(
        ordered_sum(weight * position * value).alias("together"), ordered_sum(weight * position.pow(2)).alias("spread")
    )
    is_sloped = pl.col("spread") > _LEAST_SPREAD * (pl.col("total_weight") + pl.col("total_weight_control"))
    fits = both.join(slopes, on="memory").select(
        "memory",
        pl.min_horizontal("sessions", "sessions_control").alias("sessions"),
        gap.alias("gap"),
        is_sloped.alias("is_sloped"),
        pl.when(is_sloped).then(pl.col("together") / pl.col("spread")).otherwise(0.0).alias("slope"),
        pl.when(is_sloped).then(gap / pl.col("spread")).otherwise(0.0).alias("slope_lever"),
        (pl.col("value_mean") - pl.col("value_mean_control")).alias("difference"),
    )
    sign = pl.when("is_treated").then(1.0).otherwise(-1.0)
    lever = weight * (sign / pl.col("total_weight") - pl.col("slope_lever") * position)
    influence = centred.join(fits.select("memory", "slope", "slope_lever"), on="memory").select(
        *_SIDE,
        "block",
        (lever * (value - pl.col("slope") * position)).alias("part"),
        (lever.pow(2) * pl.col("variance")).alias("binomial"),
        "sessions",
    )
    return (
        fits.join(_errors(influence), on="memory")
        .select(
            "memory",
            (pl.col("difference") - pl.col("slope") * pl.col("gap")).alias("estimate"),
            "standard_error",
            pl.max_horizontal("degrees", pl.col("sessions") - 1).alias("degrees"),
            "sessions",
            "is_sloped",
        )
        .sort("memory")
    )


def _sides(rows: pl.DataFrame) -> pl.DataFrame:
    """Per memory and side: total_weight, value_mean, position_mean, sessions (effective; more than one)."""
    weight = pl.col("weight")
    per_session = rows.group_by(*_SIDE, "block").agg(ordered_sum(weight).alias("weight"))
    sessions = per_session.group_by(_SIDE).agg(
        (ordered_sum(weight).pow(2) / ordered_sum(weight.pow(2))).alias("sessions")
    )
    means = rows.group_by(_SIDE).agg(
        ordered_sum(weight).alias("total_weight"),
        (ordered_sum(weight * pl.col("value")) / ordered_sum(weight)).alias("value_mean"),
        (ordered_sum(weight * pl.col("position")) / ordered_sum(weight)).alias("position_mean"),
    )
    return means.join(sessions.filter(pl.col("sessions") > 1 + 1e-9), on=_SIDE)


def _errors(influence: pl.DataFrame) -> pl.DataFrame:
    """Per memory: standard_error, degrees (NULL where all ended as their side did)."""
    part, degree = pl.col("part"), pl.col("sessions") - 1
    sessions = (
        influence.group_by(*_SIDE, "block")
        .agg(ordered_sum(part).alias("part"), pl.col("sessions").first())
        .with_columns((part * (pl.col("sessions") / degree).sqrt()).alias("part"))
    )
    clustered = (
        sessions.group_by("memory", "block")
        .agg(ordered_sum(part).alias("part"))
        .group_by("memory")
        .agg(ordered_sum(part.pow(2)).alias("clustered"))
    )
    variance = pl.col("variance")
    degrees = (
        sessions.group_by(_SIDE)
        .agg(ordered_sum(part.pow(2)).alias("variance"), degree.first().alias("degree"))
        .group_by("memory")
        .agg(
            ordered_sum(variance).alias("variance"), ordered_sum(variance.pow(2) / pl.col("degree")).alias("per_degree")
        )
        .select(
            "memory", pl.when(pl.col("per_degree") > 0).then(variance.pow(2) / pl.col("per_degree")).alias("degrees")
        )
    )
    binomial = influence.group_by("memory").agg(ordered_sum(pl.col("binomial")).alias("binomial"))
    return (
        clustered.join(binomial, on="memory")
        .join(degrees, on="memory")
        .select("memory", pl.max_horizontal("clustered", "binomial").sqrt().alias("standard_error"), "degrees")
    )


# Lift where chance decided what was injected, and the producer logged with which probability.

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
