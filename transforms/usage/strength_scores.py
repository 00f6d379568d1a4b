"""Whether memories faded when they were said to: `fades_at` as of past Mondays against what then happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtri

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.core.times import midnight
from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.scorecard_rows import BASE_RATE, cutoff_days
from slowwave.transforms.learning.tables import Scorecard
from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_fading import NEVER, fades_on, is_reached, watch_memories
from slowwave.transforms.usage.strength_fits import fits_at, may_be_referenced, window_counts
from slowwave.transforms.usage.strength_now import StrengthEvidence, evidence, strength_on

METRIC = "fades_as_said"
_HORIZON_DAYS = 30


def strength_scores(
    memories: pl.DataFrame,
    days: pl.DataFrame,
    scope_days: pl.DataFrame,
    today: int,
    params: StrengthParams,
    scorecard: ScorecardParams,
) -> pl.DataFrame:
    """Grades of `fades_at` at past Mondays whose 30 days are over, and over all of them so far (`…_to_date`).

    Graded are the memories that had not faded at the Monday and were said to within 30 days. Metric `fades_as_said` is
    the share of them without a new reference until then; under `base_rate/1` it is what that share would be had they
    been drawn from all memories that had not faded, over the same numbers of days. Above it, fading says something.
    Left out: pinned memories, retired ones, and those whose scope had no interaction in the 30 days, as silence shows
    nothing. What a memory is (type, importance, pin, status) is taken as it stands.

    Args:
        memories: memory, scope, memory_type, status, importance, pinned, created_day.
        days: memory, day, reference_count, broad_count, bulk_count: days with a reference, one row each.
        scope_days: scope, day: days with an interaction.
        today: days since 1970; that day and later ones are not looked at.
        params: method; half-lives are fitted as of each Monday.
        scorecard: number of cutoffs, mass of the intervals.

    Returns method, metric, cutoff_at, horizon_days, value (NULL: none was said to fade), value_low, value_high (Wilson
    1927, memories taken as independent; NULL for to date, where memories come again, and for the base rate),
    attempts (memories graded), cutoffs; sorted by method, metric, cutoff_at.
    """
    judged = memories.filter(may_be_referenced() & ~pl.col("pinned")).sort("memory")
    past = days.filter(pl.col("day") < today).join(judged, on="memory", how="semi")
    active = scope_days.filter(pl.col("day") < today).select("scope", pl.col("day").cast(pl.Int64))
    mondays = _cutoffs(active, today, scorecard)
    if not mondays:
        return computed_schema(Scorecard).to_frame()
    runs = watch_memories(judged, past, scope_days)
    windows = window_counts(memories, days, scope_days, today, params)
    known: dict[tuple[float, ...], StrengthEvidence] = {}
    rows: list[tuple[object, ...]] = []
    so_far = FadingForecast(0, 0, 0.0)
    for number, cutoff in enumerate(mondays, start=1):
        fits = fits_at(windows, cutoff, params)
        half_lives = tuple(fits["half_life_days"])
        if half_lives not in known:
            known = {half_lives: evidence(judged, past, fits, params)}
        is_active = active.filter(pl.col("day").is_between(cutoff, cutoff + _HORIZON_DAYS - 1))["scope"].unique()
        owner = np.flatnonzero(judged["scope"].is_in(is_active.implode()).to_numpy()).astype(np.int64)
        found = fading_forecast(known[half_lives], owner, cutoff, params, runs.reach(cutoff, params.fit_days))
        so_far = FadingForecast(so_far.said + found.said, so_far.kept + found.kept, so_far.expected + found.expected)
        about = (midnight(cutoff), _HORIZON_DAYS)
        interval = _wilson(found, scorecard.interval_mass)
        for suffix, counts, ends, cutoffs in (("", found, interval, 1), ("_to_date", so_far, (None, None), number)):
            size = (counts.said, cutoffs)
            rows.append((params.method, METRIC + suffix, *about, counts.share(counts.kept), *ends, *size))
            rows.append((BASE_RATE, METRIC + suffix, *about, counts.share(counts.expected), None, None, *size))
    return pl.DataFrame(rows, schema=computed_schema(Scorecard), orient="row").sort("method", "metric", "cutoff_at")


@dataclass(frozen=True)
class FadingForecast:
    """Memories forecast to fade, those not referenced until then, and how many that would be by the base rate."""

    said: int
    kept: int
    expected: float

    def share(self, count: float) -> float | None:
        """`count` of those said; None without any."""
        return count / self.said if self.said else None


def fading_forecast(
    known: StrengthEvidence, owner: Integers, cutoff: int, params: StrengthParams, reach: pl.DataFrame
) -> FadingForecast:
    """What was forecast of these memories (places in `known.memory`) at a cutoff's midnight, and what came of it.

    `reach`: memory_type, reach_days as of the cutoff: nothing is said beyond it.
    """
    row = known.last_rows(owner, np.full(len(owner), cutoff - 1, dtype=np.int64))
    row = row[row >= 0]
    row = row[~_is_below(known, row, cutoff, params)]
    if not len(row):
        return FadingForecast(0, 0, 0.0)
    following = np.minimum(row + 1, len(known.owner) - 1)
    has_next = (following > row) & (known.owner[following] == known.owner[row])
    next_day = np.where(has_next, known.day[following], NEVER)
    is_said = _is_below(known, row, cutoff + _HORIZON_DAYS, params)
    is_said[is_said] = is_reached(known, row[is_said], fades_on(known, row[is_said], params), reach)
    fades = fades_on(known, row[is_said], params)
    said = np.bincount(fades - cutoff, minlength=_HORIZON_DAYS + 1)[1:]
    unreferenced = np.array([np.count_nonzero(next_day >= cutoff + span) for span in range(1, _HORIZON_DAYS + 1)])
    expected = int((said * unreferenced).sum()) / len(row)
    return FadingForecast(int(said.sum()), int(np.count_nonzero(next_day[is_said] >= fades)), expected)


def _is_below(known: StrengthEvidence, row: Integers, day: int, params: StrengthParams) -> Booleans:
    return strength_on(known, row, np.full(len(row), day, dtype=np.int64)) < params.forgettable_below


def _cutoffs(active: pl.DataFrame, today: int, scorecard: ScorecardParams) -> list[int]:
    first = active["day"].min()
    if not isinstance(first, int):
        return []
    of_fading = scorecard.model_copy(update={"horizon_days": _HORIZON_DAYS})
    return cutoff_days(first, midnight(today), of_fading)["cutoff"].unique().sort().to_list()


def _wilson(found: FadingForecast, mass: float) -> tuple[float | None, float | None]:
    """Wilson's interval (1927) of the share kept."""
    if not found.said:
        return None, None
    z = float(ndtri((1 + mass) / 2))
    n, p = found.said, found.kept / found.said
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * ((p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5)
    return max(0.0, middle - half), min(1.0, middle + half)
