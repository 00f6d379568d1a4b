"""Lift against interactions of the same kind and time that did not have the memory: an association, no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.compiled import kernel
from slowwave.transforms.core.counts.integer_groups import KeyGroups, ordered_sum
from slowwave.transforms.lift.params import MemoryOutcomeParams

_SPANS = 2**23  # more than there are days
_ROWS_AT_ONCE = 500_000
_COMPILED_ROWS = 20_000  # from so many on the compiled loop is worth loading
_SUMS_HOLD = 2.0**32  # of the compiled loop
_SCHEMA = pl.Schema(
    {"memory": pl.Int64, **dict.fromkeys(["estimate", "standard_error", "degrees", "sessions"], pl.Float64)}
)


@dataclass(frozen=True)
class Others:
    """All trials by stratum: nth (its number), all_n, all_usual, per_trial; and the stratum of each trial.

    The last is the variance of a mean of residuals of that task type, times their number.
    """

    strata: pl.DataFrame
    of_trials: pl.Series

    @staticmethod
    def of(forecasts: pl.DataFrame, params: MemoryOutcomeParams) -> Others:
        """`forecasts`: block, of_task_type, at, usual (success less the forecast of all): all trials, in order."""
        forecasts = forecasts.with_columns(_stratum(params))
        told = pl.concat(_strata(some) for some in _by_task_type(forecasts))
        told = told.with_columns(nth=pl.int_range(pl.len(), dtype=pl.Int64))
        of_trials = forecasts.select("stratum").join(told, on="stratum", how="left", maintain_order="left")["nth"]
        return Others(told.drop("stratum"), of_trials)


def _by_task_type(forecasts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """In parts, with all rows of a task type in one of them: sums of floats take several times as much."""
    kinds = forecasts["of_task_type"]
    if forecasts.height <= _ROWS_AT_ONCE or not kinds.is_sorted():
        yield forecasts
        return
    start = 0
    while start < forecasts.height:
        last = kinds[min(start + _ROWS_AT_ONCE, forecasts.height) - 1]
        end = int(kinds.search_sorted(last, side="right"))
        yield forecasts.slice(start, end - start)
        start = end


def _strata(forecasts: pl.DataFrame) -> pl.DataFrame:
    strata = forecasts.group_by("stratum").agg(
        pl.len().cast(pl.Int64).alias("all_n"),
        ordered_sum(pl.col("usual")).alias("all_usual"),
        pl.col("of_task_type").first(),
    )
    return strata.join(_variance_per_trial(forecasts), on="of_task_type").drop("of_task_type")


def matched_estimates(rows: pl.DataFrame, others: Others) -> pl.DataFrame:
    """Per memory: memory, estimate, standard_error, degrees, sessions; sorted by memory.

    Args:
        rows: memory, trial, block, residual (success less the forecast without the memory), usual (success less the
            forecast of all), variance: the trials that had it, sorted by memory.
        others: what they are compared with.

    Residuals of the interactions that had it less those of the others of the same project, agent, task type and
    `stratum_days`, strata weighted by n1 n0 / n, the overlap weights of Li, Morgan & Zaslavsky (2018): a stratum in
    which all had it says nothing. Taking residuals first adjusts twice (Robinson 1988). The error is clustered by
    session, as in `contrasts`; that of the others is their session-clustered variance per interaction of that task
    type. Limit: what made retrieval pick it, beyond the forecast, stays in the estimate, and so does what memories had
    together with it do; it is association.
    """
    if rows.is_empty():
        return _SCHEMA.to_frame()
    rows = rows.with_columns(others.of_trials.gather(rows["trial"]))
    loops = kernel("lift.matched_kernel") if rows.height >= _COMPILED_ROWS else None
    found = None if loops is None else _match_compiled(loops, rows, others.strata)
    return _match_with_frames(rows, others.strata) if found is None else found


def _match_compiled(loops: ModuleType, rows: pl.DataFrame, strata: pl.DataFrame) -> pl.DataFrame | None:
    """As `_match_with_frames`; None where sums may be too large for it."""
    memories = rows["memory"].rle().struct.unnest()
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(memories["len"].to_numpy(), dtype=np.int64)])
    names = ("estimate", "standard_error", "degrees", "sessions")
    told, is_told = np.zeros((memories.height, len(names))), np.zeros(memories.height, np.int64)
    size = loops.match_memories(
        start,
        *[_array(rows[name]) for name in ("nth", "block", "residual", "usual", "variance")],
        *[_array(strata[name]) for name in ("all_n", "all_usual", "per_trial")],
        1 + int(rows["block"].max()),  # type: ignore[arg-type] - a number, as there are rows
        told,
        is_told,
    )
    if not size < _SUMS_HOLD:
        return None
    found = pl.DataFrame({"memory": memories["value"], **dict(zip(names, told.T, strict=True))})
    return found.filter(pl.Series(is_told == 1))


def _array(column: pl.Series) -> Floats | Integers:
    """One that a compiled loop takes: floats, else whole numbers of 64 bits."""
    dtype = np.float64 if column.dtype == pl.Float64 else np.int64
    return np.require(column.to_numpy(), dtype, ["C", "W"])


def _match_with_frames(rows: pl.DataFrame, strata: pl.DataFrame) -> pl.DataFrame:
    """As `matched_estimates`, of rows with `nth`."""
    # one number is grouped and joined in half the time that several take
    chosen = rows.with_columns((pl.col("memory") * strata.height + pl.col("nth")).alias("cell"))
    own = chosen.group_by("cell").agg(
        pl.len().cast(pl.Int64).alias("n"),
        ordered_sum(pl.col("usual")).alias("own_usual"),
        pl.col("memory", "nth").first(),
    )
    count = pl.col("all_n") - pl.col("n")
    compared = (
        own.join(strata, on="nth")
        .filter(count > 0)
        .select(
            "cell",
            "memory",
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
        chosen.join(compared.select("cell", "others_mean", "overlap"), on="cell")
        .select("memory", "block", "overlap", gap.alias("gap"), "variance")
        .with_columns((ordered_sum(overlap * pl.col("gap")) / ordered_sum(overlap)).over("memory").alias("estimate"))
    )
    blocks = 1 + pl.col("block").max().cast(pl.Int64)
    sessions = differences.group_by((pl.col("memory") * blocks + pl.col("block")).alias("session")).agg(
        pl.col("memory").first(),
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
        having: see `trials_with_memory`; of all memories.
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
    # of each memory one after the other, as they were
    memory, at = having["memory"].to_numpy(), having["at"].to_physical().to_numpy()
    in_time = KeyGroups.of(memory, at).order
    at, trial = at[in_time], having["trial"].gather(in_time)
    size = 1 + int(memory.max())
    companions = (
        asked.join(having.select(pl.col("memory").alias("companion"), "trial"), on="trial")
        .filter(pl.col("companion") != pl.col("memory"))
        .group_by((pl.col("memory") * size + pl.col("companion")).alias("pair"))
        .agg(pl.len().cast(pl.Int64).alias("together"))
        .filter(pl.col("together") >= 3)  # noqa: PLR2004 - twice may be chance
        .select((pl.col("pair") // size).alias("memory"), (pl.col("pair") % size).alias("companion"), "together")
        .join(younger, on="memory")
    )
    first, end = (np.searchsorted(memory, companions["companion"], side=side) for side in ("left", "right"))
    closest = (
        companions.with_columns(first=first, end=end)
        .with_columns((pl.col("together").pow(2) / (pl.col("end") - pl.col("first"))).alias("closeness"))
        .sort("memory", "closeness", "companion", descending=[False, True, False])
        .group_by("memory", maintain_order=True)
        .head(params.companions)
    )
    end = _first_since(at, closest["first"].to_numpy(), closest["end"].to_numpy(), closest["created_at"])
    first = pl.max_horizontal("first", pl.col("end") - params.companion_interactions)
    rows = (
        closest.with_columns(end=end)
        .filter(pl.col("end") > pl.col("first"))
        .select("memory", pl.int_ranges(first, "end").alias("row"))
        .explode("row")
    )
    trials = 1 + int(trial.max())  # type: ignore[arg-type] - a number, as there are rows
    pairs = (rows["memory"] * trials + trial.gather(rows["row"])).unique().sort()
    return pl.DataFrame({"memory": pairs // trials, "trial": pairs % trials})


def _first_since(at: Integers, first: Integers, end: Integers, times: pl.Series) -> Integers:
    """Of the rows from `first` up to `end`, sorted by `at`, the first that is not before a time; else the end."""
    low, high, wanted = first, end, times.to_physical().to_numpy()
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_before = at[np.minimum(middle, len(at) - 1)] < wanted
        low, high = np.where(is_open & is_before, middle + 1, low), np.where(is_open & ~is_before, middle, high)
    return low


def _stratum(params: MemoryOutcomeParams) -> pl.Expr:
    """The number of a task type and `stratum_days`."""
    span = pl.col("at").dt.epoch("d").cast(pl.Int64) // params.stratum_days
    return (pl.col("of_task_type").cast(pl.Int64) * _SPANS + span + _SPANS // 2).alias("stratum")


def _variance_per_trial(everyone: pl.DataFrame) -> pl.DataFrame:
    """Per of_task_type: per_trial, clustered by session."""
    usual = pl.col("usual")
    means = everyone.group_by("of_task_type").agg(mean=ordered_sum(usual) / pl.len())
    return (
        everyone.join(means, on="of_task_type")
        .select("of_task_type", "block", usual - pl.col("mean"))
        .group_by("of_task_type", "block")
        .agg(ordered_sum(usual).alias("part"), pl.len().alias("n"))
        .group_by("of_task_type")
        .agg((ordered_sum(pl.col("part").pow(2)) / pl.col("n").sum()).alias("per_trial"))
    )
