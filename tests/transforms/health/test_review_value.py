"""Review value: what it is made of, and what it says where evidence is missing."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import norm
from thorough import examples

from slowwave.transforms.health.params import ReviewParams
from slowwave.transforms.health.review_value import review_value

PARAMS = ReviewParams()
SCHEMA = {
    "memory_id": pl.String,
    "verdict": pl.String,
    "status": pl.String,
    "content": pl.String,
    "confidence": pl.Float64,
    "confidence_low": pl.Float64,
    "confidence_high": pl.Float64,
    "lift": pl.Float64,
    "lift_low": pl.Float64,
    "lift_high": pl.Float64,
    "need_30d": pl.Float64,
    "injected_count": pl.Int64,
    "reference_count": pl.Int64,
}
PLAIN = {"verdict": "keep", "status": "active", "content": "x" * 700, "injected_count": 9, "reference_count": 4}


def lift(mean, spread):
    """Published lift of a normal posterior."""
    half = norm.ppf(0.95) * spread
    return {"lift": mean, "lift_low": mean - half, "lift_high": mean + half}


def confidence(mean, spread):
    """Published confidence of a normal posterior."""
    half = norm.ppf(0.95) * spread
    return {"confidence": mean, "confidence_low": mean - half, "confidence_high": mean + half}


def health(*rows):
    named = [{"memory_id": f"m{number}", **PLAIN, **row} for number, row in enumerate(rows)]
    return pl.DataFrame(named, schema=SCHEMA)


def given_prior(even):
    """Probability of doing harm, by odds against even ones."""
    odds = even / (1 - even) * PARAMS.prior_wrong / (1 - PARAMS.prior_wrong)
    return odds / (1 + odds)


def only(**row):
    """Review value of one memory."""
    return review_value(health(row), PARAMS).row(0, named=True)


def test_minutes_are_reading_and_deciding():
    assert only()["minutes"] == PARAMS.decision_minutes + 700 / PARAMS.characters_per_minute
    assert only(content=None)["minutes"] == PARAMS.decision_minutes + PARAMS.unknown_characters / 1400
    assert only(content="é" * 1400)["minutes"] == PARAMS.decision_minutes + 1


def test_value_is_the_product_per_minute():
    found = only(need_30d=0.4, **confidence(0.6, 0.2))
    assert found["review_value"] == found["probability_changed"] * found["stake"] / found["minutes"]


def test_a_memory_in_use_is_wrong_if_its_lift_is_below_0():
    found = only(need_30d=0.6, **lift(-0.1, 0.05), **confidence(0.9, 0.01))
    assert found["probability_changed"] == pytest.approx(given_prior(norm.cdf(2)))
    # 9 injections at 4 references: twice as many; mean harm of those below 0, by simulation
    drawn = np.random.default_rng(1).normal(-0.1, 0.05, 400_000)
    harm = -drawn[drawn < 0].mean()
    assert found["stake"] == pytest.approx(-math.log(0.4) * 2 * harm, rel=2e-3)


def test_without_a_lift_confidence_tells_and_without_it_a_prior():
    assert only(**confidence(0.7, 0.1))["probability_changed"] == pytest.approx(given_prior(norm.cdf(-2)))
    assert only(**confidence(0.3, 0.1))["probability_changed"] == pytest.approx(given_prior(norm.cdf(2)))
    # what says nothing leaves the prior as it is
    assert only(**confidence(0.5, 0.1))["probability_changed"] == pytest.approx(PARAMS.prior_wrong)
    unknown = only(need_30d=0.5)
    assert unknown["probability_changed"] == PARAMS.prior_wrong
    assert unknown["stake"] == pytest.approx(math.log(2) * 2 * PARAMS.wrong_injection_loss)


def test_a_memory_to_be_forgotten_is_wrong_to_go_if_it_will_be_needed():
    found = only(verdict="forget", need_30d=0.2, **confidence(0.5, 0.1))
    assert found["probability_changed"] == pytest.approx((1 - PARAMS.prior_wrong) * 0.2)
    assert found["stake"] == pytest.approx(PARAMS.lost_reference_loss * -math.log(0.8) / 0.2)
    assert only(verdict="forget", need_30d=0.0)["review_value"] == 0


def test_a_candidate_is_wrong_to_wait_if_it_belongs_in_use():
    found = only(status="candidate", verdict="unproven")
    needed = 1 - math.exp(-PARAMS.prior_references)
    assert found["probability_changed"] == pytest.approx(PARAMS.prior_candidate_right * needed)
    assert found["probability_changed"] * found["stake"] == pytest.approx(
        PARAMS.prior_candidate_right * PARAMS.prior_references * PARAMS.lost_reference_loss
    )
    assert only(status="candidate", verdict="forget") == found


@pytest.mark.parametrize("status", ["superseded", "invalid", "archived", "graduated"])
def test_what_is_decided_needs_no_look(status):
    assert only(status=status, need_30d=0.9, **lift(-0.5, 0.1))["review_value"] == 0


def test_what_never_landed_but_is_injected_is_in_use():
    assert only(status=None, verdict=None, need_30d=0.5) == only(need_30d=0.5)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        pytest.param({"need_30d": 0.9}, {"need_30d": 0.1}, id="needed sooner"),
        pytest.param({"injected_count": 90}, {}, id="injected more often"),
        pytest.param({}, {"content": "x" * 7000}, id="shorter"),
        pytest.param(confidence(0.55, 0.1), confidence(0.85, 0.1), id="less confident"),
        pytest.param(confidence(0.8, 0.3), confidence(0.8, 0.1), id="less sure"),
        pytest.param(lift(-0.2, 0.1), lift(0.2, 0.1), id="lower lift"),
        pytest.param(lift(-0.4, 0.01), lift(-0.1, 0.01), id="greater harm"),
        pytest.param({"verdict": "forget", "need_30d": 0.5}, {"verdict": "forget", "need_30d": 0.1}, id="to be missed"),
    ],
)
def test_what_raises_the_value(more, less):
    found = review_value(health(less, more), PARAMS)
    assert found["memory_id"].to_list() == ["m1", "m0"]
    assert found["review_value"][0] > found["review_value"][1]


def test_ties_stand_by_memory_id_whatever_the_order_of_rows():
    rows = health(*[{"need_30d": 0.5}] * 4, {"need_30d": 0.9})
    found = review_value(rows, PARAMS)
    assert found["memory_id"].to_list() == ["m4", "m0", "m1", "m2", "m3"]
    assert_frame_equal(review_value(rows.reverse(), PARAMS), found)


def test_an_interval_without_width_is_no_error():
    assert only(**lift(-0.2, 0))["probability_changed"] == 1
    assert only(**lift(0.2, 0))["review_value"] == 0
    assert only(**confidence(0.9, 0))["probability_changed"] == 0


def test_no_memories_no_rows():
    found = review_value(pl.DataFrame(schema=SCHEMA), PARAMS)
    assert found.is_empty()
    assert found.columns == ["memory_id", "probability_changed", "stake", "minutes", "review_value"]


_unit = st.none() | st.floats(0, 1)


@settings(max_examples=examples(8, 60), deadline=None)
@given(
    st.sampled_from(["keep", "review", "forget", "harmful", "unproven", None]),
    st.sampled_from(["candidate", "active", "archived", None]),
    _unit,
    st.none() | st.tuples(st.floats(-1, 1), st.floats(0, 1)),
    st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)
def test_every_memory_has_a_finite_value(verdict, status, need, a_lift, a_confidence, injected, referenced):
    row = {"verdict": verdict, "status": status, "need_30d": need, "injected_count": injected}
    row |= {"reference_count": referenced}
    row |= lift(*a_lift) if a_lift else {}
    row |= confidence(*a_confidence) if a_confidence else {}
    found = only(**row)
    assert 0 <= found["probability_changed"] <= 1
    assert all(math.isfinite(found[name]) and found[name] >= 0 for name in ("stake", "minutes", "review_value"))
