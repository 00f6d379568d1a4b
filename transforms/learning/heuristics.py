"""How sure one can be of each strategy: counts, estimate, interval, trend; old evidence keeps its order."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
from scipy.special import ndtr

from slowwave.transforms.core.arrays import Integers, SmallIntegers
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.core.vocabularies import TRENDS
from slowwave.transforms.learning.confidence.confidences import Past
from slowwave.transforms.learning.confidence.fits import places_of
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.params import AttemptParams, HeuristicParams
from slowwave.transforms.learning.sessions import next_midnight
from slowwave.transforms.learning.tables import Heuristics

# Whether a strategy succeeds more or less often than it did: a word that two looks a week apart agree on.

_NEW, _STRENGTHENING, _STABLE, _WEAKENING, _STALE, _UNPROVEN = range(len(TRENDS))
_MICRO = 1_000_000


def strategy_trends(known: CellHistory, day: int, params: HeuristicParams) -> pl.DataFrame:
    """The trend of each cell at the UTC midnight that begins a day: cell, trend; sorted.

    A look is a midnight, from what was known by then: unproven (too few sessions), stale (not tried in the last
    days), new (not tried before them), strengthening or weakening (success of the last days and of all before differ
    with the asked-for probability, sessions as the unit), else stable. The trend is what the latest look says that
    agrees with the look a week before it; before its first attempt a strategy is unproven. The latest
    look alone says stale: that a strategy was not tried is no estimate.

    Args:
        known: of all cells.
        day: days since 1970; what became known on it is not looked at.
        params: the last days, and what is called a change.
    """
    looks = _Looks(known, params)
    cell = np.unique(known.cell)
    found = np.full(len(cell), _UNPROVEN, dtype=np.int8)
    asked, at = np.arange(len(cell)), np.full(len(cell), day, dtype=np.int64)
    said = latest = looks.words(cell, at)
    while len(asked):
        before = looks.words(cell[asked], at - params.trend_agreement_days)
        agrees = said == before
        found[asked[agrees]] = said[agrees]
        # before the first attempt both looks say the same, so this ends
        asked, at = asked[~agrees], at[~agrees] - 1
        said = looks.words(cell[asked], at)
    is_tried_or_not = (latest == _STALE) | (found == _STALE)
    found[is_tried_or_not] = latest[is_tried_or_not]
    names = pl.Series(TRENDS, dtype=pl.String)
    return pl.DataFrame({"cell": cell, "trend": names.gather(found)})


class _Looks:
    """Running totals per cell and day, so that a look costs two searches."""

    def __init__(self, known: CellHistory, params: HeuristicParams) -> None:
        self._params = params
        self._first_day = known.day.min(initial=0)
        self._key = (known.cell << 32) + (known.day - self._first_day)
        self._sums = np.vstack([np.zeros((1, 4), dtype=np.int64), np.cumsum(known.looks, axis=0)])

    def _until(self, cell: Integers, day: Integers) -> Integers:
        return self._sums[np.searchsorted(self._key, (cell << 32) + np.maximum(day - self._first_day, 0))]

    def words(self, cell: Integers, day: Integers) -> SmallIntegers:
        """What a look at each cell at the start of each day says, as index of `TRENDS`."""
        params = self._params
        begin = self._until(cell, np.full(len(cell), self._first_day))
        middle, end = self._until(cell, day - params.trend_days), self._until(cell, day)
        recent, before = end - middle, middle - begin
        rates, variances = [], []
        for side in (recent, before):
            rate = (side[:, 1] + 1) / (side[:, 0] + 2)
            rates.append(rate)
            variances.append(rate * (1 - rate) / (side[:, 2] / _MICRO + 3))
        rose = ndtr((rates[0] - rates[1]) / np.sqrt(variances[0] + variances[1]))
        few = params.trend_min_sessions
        found = np.full(len(cell), _STABLE, dtype=np.int8)
        found[rose <= 1 - params.trend_probability] = _WEAKENING
        found[rose >= params.trend_probability] = _STRENGTHENING
        found[np.minimum(recent[:, 3], before[:, 3]) < few] = _UNPROVEN
        found[before[:, 0] == 0] = _NEW
        found[recent[:, 0] == 0] = _STALE
        found[recent[:, 3] + before[:, 3] < few] = _UNPROVEN
        return found


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
