"""Forecasts of success: what they may know, what they are made of, and how their weights are picked."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from attempt_rows import START, tried
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from thorough import examples

from slowwave.transforms.learning.attempts.sessions import next_midnight, session_correlations
from slowwave.transforms.learning.forecast.fits import forecast_fits, known_days, project_losses, success_forecasts
from slowwave.transforms.learning.forecast.params import ForecastParams, ForecastPoint
from slowwave.transforms.learning.forecast.posterior import CELL, evidence, fitted_points

_DAY = next_midnight(START + timedelta(days=20))
_QUICK = ForecastParams(min_fit_attempts=5, fit_margin_nats=0)

_row = st.fixed_dictionaries(
    {
        "hour": st.integers(0, 20 * 24 - 1),
        "late": st.integers(0, 60),
        "project": st.sampled_from("pq"),
        "agent": st.sampled_from("ab"),
        "task_type": st.sampled_from("tu"),
        "strategy": st.sampled_from("xyz"),
        "session_id": st.sampled_from("12345"),
        "success": st.booleans(),
    }
)
_rows = st.lists(_row, min_size=1, max_size=40)


def _told(rows, first=0):
    """Rows for `tried`; `hour` after START, `late`: hours until known."""
    found = []
    for number, row in enumerate(rows, first):
        given = {name: value for name, value in row.items() if name not in {"hour", "late"}}
        at = START + timedelta(hours=row["hour"])
        found.append(
            {
                **given,
                "outcome_id": f"o{number:05}",
                "created_at": at,
                "recorded_at": at + timedelta(hours=row["late"]),
            }
        )
    return found


def _known_on(row, day):
    """Whether the row is known before a day (as a number)."""
    return row["hour"] + row["late"] < (day - next_midnight(START)) * 24


def _forecasts(rows, days=(_DAY,), params=_QUICK, asked_of=None):
    """Forecasts of every cell at every day, with names for numbers, in the order of names."""
    of = tried(_told(rows))
    losses = project_losses(of.sessions, of.cells, params)
    at = pl.DataFrame({"day": pl.Series(days, dtype=pl.Int64)})
    fits = forecast_fits(
        losses,
        session_correlations(of.sessions, of.cells, params),
        of.cells.select("project").unique().join(at, how="cross"),
        params,
    ).drop("session_correlation")
    asked = of.cells.select("cell").join(at, how="cross")
    found = success_forecasts(known_days(of.sessions), asked, of.cells, fits, params)
    named = found.drop("project").join(of.cells, on="cell").drop("cell").sort("day", *CELL)
    return named if asked_of is None else named.join(asked_of.select("day", *CELL), on=["day", *CELL], how="semi")


@given(_rows, st.lists(_row, min_size=1, max_size=40), st.integers(_DAY - 19, _DAY))
def test_nothing_known_on_or_after_the_day_changes_a_forecast(rows, more, day):
    later = [row for row in more if not _known_on(row, day)]
    before = _forecasts(rows, (day,))
    after = _forecasts([*rows, *later], (day,), asked_of=before)
    assert_frame_equal(after, before, check_exact=True)


def test_what_was_tried_early_but_known_late_counts_late():
    row = {"project": "p", "agent": "a", "task_type": "t", "strategy": "x", "session_id": "1", "success": True}
    rows = [{**row, "hour": 0, "late": 0}, {**row, "hour": 1, "late": 24 * 10, "session_id": "2"}]
    known = _forecasts(rows, (_DAY - 10, _DAY - 9))["confidence"].to_list()
    alone = _forecasts(rows[:1], (_DAY - 10, _DAY - 9))["confidence"].to_list()
    assert known[0] == alone[0]
    assert known[1] > alone[1]


@given(_rows, st.integers(_DAY - 19, _DAY))
def test_a_fit_is_that_of_the_log_cut_there(rows, day):
    cut = [row for row in rows if _known_on(row, day)]
    if cut:
        expected = _forecasts(cut, (day,))
        assert_frame_equal(_forecasts(rows, (day,), asked_of=expected), expected, check_exact=True)


@given(_rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_bit_for_bit(rows, random):
    told = _told(rows)
    shuffled = random.sample(told, len(told))
    frames = []
    for some in (told, shuffled):
        of = tried(some)
        losses = project_losses(of.sessions, of.cells, _QUICK)
        today = of.cells.select("project", pl.lit(_DAY, pl.Int64).alias("day")).unique()
        fits = forecast_fits(losses, session_correlations(of.sessions, of.cells, _QUICK), today, _QUICK)
        asked = of.cells.select("cell", pl.lit(_DAY, pl.Int64).alias("day"))
        frames.append((losses, fits, success_forecasts(known_days(of.sessions), asked, of.cells, fits, _QUICK)))
    for one, other in zip(*frames, strict=True):
        assert_frame_equal(one, other, check_exact=True)


@given(_rows)
def test_projects_do_not_touch_bit_for_bit(rows):
    together = _forecasts(rows)
    for project in "pq":
        own = [row for row in rows if row["project"] == project]
        if own:
            assert_frame_equal(_forecasts(own), together.filter(pl.col("project") == project), check_exact=True)


@given(_rows, st.sampled_from(_QUICK.grid))
def test_the_prior_leaves_the_own_attempts_out(rows, point):
    def priors(some):
        of = tried(_told(some))
        asked = of.cells.select("cell", pl.lit(_DAY, pl.Int64).alias("day"))
        past = evidence(known_days(of.sessions), asked, of.cells)
        row = past.row_of(asked)["row"].to_numpy()
        told = past.posterior(point, _QUICK)
        columns = {"prior_mean": told.prior_mean[row], "prior_error": told.prior_error[row], "mean": told.mean[row]}
        return of.cells.hstack(pl.DataFrame(columns)).drop("cell")

    key = {name: rows[0][name] for name in ("project", "agent", "task_type", "strategy")}
    own = [row for row in rows if all(row[name] == value for name, value in key.items())]
    rest = [row for row in rows if row not in own]
    scenes = [rest + [{**row, "success": success} for row in own] for success in (True, False)]
    scenes.append(rest + own * 3)
    is_own = pl.all_horizontal(pl.col(name) == key[name.replace("_id", "")] for name in CELL)
    found = [priors(scene).filter(is_own).row(0, named=True) for scene in scenes]
    for name in ("prior_mean", "prior_error"):
        assert [one[name] for one in found] == pytest.approx([found[0][name]] * 3, rel=1e-9, abs=1e-12)
    if all(_known_on(row, _DAY) for row in own):
        assert found[0]["mean"] > found[1]["mean"]


@given(_rows)
def test_days_may_have_fractions(rows):
    """Where attempts are forecast one after the other, a day is a place in their order."""
    of = tried(_told(rows))
    known, asked = known_days(of.sessions), of.cells.select("cell", pl.lit(_DAY, pl.Int64).alias("day"))
    eighth = pl.col("day") / 8
    whole = evidence(known, asked, of.cells)
    part = evidence(known.with_columns(eighth), asked.with_columns(eighth), of.cells)
    for one, other in zip([whole.cell, *whole.parents], [part.cell, *part.parents], strict=True):
        assert one.owner.tolist() == other.owner.tolist()
        assert one.day.tolist() == (8 * other.day).tolist()
        assert one.attempts.tolist() == other.attempts.tolist()
        assert one.successes.tolist() == other.successes.tolist()


@given(_rows, st.sampled_from(_QUICK.grid))
def test_own_share_and_prior_share_make_one(rows, point):
    of = tried(_told(rows))
    day = pl.lit(_DAY, pl.Int64)
    asked = of.cells.select("cell", day.alias("day"))
    past = evidence(known_days(of.sessions), asked, of.cells)
    told, row = past.posterior(point, _QUICK), past.row_of(asked)["row"].to_numpy()
    known = known_days(of.sessions).filter(pl.col("day") < day).sort("cell", "day")
    own = {cell: [0.0, 0.0] for cell in of.cells["cell"]}
    for cell, known_day, attempts, successes in known.iter_rows():
        later = known.filter(pl.col("cell") == cell, pl.col("day") > known_day)["attempts"].sum()
        at = row[cell]
        crowd = 2 ** (-later / point.half_life_attempts) if point.half_life_attempts else 1
        age = _DAY - known_day
        weight = told.weight[at] * 2 ** (-age / point.half_life_days)
        if point.recent_half_life_days:
            weight += told.recent_weight[at] * 2 ** (-age / point.recent_half_life_days)
        own[cell][0] += crowd * weight * attempts
        own[cell][1] += crowd * weight * successes
    for cell, (share, successes) in own.items():
        at = row[cell]
        assert share + told.prior_share[at] == pytest.approx(1, rel=1e-9)
        assert told.mean[at] == pytest.approx(successes + told.prior_share[at] * told.prior_mean[at], rel=1e-9)


def test_an_untried_strategy_is_expected_to_do_as_its_relatives_do():
    def rows(agent, task_type, strategy, successes, of):
        row = {"project": "p", "agent": agent, "task_type": task_type, "strategy": strategy, "late": 0}
        return [{**row, "hour": n, "session_id": str(n), "success": n < successes} for n in range(of)]

    log = rows("a", "easy", "x", 20, 20) + rows("a", "hard", "y", 2, 20) + rows("a", "hard", "x", 5, 5)
    log += [{**row, "hour": 24 * 9} for row in rows("a", "new", "y", 1, 1) + rows("a", "hard", "z", 1, 1)]
    tomorrow = next_midnight(START) + 1
    found = {(row["task_type"], row["strategy_id"]): row for row in _forecasts(log, (tomorrow,)).to_dicts()}
    assert found["new", "y"]["prior_share"] == 1
    assert found["new", "y"]["confidence"] == found["new", "y"]["prior_mean"]
    assert found["new", "y"]["prior_mean"] < 0.3
    assert found["hard", "x"]["prior_mean"] > found["hard", "z"]["prior_mean"]


def test_nothing_known_at_all_is_an_even_chance():
    row = {"project": "p", "agent": "a", "task_type": "t", "strategy": "x", "session_id": "1", "success": True}
    found = _forecasts([{**row, "hour": 0, "late": 24 * 50}]).row(0, named=True)
    assert (found["confidence"], found["prior_share"], found["point"], found["log_loss"]) == (0.5, 1, 0, None)


_THREE = ForecastParams(
    grid=tuple(ForecastPoint(half_life_days=30, prior_strength=k) for k in (2, 4, 8)),
    min_fit_attempts=10,
    fit_margin_nats=1,
)


def _losses(*rows):
    """known_day, attempts and the loss of each grid point in nats."""
    columns = ("project", "known_day", "attempts", "loss_0", "loss_1", "loss_2")
    millionths = [("p", day, attempts, *(round(1e6 * loss) for loss in losses)) for day, attempts, *losses in rows]
    return pl.DataFrame(millionths, schema=dict.fromkeys(columns, pl.Int64) | {"project": pl.String}, orient="row")


def _point(losses, day=100, project="p"):
    days = pl.DataFrame({"project": [project], "day": [day]})
    return fitted_points(losses, days, _THREE).row(0, named=True)


@pytest.mark.parametrize(
    ("losses", "point"),
    [
        ((10, 20, 5), 2),
        ((10, 5, 20), 1),
        ((5, 10, 20), 0),
        ((10, 5, 5), 1),
        ((10, 10, 10), 0),
        ((10, 9.1, 9.1), 0),
        ((10, 9, 9), 0),
        ((10, 8.9, 8.8), 2),
    ],
)
def test_the_least_loss_is_picked_by_a_margin_and_ties_go_first(losses, point):
    assert _point(_losses((1, 10, *losses)))["point"] == point


def test_too_little_evidence_keeps_the_default():
    assert _point(_losses((1, 9, 10, 5, 5)))["point"] == 0


def test_losses_count_from_the_day_after_they_are_known():
    losses = _losses((1, 10, 10, 5, 15), (5, 10, 10, 20, 0))
    assert [_point(losses, day)["point"] for day in (1, 2, 5, 6)] == [0, 1, 1, 2]
    assert [_point(losses, day)["fit_attempts"] for day in (1, 2, 5, 6)] == [0, 10, 10, 20]
    assert _point(losses, 6)["log_loss"] == pytest.approx(15 / 20)
    assert _point(losses, 6)["default_log_loss"] == pytest.approx(20 / 20)
    assert _point(losses, 2)["log_loss"] == pytest.approx(5 / 10)


def test_a_project_without_losses_keeps_the_default():
    found = _point(_losses((1, 10, 10, 5, 5)), project="q")
    assert (found["point"], found["fit_attempts"], found["log_loss"]) == (0, 0, None)


def _steady(rate, days=60):
    generator = np.random.default_rng(7)
    row = {"project": "p", "agent": "a", "task_type": "t", "late": 0}
    return [
        {**row, "strategy": strategy, "hour": 24 * day + n, "session_id": f"{day}-{n}", "success": bool(won)}
        for strategy in "xyz"
        for day in range(days)
        for n, won in enumerate(generator.random(3) < rate(strategy, day))
    ]


def test_a_fit_follows_the_log():
    # what never changes is best remembered for long, what flips every week is not
    last = (next_midnight(START) + 60,)
    grid = tuple(ForecastPoint(half_life_days=days, prior_strength=4) for days in (30, 2, 3650))
    params = ForecastParams(grid=grid, fit_margin_nats=0)
    steady = _forecasts(_steady(lambda strategy, _: {"x": 0.9, "y": 0.5, "z": 0.1}[strategy]), last, params)
    flipping = _forecasts(_steady(lambda _, day: 0.95 if day // 7 % 2 else 0.05), last, params)
    assert steady["half_life_days"].unique().to_list() == [3650]
    assert flipping["half_life_days"].unique().to_list() == [2]
    for found in (steady, flipping):
        assert (found["log_loss"] < found["default_log_loss"]).all()


@settings(max_examples=examples(2, 5))
@given(_rows)
def test_the_loss_of_the_default_is_that_of_its_forecasts(rows):
    """Each attempt is forecast at the start of the day it is tried, and its loss known when it is."""
    rows = [{**row, "project": "p"} for row in rows]
    of = tried(_told(rows))
    params = ForecastParams(grid=(_QUICK.grid[0],))
    losses = project_losses(of.sessions, of.cells, params)
    total = 0.0
    for row in rows:
        day = next_midnight(START) + row["hour"] // 24
        cells = _forecasts(rows, (day,), params)
        key = [pl.col("task_type") == row["task_type"], pl.col("strategy_id") == row["strategy"]]
        p = cells.filter(pl.col("agent") == row["agent"], *key)["confidence"].item()
        total -= np.log(np.clip(p if row["success"] else 1 - p, 1e-3, 1 - 1e-3))
    assert losses["loss_0"].sum() == pytest.approx(1e6 * total, abs=1e3)
    assert losses["attempts"].sum() == len(rows)


def test_a_sample_keeps_every_cell_s_relatives():
    rows = _steady(lambda strategy, _: {"x": 0.9, "y": 0.5, "z": 0.1}[strategy], days=10)
    of = tried(_told(rows))
    whole = project_losses(of.sessions, of.cells, ForecastParams(grid=(_QUICK.grid[0],)))
    sampled = project_losses(of.sessions, of.cells, ForecastParams(grid=(_QUICK.grid[0],), max_fit_rows=15))
    assert (whole["attempts"].sum(), sampled["attempts"].sum()) == (90, 60)
    alone = tried(_told([row for row in rows if row["strategy"] != "y"]))
    less = project_losses(alone.sessions, alone.cells, ForecastParams(grid=(_QUICK.grid[0],)))
    assert sampled["loss_0"].sum() != less["loss_0"].sum()
