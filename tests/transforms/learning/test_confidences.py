"""What is believed of strategies: what it may know, what it is made of, how it is fitted and graded."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from attempt_rows import START, in_order_of, outcomes, tried
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_tables import learned
from old_evidence import FIRST_DAY, STOPPED, believed_at, old_evidence
from polars.testing import assert_frame_equal
from thorough import examples

from slowwave.transforms.learning.confidence.fits import (
    confidence_fits,
    confidence_losses,
    fitted_dispersions,
    interval_grades,
)
from slowwave.transforms.learning.confidence.params import ConfidenceParams, ConfidencePoint, Correction
from slowwave.transforms.learning.confidence.states import CellHistory
from slowwave.transforms.learning.params import ScorecardParams
from slowwave.transforms.learning.scorecard_confidence import (
    RECORDS,
    TASK_DIFFICULTY,
    confidence_scorecard,
    graded_beliefs,
)
from slowwave.transforms.learning.scorecard_rows import BASE_RATE, cutoff_days
from slowwave.transforms.learning.sessions import CELL, next_midnight
from slowwave.transforms.learning.tables import AntiPatterns, Heuristics, UntriedStrategies
from slowwave.transforms.params import Params

_QUICK = ConfidenceParams(min_fit_attempts=5, fit_margin_nats=0, min_dispersion_cells=3)
_CUT = FIRST_DAY + 40
_BOUNDS = ("confidence", "confidence_low", "confidence_high")


def _rows(days, successes=(), strategy="x", **given):
    """One session of one attempt at each of `days` after START; those numbered in `successes` succeed."""
    return [
        {
            "strategy": strategy,
            "created_at": START + timedelta(days=day),
            "session_id": f"{strategy}{number}",
            "success": number in successes,
            **given,
        }
        for number, day in enumerate(days)
    ]


def _one(rows, age, strategy="x", params=None):
    found = in_order_of(rows, START + timedelta(days=age), params)
    return found.filter(pl.col("strategy_id") == strategy).row(0, named=True)


@settings(max_examples=examples(3, 15))
@given(st.integers(0, 99), st.integers(FIRST_DAY + 10, FIRST_DAY + 90))
def test_nothing_known_on_or_after_the_day_changes_what_is_believed(seed, day):
    sessions = old_evidence(3, seed)
    assert_frame_equal(
        believed_at(sessions, day, _QUICK),
        believed_at(sessions.filter(pl.col("known_day") < day), day, _QUICK),
        check_exact=True,
    )


@settings(max_examples=examples(3, 15))
@given(st.integers(0, 99), st.randoms(use_true_random=False))
def test_order_and_other_projects_change_no_bit(seed, random):
    sessions = old_evidence(4, seed)
    shuffled = sessions[random.sample(range(sessions.height), sessions.height)]
    whole = believed_at(sessions, _CUT, _QUICK)
    assert_frame_equal(believed_at(shuffled, _CUT, _QUICK), whole, check_exact=True)
    alone = believed_at(sessions.filter(pl.col("project") == "p00002"), _CUT, _QUICK)
    columns = [name for name in whole.columns if name != "cell"]
    assert_frame_equal(
        alone.select(columns).sort(CELL),
        whole.filter(pl.col("project") == "p00002").select(columns).sort(CELL),
        check_exact=True,
    )


def test_no_evidence_leaves_what_relatives_tell_and_its_width():
    rows = _rows(range(10), range(10)) + _rows(range(10), range(5, 10), strategy="y")
    told = [_one(rows, age) for age in (10, 40, 400, 4_000, 40_000)]
    assert [row["confidence"] for row in told] == sorted((row["confidence"] for row in told), reverse=True)
    widths = [row["confidence_high"] - row["confidence_low"] for row in told]
    assert widths == sorted(widths)
    assert told[-1]["confidence"] == pytest.approx(_one(rows, 40_000, "y")["confidence"], abs=1e-6)
    assert told[-1]["prior_share"] == pytest.approx(1)


@settings(max_examples=examples(5, 40))
@given(st.integers(0, 10_000), st.integers(0, 2_000), st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 1.5, -1.5]))
def test_a_record_of_one_kind_is_never_on_the_other_side(seed, later, share, shift):
    sessions = old_evidence(8, seed).filter(pl.col("known_day") < STOPPED)
    correction = Correction(records_share=share, shift=shift)
    found = believed_at(sessions, STOPPED + later, _QUICK.model_copy(update={"corrections": (correction,)}))
    records = sessions.group_by(CELL).agg(pl.col("attempts", "successes").sum())
    rows = found.join(records, on=CELL).filter(pl.col("attempts") >= 4)
    assert (rows.filter(pl.col("successes") == pl.col("attempts"))["confidence"] >= 0.5).all()
    assert (rows.filter(pl.col("successes") == 0)["confidence"] <= 0.5).all()


@pytest.mark.parametrize("later", [60, 900])
def test_four_of_four_where_all_else_fails(later):
    rows = [row for number in range(30) for row in _rows(range(number, number + 10), (), f"s{number}")]
    rows += _rows([36, 37, 38, 39], range(4))
    assert _one(rows, 40 + later)["confidence"] >= 0.5


def test_late_failures_count_more_than_early_ones():
    broke, mended = _rows(range(40), range(20)), _rows(range(40), range(20, 40), strategy="y")
    assert _one(broke + mended, 40)["confidence"] < 0.3
    assert _one(broke + mended, 40, "y")["confidence"] > 0.7


def test_ten_attempts_of_one_session_say_less_than_ten_sessions():
    together = [{**row, "session_id": "all"} for row in _rows([0] * 10, range(0, 10, 2))]
    apart = _rows([0] * 10, range(0, 10, 2))
    one, many = _one(together, 1), _one(apart, 1)
    assert one["effective_sessions"] == pytest.approx(10 / (1 + 9 * 0.2), rel=1e-6)
    assert many["effective_sessions"] == pytest.approx(10, rel=1e-6)
    assert one["confidence_high"] - one["confidence_low"] > many["confidence_high"] - many["confidence_low"]


def test_own_share_and_prior_share_make_one():
    point = ConfidencePoint(
        half_life_days=5, record_strength=3, prior_strength=7, relatives_share=0.5, fading_half_life_days=50
    )
    params = ConfidenceParams(grid=(point,), unforeseen=0)
    row = _one(_rows([0, 4], {1}), 5, params=params)
    faded, one = 2 ** (-4 / 5), 1.0
    record = (1 + 7 * row["prior_mean"]) / (2 + 7)
    assert row["confidence"] == pytest.approx((one + 3 * record) / (one + faded + 3), abs=1e-6)
    assert row["prior_share"] == pytest.approx(3 / (one + faded + 3) * 7 / 9, abs=1e-6)


def _tried_daily(rate, attempts=2, days=80):
    """Three strategies on every day, `rate` by strategy and day."""
    chance = np.random.default_rng(3)
    return [
        {
            "strategy": strategy,
            "created_at": START + timedelta(days=day),
            "session_id": f"{strategy}{day}-{number}",
            "success": bool(won),
        }
        for strategy in "xyz"
        for day in range(days)
        for number, won in enumerate(chance.random(attempts) < rate(strategy, day))
    ]


def test_a_fit_follows_the_log():
    still = in_order_of(
        _tried_daily(lambda strategy, _: {"x": 0.9, "y": 0.5, "z": 0.1}[strategy]), START + timedelta(days=80)
    ).row(0, named=True)
    flips = in_order_of(_tried_daily(lambda _, day: 0.95 if day // 20 % 2 else 0.05), START + timedelta(days=80)).row(
        0, named=True
    )
    assert flips["half_life_days"] == 2 < still["half_life_days"]
    for found in (still, flips):
        assert found["log_loss"] <= found["default_log_loss"]


def test_what_differs_from_day_to_day_widens_intervals():
    params = ConfidenceParams(min_dispersion_cells=20)
    moods = np.random.default_rng(4).choice([0.2, 0.8], size=80)

    def fitted(rate):
        return in_order_of(_tried_daily(rate, attempts=8), START + timedelta(days=80), params).row(0, named=True)

    steady, moody = fitted(lambda *_: 0.5), fitted(lambda _, day: moods[day])
    assert steady["dispersion"] < moody["dispersion"]
    widths = [row["confidence_high"] - row["confidence_low"] for row in (steady, moody)]
    assert widths[0] < widths[1]


def test_too_little_evidence_keeps_the_defaults():
    found = in_order_of(_rows(range(20), range(10)), START + timedelta(days=20)).row(0, named=True)
    params = ConfidenceParams()
    assert (found["point"], found["dispersion"]) == (0, params.dispersions[0])


def test_dispersions_are_those_whose_intervals_held():
    params = ConfidenceParams(dispersions=(0.1, 0.2, 0.3), min_dispersion_cells=10)
    shares = {"day_0": 16, "day_1": 18, "day_2": 19, "week_0": 15, "week_1": 18, "week_2": 19}
    grades = pl.DataFrame(
        {
            "project": ["p", "p"],
            "known_day": [100, 140],
            "cells_day": [20, 0],
            "cells_week": [20, 1],
            **{name: [of * 1_000_000, 0] for name, of in shares.items()},
        }
    )
    days = pl.DataFrame({"project": ["p"] * 4 + ["q"], "day": [100, 101, 280, 281, 101]})
    found = fitted_dispersions(grades, days, params)
    assert found["dispersion"].to_list() == [0.1, 0.2, 0.2, 0.1, 0.1]
    assert found["graded_cells"].to_list() == [0, 20, 21, 1, 0]
    assert found["coverage_day"].to_list() == [None, 0.9, 0.9, None, None]


def _graded(rows, weeks, params=ConfidenceParams()):  # noqa: B008 - frozen
    of, as_of = tried(rows), START + timedelta(weeks=weeks)
    known = CellHistory.of(of.sessions, params)
    cutoffs = cutoff_days(next_midnight(START), as_of, ScorecardParams())
    losses = confidence_losses(of.sessions, of.cells, known, params)
    days = cutoffs.select(pl.col("cutoff").alias("day")).unique()
    grades = interval_grades(of.sessions, of.cells, known, losses, params)
    fits = confidence_fits(losses, grades, of.cells.select("project").unique().join(days, how="cross"), params)
    return of, graded_beliefs(of.sessions, of.cells, known, fits, cutoffs, params)


def test_the_rows_that_were_published_are_graded():
    rows = _rows(range(30), range(0, 30, 3)) + _rows(range(9, 30, 2), range(5), strategy="y")
    of, graded = _graded(rows, 5)
    names = dict(of.cells.select("cell", "strategy_id").iter_rows())
    assert graded.height == 23 + 11
    for cutoff in graded["cutoff"].unique():
        told = in_order_of(
            [row for row in rows if next_midnight(row["created_at"] + timedelta(hours=1)) <= cutoff],
            START + timedelta(days=int(cutoff) - next_midnight(START)),
        )
        published = {row["strategy_id"]: [row[name] for name in _BOUNDS] for row in told.iter_rows(named=True)}
        for row in graded.filter(pl.col("cutoff") == cutoff).iter_rows(named=True):
            strategy = names[row["cell"]]
            assert row["is_published"] == (strategy in published)
            if strategy in published:
                found = [row["heuristic/3"], row["confidence_low"], row["confidence_high"]]
                assert found == published[strategy]


def test_the_sum_of_records_is_that_of_the_formula():
    log = _rows(range(3), {0, 1}) + _rows(range(3, 6), {0}, strategy="y") + _rows([1, 2], {0, 1}, task_type="u")
    _, graded = _graded([*log, *_rows([8], strategy="y", session_id="late")], 3)
    row = graded.filter(pl.col("block") == next_midnight(START) + 8).row(0, named=True)

    def logit(p):
        return np.log(p / (1 - p))

    project = 6 / 10
    strategy, task_type = (1 + 5 * project) / 8, (3 + 5 * project) / 11
    prior = 1 / (1 + np.exp(-(logit(strategy) + logit(task_type) - logit(project))))
    assert row[RECORDS] == pytest.approx((1 + 2 * prior) / 5)


def test_the_scorecard_tells_horizons_and_the_untried_apart():
    chance = np.random.default_rng(5)
    rows = [
        row
        for number in range(12)
        for row in _rows(range(2 * number, 60), np.flatnonzero(chance.random(60) < 0.7).tolist(), f"s{number}")
    ]
    _, graded = _graded(rows, 9)
    found = confidence_scorecard(graded, ScorecardParams(resamples=20), ConfidenceParams())
    assert found.select("method", "metric", "cutoff_at", "horizon_days").is_unique().all()
    last = found.filter(pl.col("cutoff_at") == pl.col("cutoff_at").max(), pl.col("metric").str.ends_with("_to_date"))
    ours = {(row["metric"], row["horizon_days"]): row for row in last.iter_rows(named=True)}
    week = ours["brier_to_date", 7]["attempts"]
    assert week + ours["untried_brier_to_date", 7]["attempts"] == graded["attempts"].sum()
    assert 0 < ours["brier_to_date", 1]["attempts"] < week
    new = graded.filter("is_new_strategy")
    told = last.filter(pl.col("metric") == "new_strategy_log_loss_to_date", pl.col("horizon_days") == 7)
    assert set(told["method"]) == {TASK_DIFFICULTY, BASE_RATE, "heuristic/3"}
    assert set(told["attempts"]) == {new["attempts"].sum()}
    assert ours["new_strategy_brier_minus_base_rate_to_date", 7]["method"] == TASK_DIFFICULTY
    for horizon in (1, 7):
        row = ours["interval_coverage_to_date", horizon]
        assert row["value_low"] <= row["value"] <= row["value_high"]
        assert 0.7 < row["value"] < 1
        assert ("brier_minus_records_to_date", horizon) in ours


def test_what_was_not_tried_here_is_told_from_its_relatives():
    log = _rows(range(20), range(18), task_type="easy") + _rows(range(20), range(4), "y", task_type="easy")
    log += _rows(range(20), range(10), "z", task_type="hard") + _rows(range(10), range(10), "w", agent="b")
    tables = learned(outcomes(log), START + timedelta(days=21), Params()).tables
    rows = {(r["agent"], r["task_type"], r["strategy_id"]): r for r in tables[UntriedStrategies].iter_rows(named=True)}
    names = dict(tables[Heuristics].select("strategy", "strategy_id").iter_rows())
    assert len(rows) == 2 + 3 + 3
    good, bad = rows["a", "hard", names["x"]], rows["a", "hard", names["y"]]
    assert good["confidence"] > bad["confidence"]
    assert (good["elsewhere_attempts"], good["elsewhere_successes"], good["twin_attempts"]) == (20, 18, 0)
    assert (good["here_attempts"], good["here_successes"]) == (20, 10)
    assert (good["agent_attempts"], good["agent_successes"]) == (60, 32)
    assert good["best_tried_strategy_id"] == names["z"]
    assert good["task_estimate"] == bad["task_estimate"] == pytest.approx(11 / 22)
    assert good["could_beat_best_tried"]
    tried_here = tables[Heuristics].select(CELL)
    assert tables[UntriedStrategies].join(tried_here, on=CELL, how="semi").is_empty()
    few = Params(confidence=ConfidenceParams(max_untried=3))
    assert set(learned(outcomes(log), START + timedelta(days=21), few).tables[UntriedStrategies]["strategy"]) == {"w"}


@settings(max_examples=examples(5, 40))
@given(st.integers(0, 10_000))
def test_an_open_anti_pattern_and_a_high_confidence_never_stand_together(seed):
    chance = np.random.default_rng(seed)
    rows = [
        row
        for strategy in "xyz"
        for row in _rows(
            np.sort(chance.integers(0, 40, int(chance.integers(2, 14)))).tolist(),
            np.flatnonzero(chance.random(14) < chance.choice([0.02, 0.3, 0.95])).tolist(),
            strategy,
        )
    ]
    tables = learned(outcomes(rows), START + timedelta(days=41), Params()).tables
    known = tables[Heuristics].select(*CELL, *_BOUNDS)
    failing = tables[AntiPatterns].join(known, on=CELL)
    assert failing.filter(pl.col("state") == "open", pl.col("confidence") > 0.5).is_empty()
    named = failing.join(known, left_on=[*CELL[:3], "better_alternative_strategy_id"], right_on=CELL, suffix="_other")
    assert named.filter(pl.col("confidence_low_other") <= pl.col("confidence_low")).is_empty()
    avoided = failing.filter(pl.col("state") == "open")["strategy_id"]
    assert not failing["better_alternative_strategy_id"].is_in(avoided.implode()).any()
