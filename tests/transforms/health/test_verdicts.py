"""Verdicts: what was never landed, eligible, injected or used is told apart; nothing worth having is forgotten."""

from __future__ import annotations

import polars as pl
import pytest
from each import each
from health_rows import TODAY, ago, health_frame, health_row, health_rows, unused_row
from hypothesis import given

from slowwave.transforms.core.vocabularies import VERDICTS
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.health.verdicts import USE_VERDICTS, use_case, use_verdict, verdicts

PARAMS = VerdictParams()
FADED = {"strength": 0.04, "strength_state": "forgettable"}
FADED_USED = {**FADED, "trend": "stale", "last_referenced_at": ago(200)}


def verdict_of(row, *others, params=PARAMS):
    """The verdict on the first row, judged together with the others."""
    told = verdicts(health_frame([row, *others]).lazy(), TODAY, params).collect()
    return told.filter(pl.col("memory_id") == row["memory_id"])["verdict"].item()


# ------------------------------------------------------------------------------------------------------ how it was used

CASES = {
    "never_landed": unused_row(status=None, created_at=None, content=None, injected_count=3),
    "candidate": unused_row(status="candidate", eligible_count=0, injected_count=0),
    "inactive": health_row(status="archived", **FADED),
    "never_eligible": unused_row(eligible_count=0, injected_count=0, **FADED),
    "young": unused_row(created_at=ago(13), injected_count=0),
    "few_chances": unused_row(created_at=ago(14), eligible_count=19, injected_count=0),
    "never_injected": unused_row(eligible_count=20, injected_count=0, **FADED),
    "few_injections": unused_row(injected_count=9),
    "few_injections_faded": unused_row(injected_count=9, eligible_count=20, **FADED),
    "never_used": unused_row(injected_count=10),
    "never_used_faded": unused_row(injected_count=10, **FADED),
    "faded": health_row(**FADED_USED),
    "faded_unjudged": health_row(**FADED_USED, eligible_count=19, injected_count=9, reference_count=2),
    "faded_quiet": health_row(**FADED_USED | {"trend": "stable"}),
    "stale": health_row(trend="stale", strength_state="weak"),
    "weakening": health_row(trend="weakening", strength_state="weak"),
    "used": health_row(trend="weakening", strength_state="normal"),
}


@each("case", USE_VERDICTS)
def test_each_case_is_told_apart(case):
    told = health_frame([CASES[case]]).select(
        use_case(pl.lit(TODAY), PARAMS).alias("case"), use_verdict(pl.lit(TODAY), PARAMS).alias("verdict")
    )
    assert told.row(0) == (case, USE_VERDICTS[case])


@each("case", USE_VERDICTS)
def test_without_outcomes_need_and_holds_the_verdict_is_that_of_use(case):
    assert verdict_of(CASES[case], health_row("injected")) == USE_VERDICTS[case]


@pytest.mark.parametrize("status", ["superseded", "invalid", "archived", "graduated"])
def test_what_is_not_in_use_any_more_is_inactive_whatever_is_known_of_it(status):
    harmed = {"is_harmful": True, "lift": -0.2, "lift_low": -0.3, "lift_high": -0.1, "lift_basis": "randomised"}
    for row in (health_row(), unused_row(**FADED), health_row(**FADED_USED), health_row(**harmed, pinned=True)):
        assert verdict_of(row | {"status": status}) == "inactive"


def test_a_day_of_the_past_is_asked_of_the_same_function():
    days = health_frame([unused_row("a", injected_count=0)] * 2).with_columns(
        (pl.lit(ago(365)).dt.epoch("d") + pl.Series([13, 14])).alias("day")
    )
    assert days.select(use_verdict(pl.col("day"), PARAMS)).to_series().to_list() == ["unproven", "review"]


def test_what_was_referenced_an_hour_ago_is_kept_however_old_or_weak():
    row = health_row(**FADED_USED | {"created_at": ago(3650), "last_referenced_at": ago(1 / 24)}, reference_count=1)
    assert verdict_of(row | {"trend": "unproven"}) == "keep"
    assert verdict_of(row | {"last_referenced_at": ago(30), "trend": "unproven"}) == "keep"
    assert verdict_of(row | {"last_referenced_at": ago(31), "trend": "unproven"}) == "forget"


def test_a_chance_is_many_eligible_interactions_or_enough_injections_where_eligible():
    faded = {**FADED_USED, "reference_count": 1}
    assert verdict_of(health_row(**faded, eligible_count=20, injected_count=0)) == "forget"
    assert verdict_of(health_row(**faded, eligible_count=10, injected_count=10)) == "forget"
    assert verdict_of(health_row(**faded, eligible_count=9, injected_count=400)) == "unproven"


def test_injections_where_no_use_could_be_found_are_no_evidence():
    assert verdict_of(unused_row(eligible_count=0, injected_count=400, **FADED)) == "unproven"
    assert verdict_of(unused_row(eligible_count=9, injected_count=400, **FADED)) == "unproven"
    assert verdict_of(unused_row(eligible_count=10, injected_count=400, **FADED)) == "forget"


def test_one_reference_long_ago_does_not_exempt_forever():
    assert verdict_of(health_row(reference_count=1, trend="unproven", **FADED, last_referenced_at=ago(365))) == "forget"


def test_a_pin_keeps_what_is_active_and_decides_no_candidate():
    assert verdict_of(health_row(pinned=True, **FADED_USED)) == "keep"
    assert verdict_of(unused_row(pinned=True, injected_count=50)) == "keep"
    assert verdict_of(unused_row(pinned=True, status="candidate")) == "review"


# --------------------------------------------------------------------------------------------- what else is known of it


def test_a_hold_turns_forgetting_into_keeping_and_nothing_else():
    assert verdict_of(health_row(is_held=True, **FADED_USED)) == "keep"
    assert verdict_of(unused_row(is_held=True)) == "review"


@pytest.mark.parametrize("column", ["need_30d", "need_if_active"])
def test_what_may_be_needed_is_reviewed_not_forgotten(column):
    said = {"need_30d": 0.0, "need_if_active": 0.0}
    assert verdict_of(health_row(**FADED_USED, **said | {column: 0.049})) == "forget"
    assert verdict_of(health_row(**FADED_USED, **said | {column: 0.05})) == "review"
    assert verdict_of(health_row(**FADED_USED, **{column: 0.05})) == "review"


def test_what_would_not_be_found_is_not_judged_by_not_being_found():
    for untold in ({"detectability": 0.02}, {"detectability": None}, {"injected_use_expected": 120.0}):
        assert verdict_of(unused_row(**untold, **FADED)) == "unproven"
        assert verdict_of(health_row(**untold, **FADED_USED)) == "forget"
        assert verdict_of(unused_row(**untold, pinned=True)) == "keep"
    assert verdict_of(unused_row(detectability=0.02, injected_count=0)) == "unproven"


def test_how_many_injections_say_something_depends_on_how_many_uses_are_found():
    # a use in every other one is missed with .95, .9 and .825 each, all of them with 1 in 10 at most
    for detectability, enough in ((0.1, 45), (0.2, 22), (0.35, 12)):
        row = unused_row(detectability=detectability, **FADED)
        assert verdict_of({**row, "injected_count": enough}) == "forget"
        assert verdict_of({**row, "injected_count": enough - 1}) == "unproven"


def test_where_no_injection_is_logged_not_being_injected_says_nothing():
    row = unused_row(injected_count=0)
    assert verdict_of(row, health_row("b", injected_count=0)) == "unproven"
    assert verdict_of(row, health_row("b", injected_count=1)) == "review"


# ------------------------------------------------------------------------------------------------------------- outcomes


def test_harmful_is_said_of_what_is_in_use_and_only_on_evidence():
    assert verdict_of(health_row(is_harmful=True)) == "harmful"
    assert verdict_of(health_row(is_harmful=True, pinned=True, is_held=True)) == "harmful"
    assert verdict_of(CASES["never_landed"] | {"is_harmful": True}) == "harmful"
    assert verdict_of(CASES["inactive"] | {"is_harmful": True}) == "inactive"
    assert verdict_of(health_row(is_harmful=False, lift=-0.5, lift_low=-0.6, lift_high=-0.4)) == "keep"


DOUBTED = {"confirmed_count": 80, "contradicted_count": 20, "contradicted_expected": 10.0, "confidence_high": 0.45}


def test_clearly_more_failed_uses_than_expected_lead_to_a_review():
    assert verdict_of(health_row(**DOUBTED)) == "review"
    assert verdict_of(health_row(**DOUBTED, pinned=True)) == "review"
    assert verdict_of(health_row(**DOUBTED, is_held=True, **FADED_USED)) == "review"
    # 10 x (1 - 10 / 100) is a variance of 9: 7.74 more are 2.58 standard deviations
    assert verdict_of(health_row(**DOUBTED | {"contradicted_count": 18, "confirmed_count": 82})) == "review"
    assert verdict_of(health_row(**DOUBTED | {"contradicted_count": 17, "confirmed_count": 83})) == "keep"


def test_one_failing_session_is_no_doubt():
    assert verdict_of(health_row(**DOUBTED | {"confidence_high": 0.6})) == "keep"
    assert verdict_of(health_row(**DOUBTED | {"confidence_high": None})) == "keep"


def test_two_failed_uses_are_not_clearly_more_than_none():
    few = {"confirmed_count": 0, "contradicted_expected": 0.1, "confidence_high": 0.45}
    assert verdict_of(health_row(**few, contradicted_count=2)) == "keep"
    assert verdict_of(health_row(**few, contradicted_count=3)) == "review"


def test_as_many_failed_uses_as_expected_are_no_doubt_however_many():
    assert verdict_of(health_row(**DOUBTED | {"contradicted_expected": 20.0})) == "keep"


def test_low_confidence_leads_to_a_review():
    assert verdict_of(health_row(confidence_high=0.29)) == "review"
    assert verdict_of(health_row(confidence_high=0.3)) == "keep"


# ----------------------------------------------------------------------------------------------------------- properties


@given(health_rows())
def test_every_memory_has_exactly_one_verdict_whatever_the_order(rows):
    told = verdicts(health_frame(rows).lazy(), TODAY, PARAMS).collect()
    assert told["memory_id"].to_list() == sorted(row["memory_id"] for row in rows)
    assert set(told["verdict"]) <= set(VERDICTS)
    assert told["verdict"].null_count() == 0
    assert verdicts(health_frame(rows[::-1]).lazy(), TODAY, PARAMS).collect().equals(told)


@given(health_rows())
def test_what_has_worth_or_had_no_chance_is_never_forgotten(rows):
    told = verdicts(health_frame(rows).lazy(), TODAY, PARAMS).collect()
    is_forgotten = dict(told.select("memory_id", pl.col("verdict") == "forget").rows())
    for row in rows:
        last, created = row["last_referenced_at"], row["created_at"]
        is_protected = (
            row["status"] != "active"
            or row["pinned"]
            or row["is_held"]
            or row["strength_state"] != "forgettable"
            or (last is not None and last >= ago(30))
            or (last is None and created > ago(14))
            or row["eligible_count"] < 10
            or (row["eligible_count"] < 20 and row["injected_count"] < 10)
            or (last is None and row["injected_count"] < 10)
            or (last is None and len(row["content"] or "x" * 12) < 12)
            or max(row["need_30d"] or 0, row["need_if_active"] or 0) >= 0.05
            or (last is not None and row["trend"] in {"new", "strengthening", "stable"})
            or bool(row["is_harmful"])
        )
        if is_protected:
            assert not is_forgotten[row["memory_id"]], row
