"""Tonight's descriptive figure: ordinary p-values, adjusted for the number of strategies tested."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.statistics import benjamini_hochberg, normal_tail
from slowwave.transforms.core.vocabularies import ANTI_PATTERN_KINDS
from slowwave.transforms.learning.anti_patterns.arms import MILLIONTH
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams


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
    """Per candidate: cell, and q_value as avoid and as hard_task (see `benjamini_hochberg`).

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
    for kind in ANTI_PATTERN_KINDS:
        adjusted = benjamini_hochberg(pl.col(kind), pl.col("tested")).over("project")
        found = found.with_columns(pl.min_horizontal(adjusted, pl.lit(1.0)).alias(kind))  # 1 without comparables
    return found.select("cell", *ANTI_PATTERN_KINDS).sort("cell")
