"""How sure one can be of each strategy: counts, estimate, interval, trend; old evidence keeps its order."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl

from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.learning.attempts.params import AttemptParams
from slowwave.transforms.learning.attempts.sessions import next_midnight
from slowwave.transforms.learning.confidence.confidences import Past
from slowwave.transforms.learning.confidence.fits import places_of
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristic_params import HeuristicParams
from slowwave.transforms.learning.strategy_trends import strategy_trends
from slowwave.transforms.learning.tables import Heuristics

_BELIEFS = choose_columns(
    Heuristics, "confidence", "confidence_low", "confidence_high", "effective_sessions", "prior_mean", "prior_share"
)


def heuristics(
    attempts: pl.DataFrame,
    cells: pl.DataFrame,
    known: CellHistory,
    fits: pl.DataFrame,
    as_of: datetime,
    confidence: ConfidenceParams,
    params: HeuristicParams,
    scope: AttemptParams,
) -> pl.DataFrame:
    """One row per (project, agent, task_type, strategy_id) with at least one attempt, sorted by key.

    Args:
        attempts: cell, block, strategy, created_at, success, is_task_type_inferred of attempts that are learned from.
        cells: of `attempt_cells`.
        known: of the same attempts.
        fits: of `confidence_fits`, at least for the midnight after `as_of`.
        as_of: nothing known later counts.
        confidence: how the past is weighed.
        params: what is called a trend, and reliable.
        scope: how many attempts each agent needs.

    Returns the key, attempts, successes, success_rate, sessions, effective_sessions, prior_mean, prior_share,
    confidence, confidence_low, confidence_high (of the next day's and the next seven days' success), trend,
    first_seen_at, last_validated_at, is_reliable, variants.
    """
    day = next_midnight(as_of)
    told = estimate_cells(cells.select("cell", pl.lit(day, pl.Int64).alias("day")), cells, known, fits, confidence)
    trends = strategy_trends(known, day, params)
    rows = cells
    for more in (told.drop("day", "is_tried"), _cell_counts(attempts), trends):
        rows = rows.join(more, on="cell", how="left")
    return _with_reliability(rows.sort("cell"), params, scope)


def estimate_cells(
    queries: pl.DataFrame, cells: pl.DataFrame, known: CellHistory, fits: pl.DataFrame, params: ConfidenceParams
) -> pl.DataFrame:
    """What is believed of each queried cell at the start of its day, sorted by (cell, day).

    Args:
        queries: cell and day.
        cells: of `attempt_cells`.
        known: what became known of cells, on any day.
        fits: of `confidence_fits`, at least for every asked (project, day).
        params: how the past is weighed.

    Returns cell, day, is_tried (something was known of it), confidence, confidence_low, confidence_high,
    effective_sessions, prior_mean, prior_share.
    """
    fitted = fits.select("project", "day", "point", "correction", "dispersion", "newcomers_logit")
    rows = (
        queries.join(cells.select("cell", "project"), on="cell")
        .join(fitted, on=["project", "day"])
        .with_columns(pl.struct("point", "correction", "dispersion").rank("dense").cast(pl.Int64).alias("fit"))
        .sort("cell", "day")
    )
    past = Past(known, cells, rows["cell"].to_numpy(), rows["day"].to_numpy() - 1, params)
    columns = {name: np.zeros(rows.height) for name in _BELIEFS}
    newcomers = rows["newcomers_logit"].to_numpy()
    for _, chosen in places_of(rows["fit"].to_numpy()):
        fit = rows.row(int(chosen[0]), named=True)
        point, correction = params.grid[fit["point"]], params.corrections[fit["correction"]]
        told = past.beliefs(point, correction, fit["dispersion"], chosen, newcomers[chosen])
        of_told = (told.mean, told.low, told.high, told.own_worth, told.prior_mean, told.prior_share)
        for name, values in zip(_BELIEFS, of_told, strict=True):
            columns[name][chosen] = values
    return rows.select("cell", "day").with_columns(
        pl.Series("is_tried", past.is_tried), *[pl.Series(name, values) for name, values in columns.items()]
    )


def _cell_counts(attempts: pl.DataFrame) -> pl.DataFrame:
    """Per cell attempts, successes, sessions, first_seen_at, last_validated_at, is_task_type_inferred, variants."""
    counts = attempts.group_by("cell").agg(
        pl.len().cast(pl.Int64).alias("attempts"),
        pl.col("success").cast(pl.Int64).sum().alias("successes"),
        pl.col("block").n_unique().cast(pl.Int64).alias("sessions"),
        pl.col("created_at").min().alias("first_seen_at"),
        pl.col("created_at").max().alias("last_validated_at"),
        pl.col("is_task_type_inferred").all(),
    )
    variants = attempts.select("cell", "strategy").unique().group_by("cell").agg(variants=pl.col("strategy").sort())
    return counts.join(variants, on="cell")


def _with_reliability(rows: pl.DataFrame, params: HeuristicParams, scope: AttemptParams) -> pl.DataFrame:
    """The rows with success_rate and is_reliable: enough attempts for their agent, and a lower bound that is high."""
    needed = pl.col("agent").replace_strict(
        {one.agent: one.min_occurrences for one in scope.scopes if one.min_occurrences is not None},
        default=scope.min_occurrences,
        return_dtype=pl.Int64,
    )
    return rows.with_columns(
        (pl.col("successes") / pl.col("attempts")).alias("success_rate"),
        ((pl.col("attempts") >= needed) & (pl.col("confidence_low") > params.reliable_above)).alias("is_reliable"),
    )
