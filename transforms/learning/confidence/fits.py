"""How each project's past is best weighed to tell of the next day and of the next seven."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy.special import expit, logit

from slowwave.transforms.core.arrays import Floats, Integers
from slowwave.transforms.core.counts.forecast_grades import Steps
from slowwave.transforms.core.counts.integer_groups import KeyGroups
from slowwave.transforms.learning.confidence.confidences import Past
from slowwave.transforms.learning.confidence.params import ConfidenceParams, ConfidencePoint, Correction
from slowwave.transforms.learning.confidence.states import GROUP, CellHistory

_BOUND = 1e-3
_MICRO = 1_000_000
_MILLI = 1_000
_SURE = 1.5  # standard errors
_DAYS_BETWEEN = 3  # of cut-offs at which intervals are graded
_GRADED_DAYS = 180  # up to the latest grade, that tell which dispersion is used
_COUNTS = ("attempts", "successes")


def confidence_losses(
    sessions: pl.DataFrame, cells: pl.DataFrame, known: CellHistory, params: ConfidenceParams
) -> pl.DataFrame:
    """Log loss of every grid point, summed per project and day on which the outcomes became known.

    Half of an attempt's loss is that of the forecast at the start of its day, half the mean of the forecasts for the
    attempt then and earlier, up to a horizon before. Of a big log every n-th agent and task type is looked at.

    Args:
        sessions: of `attempt_sessions`.
        cells: of `attempt_cells`.
        known: of the same sessions.
        params: the grid.

    Returns project, known_day, attempts, `loss_0`, `loss_1` ... per grid point in millionths of a nat; and per share
    that is believed of relatives two sums over cells tried for the first time, in millionths: `surplus_0`, … (success
    less what relatives predicted), `spread_0`, … (variance of one attempt). Integers, so that any order of summing
    gives the same.
    """
    scored = _sample_rows(sessions.group_by("cell", "day", "known_day").agg(pl.col(_COUNTS).sum()), cells, params)
    cell, day, attempts, successes = (scored[name].to_numpy() for name in ("cell", "day", *_COUNTS))
    leads = (0, params.horizon_days // 2, params.horizon_days - 1)
    ends = np.concatenate([day - 1 - lead for lead in leads])
    # what is asked of a day at one lead is asked of another day at another: most of it several times
    alike = KeyGroups.of(np.tile(cell, len(leads)), ends)
    past = Past(known, cells, np.tile(cell, len(leads))[alike.first], ends[alike.first], params)
    place = alike.of_each(np.arange(len(alike.starts))).reshape(len(leads), -1)
    losses = []
    for number, point in enumerate(params.grid):
        p = np.clip(past.means(point), _BOUND, 1 - _BOUND)
        loss = -(successes * np.log(p)[place] + (attempts - successes) * np.log(1 - p)[place])
        each = loss[0] / 2 + loss.mean(axis=0) / 2
        losses.append(pl.Series(f"loss_{number}", np.round(each * _MICRO).astype(np.int64)))
    is_first = ~past.is_tried[place[0]]
    for number, share in enumerate(_shares(params)):
        prior = past.prior_means(share)[place[0]]
        for name, sums in (("surplus", successes / attempts - prior), ("spread", prior * (1 - prior))):
            millionths = np.round(np.where(is_first, sums, 0) * _MICRO).astype(np.int64)
            losses.append(pl.Series(f"{name}_{number}", millionths))
    return (
        scored.select("cell", "known_day", "attempts")
        .hstack(losses)
        .join(cells.select("cell", "project"), on="cell")
        .drop("cell")
        .group_by("project", "known_day")
        .agg(pl.all().sum())
        .sort("project", "known_day")
    )


def _shares(params: ConfidenceParams) -> list[float]:
    return sorted({point.relatives_share for point in params.grid})


def _newcomers(losses: pl.DataFrame, days: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """How first attempts differed from what relatives predicted: project, day, newcomers_0, … in logits, one per share.

    One step of Newton's from 0, with so many cells added that did as was predicted.
    """
    numbers = range(len(_shares(params)))
    names = [f"{name}_{number}" for number in numbers for name in ("surplus", "spread")]
    so_far = losses.sort("project", "known_day").select(
        "project", (pl.col("known_day") + 1).alias("day"), pl.col(names).cum_sum().over("project")
    )
    asked = days.select("project", "day").unique().sort("day")
    found = asked.join_asof(so_far.sort("day"), on="day", by="project", check_sortedness=False)
    prior = params.newcomer_cells * _MICRO / 4
    step = [pl.col(f"surplus_{n}").fill_null(0) / (pl.col(f"spread_{n}").fill_null(0) + prior) for n in numbers]
    return found.select("project", "day", *[of.clip(-2, 2).alias(f"newcomers_{n}") for n, of in enumerate(step)])


def _sample_rows(rows: pl.DataFrame, cells: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """The rows of every n-th agent and task type of each project, sorted."""
    return _of_sample(rows, rows.height, cells, params).sort(rows.columns)


def _of_sample(rows: pl.DataFrame, count: int, cells: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """Those of every n-th agent and task type of each project, so that about `max_fit_rows` of `count` stay."""
    nth = -(-count // params.max_fit_rows)
    number = pl.struct(GROUP).rank("dense").over("project").cast(pl.Int64) - 1
    sample = cells.filter(number % nth == 0)["cell"]
    return rows.filter(pl.col("cell").is_in(sample.implode()))


def interval_grades(
    sessions: pl.DataFrame, cells: pl.DataFrame, known: CellHistory, losses: pl.DataFrame, params: ConfidenceParams
) -> pl.DataFrame:
    """What share of past outcomes each dispersion would have had in its intervals, per project and day it was known.

    Args:
        sessions: of `attempt_sessions`.
        cells: of `attempt_cells`.
        known: of the same sessions.
        losses: of `confidence_losses`.
        params: the dispersions.

    Returns project, known_day, cells_day and cells_week (graded, of the next day and of the horizon), per dispersion
    `day_0`, `week_0`, … in millionths of a cell, and per correction `corrected_0`, … in millionths of a nat: the log
    loss of the estimates of these cells, half that of the next day, half that of the horizon.
    """
    last = params.horizon_days - 1
    first_cutoff = -((last - pl.col("day")) // _DAYS_BETWEEN) * _DAYS_BETWEEN
    is_next = (pl.col("day") == pl.col("cutoff")).cast(pl.Int64)
    of_cutoffs = (
        sessions.group_by("cell", "day")
        .agg(pl.col(_COUNTS).sum(), pl.col("known_day").max())
        .with_columns(pl.int_ranges(first_cutoff, pl.col("day") + 1, _DAYS_BETWEEN).alias("cutoff"))
        .explode("cutoff")
    )
    asked = of_cutoffs.select((pl.col("cell") * 2**32 + pl.col("cutoff")).alias("asked"))["asked"].n_unique()
    tried = (
        _of_sample(of_cutoffs, asked, cells, params)
        .group_by("cell", "cutoff")
        .agg(
            pl.col(_COUNTS).sum().name.suffix("_week"),
            (pl.col(_COUNTS) * is_next).sum().name.suffix("_day"),
            pl.max_horizontal(pl.col("known_day").max(), pl.col("cutoff").first() + last),
        )
    )
    tried = tried.sort(tried.columns)
    rows = _with_points(tried, cells, losses, params)
    names = [f"corrected_{number}" for number in range(len(params.corrections))]
    names += [f"{horizon}_{number}" for horizon in ("day", "week") for number in range(len(params.dispersions))]
    empty = pl.DataFrame(
        schema={"project": pl.String, **dict.fromkeys(["known_day", "cells_day", "cells_week", *names], pl.Int64)}
    )
    if rows.is_empty():
        return empty
    past = Past(known, cells, rows["cell"].to_numpy(), rows["cutoff"].to_numpy() - 1, params)
    graded = {"cells_day": (rows["attempts_day"].to_numpy() > 0) & past.is_tried, "cells_week": past.is_tried}
    columns: dict[str, Integers] = {name: of.astype(np.int64) for name, of in graded.items()}
    corrected = _correction_losses(rows, past, params)
    columns |= corrected
    mean, spread = np.zeros(rows.height), np.zeros(rows.height)
    number = _corrections_then(rows, corrected, params)
    for (at, correction), chosen in places_of(rows["point"].to_numpy(), number):
        mean[chosen], worth = past.means_and_worths(params.grid[at], params.corrections[correction], chosen)
        spread[chosen] = 1 / worth
    for horizon in ("day", "week"):
        at = np.flatnonzero(graded[f"cells_{horizon}"])
        steps = Steps.of(*(rows[f"{name}_{horizon}"].to_numpy()[at] for name in _COUNTS))
        for number, dispersion in enumerate(params.dispersions):
            inside = steps.share_inside(mean[at], (1 / (spread + dispersion))[at], params.credible_mass)
            columns[f"{horizon}_{number}"] = np.zeros(rows.height, dtype=np.int64)
            columns[f"{horizon}_{number}"][at] = np.round(inside * _MICRO).astype(np.int64)
    return (
        rows.select("project", "known_day")
        .hstack(pl.DataFrame(columns))
        .group_by("project", "known_day")
        .agg(pl.all().sum())
        .sort("project", "known_day")
        .select(empty.columns)
    )


def _with_points(
    tried: pl.DataFrame, cells: pl.DataFrame, losses: pl.DataFrame, params: ConfidenceParams
) -> pl.DataFrame:
    of_project = tried.join(cells.select("cell", "project"), on="cell")
    asked = of_project.select("project", pl.col("cutoff").alias("day")).unique()
    points = fitted_points(losses, asked, params).select("project", pl.col("day").alias("cutoff"), "point")
    return of_project.join(points, on=["project", "cutoff"]).sort("cell", "cutoff")


def places_of(*values: Integers) -> Iterator[tuple[tuple[int, ...], Integers]]:
    """Each combination of values that occurs, and where."""
    alike = KeyGroups.of(*values)
    for places in np.split(alike.order, alike.starts[1:]) if len(alike.starts) else []:
        yield tuple(int(of[places[0]]) for of in values), places


def _correction_losses(rows: pl.DataFrame, past: Past, params: ConfidenceParams) -> dict[str, Integers]:
    """Log loss per row and correction, in millionths of a nat: attempts of the next day count twice."""
    tried = np.flatnonzero(past.is_tried)
    points = rows["point"].to_numpy()[tried]
    attempts, successes = (
        rows[f"{name}_week"].to_numpy()[tried] + rows[f"{name}_day"].to_numpy()[tried] for name in _COUNTS
    )
    found: dict[str, Integers] = {}
    logits: dict[float, Floats] = {}
    for share in dict.fromkeys(correction.records_share for correction in params.corrections):
        logits[share] = np.zeros(len(tried))
        for (point,), chosen in places_of(points):
            logits[share][chosen] = logit(past.estimate_with_records(params.grid[point], tried[chosen], share))
    for number, correction in enumerate(params.corrections):
        p = np.clip(expit(logits[correction.records_share] + correction.shift), _BOUND, 1 - _BOUND)
        loss = -(successes * np.log(p) + (attempts - successes) * np.log(1 - p))
        found[f"corrected_{number}"] = np.zeros(rows.height, dtype=np.int64)
        found[f"corrected_{number}"][tried] = np.round(loss * _MICRO).astype(np.int64)
    return found


def _corrections_then(rows: pl.DataFrame, corrected: dict[str, Integers], params: ConfidenceParams) -> Integers:
    """The number of the correction that was used at each row's cutoff."""
    losses = rows.select("project", "known_day").hstack(pl.DataFrame(corrected))
    by_day = losses.group_by("project", "known_day").agg(pl.all().sum())
    asked = rows.select("project", pl.col("cutoff").alias("day"))
    fitted = fitted_corrections(by_day, asked, params)
    return asked.join(fitted, on=["project", "day"], how="left", maintain_order="left")["correction"].to_numpy()


def fitted_corrections(grades: pl.DataFrame, days: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """The correction each project uses at the start of each day: that which surely had the least log loss of late.

    Args:
        grades: of `interval_grades`.
        days: project and `day`, what is asked for.
        params: the corrections and the days that tell. What another gained on the first is held against its standard
            error, days being the sample, and the margin.

    Returns project, day, correction (number of it).
    """
    names = [f"corrected_{number}" for number in range(len(params.corrections))]
    squares = [f"square_{name}" for name in names]
    gained = [((pl.col(names[0]) - pl.col(name)) // _MILLI).alias(name) for name in names]
    by_day = grades.select("project", "known_day", *gained).with_columns(
        (pl.col(name) ** 2).alias(square) for name, square in zip(names, squares, strict=True)
    )
    found = _summed_of_late(by_day, days, params.corrected_days)
    # gains of days of one kind: in any they would be as large by luck, in all of them they are not
    sure = found.select(names).to_numpy() - _SURE * np.sqrt(found.select(squares).to_numpy())
    sure[:, 1:] -= params.correction_margin_nats * _MILLI
    number = pl.Series("correction", sure.argmax(axis=1), pl.Int64)
    return found.select("project", "day", number).sort("project", "day")


def _summed_of_late(grades: pl.DataFrame, days: pl.DataFrame, of_days: int) -> pl.DataFrame:
    """Sums of what became known on so many days before each asked project and day, one row each."""
    names = [name for name in grades.columns if name not in ("project", "known_day")]
    so_far = grades.sort("project", "known_day").with_columns(pl.col(names).cum_sum().over("project"))
    asked = (
        days.select("project", "day")
        .unique()
        .with_columns((pl.col("day") - 1).alias("until"), (pl.col("day") - 1 - of_days).alias("after"))
    )
    for side in ("until", "after"):
        sums = so_far.rename({"known_day": side, **{name: f"{name}_{side}" for name in names}}).sort(side)
        asked = asked.sort(side).join_asof(sums, on=side, by="project", check_sortedness=False)
    return asked.with_columns(
        (pl.col(f"{name}_until").fill_null(0) - pl.col(f"{name}_after").fill_null(0)).alias(name) for name in names
    )


def fitted_points(losses: pl.DataFrame, days: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """Return the grid point each project uses at the start of each day: the least log loss on what was known before.

    Args:
        losses: of `confidence_losses`.
        days: project and `day`, what is asked for.
        params: the grid; a project with fewer than `min_fit_attempts` keeps the first point, others must be
            better than it by `fit_margin_nats`, and ties go to the first.

    Returns project, day, point (number in the grid), fit_attempts, log_loss and default_log_loss (nats per attempt;
    NULL: nothing was forecast yet).
    """
    names = [f"loss_{number}" for number in range(len(params.grid))]
    so_far = losses.sort("project", "known_day").with_columns(
        pl.col("attempts", *names).cum_sum().over("project"), (pl.col("known_day") + 1).alias("day")
    )
    queries = days.select("project", "day").unique().sort("project", "day")
    found = queries.sort("day").join_asof(
        so_far.drop("known_day").with_columns(pl.col("day").cast(queries.schema["day"])).sort("day"),
        on="day",
        by="project",
        strategy="backward",
        check_sortedness=False,
    )
    is_fitted = pl.col("attempts").fill_null(0) >= params.min_fit_attempts
    of_points = found.select(pl.col(names).fill_null(0)).to_numpy()
    # a point must be better than the default by a margin, not by luck
    margin = np.full(len(names), round(params.fit_margin_nats * _MICRO))
    margin[0] = 0
    least = pl.Series((of_points + margin).argmin(axis=1))
    chosen = found.with_columns(pl.when(is_fitted).then(least).otherwise(0).alias("point"))
    of_chosen = pl.Series(of_points[np.arange(len(of_points)), chosen["point"].to_numpy()])
    per_attempt = pl.col("attempts") * _MICRO
    return chosen.select(
        "project",
        "day",
        "point",
        pl.col("attempts").fill_null(0).alias("fit_attempts"),
        (of_chosen / per_attempt).alias("log_loss"),
        (pl.col(names[0]) / per_attempt).alias("default_log_loss"),
    ).sort("project", "day")


def fitted_dispersions(grades: pl.DataFrame, days: pl.DataFrame, params: ConfidenceParams) -> pl.DataFrame:
    """The dispersion each project uses at the start of each day: whose intervals of late held nearest to their mass.

    Args:
        grades: of `interval_grades`.
        days: project and `day`, what is asked for.
        params: the dispersions; with fewer graded cells than `min_dispersion_cells` a project keeps the first.

    Returns project, day, dispersion, graded_cells, coverage_day and coverage_week (of the chosen one on them; NULL:
    nothing was graded yet).
    """
    found = _summed_of_late(grades, days, _GRADED_DAYS)
    shares = {
        horizon: [
            pl.when(pl.col(f"cells_{horizon}") > 0).then(
                pl.col(f"{horizon}_{number}") / (pl.col(f"cells_{horizon}") * _MICRO)
            )
            for number in range(len(params.dispersions))
        ]
        for horizon in ("day", "week")
    }
    off = [
        (day - params.credible_mass).pow(2).fill_null(0) + (week - params.credible_mass).pow(2).fill_null(0)
        for day, week in zip(shares["day"], shares["week"], strict=True)
    ]
    least = pl.concat_list(off).list.arg_min().cast(pl.Int64)
    is_fitted = pl.col("cells_week") >= params.min_dispersion_cells
    number = pl.when(is_fitted).then(least).otherwise(0)
    return (
        found.with_columns(number.alias("number"))
        .select(
            "project",
            "day",
            pl.col("number").replace_strict(dict(enumerate(params.dispersions))).alias("dispersion"),
            pl.col("cells_week").alias("graded_cells"),
            *[
                pl.concat_list(shares[horizon]).list.get(pl.col("number")).alias(f"coverage_{horizon}")
                for horizon in ("day", "week")
            ],
        )
        .sort("project", "day")
    )


def confidence_fits(
    losses: pl.DataFrame, grades: pl.DataFrame, days: pl.DataFrame, params: ConfidenceParams
) -> pl.DataFrame:
    """What each project uses to tell of strategies from the start of a day on, and why, sorted by (project, day).

    Args:
        losses: of `confidence_losses`.
        grades: of `interval_grades`.
        days: project, day.
        params: the grid and the dispersions.

    Returns project, day, point, the values of that point, fit_attempts, log_loss and default_log_loss (nats per
    attempt; NULL: nothing forecast yet), newcomers_logit, session_correlation, dispersion, graded_cells, coverage_day,
    coverage_week, correction, records_share, shift.
    """
    grid = pl.DataFrame(
        [{"point": number, **point.model_dump()} for number, point in enumerate(params.grid)],
        schema={"point": pl.Int64, **dict.fromkeys(ConfidencePoint.model_fields, pl.Float64)},
    )
    corrections = pl.DataFrame(
        [{"correction": number, **one.model_dump()} for number, one in enumerate(params.corrections)],
        schema={"correction": pl.Int64, **dict.fromkeys(Correction.model_fields, pl.Float64)},
    )
    return (
        fitted_points(losses, days, params)
        .join(grid, on="point", how="left")
        .join(_newcomers(losses, days, params), on=["project", "day"], how="left")
        .with_columns(
            pl.coalesce(
                pl.when(pl.col("relatives_share") == share).then(f"newcomers_{number}")
                for number, share in enumerate(_shares(params))
            ).alias("newcomers_logit")
        )
        .drop(f"newcomers_{number}" for number in range(len(_shares(params))))
        .with_columns(pl.lit(params.session_correlation).alias("session_correlation"))
        .join(fitted_dispersions(grades, days, params), on=["project", "day"], how="left")
        .join(fitted_corrections(grades, days, params), on=["project", "day"], how="left")
        .join(corrections, on="correction", how="left")
        .sort("project", "day")
    )
