"""Whether a strategy succeeds more or less often than it did: a word that two looks a week apart agree on."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import ndtr

from slowwave.transforms.core.arrays import Integers, SmallIntegers
from slowwave.transforms.core.vocabularies import TRENDS
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.heuristic_params import HeuristicParams

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
