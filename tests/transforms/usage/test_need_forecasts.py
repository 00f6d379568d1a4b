"""Need: how likely a memory is to be referenced in the next 30 days."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from slowwave.transforms.usage.need_fits import need_coefficients, need_probability
from slowwave.transforms.usage.need_forecasts import need_forecasts
from slowwave.transforms.usage.need_timelines import need_evidence
from slowwave.transforms.usage.need_windows import need_window, scope_features, window_cuts
from slowwave.transforms.usage.params import DEFAULT_COEFFICIENTS, NeedParams

PARAMS = NeedParams()
TODAY = 20_000
MEMORIES = {"memory": pl.UInt32, "scope": pl.UInt32, "project": pl.String, "status": pl.String, "created_day": pl.Int32}
DAYS = {
    "memory": pl.UInt32,
    "day": pl.Int32,
    "reference_count": pl.Int64,
    "broad_count": pl.Int64,
    "bulk_count": pl.Int64,
}


def memories(*rows):
    given = [{"scope": 1, "project": "atlas", "status": "active", "created_day": TODAY - 400, **row} for row in rows]
    return pl.DataFrame(given, schema=MEMORIES)


def days(references, **counts):
    rows = [
        {"memory": memory, "day": day, "reference_count": 1, "broad_count": 0, "bulk_count": 0, **counts}
        for memory, when in references.items()
        for day in when
    ]
    return pl.DataFrame(rows, schema=DAYS)


def activity(when, scope=1):
    return pl.DataFrame(
        {"scope": [scope] * len(when), "day": list(when)}, schema={"scope": pl.UInt32, "day": pl.Int32}
    ).with_columns(pl.lit(2, pl.Int64).alias("interactions_count"), pl.lit(1, pl.Int64).alias("sessions_count"))


def lake(size=120, span=400, seed=1, scopes=1):
    """Memories used at rates from daily to never, some since fallen out of use."""
    draw = np.random.default_rng(seed)
    known, referenced = [], {}
    for memory in range(size):
        born = TODAY - int(draw.integers(1, span))
        rate = draw.choice([0.0, 0.003, 0.02, 0.2])
        end = TODAY if draw.random() < 0.6 else born + (TODAY - born) // 2
        referenced[memory] = [day for day in range(born, end) if draw.random() < rate]
        scope = 1 + memory % scopes
        known.append({"memory": memory, "created_day": born, "scope": scope, "project": f"p{scope}"})
    active = pl.concat([activity(range(TODAY - span, TODAY), scope) for scope in range(1, scopes + 1)])
    return memories(*known), days(referenced), active


def needs(known, used, active, today=TODAY, params=PARAMS):
    return need_forecasts(known, used, active, today, params)


def test_often_and_lately_used_is_likelier_needed_than_seldom_or_long_ago():
    found = needs(
        memories(*[{"memory": memory} for memory in range(4)]),
        days({0: range(TODAY - 60, TODAY), 1: [TODAY - 5], 2: [TODAY - 200], 3: range(TODAY - 390, TODAY - 350)}),
        activity(range(TODAY - 400, TODAY)),
    ).forecasts["need_30d"]
    daily, lately, long_ago, given_up = found
    assert daily > 0.8 > lately > long_ago > given_up > 0


def test_no_forecast_of_other_than_active_or_unlanded_memories():
    known, used, active = lake()
    status = pl.Series(["candidate", "superseded", "archived", None] * 30)
    odd = known.with_columns(pl.when(pl.col("memory") < 20).then(status).otherwise("status").alias("status"))
    found = needs(odd, used, active).forecasts
    assert found.filter(pl.col("memory") < 20)["need_30d", "need_if_active"].null_count().row(0) == (20, 20)
    assert found.filter(pl.col("memory") >= 20)["need_30d", "need_if_active"].null_count().row(0) == (0, 0)


def test_a_new_memory_fares_as_earlier_new_ones_did_or_nothing_is_said():
    new, draw = 500, np.random.default_rng(2).random(300)
    for share in (0.2, 0.8):
        known = [{"memory": memory, "created_day": TODAY - 380 + memory} for memory in range(300)]
        used = {memory: [TODAY - 380 + memory + 25] for memory in range(300) if draw[memory] < share}
        frames = (
            memories(*known, {"memory": new, "created_day": TODAY - 1}),
            days(used),
            activity(range(TODAY - 380, TODAY)),
        )
        told = needs(*frames).forecasts.filter(pl.col("memory") == new)["need_30d"].item()
        assert told == pytest.approx(share, abs=0.15)
    few = (memories({"memory": 0}, {"memory": new}), days({0: [TODAY - 300, TODAY - 3]}), frames[2])
    assert needs(*few).forecasts["need_30d"].is_null().to_list() == [False, True]


def test_the_order_of_rows_and_what_comes_later_change_nothing():
    known, used, active = lake(scopes=2)
    found = needs(known, used, active)
    shuffled = [frame.sample(fraction=1, shuffle=True, seed=7) for frame in (known, used, active)]
    later = days({3: [TODAY, TODAY + 4]})
    again = needs(shuffled[0], pl.concat([later, shuffled[1]]), pl.concat([shuffled[2], activity([TODAY + 1])]))
    assert_frame_equal(found.forecasts, again.forecasts, check_exact=True)
    assert_frame_equal(found.fits, again.fits, check_exact=True)


def test_silence_changes_no_fit_and_ages_nobody_if_active():
    known, used, active = lake()
    now, later = needs(known, used, active), needs(known, used, active, today=TODAY + 200)
    assert_frame_equal(now.fits, later.fits, check_exact=True)
    referenced = used["memory"].unique().implode()
    compared = now.forecasts.join(later.forecasts, on="memory", suffix="_later").filter(
        pl.col("memory").is_in(referenced)
    )
    assert (compared["need_30d"] == compared["need_if_active"]).all()
    assert (compared["need_30d_later"] < 0.6 * compared["need_30d"]).sum() > 0.9 * compared.height
    kept = needs(known, used, active, today=TODAY + PARAMS.silence_days - 1).forecasts
    assert_frame_equal(
        kept.select("memory", "need_if_active").filter(pl.col("memory").is_in(referenced)),
        later.forecasts.select("memory", "need_if_active").filter(pl.col("memory").is_in(referenced)),
        check_exact=True,
    )


def test_a_silence_between_active_days_is_left_out_too():
    known, used, active = memories({"memory": 0}), days({0: [TODAY - 300]}), activity([TODAY - 300, TODAY - 1])
    moved = need_evidence(known, used, active, TODAY).without_silence(TODAY, 14)
    assert moved.day.tolist() == [TODAY - 1 - 14]
    assert moved.active_day.tolist() == [TODAY - 15, TODAY - 1]
    assert moved.first.tolist() == [TODAY - 15]


def test_windows_end_with_the_last_interaction():
    known, used, active = lake(span=200)
    cuts = window_cuts(need_evidence(known, used, active, TODAY), PARAMS)
    assert cuts
    assert cuts[-1] + 30 <= TODAY
    assert all(cut % 30 == 0 for cut in cuts)
    halted = active.filter(pl.col("day") < cuts[-1] + 29)
    assert window_cuts(need_evidence(known, used, halted, TODAY), PARAMS) == cuts[:-1]


def test_a_window_knows_nothing_of_its_own_days():
    known, used, active = lake()
    cut = TODAY - 40
    whole = need_evidence(known, used, active, TODAY)
    before = need_evidence(known, used, active, cut)
    seen, asked = (
        need_window(evidence, cut, scope_features(evidence, [cut], PARAMS)[0], (16, 4), 30)
        for evidence in (whole, before)
    )
    assert (seen.features == asked.features).all()
    assert seen.is_needed.any()
    assert not asked.is_needed.any()


def test_the_share_of_a_scope_is_of_the_memories_that_were_known_before_a_window():
    def share(first: int) -> float:
        used = days({1: [TODAY - 200], 2: [first]})
        evidence = need_evidence(memories({"memory": 1}, {"memory": 2}), used, activity([TODAY - 200]), TODAY)
        return scope_features(evidence, [TODAY], PARAMS)[0][0][0]

    begins = TODAY - 3 * PARAMS.horizon_days  # the earliest of the windows
    assert share(begins) == share(begins + 1)
    assert share(begins - 1) != share(begins)


def test_without_a_window_the_documented_defaults_stand():
    found = needs(memories({"memory": 0}), days({0: [TODAY - 5]}), activity([TODAY - 5, TODAY - 1]))
    assert found.fits.select("fitted_on", "windows", "log_loss").rows() == [("default", 0, None)]
    assert found.forecasts["need_30d"].null_count() == 0
    coefficients = dict(text.split("=") for text in found.fits["coefficients"].item().to_list())
    assert {name: float(value) for name, value in coefficients.items()} == DEFAULT_COEFFICIENTS


def test_a_scope_with_enough_cases_has_its_own_fit():
    frames = lake(scopes=2)
    found = needs(*frames, params=PARAMS.model_copy(update={"min_fit_rows": 100})).fits
    assert found["fitted_on"].to_list() == ["scope", "scope"]
    assert found["project"].to_list() == ["p1", "p2"]
    assert needs(*frames).fits["fitted_on"].to_list() == ["lake", "lake"]
    assert (found["log_loss"] < found["base_log_loss"]).all()


def test_bulk_references_count_less_and_by_how_much_is_fitted():
    known, used, active = lake()
    # on one day everything is touched, and used no more for it
    touched = days({memory: [TODAY - 330 + 40 * k for k in range(8)] for memory in range(120)}, bulk_count=1)
    both = pl.concat([used, touched.join(used, on=["memory", "day"], how="anti")])
    both = both.join(known.select("memory", "created_day"), on="memory").filter(pl.col("day") >= pl.col("created_day"))
    plain = PARAMS.model_copy(update={"bulk_weights": ((32, 32), (16, 4), (8, 1))})
    assert needs(known, both.select(*DAYS), active, params=plain).fits["bulk_weight"].item() < 1
    one = memories({"memory": 0})
    once = [
        needs(one, days({0: [TODAY - 9]}, **counts), active).forecasts["need_30d"].item()
        for counts in ({}, {"broad_count": 1}, {"bulk_count": 1})
    ]
    assert once == sorted(once, reverse=True)
    assert len(set(once)) == 3


def test_coefficients_are_found_again_and_held_to_the_prior_where_nothing_tells():
    draw = np.random.default_rng(3)
    features = np.stack([np.ones(20_000), draw.normal(size=20_000)])
    truth = np.array([-1.0, 0.7])
    is_needed = draw.random(20_000) < need_probability(features, truth)
    ones = np.ones(20_000)
    free = need_coefficients(features, is_needed, ones, np.zeros(2), np.full(2, 1e-6))
    assert free == pytest.approx(truth, abs=0.06)
    held = need_coefficients(features, is_needed, ones, np.array([0.5, 0.25]), np.full(2, 1e12))
    assert held.tolist() == [0.5, 0.25]


def test_an_empty_lake():
    found = needs(memories(), days({}), activity([]))
    assert found.forecasts.height == found.fits.height == 0
    assert needs(memories({"memory": 4}), days({}), activity([])).forecasts["need_30d"].to_list() == [None]
