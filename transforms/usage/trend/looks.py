"""The trend that a single look tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from slowwave.transforms.core.vocabularies import TRENDS

if TYPE_CHECKING:
    from slowwave.transforms.core.arrays import Floats, Integers, SmallIntegers
    from slowwave.transforms.usage.trend.params import TrendParams
    from slowwave.transforms.usage.trend.use_counts import ReferencePlaces, TrendCounts


NEW, STRENGTHENING, STABLE, WEAKENING, STALE, UNPROVEN = range(len(TRENDS))


def dispersion(counts: TrendCounts, params: TrendParams) -> Floats:
    """References per burst: the squared coefficient of variation of the gaps, shrunk towards a default.

    It is the variance of the number of references in a long time over its mean (of a renewal process: Cox, Renewal
    Theory, 1962), so that divided by it references count as independent ones: by bursts.
    """
    number = counts.references
    closed = np.maximum(counts.span - counts.run, 1)
    spread = np.maximum(number * counts.gap_squares / (closed.astype(np.float64) ** 2) - 1, 0)
    # of references on n of N days the gaps vary by 1 - n / N when independent: daily use cannot vary
    independent = params.dispersion * (1 - number / (closed + 1))
    shrunk = (params.dispersion_gaps * independent + number * spread) / (params.dispersion_gaps + number)
    return np.maximum(shrunk, params.min_dispersion)


def raw_trends(memory: Integers, place: Integers, references: ReferencePlaces, params: TrendParams) -> SmallIntegers:
    """What each look at a memory tells by itself, as index of `TRENDS`.

    Args:
        memory: the memory looked at, one element per look.
        place: of each look (see `ReferencePlaces.places`).
        references: what can be seen.
        params: windows and thresholds.
    """
    counts = references.counts(memory, place, params.max_reference_days)
    per_burst = dispersion(counts, params)
    bursts = counts.references / per_burst
    closed = counts.span - counts.run
    is_proven = (
        (counts.references >= params.min_reference_days)
        & (bursts >= params.min_bursts)
        & (closed >= params.new_active_days)
    )
    trends = np.where(is_proven, STABLE, UNPROVEN).astype(np.int8)
    trends[counts.is_known & (counts.observed < params.new_active_days)] = NEW
    told = np.flatnonzero(trends == STABLE)
    if not len(told):
        return trends

    span, run, bursts = counts.span[told], counts.run[told], bursts[told]
    wanted = np.ceil(params.recent_bursts / bursts * span).astype(np.int64)
    wanted = np.maximum(wanted, params.recent_active_days)
    window = np.minimum(wanted, np.maximum((span * params.recent_share).astype(np.int64), 1))
    recent = references.references_since(memory[told], place[told], window)
    share = recent / counts.references[told]
    # posterior, with Jeffreys' prior, of the share of bursts that fall into the recent window
    is_less = betainc(share * bursts + 0.5, (1 - share) * bursts + 0.5, window / span)
    found = np.full(len(told), STABLE, dtype=np.int8)
    found[1 - is_less > params.change_probability] = STRENGTHENING
    found[is_less > params.change_probability] = WEAKENING
    # no reference in `run` days after so many bursts in `closed`: a beta-binomial of 0, in continuous time (Lomax);
    # one burst is spent on what the dispersion is inferred from
    no_reference = np.exp(-(bursts - 1) * np.log1p(run / np.maximum(closed[told], 1)))
    found[(run >= params.stale_active_days) & (no_reference < params.stale_probability)] = STALE
    trends[told] = found
    return trends
