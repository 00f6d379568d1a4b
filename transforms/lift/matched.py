"""Lift against interactions of the same kind and time that did not have the memory: an association, no more."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from slowwave.transforms.core.counts.ordered_sums import ordered_sum
from slowwave.transforms.lift.params import MemoryOutcomeParams

_STRATUM = ("of_task_type", "span")
_SCHEMA = pl.Schema(
    {"memory": pl.Int64, **dict.fromkeys(["estimate", "standard_error", "degrees", "sessions"], pl.Float64)}
)


@dataclass(frozen=True)
class Others:
    """All trials, summed up by stratum, and by of_task_type the variance of a mean of residuals times their number."""

    strata: pl.DataFrame
    variances: pl.DataFrame

    @staticmethod
    def of(forecasts: pl.DataFrame, params: MemoryOutcomeParams) -> Others:
        """`forecasts`: trial, block, of_task_type, at, usual (success less the forecast of all): all trials."""
        strata = (
            _spanned(forecasts, params)
            .group_by(_STRATUM)
            .agg(pl.len().cast(pl.Int64).alias("all_n"), ordered_sum(pl.col("usual")).alias("all_usual"))
        )
        return Others(strata, _variance_per_trial(forecasts))


def matched(rows: pl.DataFrame, others: Others, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Per memory: memory, estimate, standard_error, degrees, sessions; sorted by memory.

    Args:
        rows: memory, trial, block, of_task_type, at, residual (success less the forecast without the memory), usual
            (success less the forecast of all), variance: the trials that had it.
        others: what they are compared with.
        params: `stratum_days`.

    Residuals of the interactions that had it less those of the others of the same project, agent, task type and
    `stratum_days`, strata weighted by n1 n0 / n, the overlap weights of Li, Morgan & Zaslavsky (2018): a stratum in
    which all had it says nothing. Taking residuals first adjusts twice (Robinson 1988). The error is clustered by
    session, as in `contrasts`; that of the others is their session-clustered variance per interaction of that task
    type. Limit: what made retrieval pick it, beyond the forecast, stays in the estimate, and so does what memories had
    together with it do; it is association.
    """
    if rows.is_empty():
        return _SCHEMA.to_frame()
    chosen = _spanned(rows, params)
    own = chosen.group_by("memory", *_STRATUM).agg(
        pl.len().cast(pl.Int64).alias("n"), ordered_sum(pl.col("usual")).alias("own_usual")
    )
    count = pl.col("all_n") - pl.col("n")
    compared = (
        own.join(others.strata, on=_STRATUM)
        .filter(count > 0)
        .join(others.variances, on="of_task_type")
        .select(
            "memory",
            *_STRATUM,
            ((pl.col("all_usual") - pl.col("own_usual")) / count).alias("others_mean"),
            (count / pl.col("all_n")).alias("overlap"),
            (pl.col("n") * count / pl.col("all_n")).alias("weight"),
            (pl.col("per_trial") / count).alias("others_variance"),
        )
    )
    weight = pl.col("weight")
    totals = compared.group_by("memory").agg(
        ordered_sum(weight).alias("total"),
        (ordered_sum(weight.pow(2) * pl.col("others_variance")) / ordered_sum(weight).pow(2)).alias("others_variance"),
    )
    overlap, gap = pl.col("overlap"), pl.col("residual") - pl.col("others_mean")
    differences = (
        chosen.join(compared.select("memory", *_STRATUM, "others_mean", "overlap"), on=["memory", *_STRATUM])
        .select("memory", "block", "overlap", gap.alias("gap"), "variance")
        .with_columns((ordered_sum(overlap * pl.col("gap")) / ordered_sum(overlap)).over("memory").alias("estimate"))
    )
    sessions = differences.group_by("memory", "block").agg(
        ordered_sum(overlap).alias("session_weight"),
        ordered_sum(overlap * (pl.col("gap") - pl.col("estimate"))).alias("part"),
        ordered_sum(overlap.pow(2) * pl.col("variance")).alias("binomial"),
        pl.col("estimate").first(),
    )
    effective, session_weight = pl.col("sessions"), pl.col("session_weight")
    clustered = pl.col("squares") * effective / (effective - 1)
    return (
        sessions.group_by("memory")
        .agg(
            pl.col("estimate").first(),
            (ordered_sum(session_weight).pow(2) / ordered_sum(session_weight.pow(2))).alias("sessions"),
            ordered_sum(pl.col("part").pow(2)).alias("squares"),
            ordered_sum(pl.col("binomial")).alias("binomial"),
        )
        .filter(effective > 1 + 1e-9)
        .join(totals, on="memory")
        .select(
            "memory",
            "estimate",
            (pl.max_horizontal(clustered, "binomial") / pl.col("total").pow(2) + pl.col("others_variance"))
            .sqrt()
            .alias("standard_error"),
            (effective - 1).alias("degrees"),
            "sessions",
        )
        .sort("memory")
    )


def pseudo_treated(having: pl.DataFrame, created: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    """Trials that would have had a memory before it existed: memory, trial, sorted.

    Args:
        having: see `had`; of all memories.
        created: memory, created_at, of the memories in question.
        params: how many companions, and how far back.

    They are known by its companions, memories most often had together with it (n12² / n2, at least three times; ties
    by number): what made retrieval pick those then is what makes it pick this one now.
    """
    # nothing came before one that is as old as the log
    younger = created.filter(pl.col("created_at") > pl.lit(having["at"].min(), pl.Datetime("us")))
    asked = having.join(younger, on="memory", how="semi").select("memory", "trial")
    if asked.is_empty():
        return asked
    place = having.sort("memory", "at", "trial").select(
        pl.col("memory").alias("companion"),
        "trial",
        "at",
        pl.int_range(pl.len(), dtype=pl.Int64).over("memory").alias("place"),
    )
    totals = place.group_by("companion").agg(pl.len().cast(pl.Int64).alias("total"))
    size = 1 + having["memory"].max()  # type: ignore[operator] - a number, as there are rows
    companions = (
        asked.join(place.select("companion", "trial"), on="trial")
        .filter(pl.col("companion") != pl.col("memory"))
        # one number is grouped in half the time that two take
        .group_by((pl.col("memory") * size + pl.col("companion")).alias("pair"))
        .agg(pl.len().cast(pl.Int64).alias("together"))
        .filter(pl.col("together") >= 3)  # noqa: PLR2004 - twice may be chance
        .select((pl.col("pair") // size).alias("memory"), (pl.col("pair") % size).alias("companion"), "together")
        .join(younger, on="memory")
        .join(totals, on="companion")
        .with_columns((pl.col("together").pow(2) / pl.col("total")).alias("closeness"))
        .sort("memory", "closeness", "companion", descending=[False, True, False])
        .group_by("memory", maintain_order=True)
        .head(params.companions)
    )
    end = (
        companions.sort("created_at")
        .join_asof(
            place.select("companion", pl.col("at").alias("created_at"), "place").sort("created_at", "place"),
            on="created_at",
            by="companion",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .drop_nulls("place")
    )
    first = pl.max_horizontal(0, pl.col("place") + 1 - params.companion_interactions)
    return (
        end.select("memory", "companion", pl.int_ranges(first, pl.col("place") + 1).alias("place"))
        .explode("place")
        .join(place.select("companion", "place", "trial"), on=["companion", "place"])
        .select("memory", "trial")
        .unique()
        .sort("memory", "trial")
    )


def _spanned(rows: pl.DataFrame, params: MemoryOutcomeParams) -> pl.DataFrame:
    return rows.with_columns((pl.col("at").dt.epoch("d") // params.stratum_days).alias("span"))


def _variance_per_trial(everyone: pl.DataFrame) -> pl.DataFrame:
    """Per of_task_type: per_trial, clustered by session."""
    usual = pl.col("usual")
    centred = everyone.with_columns((usual - (ordered_sum(usual) / pl.len()).over("of_task_type")).alias("usual"))
    return (
        centred.group_by("of_task_type", "block")
        .agg(ordered_sum(usual).alias("part"), pl.len().alias("n"))
        .group_by("of_task_type")
        .agg((ordered_sum(pl.col("part").pow(2)) / pl.col("n").sum()).alias("per_trial"))
    )
