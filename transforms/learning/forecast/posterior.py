"""Forecast of success: what is known of a strategy, shrunk towards what is known of its relatives.

The prior mean of (project, agent, task_type, strategy_id), a cell, is a sum of logits: the project's rate, plus what
its agent, its strategy and its task type differ from it, each estimated outside the cell; what others did with
the strategy on the task type is added on top. The posterior mean weighs the cell's own attempts by recency against that
prior; a second, shorter memory may stand on the first. Half-lives and strengths are picked per project from a declared
grid by the log loss of forecasts made before each day (prequential: Dawid 1984), with nothing known later than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.columns import STRATEGY_KEY
from slowwave.transforms.core.counts.decayed_counts import Counts, Timeline
from slowwave.transforms.core.statistics import plain_expit, plain_logit
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.forecast.params import ForecastParams, ForecastPoint

CELL = STRATEGY_KEY
_PARENTS = (
    ("project",),
    ("project", "agent"),
    ("project", "agent", "strategy_id"),
    ("project", "strategy_id"),
    ("project", "task_type"),
    ("project", "task_type", "strategy_id"),
)
_BOUND = 1e-3
_MICRO = 1e6


@dataclass(frozen=True)
class Posterior:
    """Per row the posterior mean and what it is made of: the prior's share, and the weight of an attempt just known.

    prior_error is the sampling variance of the prior mean, in variances of one attempt: its relatives are few.

    An attempt of age a weighs weight x 2^(-a / half life) + recent_weight x 2^(-a / recent half life).
    """

    mean: Floats
    prior_mean: Floats
    prior_error: Floats
    prior_share: Floats
    weight: Floats
    recent_weight: Floats


@dataclass(frozen=True)
class Evidence:
    """The past of every cell and of its parents, at each day on which a cell learns or is forecast.

    `rows` (`row`, `cell`, `day`) numbers the rows of the arrays.
    """

    rows: pl.DataFrame
    cell: Timeline
    parents: tuple[Timeline, ...]
    parent_rows: tuple[Integers, ...]
    _priors: dict[tuple[float, float | None], Counts] = field(default_factory=dict, repr=False, compare=False)

    def row_of(self, queries: pl.DataFrame) -> pl.DataFrame:
        """`queries` (cell, day, ...) with its `row`, in its order; a day that is no row is left out."""
        return queries.join(self.rows, on=["cell", "day"], how="inner", maintain_order="left")

    def of_cells(self, chosen: pl.Series) -> Evidence:
        """The same past, to be asked of the `chosen` cells only."""
        kept = self.rows.filter(pl.col("cell").is_in(chosen.implode()))
        row = kept["row"].to_numpy()
        return Evidence(
            kept.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), "cell", "day"),
            self.cell.rows(row),
            self.parents,
            tuple(rows[row] for rows in self.parent_rows),
        )

    def posterior(self, point: ForecastPoint, params: ForecastParams) -> Posterior:
        """Estimated success of each row's next attempt, from what was known before its day."""
        strength = point.prior_strength
        prior, error = self.prior_mean(point, params)
        attempts, successes = self.cell.decayed(point.half_life_days, point.half_life_attempts)
        weight = 1 / (attempts + strength)
        own = successes * weight
        share = strength * weight
        recent_weight = np.zeros_like(weight)
        if point.recent_half_life_days is not None and point.recent_strength is not None:
            recent_attempts, recent_successes = self.cell.decayed(point.recent_half_life_days, point.half_life_attempts)
            recent_weight = 1 / (recent_attempts + point.recent_strength)
            older = point.recent_strength * recent_weight
            own = recent_successes * recent_weight + older * own
            weight, share = older * weight, older * share
        # agents change overnight: the past, however long and plain, is never all there is to know
        kept = 1 - params.unforeseen
        share = params.unforeseen + kept * share
        return Posterior(kept * own + share * prior, prior, error, share, kept * weight, kept * recent_weight)

    def prior_mean(self, point: ForecastPoint, params: ForecastParams) -> Counts:
        """What a cell would be expected to do had it never been tried, from attempts outside it; and its error.

        Relatives are estimated from the shorter memory where there is one, shrunk towards the project in the longer.
        """
        key = (point.half_life_days, point.recent_half_life_days)
        if key not in self._priors:
            self._priors[key] = self._prior_mean(point, params.parent_strength)
        return self._priors[key]

    def _prior_mean(self, point: ForecastPoint, strength: float) -> Counts:
        attempts, successes = self._relatives(point.half_life_days).project
        project = (successes + 1) / (attempts + 2)
        near = self._relatives(point.recent_half_life_days or point.half_life_days)
        if point.recent_half_life_days is not None:
            project = _shrunk(near.project, project, strength)
        of_strategy = _shrunk(near.strategy, _shrunk(near.agent, project, strength), strength)
        of_task_type = _shrunk(near.task_type, project, strength)
        mean = _shrunk(
            near.twins,
            plain_expit(plain_logit(of_strategy) + plain_logit(of_task_type) - plain_logit(project)),
            strength,
        )
        error = _error(near.strategy, strength) + _error(near.task_type, strength)
        return mean, error * (strength / (near.twins[0] + strength)) ** 2 + _error(near.twins, strength)

    def _relatives(self, half_life_days: float) -> _Relatives:
        own = self.cell.decayed(half_life_days)
        told = []
        for parent, rows in zip(self.parents, self.parent_rows, strict=True):
            attempts, successes = parent.decayed(half_life_days)
            told.append((attempts[rows], successes[rows]))
        in_project, by_agent, by_agent_so, by_strategy, in_task_type, in_task_type_so = told
        # no attempt is counted twice: an agent is known from its other strategies, a strategy from other task types, a
        # task type from other strategies, and what others did with the strategy on the task type stands by itself
        return _Relatives(
            _without(in_project, own),
            _without(by_agent, by_agent_so),
            _without(by_strategy, in_task_type_so),
            _without(in_task_type, in_task_type_so),
            _without(in_task_type_so, own),
        )


@dataclass(frozen=True)
class _Relatives:
    """Decayed attempts and successes outside each row's cell."""

    project: Counts
    agent: Counts
    strategy: Counts
    task_type: Counts
    twins: Counts


def _without(counts: Counts, child: Counts) -> Counts:
    """What is left of a parent's counts without the child's; rounding may not make it negative."""
    attempts = np.maximum(counts[0] - child[0], 0)
    return attempts, np.clip(counts[1] - child[1], 0, attempts)


def _shrunk(counts: Counts, towards: Floats, strength: float) -> Floats:
    attempts, successes = counts
    return (successes + strength * towards) / (attempts + strength)


def _error(counts: Counts, strength: float) -> Floats:
    """Sampling variance of a shrunk rate, in variances of one attempt."""
    attempts, _ = counts
    return attempts / (attempts + strength) ** 2


def evidence(known: pl.DataFrame, targets: pl.DataFrame, cells: pl.DataFrame) -> Evidence:
    """The past of each cell, to be asked at `targets`.

    Args:
        known: cell, `day` (days since 1970, when they became known), attempts, successes.
        targets: cell and `day`, at the start of which the cell is to be forecast.
        cells: of `attempt_cells`.
    """
    none = pl.lit(0, pl.Int64)
    queries = targets.select("cell", "day", none.alias("attempts"), none.alias("successes"))
    rows = (
        pl.concat([known.select("cell", "day", "attempts", "successes"), queries])
        .group_by("cell", "day")
        .agg(pl.col("attempts", "successes").sum())
        .sort("cell", "day")
    )
    cell, attempts, successes = (rows[name].cast(pl.Int64).to_numpy() for name in ("cell", "attempts", "successes"))
    day = rows["day"].cast(pl.Float64).to_numpy()
    days, nth_day = np.unique(day, return_inverse=True)
    numbers = [pl.struct(names).rank("dense").cast(pl.Int64).alias(str(at)) for at, names in enumerate(_PARENTS)]
    of_parents = rows.select("cell").join(cells.select("cell", *numbers), on="cell", how="left", maintain_order="left")
    parents, parent_rows = [], []
    for at in range(len(_PARENTS)):
        # a parent's days, in order: sums of whole numbers, which are exact in any order
        key, place = np.unique(of_parents[str(at)].to_numpy() * max(len(days), 1) + nth_day, return_inverse=True)
        known_attempts, known_successes = (
            np.bincount(place, values, len(key)).astype(np.int64) for values in (attempts, successes)
        )
        parent, nth = np.divmod(key, max(len(days), 1))
        parents.append(Timeline(parent, days[nth], known_attempts, known_successes))
        parent_rows.append(place)
    numbered = rows.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), "cell", "day")
    own = Timeline(cell, day, attempts, successes)
    return Evidence(numbered, own, tuple(parents), tuple(parent_rows))


def fit_losses(past: Evidence, scored: pl.DataFrame, cells: pl.DataFrame, params: ForecastParams) -> pl.DataFrame:
    """Log loss of every grid point, summed per project and day on which the outcomes became known.

    Args:
        past: asked at least at the (cell, day) of `scored`.
        scored: cell, `day` (start of which they were forecast), known_day, attempts, successes; cells that `past` does
            not know are left out.
        cells: of `attempt_cells`.
        params: the grid.

    Returns project, known_day, attempts, and `loss_0`, `loss_1` ... per grid point in millionths of a nat: integers,
    so that any order of summing gives the same.
    """
    queries = past.row_of(scored)
    row = queries["row"].to_numpy()
    successes = queries["successes"].to_numpy()
    failures = queries["attempts"].to_numpy() - successes
    losses = []
    for number, point in enumerate(params.grid):
        p = np.clip(past.posterior(point, params).mean[row], _BOUND, 1 - _BOUND)
        loss = -(successes * np.log(p) + failures * np.log(1 - p))
        losses.append(pl.Series(f"loss_{number}", np.round(loss * _MICRO).astype(np.int64)))
    return (
        queries.select("cell", "known_day", "attempts")
        .hstack(losses)
        .join(cells.select("cell", "project"), on="cell")
        .drop("cell")
        .group_by("project", "known_day")
        .agg(pl.all().sum())
        .sort("project", "known_day")
    )


def fitted_points(losses: pl.DataFrame, days: pl.DataFrame, params: ForecastParams | ConfidenceParams) -> pl.DataFrame:
    """The grid point each project uses at the start of each day: the least log loss on what was known before.

    Args:
        losses: of `fit_losses`.
        days: project and `day`, what is asked for.
        params: the grid; a project with fewer than `min_fit_attempts` keeps the first point, others must be
            better than it by `fit_margin_nats`, and ties go to the first.

    Returns project, day, point (number in the grid), fit_attempts, log_loss and default_log_loss (nats per attempt;
    NULL: nothing was forecast yet).
    """
    names = [f"loss_{number}" for number in range(len(params.grid))]
    so_far = losses.sort("project", "known_day").with_columns(
        pl.col("attempts", *names).cum_sum().over("project"), (pl.col("known_day") + 1).alias("day")
    )
    queries = days.select("project", "day").unique().sort("project", "day")
    found = queries.sort("day").join_asof(
        so_far.drop("known_day").with_columns(pl.col("day").cast(queries.schema["day"])).sort("day"),
        on="day",
        by="project",
        strategy="backward",
        check_sortedness=False,
    )
    is_fitted = pl.col("attempts").fill_null(0) >= params.min_fit_attempts
    of_points = found.select(pl.col(names).fill_null(0)).to_numpy()
    # a point must be better than the default by a margin, not by luck
    margin = np.full(len(names), round(params.fit_margin_nats * _MICRO))
    margin[0] = 0
    least = pl.Series((of_points + margin).argmin(axis=1))
    chosen = found.with_columns(pl.when(is_fitted).then(least).otherwise(0).alias("point"))
    of_chosen = pl.Series(of_points[np.arange(len(of_points)), chosen["point"].to_numpy()])
    per_attempt = pl.col("attempts") * _MICRO
    return chosen.select(
        "project",
        "day",
        "point",
        pl.col("attempts").fill_null(0).alias("fit_attempts"),
        (of_chosen / per_attempt).alias("log_loss"),
        (pl.col(names[0]) / per_attempt).alias("default_log_loss"),
    ).sort("project", "day")
