"""Tonight's descriptive figure: ordinary p-values, adjusted for the number of strategies tested."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.anti_pattern_arms import MILLIONTH
from slowwave.transforms.anti_pattern_params import AntiPatternParams


def normal_tail(z: pl.Expr) -> pl.Expr:
    """P(Z > z) of a standard normal variable (Abramowitz & Stegun 1964, 26.2.17: absolute error below 7.5e-8)."""
    t = 1 / (1 + 0.2316419 * z.abs())
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = series * (-z * z / 2).exp() * 0.3989422804014327
    return pl.when(z > 0).then(tail).otherwise(1 - tail)


def _z_worse(x: pl.Expr, n: pl.Expr, x_others: pl.Expr, n_others: pl.Expr) -> pl.Expr:
    """Score statistic of two proportions; NULL without comparables, 0 where nothing or everything failed."""
    pooled = (x + x_others) / (n + n_others)
    variance = pooled * (1 - pooled) * (1 / n + 1 / n_others)
    z = pl.when(variance > 0).then((x / n - x_others / n_others) / variance.sqrt()).otherwise(0.0)
    return pl.when(n_others > 0).then(z)


def _z_above(x: pl.Expr, n: pl.Expr, rate: float) -> pl.Expr:
    """Score statistic of one proportion against a rate."""
    return (x / n - rate) * n.sqrt() / (rate * (1 - rate)) ** 0.5


def q_values(now: pl.DataFrame, tested: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """Per candidate: cell, and q_value as avoid and as hard_task (Benjamini & Hochberg 1995, JRSS B 57:289).

    Args:
        now: cell, project, and the arms of each candidate (see `arms_at`), sessions as independent observations.
        tested: per project and day the number of strategies tested: those that are not candidates have a p-value of 1.
        params: the failing rate.
    """
    x, n, x_others, n_others = (
        pl.col(name) * unit for name, unit in (("x", MILLIONTH), ("n", 1), ("x_others", MILLIONTH), ("n_others", 1))
    )
    latest = tested.group_by("project").agg(pl.col("tested").max())
    found = now.join(latest, on="project").with_columns(
        normal_tail(_z_worse(x, n, x_others, n_others)).alias("avoid"),
        normal_tail(_z_above(x + x_others, n + n_others, params.failing_rate)).alias("hard_task"),
    )
    for kind in ("avoid", "hard_task"):
        rank = pl.col(kind).rank("max").over("project")
        scaled = pl.col(kind) * pl.col("tested") / rank
        found = found.sort("project", kind).with_columns(
            pl.min_horizontal(scaled.cum_min(reverse=True).over("project"), pl.lit(1.0)).alias(kind)
        )
    return found.select("cell", "avoid", "hard_task").sort("cell")
