"""Lift where a memory was offered just above or just below the score from which memories are injected."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.lift.contrast import contrasts
from slowwave.transforms.lift.params import MemoryOutcomeParams

_AT = ("of_project", "score")
_SIDES = {"above": pl.col("is_treated"), "below": ~pl.col("is_treated")}


def cutoff_places(places: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Return the scored offers in which chance did not decide, by trial and memory_id, with their cut.

    Adds is_treated (the score reaches the threshold of its project, see `_thresholds`), position (distance from the
    threshold, in interquartile ranges of that memory's distances; NULL where these do not vary) and follows_score: at
    most `max_cut_exceptions` of the project's offers with a position within `cutoff_band` were injected below or left
    out above the threshold. A rule that takes the best few does not follow the score: where its cut lies depends on
    what else was offered, and so on the case.
    """
    probability, score = pl.col("injection_probability"), pl.col("score")
    scored = places.filter(
        (probability.is_null() | (probability == 0) | (probability == 1)) & score.is_not_null() & score.is_finite()
    )
    # halves, as the difference of two scores need not be a number that fits
    distance = score / 2 - pl.col("threshold") / 2
    spread = pl.col("distance").quantile(0.75, "lower") / 2 - pl.col("distance").quantile(0.25, "lower") / 2
    position = pl.col("distance") / 2 / pl.col("spread")
    is_near = pl.col("position").abs() < params.cutoff_band
    exceptions = (is_near & (pl.col("is_treated") != pl.col("is_injected"))).sum().over("of_project")
    near = is_near.sum().over("of_project")
    return (
        scored.join(_thresholds(scored), on="of_project")
        .with_columns((score >= pl.col("least_injected")).alias("is_treated"), distance.alias("distance"))
        .with_columns(spread.over("memory").alias("spread"))
        .with_columns(pl.when(pl.col("spread") > 0).then(position).alias("position"))
        .with_columns((exceptions <= params.max_cut_exceptions * near).alias("follows_score"))
        .drop("threshold", "least_injected", "distance", "spread")
        .sort("trial", "memory_id")
    )


def _thresholds(scored: pl.DataFrame) -> pl.DataFrame:
    """Per of_project: least_injected, the score from which injecting all and nothing below leaves fewest exceptions.

    The lowest such score; `threshold` is halfway from the next lower score. No row where nothing was left out or
    nothing injected.
    """
    injected, left_out = pl.col("injected"), pl.col("left_out")
    exceptions = injected.cum_sum() - injected + left_out.sum() - left_out.cum_sum() + left_out
    return (
        scored.group_by(_AT)
        .agg(
            pl.col("is_injected").sum().cast(pl.Int64).alias("injected"),
            (~pl.col("is_injected")).sum().cast(pl.Int64).alias("left_out"),
        )
        .sort(_AT)
        .filter((injected.sum().over("of_project") > 0) & (left_out.sum().over("of_project") > 0))
        .with_columns(
            exceptions.over("of_project").alias("exceptions"), pl.col("score").shift().over("of_project").alias("below")
        )
        .drop_nulls("below")
        .sort("of_project", "exceptions", "score")
        .unique("of_project", keep="first", maintain_order=True)
        .select(
            "of_project",
            pl.col("score").alias("least_injected"),
            (pl.col("below") / 2 + pl.col("score") / 2).alias("threshold"),
        )
    )


def cutoff(cut: pl.DataFrame, params: MemoryOutcomeParams) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Per memory the columns of `contrasts`: of the lift, of its placebo in the forecast, and at cuts that are none.

    Args:
        cut: see `cutoff_places`, those that follow the score, with value, expected, variance.
        params: `cutoff_band`, `min_sessions`.

    A regression discontinuity (Thistlethwaite & Campbell 1960; Lee & Lemieux 2010): success less forecast just above
    the threshold less the same just below, both taken at the threshold along one line; weights fall linearly to 0 at
    `cutoff_band`. Offers count by the side of their score, so that exceptions only draw the lift towards 0. Strength:
    what makes a case get a memory a higher score changes smoothly through the threshold. Limit: tells of cases near it
    only, and a bend within the band is taken for effect. Memories with fewer than `min_sessions` distinct sessions
    within half the band on either side have no row: the line would be drawn across a gap.

    The placebos find nothing if the comparison is sound: the same jump in the forecast, made before; and the mean of
    the jumps in success less forecast one band below and one above the threshold, where nothing changes (Imbens &
    Lemieux 2008), which also sees hardness that no forecast knows of.
    """
    band, position = params.cutoff_band, pl.col("position")
    near = _around(cut, 0.0, band)
    close = (
        near.filter(position.abs() <= band / 2)
        .group_by("memory")
        .agg(*[pl.col("block").filter(side).n_unique().alias(name) for name, side in _SIDES.items()])
        .filter(pl.min_horizontal(*_SIDES) >= params.min_sessions)
    )
    near = near.join(close, on="memory", how="semi", maintain_order="left")
    forecast = near.with_columns(pl.col("expected").alias("value"), pl.lit(0.0).alias("variance"))
    elsewhere = pl.concat(
        [
            contrasts(_around(cut.filter(side), sign * band, band)).filter("is_sloped")
            for side, sign in ((_SIDES["below"], -1), (_SIDES["above"], 1))
        ]
    )
    return contrasts(near).filter("is_sloped"), contrasts(forecast).filter("is_sloped"), _mean(elsewhere)


def _around(cut: pl.DataFrame, centre: float, band: float) -> pl.DataFrame:
    """The offers within `band` of `centre`, with position from there, is_treated (0 or more) and weight."""
    position = pl.col("position")
    return (
        cut.with_columns(position - centre)
        .filter(position.abs() < band)
        .with_columns(
            (1 - position.abs() / band).alias("weight"),
            (pl.col("is_treated") if centre == 0 else position >= 0).alias("is_treated"),
        )
    )


def _mean(jumps: pl.DataFrame) -> pl.DataFrame:
    """Per memory the mean of its one or two jumps: the columns of `contrasts` but is_sloped."""
    # two terms add up to the same in either order
    return (
        jumps.group_by("memory")
        .agg(
            pl.col("estimate").mean(),
            (pl.col("standard_error").pow(2).sum().sqrt() / pl.len()).alias("standard_error"),
            pl.col("degrees").min(),
            pl.col("sessions").min(),
        )
        .sort("memory")
    )
