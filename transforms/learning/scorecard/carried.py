"""The grades of forecasts of strategies, carried from night to night: only weeks that are new or changed are graded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from slowwave.transforms.core.carried import contents, contents_in_order, taken_over, with_made_of
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.hashing import DIGEST_BYTES, digest, digests
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.learning.attempts.sessions import CELL
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.scorecard.confidence import (
    TASK_DIFFICULTY,
    graded_beliefs,
    grades_alone,
    grades_of_all,
    grades_to_date,
)
from slowwave.transforms.learning.scorecard.params import ScorecardParams
from slowwave.transforms.learning.scorecard.scorecard import scorecard_rows
from slowwave.transforms.learning.scorecard.tables import StrategyScoresState

_Rows = list[tuple[object, ...]]


def strategy_scores_state(
    before: pl.DataFrame,
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    known: CellHistory,
    fits: pl.DataFrame,
    cutoffs: pl.DataFrame,
    params: ScorecardParams,
    confidence: ConfidenceParams,
) -> Frame[StrategyScoresState]:
    """The rows of `confidence_scorecard` in parts, each with the digest of what it was computed from.

    Args:
        before: such rows, of whatever night; what does not hold any more is not taken over.
        sessions: as `graded_beliefs`, like the next four.
        cells: see there.
        known: see there.
        fits: see there.
        cutoffs: see there.
        params: resamples and interval.
        confidence: how the past is weighed.
    """
    of_all = (params.model_dump_json(), confidence.model_dump_json(), TASK_DIFFICULTY)
    base = digest([*of_all, *polars_schema(StrategyScoresState)])
    weeks = _weeks(sessions, cells, known, fits, cutoffs, base)
    parts: dict[str, Callable[[pl.DataFrame], _Rows]] = {}
    made_of: dict[str, str] = {}
    for number, cutoff in enumerate(weeks, start=1):
        for name, graded, first in (
            (f"{cutoff} alone", grades_alone, number - 1),
            (f"{cutoff} to date", grades_to_date, 0),
        ):
            parts[name] = partial(graded, cutoff=cutoff, params=params, confidence=confidence)
            made_of[name] = digest([name, *list(weeks.values())[first:number]])
    if weeks:
        parts["all"] = partial(grades_of_all, params=params, confidence=confidence)
        made_of["all"] = digest(["all", *weeks.values()])
    kept = taken_over(before, made_of)
    new = parts.keys() - set(kept["part"])
    if new:
        rows = graded_beliefs(sessions, cells, known, fits, cutoffs, confidence)
        found = pl.concat(scorecard_rows(parts[part](rows)).with_columns(part=pl.lit(part)) for part in new)
        kept = pl.concat([kept, with_made_of(found, made_of).select(kept.columns)])
    return framed(StrategyScoresState, kept.sort(StrategyScoresState.key))


def _weeks(
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    known: CellHistory,
    fits: pl.DataFrame,
    cutoffs: pl.DataFrame,
    base: str,
) -> dict[int, str]:
    """Of each cutoff with attempts, in order, a digest of all that its forecasts and their grades follow from."""
    # cells are numbered in the order of their names, so that what is sorted by number is by name
    named = np.array(digests(cells.sort("cell").select(CELL)).to_list(), dtype=f"S{2 * DIGEST_BYTES}")
    days = cutoffs["cutoff"].unique().sort()
    # known before the cutoff of that number, and no earlier one
    nth = np.searchsorted(days.to_numpy(), known.day, side="right")
    records = contents_in_order(nth, [named[known.cell], known.day, *known.counts.T])
    tried = (
        sessions.join(cutoffs, on="day")
        .group_by("cutoff", "cell", "day")
        .agg(pl.col("attempts", "successes").sum())
        .sort("cutoff", "cell", "day")
    )
    cutoff, cell, *counts = (of.cast(pl.Int64).to_numpy() for of in tried.get_columns())
    graded = contents_in_order(cutoff, [named[cell], *counts])
    fitted = contents(fits.select("day", "project", "point", "correction", "dispersion", "newcomers_logit"), "day")
    found, known_before = dict[int, str](), base
    for number, cutoff in enumerate(days):
        known_before = digest([known_before, records.get(number, "")])
        if cutoff in graded:
            found[cutoff] = digest([known_before, graded[cutoff], fitted[cutoff]])
    return found
