"""What was known of memories and scopes at the start of a window, and who was referenced in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from slowwave.transforms.core.arrays import Booleans, Floats, Integers
from slowwave.transforms.usage.need_timelines import NeedEvidence
from slowwave.transforms.usage.params import DEFAULT_COEFFICIENTS, NeedParams

SCOPE_FEATURES = sum(name.startswith("scope_") for name in DEFAULT_COEFFICIENTS)
_FIXED_POINT = 2.0**30
# A decayed count is distinct from none from about this size on.
_FLOOR = 0.05
_IDLE_KNOTS = (8, 31, 91, 366)
# Memories of a scope that are imagined besides the real ones, so that shares of few say little.
_HITS, _MISSES = 2, 40


@dataclass(frozen=True)
class NeedWindow:
    """Memories referenced before the day `cut`: their places, ascending, and what was known of them then.

    `features` has a row per name of `DEFAULT_COEFFICIENTS`, a column per memory; `is_needed`: referenced in the window.
    """

    cut: int
    place: Integers
    features: Floats
    is_needed: Booleans


def window_cuts(evidence: NeedEvidence, params: NeedParams) -> list[int]:
    """First days of the windows that were over with the last interaction: silence after it changes nothing."""
    if not len(evidence.day) or not len(evidence.active_day):
        return []
    step = params.window_step_days
    last = int(evidence.active_day.max()) + 1 - params.horizon_days
    first = int(evidence.day.min())
    return list(range((first // step + 1) * step, last + 1, step))[-params.windows :]


def scope_features(evidence: NeedEvidence, cuts: list[int], params: NeedParams) -> list[Floats]:
    """Per cut an array with a row per scope feature and a column per scope: how active it was lately."""
    order = np.argsort(evidence.day, kind="stable")
    day, memory = evidence.day[order], evidence.memory[order]
    size = len(evidence.scopes)

    def count_referenced(known_before: int, start: int, end: int) -> Integers:
        """How many memories of each scope, known before a day, were referenced from `start` to before `end`."""
        is_seen = np.zeros(len(evidence.number), dtype=bool)
        is_seen[memory[np.searchsorted(day, start) : np.searchsorted(day, end)]] = True
        return np.bincount(evidence.scope[is_seen & (evidence.first < known_before)], minlength=size)

    found = []
    for cut in cuts:
        hits, known = np.zeros(size), np.zeros(size)
        for back in range(1, 4):
            start = cut - back * params.horizon_days
            hits += count_referenced(start, start, start + params.horizon_days)
            known += np.bincount(evidence.scope[evidence.first < start], minlength=size)
        population = np.bincount(evidence.scope[evidence.first < cut], minlength=size)
        days = [
            np.bincount(
                evidence.active_scope[(evidence.active_day < cut) & (evidence.active_day >= cut - back)], minlength=size
            )
            for back in (30, 90)
        ]
        found.append(
            np.stack(
                [
                    _log_odds(hits, known),
                    _log_odds(count_referenced(cut, cut - 90, cut), population),
                    np.log((days[0] + 1) / (days[1] / 3 + 1)),
                    np.log1p(days[1]) - 3,
                ]
            )
        )
    return found


def _log_odds(hits: Floats | Integers, of: Floats | Integers) -> Floats:
    return np.log((hits + _HITS) / (of - hits + _MISSES)) - np.log(_HITS / _MISSES)


@cache
def _fade(half_life_days: int) -> Floats:
    """2^(-age / half life) in 2^-30 fixed point for ages of up to a century: sums of it are exact in any order."""
    return np.rint(_FIXED_POINT * np.exp2(-np.arange(36_525) / half_life_days))


def need_window(
    evidence: NeedEvidence, cut: int, of_scopes: Floats, weights: tuple[int, int], horizon_days: int
) -> NeedWindow:
    """What was known at the start of the day `cut` of each memory referenced before it.

    Args:
        evidence: of the memories asked for.
        cut: days since 1970.
        of_scopes: of `scope_features` at the cut.
        weights: of `NeedParams.bulk_weights`.
        horizon_days: length of the window.
    """
    size = len(evidence.number)
    is_past = evidence.day < cut
    memory, day = evidence.memory[is_past], evidence.day[is_past]
    age = np.minimum(cut - day, 36_524)
    narrow = evidence.narrow[is_past].astype(np.float64)
    weight = evidence.day_weights(weights)[is_past]
    place = np.flatnonzero(evidence.first < cut)

    def decayed_log_counts(half_life_days: int, per_day: Floats | None = None) -> Floats:
        faded = _fade(half_life_days)[age]
        counts = np.bincount(memory, faded if per_day is None else per_day * faded, size)[place] / _FIXED_POINT
        return np.log1p(counts / _FLOOR)

    # rows are sorted by memory and day: of several values for one place the last one stays
    last, last_narrow = evidence.first.copy(), evidence.first.copy()
    last[memory] = day
    is_narrow = narrow > 0
    last_narrow[memory[is_narrow]] = day[is_narrow]
    references = np.bincount(memory, evidence.references[is_past], size)[place]
    first = evidence.first[place]
    idle = np.log1p(cut - last[place])
    log_references = np.log(references)
    of_memories = [
        np.ones(len(place)),
        *(decayed_log_counts(half_life, weight) for half_life in (7, 30, 90, 365)),
        decayed_log_counts(30, narrow),
        decayed_log_counts(180, narrow),
        decayed_log_counts(180),
        idle,
        *(np.maximum(idle - np.log(knot), 0) for knot in _IDLE_KNOTS),
        np.log1p(cut - first),
        log_references,
        (references == 1).astype(np.float64),
        np.log1p(last[place] - first),
        np.log1p(cut - last_narrow[place]),
        log_references * idle / 3,
    ]
    in_window = (evidence.day >= cut) & (evidence.day < cut + horizon_days)
    is_needed = np.zeros(size, dtype=bool)
    is_needed[evidence.memory[in_window]] = True
    features = np.concatenate([np.stack(of_memories), of_scopes[:, evidence.scope[place]]])
    return NeedWindow(cut, place, features, is_needed[place])
