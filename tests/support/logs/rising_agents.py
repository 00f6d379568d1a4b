"""A made-up log of many agents, few attempts each at many tasks, of which the published estimates were too low."""

from __future__ import annotations

import numpy as np
import polars as pl

FIRST_DAY = 20_000
_AGENTS, _TASKS, _DAYS = 39, 60, 70
_TRIED_SHARE = 0.35  # of the tasks, in one run of an agent
_GAP_DAYS = 4  # between runs of an agent, about


def rising_agents(seed: int, rise: float) -> pl.DataFrame:
    """Return one row per attempt: each agent, which is the strategy, starts on its own day, and few tasks are easy.

    Args:
        seed: of all chances.
        rise: by how much an agent improves a day, in logits, on average: agents differ by as much.
    """
    chance = np.random.default_rng(seed)
    hardness, skill = chance.normal(2.6, 1.6, _TASKS), chance.normal(0, 0.8, _AGENTS)
    daily = np.maximum(chance.normal(rise, rise, _AGENTS), 0)
    suits = chance.normal(0, 1, (_AGENTS, _TASKS))
    rows: list[tuple[str, str, str, int, int]] = []
    for agent in range(_AGENTS):
        first = day = int(chance.integers(0, 2 * _DAYS // 3))
        while day < _DAYS:
            for task in np.flatnonzero(chance.random(_TASKS) < _TRIED_SHARE):
                ease = skill[agent] - hardness[task] + suits[agent, task] + daily[agent] * (day - first)
                won = int(chance.random() < 1 / (1 + np.exp(-ease)))
                rows.append((f"task {task:02}", f"agent {agent:02}", f"{agent}-{day}", FIRST_DAY + day, won))
            day += 1 + int(chance.exponential(_GAP_DAYS))
    told = pl.DataFrame(rows, schema=["task_type", "strategy_id", "block", "day", "success"], orient="row")
    return told.with_columns(pl.lit("p").alias("project"), pl.lit("").alias("agent"), pl.col("day").alias("known_day"))
