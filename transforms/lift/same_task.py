"""Lift on repeated tasks: before and after the memory existed, against tasks that never had it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.counts.integer_groups import ordered_sum
from slowwave.transforms.lift.params import MemoryOutcomeParams

_PAIR = ("memory", "of_task_type", "of_task")
_SCHEMA = pl.Schema(
    {
        "memory": pl.Int64,
        **dict.fromkeys(["estimate", "standard_error", "degrees", "sessions", "uptake"], pl.Float64),
    }
)


@dataclass(frozen=True)
class _Attempts:
    """Attempts at tasks: all times, sorted; of each its task and the place of its time, as one number, sorted.

    `successes`: how many of those before each succeeded.
    """

    times: pl.Series
    keys: Integers
    successes: Integers

    @staticmethod
    def of(repeated: pl.DataFrame) -> _Attempts:
        """`repeated`: of_task, at, success."""
        times = repeated["at"].unique().sort()
        keys = repeated["of_task"].to_numpy() * (len(times) + 1) + times.search_sorted(repeated["at"]).to_numpy()
        order = np.argsort(keys, kind="stable")
        successes = np.cumsum(repeated["success"].to_numpy()[order])
        return _Attempts(times, keys[order], np.concatenate([np.zeros(1, np.int64), successes]))

    def before(self, task: Integers, moment: Integers) -> tuple[Integers, Integers]:
        """Attempts and successes of each task before a place in `times`."""
        size = len(self.times) + 1
        first, end = (np.searchsorted(self.keys, task * size + at) for at in (0, moment))
        return end - first, self.successes[end] - self.successes[first]

    def moment(self, at: pl.Series) -> Integers:
        """The places of times."""
        return self.times.search_sorted(at).cast(pl.Int64).to_numpy()


def same_task(
    known: pl.DataFrame, having: pl.DataFrame, created: pl.DataFrame, params: MemoryOutcomeParams
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Per memory: memory, estimate, standard_error, degrees, sessions; of the lift, and of its placebo.

    Args:
        known: see `trials`.
        having: see `trials_with_memory`, of the memories in question.
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
    attempts = _Attempts.of(repeated)
    pairs, took = _pairs(repeated, attempts, having, created, params)
    tasks = _tasks(repeated)
    changes = _changes(tasks, attempts, pairs, "created_at", None)
    shares = changes.join(took, on=["memory", "of_task"]).select(
        "memory", "of_task", (pl.col("had") / pl.col("after")).alias("share")
    )
    lift = _difference(changes, shares)
    placebo = _difference(_changes(tasks, attempts, pairs, "middle_at", "created_at"), shares)
    is_strong = pl.col("uptake") >= params.min_uptake
    return lift.filter(is_strong), placebo.filter(is_strong)


def _pairs(
    repeated: pl.DataFrame,
    attempts: _Attempts,
    having: pl.DataFrame,
    created: pl.DataFrame,
    params: MemoryOutcomeParams,
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
    took = took.join(_middles(took, attempts), on="memory")
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


def _middles(took: pl.DataFrame, attempts: _Attempts) -> pl.DataFrame:
    """Per memory the median time of the attempts before it existed at the tasks that had it: memory, middle_at.

    `took`: memory, of_task, created_at. Such attempts can be as many as all there are, for each memory anew: they are
    counted up to a time, which is found by halving, and never listed.
    """
    took = took.sort("of_task")  # what is looked up one after the other lies together
    all_n, _ = attempts.before(took["of_task"].to_numpy(), attempts.moment(took["created_at"]))
    took, all_n = took.filter(pl.Series(all_n > 0)), all_n[all_n > 0]
    memories, of = np.unique(took["memory"].to_numpy(), return_inverse=True)
    task = took["of_task"].to_numpy() * (len(attempts.times) + 1)
    first = np.searchsorted(attempts.keys, task)
    total = np.bincount(of, all_n, len(memories)).astype(np.int64)

    def nth(place: Integers) -> Integers:
        """The time, in microseconds, with so many attempts before it."""
        low, high = np.zeros(len(memories), np.int64), np.full(len(memories), len(attempts.times) - 1)
        while (low < high).any():
            middle = (low + high) // 2
            n = np.minimum(np.searchsorted(attempts.keys, task + middle[of] + 1) - first, all_n)
            is_enough = np.bincount(of, n, len(memories)) > place
            low, high = np.where(is_enough, low, np.minimum(middle + 1, high)), np.where(is_enough, middle, high)
        return attempts.times.to_physical().to_numpy()[low]

    middle = ((nth((total - 1) // 2) + nth(total // 2)) / 2).astype(np.int64)
    found = pl.DataFrame({"memory": memories, "middle_at": middle})
    return found.with_columns(pl.col("middle_at").cast(pl.Datetime("us")))


def _tasks(repeated: pl.DataFrame) -> pl.DataFrame:
    """Per of_task all_n, all_successes, and crowding.

    The last: attempts per session, weighted by attempts: what one session is worth if all its attempts are one.
    """
    n, successes = pl.col("n"), pl.col("successes")
    return (
        repeated.group_by("of_task", "block")
        .agg(pl.len().cast(pl.Int64).alias("n"), pl.col("success").sum().alias("successes"))
        .group_by("of_task")
        .agg(n.sum().alias("all_n"), successes.sum().alias("all_successes"), crowding=n.pow(2).sum() / n.sum())
    )


def _changes(
    tasks: pl.DataFrame, attempts: _Attempts, pairs: pl.DataFrame, split: str, end: str | None
) -> pl.DataFrame:
    """Per pair with attempts on both sides of `split`: change of success, its variance, its weight, sessions.

    `end` names the time from which attempts no longer count; None: all count.
    """
    task = pairs["of_task"].to_numpy()
    n, successes = attempts.before(task, attempts.moment(pairs[split]))
    rows = pairs.with_columns(n=n, successes=successes).join(tasks, on="of_task", maintain_order="left")
    if end is not None:
        all_n, all_successes = attempts.before(task, attempts.moment(pairs[end]))
        rows = rows.with_columns(all_n=all_n, all_successes=all_successes)
    after, after_successes = pl.col("all_n") - pl.col("n"), pl.col("all_successes") - pl.col("successes")
    rate = (pl.col("all_successes") + 1) / (pl.col("all_n") + 2)
    return rows.filter((pl.col("n") > 0) & (after > 0)).select(
        *_PAIR,
        "is_treated",
        after.alias("after"),
        (after_successes / after - pl.col("successes") / pl.col("n")).alias("change"),
        (rate * (1 - rate) * pl.col("crowding") * (1 / after + 1 / pl.col("n"))).alias("variance"),
        (pl.col("n") * after / pl.col("all_n")).alias("weight"),
        (pl.min_horizontal("n", after) / pl.col("crowding")).alias("sessions"),
    )


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
