"""The evidence on each strategy: its own sessions, and those of its comparables, up to a day.

One session is one observation, the share of its attempts that failed, so that correlated attempts do not add up. It
counts from the day of its last attempt on. Shares are whole parts per million: sums are exact whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

KEY = ("project", "agent", "task_type", "strategy_id")
MILLION = 1_000_000
_DAYS = 2**32  # more than there are, before 1970 and since
MILLIONTH = 1 / MILLION  # multiplied: Polars divides one row otherwise than many, in the last bit


def cells(attempts: pl.DataFrame) -> pl.DataFrame:
    """One row per strategy of an agent on a task type: the key, and the numbers cell, agent_task and task.

    The numbers tell apart and join; no result depends on which is given to whom. A `cell` that attempts have is kept.
    """
    if "cell" in attempts.columns:
        found = attempts.select("cell", *KEY).unique("cell", keep="any")
    else:
        found = attempts.select(KEY).unique().with_row_index("cell")
    agent_task, task = KEY[:3], ("project", "task_type")
    return found.join(found.select(agent_task).unique().with_row_index("agent_task"), on=agent_task).join(
        found.select(task).unique().with_row_index("task"), on=task
    )


def in_cells(attempts: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Attempts with the numbers of `cells`, in place of what else is called so (the text `task`)."""
    on = ["cell"] if "cell" in attempts.columns else list(KEY)
    return attempts.drop("task", strict=False).join(
        cells.select(*dict.fromkeys((*on, "cell", "agent_task", "task"))), on=on
    )


def _share(failures: pl.Expr, attempts: pl.Expr) -> pl.Expr:
    """Parts per million that failed, rounded; 0 of nothing."""
    return (failures * MILLION + attempts // 2) // pl.max_horizontal(attempts, pl.lit(1))


def sessions(attempts: pl.DataFrame) -> pl.DataFrame:
    """One row per strategy and session of attempts (see `in_cells`), in order of time within the strategy.

    Columns: cell, agent_task, task, session (a number, of one block of one agent_task); day (since 1970, UTC, of the
    session's last attempt); number (of the session, from 1); attempts, failures, share (that failed); session_share (of
    all the agent's attempts on the task type in that session), others (1 if other strategies were among them),
    others_share.
    """
    all_attempts, all_failures = (pl.col(name).sum().over("session") for name in ("attempts", "failures"))
    other_attempts, other_failures = all_attempts - pl.col("attempts"), all_failures - pl.col("failures")
    row = pl.int_range(pl.len())
    blocks = attempts["block"].unique().sort()
    # numbers in the order of blocks: one is grouped and sorted in a fraction of the time that texts take
    block = pl.col("block").cast(pl.Enum(blocks)).to_physical().cast(pl.Int64)
    return (
        attempts.select("cell", "agent_task", "task", "known_at", "success", block)
        .group_by((pl.col("cell").cast(pl.Int64) * len(blocks) + pl.col("block")).alias("own"))
        .agg(
            pl.len().cast(pl.Int64).alias("attempts"),
            (~pl.col("success")).sum().cast(pl.Int64).alias("failures"),
            pl.col("known_at").max(),
            pl.col("cell", "agent_task", "task", "block").first(),
        )
        .with_columns((pl.col("agent_task").cast(pl.Int64) * len(blocks) + pl.col("block")).alias("session"))
        .with_columns(
            pl.col("known_at").max().over("session"),
            _share(pl.col("failures"), pl.col("attempts")).alias("share"),
            _share(all_failures, all_attempts).alias("session_share"),
            (other_attempts > 0).cast(pl.Int64).alias("others"),
            _share(other_failures, other_attempts).alias("others_share"),
        )
        .sort("cell", "known_at", "block")
        .with_columns(row.alias("row"), pl.col("known_at").dt.epoch("d").alias("day"))
        .with_columns((pl.col("row") - pl.col("row").min().over("cell") + 1).alias("number"))
        .drop("row", "known_at", "own", "block")
    )


def recent_sessions(sessions: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """The sessions with recent, the sum of the shares so far, 0-1 each, weighted by age, and recent_weight."""
    fading = 0.5 ** (1 / params.recent_sessions)
    mean_share = pl.col("share").ewm_mean(half_life=params.recent_sessions, adjust=True).over("cell") * MILLIONTH
    weight = (1 - fading ** pl.col("number")) * (1 / (1 - fading))
    return sessions.with_columns((mean_share * weight).alias("recent"), weight.alias("recent_weight"))


@dataclass(frozen=True)
class Arms:
    """Running totals of sessions and of their failing shares (parts per million), per day with new ones.

    `own`: per cell, with what to add to the agent's totals to leave the strategy itself out. `agent_tasks`, `tasks`:
    per agent and task type, per task type. `of_agent`: the cells whose agent used another strategy on the task type.
    """

    own: pl.DataFrame
    agent_tasks: pl.DataFrame
    tasks: pl.DataFrame
    of_agent: pl.Series


def _running(daily: pl.DataFrame, by: str, columns: list[str]) -> pl.DataFrame:
    of_day = daily.group_by((pl.col(by).cast(pl.Int64) * _DAYS + pl.col("day")).alias("at")).agg(
        pl.col(by, "day").first(), pl.col(columns).sum()
    )
    return of_day.sort("at").with_columns(pl.col(columns).cum_sum().over(by))


def arms(sessions: pl.DataFrame, own: pl.DataFrame) -> Arms:
    """Running totals: of the candidates' `own` sessions, and of all `sessions` for their comparables."""
    alone = pl.col("others") == 0
    running_own = _running(
        own.select(
            "cell",
            "day",
            pl.lit(1).alias("n"),
            pl.col("share").alias("x"),
            (pl.col("others") - 1).alias("n_left_out"),
            (pl.when(alone).then(0).otherwise(pl.col("others_share")) - pl.col("session_share")).alias("x_left_out"),
        ),
        "cell",
        ["n", "x", "n_left_out", "x_left_out"],
    )
    agent_daily = sessions.unique("session", keep="any").select(
        "agent_task", "task", "day", pl.lit(1).alias("n"), pl.col("session_share").alias("x")
    )
    agent_tasks = _running(agent_daily, "agent_task", ["n", "x"])
    is_one_of_several = pl.len().over("agent_task") > 1
    of_agent = sessions.select("cell", "agent_task").unique("cell", keep="any").filter(is_one_of_several)["cell"]
    return Arms(running_own, agent_tasks, _running(agent_daily, "task", ["n", "x"]), of_agent)


def arms_at(times: pl.DataFrame, arms: Arms) -> pl.DataFrame:
    """What was known at the end of a day: `times` (cell, agent_task, task, day, …) with n, x, n_others, x_others.

    n counts sessions, x sums their failing shares (parts per million). The comparables are the agent's other
    strategies on the task type; for an agent that never used another, all other agents on it.
    """
    at = times
    for totals, by, suffix in (
        (arms.own, "cell", ""),
        (arms.agent_tasks, "agent_task", "_agent"),
        (arms.tasks, "task", "_task"),
    ):
        latest = _latest(times, totals, by)
        names = [name for name in totals.columns if name not in {by, "day", "at"}]
        at = at.hstack([totals[name].gather(latest).fill_null(0).alias(f"{name}{suffix}") for name in names])
    of_agent = pl.col("cell").is_in(arms.of_agent.implode())
    left_out = {name: pl.col(f"{name}_agent") + pl.col(f"{name}_left_out") for name in ("n", "x")}
    elsewhere = {name: pl.col(f"{name}_task") - pl.col(f"{name}_agent") for name in ("n", "x")}
    others = [
        pl.when(of_agent).then(left_out[name]).otherwise(elsewhere[name]).alias(f"{name}_others") for name in ("n", "x")
    ]
    return at.select(*times.columns, "n", "x", *others)


def _latest(times: pl.DataFrame, totals: pl.DataFrame, by: str) -> pl.Series:
    """The row of each time's last totals by its day; NULL before the first."""
    asked = times.select(pl.col(by).cast(pl.Int64) * _DAYS + pl.col("day")).to_series().to_numpy()
    row = np.searchsorted(totals["at"].to_numpy(), asked, side="right") - 1
    is_known = (row >= 0) & (totals[by].to_numpy()[row] == times[by].to_numpy()) if len(totals) else row >= 0
    return pl.Series(np.where(is_known, row, 0)).set(pl.Series(~is_known), None)
