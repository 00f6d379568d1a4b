"""Strength: its laws, and the right answer where other systems' decay goes wrong."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from pydantic import ValidationError

from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_now import (
    FORECAST_DAYS,
    evidence,
    strength_forecast,
    strengths,
    strengths_of,
)

_PARAMS = StrengthParams()
_SCHEMA = {
    "memory": pl.UInt32,
    "scope": pl.UInt32,
    "memory_type": pl.String,
    "status": pl.String,
    "importance": pl.Float64,
    "pinned": pl.Boolean,
    "created_day": pl.Int32,
}
_COUNTS = ("reference_count", "broad_count", "bulk_count")
_NO_FITS = pl.DataFrame(schema={"memory_type": pl.String, "half_life_days": pl.Float64})
_HALF_LIFE = 60.0  # of the type project, the default

_day_sets = st.sets(st.integers(0, 900), max_size=12)
_histories = st.lists(_day_sets, min_size=1, max_size=5)
_importance = st.sampled_from([None, 0.0, 0.3, 0.5, 1.0])
_type = st.sampled_from(["preference", "project", "episodic", "anything"])


def _memories(count=1, **fields):
    row = {"scope": 0, "memory_type": "project", "status": "active", "importance": None, "pinned": False}
    rows = [{"memory": memory, **row, "created_day": 0, **fields} for memory in range(count)]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _days(*histories):
    """One memory per history: the days it was referenced once."""
    rows = [(memory, day, 1, 0, 0) for memory, days in enumerate(histories) for day in sorted(days)]
    schema = {"memory": pl.UInt32, "day": pl.Int32, **dict.fromkeys(_COUNTS, pl.Int64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _asked(*pairs):
    return pl.DataFrame(pairs, schema={"memory": pl.UInt32, "day": pl.Int32}, orient="row")


def _told(days, asked_days, params=_PARAMS, fits=_NO_FITS, **fields):
    """Strength of one memory referenced on `days`, at the end of each day asked."""
    asked = _asked(*((0, day) for day in asked_days))
    return strengths(_memories(**fields), _days(days), fits, asked, params)["strength"].to_list()


def _plain(evidence, day, half_life):
    """The definition: counts fading at three scales, at most seven pieces each."""
    total = 0.0
    for factor, weight in ((0.25, 0.25), (1, 0.5), (4, 0.25)):
        count, last = 0.0, day
        for one in sorted(one for one in evidence if one <= day):
            count, last = min(7, count * 2 ** (-(one - last) / (half_life * factor)) + 1), one
        total += weight * min(1, count * 2 ** (-(day - last) / (half_life * factor)))
    return total


@given(_day_sets, st.lists(st.integers(0, 1_500), min_size=1, max_size=6), _importance)
def test_it_is_the_mean_of_three_fading_counts(days, asked, importance):
    half_life = _HALF_LIFE * 2 ** (2 * (0.5 if importance is None else importance) - 1)
    asked = sorted(asked)
    expected = [_plain(days | {0}, day, half_life) for day in asked]
    assert _told(days, asked, importance=importance) == pytest.approx(expected, abs=1e-7)


@given(_importance, _type, st.integers(-30_000, 90_000))
def test_a_fresh_memory_has_strength_one_whatever_its_importance(importance, memory_type, day):
    fields = {"importance": importance, "memory_type": memory_type, "created_day": day}
    assert _told([], [day], **fields) == [1.0]


@given(_day_sets, _importance, _type, st.integers(0, 2_000), st.integers(1, 500))
def test_without_references_it_only_falls(days, importance, memory_type, idle, later):
    last = max(days, default=0)
    first, second = _told(days, [last + idle, last + idle + later], importance=importance, memory_type=memory_type)
    assert 0 <= second <= first <= 1


@given(_day_sets, st.integers(0, 900), st.integers(0, 1_500))
def test_a_reference_never_lowers_it(days, one_more, asked):
    assert _told(days | {one_more}, [asked])[0] >= _told(days, [asked])[0] - 1e-8


@given(_type, st.integers(0, 400), st.integers(0, 400))
def test_each_scale_composes_over_time(memory_type, a, b):
    # a lone piece of evidence: what three spans leave follows from each scale's own product
    half_life = {"preference": 365, "project": 60, "episodic": 30, "anything": 60}[memory_type]
    scales = [(w, half_life * f) for f, w in ((0.25, 0.25), (1, 0.5), (4, 0.25))]
    expected = sum(w * 2 ** (-a / h) * 2 ** (-b / h) for w, h in scales)
    assert _told([], [a + b], memory_type=memory_type)[0] == pytest.approx(expected, abs=1e-7)


@given(_histories, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1_200)), min_size=1, max_size=8), st.data())
def test_what_else_is_asked_and_in_which_order_rows_come_changes_nothing(histories, pairs, data):
    pairs = sorted({(memory % len(histories), day) for memory, day in pairs})
    memories, days = _memories(len(histories)), _days(*histories)
    together = strengths(memories, days, _NO_FITS, _asked(*pairs), _PARAMS)
    alone = pl.concat([strengths(memories, days, _NO_FITS, _asked(pair), _PARAMS) for pair in pairs])
    assert_frame_equal(together, alone, check_exact=True)
    mixed = data.draw(st.permutations(range(days.height))) if days.height else []
    shuffled = strengths(memories[::-1], days[list(mixed)], _NO_FITS, _asked(*reversed(pairs)), _PARAMS)
    assert_frame_equal(together, shuffled, check_exact=True)


@given(_day_sets, st.integers(0, 1_000))
def test_what_a_day_said_is_what_was_published_then(days, asked):
    # later evidence is not looked at, so history and the publish of that day agree to the last bit
    known_then = {day for day in days if day <= asked}
    assert _told(days, [asked]) == _told(known_then, [asked])


@given(_day_sets, st.sets(st.integers(0, 1_000), max_size=20))
def test_how_often_it_is_looked_at_changes_nothing(days, looks):
    assert _told(days, [*sorted(looks), 1_000])[-1] == _told(days, [1_000])[0]


def test_a_day_counts_once_however_many_references():
    many = _days([10]).with_columns(pl.lit(50, pl.Int64).alias("reference_count"))
    asked = _asked((0, 60))
    once = strengths(_memories(), _days([10]), _NO_FITS, asked, _PARAMS)
    assert_frame_equal(strengths(_memories(), many, _NO_FITS, asked, _PARAMS), once, check_exact=True)
    assert _told([0], [40]) == _told([], [40])  # the day it was born, too


@pytest.mark.parametrize(("broad", "bulk", "counts"), [(0, 0, 1), (1, 1, 1), (3, 0, 0.5), (2, 1, 0.5), (0, 3, 0.125)])
def test_a_bulk_day_counts_less_and_an_own_reference_beside_it_in_full(broad, bulk, counts):
    params = StrengthParams(broad_weight=0.5, bulk_weight=0.125)
    days = _days([0]).with_columns(
        pl.lit(3, pl.Int64).alias("reference_count"),
        pl.lit(broad, pl.Int64).alias("broad_count"),
        pl.lit(bulk, pl.Int64).alias("bulk_count"),
    )
    told = strengths(_memories(created_day=None), days, _NO_FITS, _asked((0, 0)), params)
    assert told["strength"].to_list() == [counts]


def test_many_uses_delay_fading_but_not_for_ever():
    used = range(0, 120, 2)
    once, often = _told([118], [150])[0], _told(used, [150])[0]
    assert once < 0.8
    assert often == 1
    # 60 uses, then ten years of silence (ALMA: .3 for ever)
    assert _told(used, [118 + 3650])[0] < 0.001


def test_importance_stretches_time_not_strength():
    low, unknown, middle, high = (_told([], [60], importance=value)[0] for value in (0.0, None, 0.5, 1.0))
    assert low < middle == unknown < high
    assert high == pytest.approx(_told([], [30])[0])
    assert low == pytest.approx(_told([], [120])[0])


def test_a_pinned_memory_stays_at_one_and_shows_its_half_life():
    told = strengths(_memories(pinned=True), _days([]), _NO_FITS, _asked((0, -1), (0, 0), (0, 40_000)), _PARAMS)
    assert told["strength"].to_list() == [None, 1, 1]
    assert told["half_life_days"].to_list() == [60] * 3


def test_no_evidence_is_null_and_birth_is_evidence():
    # a future time counts for nothing until it comes; of a memory that never landed the first reference counts
    assert _told([], [0, 99, 100], created_day=100) == [None, None, 1]
    assert _told([50], [49, 50], created_day=None, memory_type=None) == [None, 1]
    assert _told([], [50], created_day=None) == [None]
    assert _told([40], [39, 41, 300], created_day=300)[0] is None


def test_a_future_reference_does_not_lift_today():
    assert _told([500], [100]) == _told([], [100])


def test_the_first_look_at_an_old_memory_shows_its_age():
    (old,) = _told([], [4_000])
    assert old < 1e-4
    told = strengths(_memories(3), _days([], [], []), _NO_FITS, _asked((0, 4_000), (1, 4_000), (2, 4_000)), _PARAMS)
    assert told["strength_state"].to_list() == ["forgettable"] * 3


def test_one_reference_does_not_exempt_for_ever():
    assert _told([10], [10 + 3_000])[0] < 0.001


def test_what_is_used_more_fades_later():
    # MemoryBank's formula has it the other way round
    by_uses = [_told(range(uses), [uses + 100])[0] for uses in (1, 2, 5, 20)]
    assert by_uses == sorted(by_uses)
    assert by_uses[0] < by_uses[1] < by_uses[2] < by_uses[3]


def test_decay_is_by_days_never_by_runs_and_raises_nothing():
    # OpenMemory: one run in 30 days .041, daily runs 0; feedback lifts what has not aged
    daily = _told([], list(range(31)))
    assert daily[-1] == _told([], [30])[0]
    assert daily == sorted(daily, reverse=True)
    assert _told([0], [0]) == [1.0]


def test_half_life_is_near_what_its_name_says():
    # AtoCore's "two months" were 22.8 days; here an unused memory is at about half after its half-life
    for memory_type, half_life in [("project", 60), ("preference", 365), ("unheard of", 60)]:
        assert _told([], [half_life], memory_type=memory_type)[0] == pytest.approx(0.475, abs=0.001)


def test_fitted_half_lives_are_used_and_other_types_have_their_default():
    fits = pl.DataFrame({"memory_type": ["project"], "half_life_days": [15.0]})
    memories = pl.concat([_memories(memory_type="project"), _memories(memory_type=None)]).with_columns(
        pl.Series("memory", [0, 1], dtype=pl.UInt32)
    )
    told = strengths(memories, _days([], []), fits, _asked((0, 30), (1, 120)), _PARAMS)
    assert told["half_life_days"].to_list() == [15, 60]
    assert told["strength"][0] == pytest.approx(told["strength"][1])


def test_leap_days_are_days_like_others():
    spans = [(date(2024, 2, 28), date(2024, 3, 1)), (date(2023, 2, 28), date(2023, 3, 2))]
    told = [
        _told([], [(end - date(1970, 1, 1)).days], created_day=(start - date(1970, 1, 1)).days) for start, end in spans
    ]
    assert told[0] == told[1]


def test_two_hundred_idle_years_overflow_nothing():
    day = 200 * 366
    assert _told([0, 1, 2, day], [day - 1, day], importance=0.0) == [0, 1]


def test_years_of_daily_use_overflow_nothing():
    assert _told(range(4_000), [3_999, 4_100, 9_000], memory_type="preference", importance=1.0)[:2] == [1, 1]


@pytest.mark.parametrize(
    ("asked", "state"),
    [
        (0, "strong"),
        (23, "strong"),
        (24, "normal"),
        (121, "normal"),
        (122, "weak"),
        (349, "weak"),
        (350, "forgettable"),
    ],
)
def test_states_are_bands(asked, state):
    told = strengths(_memories(), _days([]), _NO_FITS, _asked((0, asked)), _PARAMS).row(0, named=True)
    low, high = {"strong": (0.7, 1), "normal": (0.3, 0.7), "weak": (0.1, 0.3), "forgettable": (0, 0.1)}[state]
    assert low <= told["strength"] <= high
    assert told["strength_state"] == state


def test_bands_meet_where_params_say():
    at = _told([], [60])[0]
    for params, state in [
        (StrengthParams(strong_above=at), "normal"),
        (StrengthParams(normal_from=at), "normal"),
        (StrengthParams(forgettable_below=at, normal_from=0.6), "weak"),
    ]:
        told = strengths(_memories(), _days([]), _NO_FITS, _asked((0, 60)), params)
        assert told["strength_state"].to_list() == [state]


def test_a_threshold_of_zero_is_taken_at_its_word():
    params = StrengthParams(forgettable_below=0)
    told = strengths(_memories(), _days([]), _NO_FITS, _asked((0, 90_000)), params)
    assert told.select("strength", "strength_state").row(0) == (0, "weak")


def test_nothing_asked_nothing_told():
    told = strengths(_memories(0), _days(), _NO_FITS, _asked(), _PARAMS)
    assert told.columns == ["memory", "day", "half_life_days", "strength", "strength_state"]
    assert told.is_empty()


@pytest.mark.parametrize(
    "wrong",
    [{"normal_from": 0.05}, {"strong_above": 0.2}, {"half_life_factors": (2.0, 1.0)}, {"half_life_days": {"x": 0}}],
)
def test_params_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        StrengthParams(**wrong)


@given(histories=_histories, importance=_importance, pinned=st.booleans())
def test_the_forecast_is_the_strength_of_later_days_if_nothing_happens(histories, importance, pinned):
    today = 400
    memories = _memories(len(histories), importance=importance, pinned=pinned)
    known = evidence(memories, _days(*histories).filter(pl.col("day") <= today), _NO_FITS, _PARAMS)
    asked = _asked(*((memory, today) for memory in range(len(histories))))
    told = strength_forecast(known, asked, _PARAMS)
    later = _asked(*((memory, today + days) for memory in range(len(histories)) for days in FORECAST_DAYS))
    expected = strengths_of(known, later, _PARAMS)["strength"].to_list()
    assert told["memory"].to_list() == list(range(len(histories)))
    assert [one for of_memory in told["strength_forecast"] for one in of_memory] == expected
    if pinned:
        assert expected == [1.0] * len(expected)


def test_without_strength_there_is_no_forecast():
    known = evidence(_memories(2, created_day=None), _days(set(), {3}), _NO_FITS, _PARAMS)
    told = strength_forecast(known, _asked((1, 3), (0, 3)), _PARAMS)
    assert told["memory"].to_list() == [0, 1]
    assert told["strength_forecast"].is_null().to_list() == [True, False]
    nobody = strength_forecast(known, _asked(), _PARAMS)
    assert nobody.schema["strength_forecast"] == pl.List(pl.Float64)
    assert nobody.is_empty()
