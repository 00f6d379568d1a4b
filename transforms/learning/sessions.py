"""Attempts as integer counts per strategy and session."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.counts.integer_groups import KeyGroups
from slowwave.transforms.core.vocabularies import STRATEGY_KEY

CELL = STRATEGY_KEY
_MOST = 2**63  # more numbers than there are


def day_number(time: pl.Expr) -> pl.Expr:
    """UTC day of a time, in days since 1970."""
    return time.dt.date().cast(pl.Int32).cast(pl.Int64)


def next_midnight(as_of: datetime) -> int:
    """The first UTC midnight at or after `as_of`, in days since 1970: the day whose attempts are forecast."""
    since = as_of - datetime(1970, 1, 1)  # noqa: DTZ001 - times here are UTC without zone
    return -((-since) // timedelta(days=1))


def attempt_cells(attempts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells, numbered in their order, and the attempts with their cell's number.

    Args:
        attempts: project, agent, task_type, strategy_id, block, ...

    Returns cell, project, agent, task_type, strategy_id (sorted); and `attempts` with `cell`, and `block` as a number
    in the order of blocks.
    """
    number = pl.Series("number", _number_rows(attempts.select(CELL)))
    blocks = attempts["block"].unique().sort()
    cells = attempts.select(number, *CELL).unique("number", keep="any").sort(CELL)
    cells = cells.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("cell"))
    cell = number.to_frame().join(cells.select("number", "cell"), on="number", how="left", maintain_order="left")
    block = attempts["block"].cast(pl.Enum(blocks)).to_physical()
    return cells.select("cell", *CELL), attempts.with_columns(cell["cell"], block)


def _number_rows(rows: pl.DataFrame) -> Integers:
    """A number of each row's texts, the same where all of them are."""
    number, many = np.zeros(rows.height, dtype=np.int64), 1
    for texts in rows:
        code = texts.cast(pl.Categorical).to_physical().cast(pl.Int64).to_numpy()
        size = 1 + int(code.max(initial=0))
        if many * size >= _MOST:
            number = np.unique(number, return_inverse=True)[1]
            many = 1 + int(number.max(initial=0))
        number, many = number * size + code, many * size
    return number


def attempt_sessions(attempts: pl.DataFrame) -> pl.DataFrame:
    """Integer counts of attempts per session and day, sorted by cell, session and day.

    Args:
        attempts: cell and block (of `attempt_cells`), created_at, known_at, success.

    Returns cell, block, day (when tried), known_day (when it became known; both in days since 1970), attempts,
    successes.
    """
    rows = attempts.select(
        pl.col("cell").cast(pl.Int64),
        pl.col("block").cast(pl.Int64),
        day_number(pl.col("created_at")).alias("day"),
        day_number(pl.col("known_at")).alias("known_day"),
        pl.col("success").cast(pl.Int64),
    )
    keys = rows.drop("success")
    alike = KeyGroups.of(*(key.to_numpy() for key in keys))
    counts = {"attempts": alike.sizes, "successes": alike.sums(rows["success"].to_numpy())}
    return keys[alike.first].hstack(pl.DataFrame(counts))


def cell_days(sessions: pl.DataFrame) -> pl.DataFrame:
    """Of `attempt_sessions` the counts per cell, day and known_day, whatever the session; sorted by these."""
    keys = sessions.select("cell", "day", "known_day")
    alike = KeyGroups.of(*(key.to_numpy() for key in keys))
    return keys[alike.first].with_columns(
        pl.Series(name, alike.sums(sessions[name].to_numpy())) for name in ("attempts", "successes")
    )


def known_days(sessions: pl.DataFrame) -> pl.DataFrame:
    """Return cell, day, attempts, successes: when how much became known of each cell."""
    return sessions.group_by("cell", pl.col("known_day").alias("day")).agg(pl.col("attempts", "successes").sum())
