"""How earlier memories that were never referenced so far fared: the only thing to tell of a brand-new memory."""

from __future__ import annotations

import numpy as np

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.usage.need.params import NeedParams
from slowwave.transforms.usage.need.timelines import NEVER, NeedEvidence


def first_reference_rates(evidence: NeedEvidence, cuts: list[int], params: NeedParams) -> Floats | None:
    """Share of never referenced memories referenced within the horizon, a row per scope and a column per age band.

    Counts of all windows; the lake's rate of an age is shrunk towards that of all ages, a scope's towards the lake's.
    None: fewer than `first_reference_memories` such memories were there before.
    """
    bands = len(params.first_reference_ages) + 1
    size = len(evidence.scopes)
    asked, hits = np.zeros(size * bands), np.zeros(size * bands)
    is_known = np.zeros(len(evidence.number), dtype=bool)
    for cut in cuts:
        is_new = (evidence.created < cut) & (evidence.first >= cut)
        is_known |= is_new
        cell = evidence.scope[is_new] * bands + age_bands(evidence, cut, params)[is_new]
        asked += np.bincount(cell, minlength=size * bands)
        hits += np.bincount(cell[evidence.first[is_new] < cut + params.horizon_days], minlength=size * bands)
    if is_known.sum() < params.first_reference_memories:
        return None
    asked, hits = asked.reshape(size, bands), hits.reshape(size, bands)
    # as if one more of each kind had been seen: no rate is 0 or 1
    of_all = (hits.sum() + 1) / (asked.sum() + 2)
    strength = params.first_reference_strength
    of_lake = (hits.sum(axis=0) + strength * of_all) / (asked.sum(axis=0) + strength)
    return (hits + strength * of_lake) / (asked + strength)


def first_reference_probability(evidence: NeedEvidence, rates: Floats | None, today: int, params: NeedParams) -> Floats:
    """Probability of a first reference in the days from `today` on, per memory; NaN if referenced, or nothing known."""
    if rates is None:
        return np.full(len(evidence.number), np.nan)
    told = rates[evidence.scope, age_bands(evidence, today, params)]
    return np.where(evidence.first == NEVER, told, np.nan)


def age_bands(evidence: NeedEvidence, cut: int, params: NeedParams) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number of the age band of each memory at the start of the day `cut`."""
    return np.searchsorted(params.first_reference_ages, cut - evidence.created, side="right").astype(np.int64)
