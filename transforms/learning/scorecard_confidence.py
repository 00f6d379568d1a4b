"""How well the published confidence did, for the next day and for seven, beside simple rules on the same attempts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from slowwave.transforms.core.carried import contents, contents_in_order, taken_over, with_made_of
from slowwave.transforms.core.counts.forecast_grades import Steps, worth_of
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.hashing import DIGEST_BYTES, digest, digests
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.core.times import midnight
from slowwave.transforms.learning.confidence.confidences import sum_of_records
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.confidence.states import AttemptCounts, CellHistory
from slowwave.transforms.learning.heuristics import estimate_cells
from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.scorecard_rows import (
    BASE_RATE,
    LAPLACE,
    grades,
    known_before,
    scorecard_rows,
    value_and_interval,
)
from slowwave.transforms.learning.sessions import CELL, known_days
from slowwave.transforms.learning.tables import StrategyScoresState

RECORDS = "records/1"
TASK_DIFFICULTY = "task_difficulty/1"
_MOST_CELLS = 4_000  # whose coverage is looked at, evenly between all
_COUNTS = ("attempts", "successes")


def graded_beliefs(
    sessions: pl.DataFrame,
    cells: pl.DataFrame,
    known: CellHistory,
    fits: pl.DataFrame,
    cutoffs: pl.DataFrame,
    params: ConfidenceParams,
) -> pl.DataFrame:
    """What was published at each cutoff of the cells that were tried in the days after it, and what simple rules say.

    Args:
        sessions: of `attempt_sessions`.
        cells: of `attempt_cells`.
        known: of the same sessions.
        fits: of `confidence_fits`, at least for every project and cutoff.
        cutoffs: cutoff, day (both in days since 1970): attempts of which days a cutoff is graded on.
        params: how the past is weighed.

    Returns cutoff, block (the day tried), cell, attempts, successes, is_published (else the cell was first tried after
    the cutoff, and its forecast is the prior), confidence_low, confidence_high, and per method the forecast. records/1
    is the cell's record shrunk to the sum of the logits of its strategy's and its task type's records,
    task_difficulty/1 what the kind of task alone says; is_new_strategy: nobody in the project had tried the strategy
    before the cutoff.
    """
    tried = (
        sessions.join(cutoffs, on="day")
        .group_by("cutoff", "cell", "day")
        .agg(pl.col(_COUNTS).sum())
        .rename({"day": "block"})
    )
    asked = tried.select("cell", pl.col("cutoff").alias("day")).unique()
    told = estimate_cells(asked, cells, known, fits, params).select(
        "cell",
        pl.col("day").alias("cutoff"),
        pl.col("is_tried").alias("is_published"),
        "confidence_low",
        "confidence_high",
        pl.col("confidence").alias(params.method),
    )
    past = known_days(sessions).join(cells, on="cell")
    days = cutoffs["cutoff"].unique().sort()
    rows = tried.join(told, on=["cell", "cutoff"]).join(cells, on="cell")
    for prefix, key in (
        ("own", ["cell"]),
        ("project", ["project"]),
        ("strategy", ["project", "strategy_id"]),
        ("task_type", ["project", "task_type"]),
    ):
        rows = rows.join(known_before(past, key, days, prefix), on=[*key, "cutoff"], how="left")
    rows = rows.with_columns(pl.col("^.+_(attempts|successes)$").fill_null(0)).sort("cutoff", "block", "cell")
    return rows.with_columns(
        _laplace_of("project").alias(BASE_RATE),
        _laplace_of("own").alias(LAPLACE),
        _laplace_of("task_type").alias(TASK_DIFFICULTY),
        (pl.col("strategy_attempts") == 0).alias("is_new_strategy"),
        pl.Series(RECORDS, _sum_of_records(rows), pl.Float64),
    ).select(
        "cutoff", "block", "cell", *_COUNTS, "is_published", "is_new_strategy", "confidence_low", "confidence_high",
        params.method, BASE_RATE, LAPLACE, RECORDS, TASK_DIFFICULTY,
    )  # fmt: skip


def _laplace_of(prefix: str) -> pl.Expr:
    return (pl.col(f"{prefix}_successes") + 1) / (pl.col(f"{prefix}_attempts") + 2)


def _sum_of_records(rows: pl.DataFrame) -> np.ndarray:
    def counts(prefix: str) -> AttemptCounts:
        return AttemptCounts(*(rows[f"{prefix}_{name}"].to_numpy() for name in _COUNTS))

    return sum_of_records(*map(counts, ("own", "strategy", "task_type", "project")))


def confidence_scorecard(rows: pl.DataFrame, params: ScorecardParams, confidence: ConfidenceParams) -> pl.DataFrame:
    """Grades of what was published, sorted by key.

    Args:
        rows: of `graded_beliefs`.
        params: resamples and interval.
        confidence: the method, and the days that are forecast.

    Returns the columns of `scorecard`. Of the days up to the horizon: every metric at every cutoff and over all cutoffs
    up to it (`…_to_date`). Of the next day alone, over all cutoffs: the same metrics. Of the cells that were first
    tried after the cutoff, over all cutoffs: `untried_…`; of those of them whose strategy was new to the project, what
    the kind of task alone says, beside the base rate: `new_strategy_…`. interval_coverage_to_date is the share of
    published cells whose successes lie in the central mass of the Beta-binomial that their interval implies (cutoffs
    drawn with replacement). Days are drawn with replacement for all other intervals: a block bootstrap (Künsch 1989).
    """
    found = [
        row
        for cutoff in rows["cutoff"].unique().sort()
        for graded in (grades_alone, grades_to_date)
        for row in graded(rows, int(cutoff), params, confidence)
    ]
    return scorecard_rows([*found, *grades_of_all(rows, params, confidence)])


def grades_alone(
    rows: pl.DataFrame, cutoff: int, params: ScorecardParams, confidence: ConfidenceParams
) -> list[tuple[object, ...]]:
    """Of `confidence_scorecard` the rows of one cutoff alone."""
    return _of_week(rows.filter(pl.col("cutoff") == cutoff), "{}", cutoff, params, confidence)


def grades_to_date(
    rows: pl.DataFrame, cutoff: int, params: ScorecardParams, confidence: ConfidenceParams
) -> list[tuple[object, ...]]:
    """Of `confidence_scorecard` the rows of all cutoffs up to one."""
    return _of_week(rows.filter(pl.col("cutoff") <= cutoff), "{}_to_date", cutoff, params, confidence)


def _of_week(
    rows: pl.DataFrame, named: str, cutoff: int, params: ScorecardParams, confidence: ConfidenceParams
) -> list[tuple[object, ...]]:
    published, about = rows.filter("is_published"), (midnight(cutoff), confidence.horizon_days)
    if published.is_empty():
        return []
    return grades(published, named, about, [str(cutoff), named], _methods(confidence), params)


def grades_of_all(
    rows: pl.DataFrame, params: ScorecardParams, confidence: ConfidenceParams
) -> list[tuple[object, ...]]:
    """Of `confidence_scorecard` the rows of all cutoffs together: of the next day, of the untried, the coverage."""
    latest, methods, found = rows["cutoff"].max(), _methods(confidence), list[tuple[object, ...]]()
    if not isinstance(latest, int):
        return found
    is_next = pl.col("block") == pl.col("cutoff")
    for horizon, some in ((1, rows.filter(is_next)), (confidence.horizon_days, rows)):
        about = (midnight(latest), horizon)
        published, untried = some.filter("is_published"), some.filter(~pl.col("is_published"))
        if horizon == 1 and published.height:
            found += grades(published, "{}_to_date", about, [str(latest), "next day"], methods, params)
        if untried.height:
            found += grades(untried, "untried_{}_to_date", about, [str(latest), "untried"], methods, params)
        new, beside = untried.filter("is_new_strategy"), (TASK_DIFFICULTY, BASE_RATE, confidence.method)
        if new.height:
            found += grades(new, "new_strategy_{}_to_date", about, [str(latest), "new strategy"], beside, params)
        if published.height:
            found.append(_coverage(published, about, params, confidence))
    return found


def _methods(confidence: ConfidenceParams) -> tuple[str, ...]:
    return (confidence.method, BASE_RATE, LAPLACE, RECORDS)


def _coverage(
    published: pl.DataFrame, about: tuple[object, int], params: ScorecardParams, confidence: ConfidenceParams
) -> tuple[object, ...]:
    """The row of `interval_coverage_to_date`."""
    cells = (
        published.group_by("cutoff", "cell")
        .agg(pl.col(_COUNTS).sum(), pl.col("confidence_low", "confidence_high", confidence.method).first())
        .sort("cutoff", "cell")
    )
    cells = cells.gather_every(-(-cells.height // _MOST_CELLS))
    mean, low, high = (cells[name].to_numpy() for name in (confidence.method, "confidence_low", "confidence_high"))
    worth = worth_of(mean, low, high, confidence.credible_mass)
    attempts, successes = (cells[name].to_numpy() for name in _COUNTS)
    inside = Steps.of(attempts, successes).share_inside(mean, worth, confidence.credible_mass)
    millionths = pl.Series("inside", np.round(inside * 1_000_000).astype(np.int64))
    weeks = cells.select("cutoff").with_columns(millionths).group_by("cutoff").agg(pl.len(), pl.col("inside").sum())
    counts = weeks.sort("cutoff").select("inside", "len").cast(pl.Int64).to_numpy()
    generator = np.random.default_rng(int(digest([str(about[0]), str(about[1]), "coverage"])[:12], 16))
    drawn = generator.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=params.resamples)
    times = np.vstack([np.ones((1, len(counts)), dtype=np.int64), drawn.astype(np.int64)])
    sums = times @ counts
    shares = sums[:, 0] / (sums[:, 1] * 1_000_000)
    value = value_and_interval(shares, params.interval_mass)
    return (
        confidence.method,
        "interval_coverage_to_date",
        *about,
        *(value if len(counts) > 1 else (value[0], None, None)),
        cells.height,
        len(counts),
    )


# The grades of forecasts of strategies, carried from night to night: only weeks that are new or changed are graded.

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
