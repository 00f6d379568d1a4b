"""How likely each memory is to be referenced in the next 30 days."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.usage.need_fits import NeedFit, need_fits, need_probability
from slowwave.transforms.usage.need_timelines import NEVER, NeedEvidence, need_evidence
from slowwave.transforms.usage.need_windows import need_window, scope_features, window_cuts
from slowwave.transforms.usage.params import DEFAULT_COEFFICIENTS, NeedParams

# How earlier memories that were never referenced so far fared: the only thing to tell of a brand-new memory.


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


# Memories are forecast in blocks of about so many of their days, which bounds the memory taken.
_BLOCK_DAYS = 1_000_000
_FITS_SCHEMA = {
    "scope": pl.UInt32,
    "project": pl.String,
    "fitted_on": pl.String,
    "windows": pl.Int64,
    "cases": pl.Int64,
    "needed": pl.Int64,
    "log_loss": pl.Float64,
    "default_log_loss": pl.Float64,
    "base_log_loss": pl.Float64,
    "broad_weight": pl.Float64,
    "bulk_weight": pl.Float64,
    "coefficients": pl.List(pl.String),
}


@dataclass(frozen=True)
class NeedForecasts:
    """`forecasts`, sorted by memory: memory, need_30d, need_if_active (both NULL where nothing is known).

    `fits`, sorted by scope: the columns of `NeedFits`, and scope.
    """

    forecasts: pl.DataFrame
    fits: pl.DataFrame


def need_forecasts(
    memories: pl.DataFrame, days: pl.DataFrame, scope_days: pl.DataFrame, today: int, params: NeedParams
) -> NeedForecasts:
    """Probability of at least one reference from the day `today` on, for as many days as the horizon has.

    A memory referenced before has the answer of a logistic regression on its decayed day counts, idle time and age and
    on its scope's activity, held to documented defaults and fitted on past windows that were over with the last
    interaction. One never referenced has the share of earlier such memories of its age that were; NULL if the lake had
    too few. `need_if_active` is the same forecast as if the scope had never been silent for longer than `silence_days`:
    what was left out of a silence ages nobody.

    Args:
        memories: memory, scope, project, status, created_day; other than active ones have no forecast.
        days: memory, day, reference_count, broad_count, bulk_count.
        scope_days: scope, day.
        today: days since 1970; only evidence of the days before it counts.
        params: horizon, windows, defaults.
    """
    evidence = need_evidence(memories, days, scope_days, today)
    cuts = window_cuts(evidence, params)
    fits, weights = need_fits(evidence, cuts, params)
    rates = first_reference_rates(evidence, cuts, params)
    told = {
        name: _need(seen, fits, weights, rates, today, params)
        for name, seen in (
            ("need_30d", evidence),
            ("need_if_active", evidence.without_silence(today, params.silence_days)),
        )
    }
    forecasts = memories.select("memory").join(
        pl.DataFrame({"memory": pl.Series(evidence.number, dtype=pl.Int64), **told}).with_columns(
            pl.col("memory").cast(memories.schema["memory"]), pl.col(*told).fill_nan(None)
        ),
        on="memory",
        how="left",
    )
    return NeedForecasts(forecasts.sort("memory"), _fits(memories, evidence, fits, weights))


def _need(
    evidence: NeedEvidence,
    fits: list[NeedFit],
    weights: tuple[int, int],
    rates: Floats | None,
    today: int,
    params: NeedParams,
) -> Floats:
    """Per memory of `evidence`; NaN where nothing is known."""
    found = first_reference_probability(evidence, rates, today, params)
    (of_scopes,) = scope_features(evidence, [today], params)
    coefficients = np.stack([fit.coefficients for fit in fits]) if fits else np.empty((0, len(DEFAULT_COEFFICIENTS)))
    size = len(evidence.number)
    ends = np.searchsorted(evidence.memory, np.arange(size), side="right")
    block = ends // _BLOCK_DAYS
    for start in np.flatnonzero(np.append(True, block[1:] != block[:-1])) if size else ():
        places = np.arange(start, np.searchsorted(block, block[start], side="right"))
        window = need_window(evidence.of_memories(places), today, of_scopes, weights, params.horizon_days)
        at = places[window.place]
        found[at] = need_probability(window.features, coefficients[evidence.scope[at]].T)
    return found


def _fits(
    memories: pl.DataFrame, evidence: NeedEvidence, fits: list[NeedFit], weights: tuple[int, int]
) -> pl.DataFrame:
    projects = (
        memories.group_by("scope")
        .agg(pl.when(pl.col("project").n_unique() == 1).then(pl.col("project").first()).alias("project"))
        .select(pl.col("scope").cast(pl.UInt32), "project")
    )
    rows = [
        {
            "scope": int(scope),
            "fitted_on": fit.source,
            "windows": fit.windows,
            "cases": fit.cases,
            "needed": fit.needed,
            "log_loss": fit.log_loss,
            "default_log_loss": fit.default_log_loss,
            "base_log_loss": fit.base_log_loss,
            "broad_weight": weights[0] / 32,
            "bulk_weight": weights[1] / 32,
            "coefficients": [
                f"{name}={value:.10f}".rstrip("0").rstrip(".")
                for name, value in zip(DEFAULT_COEFFICIENTS, fit.coefficients, strict=True)
            ],
        }
        for scope, fit in zip(evidence.scopes, fits, strict=True)
    ]
    schema = {name: dtype for name, dtype in _FITS_SCHEMA.items() if name != "project"}
    found = pl.DataFrame(rows, schema=schema).join(projects, on="scope", how="left")
    return found.select(*_FITS_SCHEMA).sort("scope")
