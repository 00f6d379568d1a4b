"""Attempts as integer counts per strategy and session, and how alike attempts of one session are."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.counts.groups import Groups
from slowwave.transforms.learning.forecast.params import ForecastParams
from slowwave.transforms.learning.forecast.posterior import CELL

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
    number = pl.Series("number", _numbered(attempts.select(CELL)))
    blocks = attempts["block"].unique().sort()
    cells = attempts.select(number, *CELL).unique("number", keep="any").sort(CELL)
    cells = cells.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("cell"))
    cell = number.to_frame().join(cells.select("number", "cell"), on="number", how="left", maintain_order="left")
    block = attempts["block"].cast(pl.Enum(blocks)).to_physical()
    return cells.select("cell", *CELL), attempts.with_columns(cell["cell"], block)


def _numbered(rows: pl.DataFrame) -> Integers:
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
    alike = Groups.of(*(key.to_numpy() for key in keys))
    counts = {"attempts": alike.sizes, "successes": alike.sums(rows["success"].to_numpy())}
    return keys[alike.first].hstack(pl.DataFrame(counts))


def cell_days(sessions: pl.DataFrame) -> pl.DataFrame:
    """Of `attempt_sessions` the counts per cell, day and known_day, whatever the session; sorted by these."""
    keys = sessions.select("cell", "day", "known_day")
    alike = Groups.of(*(key.to_numpy() for key in keys))
    return keys[alike.first].with_columns(
        pl.Series(name, alike.sums(sessions[name].to_numpy())) for name in ("attempts", "successes")
    )


def session_correlations(sessions: pl.DataFrame, cells: pl.DataFrame, params: ForecastParams) -> pl.DataFrame:
    """Correlation of two attempts of one strategy within a session, per project: project, session_correlation (0-1).

    A moment estimate: how much more often two attempts of one session succeed together than two of different sessions,
    over the variance of one attempt (the intraclass correlation of binary data, Ridout, Demetrio and Firth 1999),
    pooled over strategies by their number of pairs and shrunk towards the default. A strategy's drift looks like
    correlation too, which makes intervals wider.
    """
    attempts, successes = pl.col("attempts"), pl.col("successes")
    by_cell = (
        sessions.lazy()
        .group_by("cell", "block")
        .agg(attempts.sum(), successes.sum())
        .group_by("cell")
        .agg(
            attempts.sum().alias("n"),
            successes.sum().alias("s"),
            (attempts * (attempts - 1)).sum().alias("pairs_within"),
            (successes * (successes - 1)).sum().alias("both_within"),
            (attempts * attempts).sum().alias("squares"),
            (successes * successes).sum().alias("success_squares"),
        )
        .collect()
    )
    across = pl.col("n") * pl.col("n") - pl.col("squares")
    both_across = (pl.col("s") * pl.col("s") - pl.col("success_squares")) / across
    excess = pl.col("both_within") - pl.col("pairs_within") * both_across
    variance = pl.col("pairs_within") * (pl.col("s") / pl.col("n") - both_across)
    told = (
        by_cell.filter(across > 0, pl.col("pairs_within") > 0)
        .join(cells.select("cell", "project"), on="cell")
        .select("project", _fixed(excess).alias("excess"), _fixed(variance).alias("variance"))
    )
    prior = params.session_correlation_pairs / 4  # the variance of so many pairs at a rate of one half
    correlation = (pl.col("excess") * _UNIT + params.session_correlation * prior) / (pl.col("variance") * _UNIT + prior)
    return (
        cells.select("project")
        .unique()
        .join(told.group_by("project").agg(pl.all().sum()), on="project", how="left")
        .with_columns(pl.col("excess", "variance").fill_null(0))
        .select("project", correlation.clip(0, 1).alias("session_correlation"))
        .sort("project")
    )


_FIXED = 1_000_000
_UNIT = 1 / _FIXED  # multiplied: Polars divides one row otherwise than many, in the last bit


def _fixed(value: pl.Expr) -> pl.Expr:
    """In millionths: a sum of integers is the same in any order."""
    return (value * _FIXED).round().cast(pl.Int64)
