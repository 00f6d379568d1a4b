"""Lift on repeated tasks: before and after the memory existed, against tasks that never had it."""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.transforms.core.counts.ordered_sums import ordered_sum
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.lift.trials import Moments, counts_before

_PAIR = ("memory", "of_task_type", "of_task")
_SCHEMA = pl.Schema(
    {
        "memory": pl.Int64,
        **dict.fromkeys(["estimate", "standard_error", "degrees", "sessions", "uptake"], pl.Float64),
    }
)


def same_task(
    known: pl.DataFrame, having: pl.DataFrame, created: pl.DataFrame, params: MemoryOutcomeParams
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Per memory: memory, estimate, standard_error, degrees, sessions; of the lift, and of its placebo.

    Args:
        known: see `trials`.
        having: see `had`, of the memories in question.
        created: memory, created_at.
        params: bounds.

    Difference in differences with a dose: success on the tasks that had the memory, after it existed less before, less
    the same on tasks of their type that never had it, divided by the share of later interactions that had it. All later
    interactions of a task count, had or not: which of them retrieval picked cannot matter, nor how hard the task is.
    Limit: the task's success must not have been about to change anyway (a memory written after a bad day is followed by
    better ones). The placebo is the same estimate with the memory dated back to the middle of the interactions before
    it. Each session counts as one, wherever its attempts repeat a task; the spread of the changes of the tasks that
    never had it adds to the error (Conley & Taber 2011). Without such tasks, or with a share below `min_uptake`,
    there is no row.
    """
    repeated = known.filter(pl.col("of_task").is_not_null() & (pl.len().over("of_task") > 1))
    if repeated.is_empty():
        return _SCHEMA.to_frame(), _SCHEMA.to_frame()
    pairs, took = _pairs(repeated, having, created, params)
    changes = _changes(repeated, pairs, "created_at", None)
    shares = changes.join(took, on=["memory", "of_task"]).select(
        "memory", "of_task", (pl.col("had") / pl.col("after")).alias("share")
    )
    lift = _difference(changes, shares)
    placebo = _difference(_changes(repeated, pairs, "middle_at", "created_at"), shares)
    is_strong = pl.col("uptake") >= params.min_uptake
    return lift.filter(is_strong), placebo.filter(is_strong)


def _pairs(
    repeated: pl.DataFrame, having: pl.DataFrame, created: pl.DataFrame, params: MemoryOutcomeParams
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tasks that had a memory and those of the same type that never did, and how often the former had it.

    The former: memory, of_task_type, of_task, is_treated, created_at, middle_at. The latter: memory, of_task, had.
    """
    # of one as old as the log, or of a task first tried later, nothing came before: most are
    younger = created.filter(pl.col("created_at") > pl.lit(repeated["at"].min(), pl.Datetime("us")))
    later = (
        having.join(younger, on="memory")
        .filter(pl.col("at") >= pl.col("created_at"))
        .join(repeated.select("trial"), on="trial", how="semi")
    )
    took = later.group_by(*_PAIR, "created_at").agg(pl.len().cast(pl.Int64).alias("had"))
    first = repeated.group_by("of_task").agg(pl.col("at").min().alias("first_at"))
    before = (
        took.join(first, on="of_task")
        .filter(pl.col("first_at") < pl.col("created_at"))
        .join(repeated.select("of_task", "at"), on="of_task")
        .filter(pl.col("at") < pl.col("created_at"))
        .group_by("memory")
        .agg(pl.col("at").median().cast(pl.Datetime("us")).alias("middle_at"))
    )
    took = took.join(before, on="memory")
    tasks = (
        repeated.group_by("of_task_type", "of_task")
        .agg(pl.len().alias("n"))
        .sort("of_task_type", "n", "of_task", descending=[False, True, False])
        .group_by("of_task_type", maintain_order=True)
        .head(params.trend_tasks)
        .select("of_task_type", "of_task")
    )
    ever = having.join(took, on="memory", how="semi").select("memory", "of_task").unique()
    never = (
        took.select("memory", "of_task_type", "created_at", "middle_at")
        .unique()
        .join(tasks, on="of_task_type")
        .join(ever, on=["memory", "of_task"], how="anti")
        .with_columns(pl.lit(value=False).alias("is_treated"))
    )
    columns = [*_PAIR, "is_treated", "created_at", "middle_at"]
    treated = took.with_columns(pl.lit(value=True).alias("is_treated"))
    return pl.concat([treated.select(columns), never.select(columns)]), took.select("memory", "of_task", "had")


def _changes(repeated: pl.DataFrame, pairs: pl.DataFrame, split: str, end: str | None) -> pl.DataFrame:
    """Per pair with attempts on both sides of `split`: change of success, its variance, its weight, sessions.

    `end` names the time from which attempts no longer count; None: all count.
    """
    attempts = repeated.select(pl.col("of_task").alias("group"), pl.col("at").alias("moment"), "success")
    before = _before(attempts, pairs, split)
    totals = repeated.group_by("of_task").agg(
        pl.len().cast(pl.Int64).alias("all_n"), pl.col("success").sum().alias("all_successes")
    )
    # attempts per session, weighted by attempts: what one session is worth if all its attempts are one
    crowding = (
        repeated.group_by("of_task", "block")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .group_by("of_task")
        .agg((pl.col("n").pow(2).sum() / pl.col("n").sum()).alias("crowding"))
    )
    rows = pl.concat([pairs, before], how="horizontal").join(totals, on="of_task", maintain_order="left")
    if end is not None:
        until = _before(attempts, pairs, end)
        rows = rows.with_columns(until["n"].alias("all_n"), until["successes"].alias("all_successes"))
    after, after_successes = pl.col("all_n") - pl.col("n"), pl.col("all_successes") - pl.col("successes")
    rate = (pl.col("all_successes") + 1) / (pl.col("all_n") + 2)
    return (
        rows.join(crowding, on="of_task")
        .filter((pl.col("n") > 0) & (after > 0))
        .select(
            *_PAIR,
            "is_treated",
            after.alias("after"),
            (after_successes / after - pl.col("successes") / pl.col("n")).alias("change"),
            (rate * (1 - rate) * pl.col("crowding") * (1 / after + 1 / pl.col("n"))).alias("variance"),
            (pl.col("n") * after / pl.col("all_n")).alias("weight"),
            (pl.min_horizontal("n", after) / pl.col("crowding")).alias("sessions"),
        )
    )


def _before(attempts: pl.DataFrame, pairs: pl.DataFrame, time: str) -> pl.DataFrame:
    """Attempts and successes of each pair's task before its `time`: n, successes."""
    times = attempts["moment"].unique().sort()
    n, successes = counts_before(
        _moments(attempts["group"], times.search_sorted(attempts["moment"])),
        attempts["success"].to_numpy(),
        _moments(pairs["of_task"], times.search_sorted(pairs[time])),
    )
    return pl.DataFrame({"n": n, "successes": successes})


def _moments(group: pl.Series, moment: pl.Series) -> Moments:
    nobody = np.zeros(len(group), np.int64)
    return Moments(nobody, group.fill_null(-1).to_numpy(), moment.cast(pl.Int64).to_numpy())


def _difference(changes: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Per memory: estimate, standard_error, degrees, sessions, uptake."""
    kind, weight, change = ("memory", "of_task_type"), pl.col("weight"), pl.col("change")
    never = changes.filter(~pl.col("is_treated"))
    trends = never.group_by(kind).agg(
        (ordered_sum(weight * change) / ordered_sum(weight)).alias("trend"),
        (ordered_sum(weight.pow(2) * pl.col("variance")) / ordered_sum(weight).pow(2)).alias("trend_variance"),
        (ordered_sum(weight.pow(2)) / ordered_sum(weight).pow(2)).alias("trend_share"),
    )
    spreads = (
        never.join(trends, on=kind)
        .group_by("memory")
        .agg(
            (ordered_sum(weight * ((change - pl.col("trend")).pow(2) - pl.col("variance"))) / ordered_sum(weight))
            .clip(lower_bound=0)
            .alias("spread"),
            pl.len().alias("tasks"),
        )
        .filter(pl.col("tasks") > 1)
    )
    treated = (
        changes.filter("is_treated")
        .join(trends, on=kind)
        .join(spreads, on="memory")
        .join(shares, on=["memory", "of_task"])
    )
    of_type = treated.group_by(kind).agg(
        ordered_sum(weight).alias("type_weight"),
        ordered_sum(weight * (change - pl.col("trend"))).alias("gain"),
        ordered_sum(weight.pow(2) * (pl.col("variance") + pl.col("spread"))).alias("own_variance"),
        ordered_sum(weight * pl.col("share")).alias("dose"),
        ordered_sum(pl.col("sessions")).alias("sessions"),
        pl.col("trend_variance", "trend_share", "spread").first(),
    )
    trend_variance = pl.col("trend_variance") + pl.col("trend_share") * pl.col("spread")
    total = ordered_sum(pl.col("type_weight"))
    variance = ordered_sum(pl.col("own_variance") + pl.col("type_weight").pow(2) * trend_variance)
    dose = ordered_sum(pl.col("dose"))
    return (
        of_type.group_by("memory")
        .agg(
            (ordered_sum(pl.col("gain")) / dose).alias("estimate"),
            (variance.sqrt() / dose).alias("standard_error"),
            (ordered_sum(pl.col("sessions")) - 1).alias("degrees"),
            ordered_sum(pl.col("sessions")).alias("sessions"),
            (dose / total).alias("uptake"),
        )
        .sort("memory")
    )
