"""The evidence on each strategy: its own sessions, and those of its comparables, up to a day.

One session is one observation, the share of its attempts that failed, so that correlated attempts do not add up. It
counts from the day of its last attempt on. Shares are whole parts per million: sums are exact whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.counts.integer_groups import KeyGroups
from slowwave.transforms.core.vocabularies import STRATEGY_KEY
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams

KEY = STRATEGY_KEY
MILLION = 1_000_000
_DAYS = 2**32  # more than there are, before 1970 and since
_MICROSECONDS = 86_400_000_000  # of a day
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
    numbers = cells.select(*dict.fromkeys((*on, "cell", "agent_task", "task")))
    found = attempts.select(on).join(numbers, on=on, how="left", maintain_order="left")
    return attempts.with_columns(found.select("cell", "agent_task", "task"))


def _share(failures: Integers, attempts: Integers) -> Integers:
    """Parts per million that failed, rounded; 0 of nothing."""
    return (failures * MILLION + attempts // 2) // np.maximum(attempts, 1)


def sessions(attempts: pl.DataFrame) -> pl.DataFrame:
    """One row per strategy and session of attempts (see `in_cells`), in order of time within the strategy.

    Args:
        attempts: cell, agent_task, task, known_at, success, block: texts, or numbers in the order of these.

    Columns: cell, agent_task, task, session (a number, of one block of one agent_task); day (since 1970, UTC, of the
    session's last attempt); number (of the session, from 1); attempts, failures, share (that failed); session_share (of
    all the agent's attempts on the task type in that session), others (1 if other strategies were among them),
    others_share.
    """
    block = attempts["block"]
    if block.dtype == pl.String:
        block = block.cast(pl.Enum(block.unique().sort())).to_physical()
    block = block.cast(pl.Int64).to_numpy()
    many = 1 + int(block.max(initial=0))
    known_at, failed = attempts["known_at"].to_physical().to_numpy(), (~attempts["success"]).cast(pl.Int64).to_numpy()
    own = KeyGroups.of(attempts["cell"].cast(pl.Int64).to_numpy(), block)
    first, block = own.first, block[own.first]
    tried, failures, known_at = own.sizes, own.sums(failed), own.most(known_at)
    session = attempts["agent_task"].cast(pl.Int64).to_numpy()[first] * many + block
    alike = KeyGroups.of(session)
    known_at = alike.of_each(alike.most(known_at))
    all_attempts, all_failures = alike.of_each(alike.sums(tried)), alike.of_each(alike.sums(failures))
    numbers = attempts.select("cell", "agent_task", "task")[first]
    cell = numbers["cell"].cast(pl.Int64).to_numpy()
    order = KeyGroups.of(cell, known_at).order  # they came in the order of cell and block
    cell = cell[order]
    is_first = np.diff(cell, prepend=-1) != 0
    place = np.arange(len(cell))
    columns = {
        "session": session,
        "day": known_at // _MICROSECONDS,
        "attempts": tried,
        "failures": failures,
        "share": _share(failures, tried),
        "session_share": _share(all_failures, all_attempts),
        "others": (all_attempts > tried).astype(np.int64),
        "others_share": _share(all_failures - failures, all_attempts - tried),
    }
    return (
        numbers[order]
        .hstack([pl.Series(name, values[order]) for name, values in columns.items()])
        .with_columns(
            pl.col("day").cast(pl.Int32),
            pl.Series("number", place - np.maximum.accumulate(np.where(is_first, place, 0)) + 1),
        )
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
    per agent and task type, per task type. `succeeding`: per task type the number of strategies that succeed.
    `of_agent`: the cells whose agent used another strategy on the task type.
    """

    own: pl.DataFrame
    agent_tasks: pl.DataFrame
    tasks: pl.DataFrame
    succeeding: pl.DataFrame
    of_agent: pl.Series


def _running(daily: pl.DataFrame, by: str, columns: list[str]) -> pl.DataFrame:
    at = daily[by].cast(pl.Int64).to_numpy() * _DAYS + daily["day"].to_numpy()
    of_day = KeyGroups.of(at)
    owner = daily[by].to_numpy()[of_day.first]
    owners = KeyGroups.of(owner)
    found = {}
    for name in columns:
        so_far = np.cumsum(of_day.sums(daily[name].cast(pl.Int64).to_numpy()))
        before = np.concatenate([[0], so_far])[owners.starts]
        found[name] = so_far - np.repeat(before, owners.sizes)
    return (
        daily[of_day.first]
        .select(by, "day")
        .with_columns(pl.Series("at", at[of_day.first]), **{name: pl.Series(values) for name, values in found.items()})
    )


def arms(sessions: pl.DataFrame, own: pl.DataFrame, params: AntiPatternParams) -> Arms:
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
    of_session = KeyGroups.of(sessions["session"].to_numpy())
    agent_daily = sessions[of_session.first].select(
        "agent_task", "task", "day", pl.lit(1).alias("n"), pl.col("session_share").alias("x")
    )
    agent_tasks = _running(agent_daily, "agent_task", ["n", "x"])
    is_one_of_several = pl.len().over("agent_task") > 1
    of_agent = sessions.select("cell", "agent_task").unique("cell", keep="any").filter(is_one_of_several)["cell"]
    tasks = _running(agent_daily, "task", ["n", "x"])
    return Arms(running_own, agent_tasks, tasks, succeeding(sessions, params), of_agent)


def succeeding(sessions: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Running number of strategies per task type that succeed, for `latest_totals`: task, day, at, succeeding.

    A strategy succeeds, whoever uses it, when it has `solved_attempts` and more than `solved_rate` of them succeeded.
    """
    tried, failed = (pl.col(name).cum_sum().over("cell") for name in ("attempts", "failures"))
    is_enough = (tried >= params.solved_attempts) & (tried - failed > params.solved_rate * tried)
    was = pl.col("succeeds").shift(1, fill_value=0).over("cell")
    changes = sessions.select("cell", "task", "day", is_enough.cast(pl.Int64).alias("succeeds")).with_columns(
        (pl.col("succeeds") - was).alias("succeeding")
    )
    return _running(changes, "task", ["succeeding"])


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
        latest = latest_totals(times, totals, by)
        names = [name for name in totals.columns if name not in {by, "day", "at"}]
        at = at.hstack([totals[name].gather(latest).fill_null(0).alias(f"{name}{suffix}") for name in names])
    of_agent = pl.col("cell").is_in(arms.of_agent.implode())
    left_out = {name: pl.col(f"{name}_agent") + pl.col(f"{name}_left_out") for name in ("n", "x")}
    elsewhere = {name: pl.col(f"{name}_task") - pl.col(f"{name}_agent") for name in ("n", "x")}
    others = [
        pl.when(of_agent).then(left_out[name]).otherwise(elsewhere[name]).alias(f"{name}_others") for name in ("n", "x")
    ]
    return at.select(*times.columns, "n", "x", *others)


def latest_totals(times: pl.DataFrame, totals: pl.DataFrame, by: str) -> pl.Series:
    """The row in `totals` of each time's last ones by its day; NULL before the first."""
    asked = times.select(pl.col(by).cast(pl.Int64) * _DAYS + pl.col("day")).to_series().to_numpy()
    row = np.searchsorted(totals["at"].to_numpy(), asked, side="right") - 1
    is_known = (row >= 0) & (totals[by].to_numpy()[row] == times[by].to_numpy()) if len(totals) else row >= 0
    return pl.Series(np.where(is_known, row, 0)).set(pl.Series(~is_known), None)
