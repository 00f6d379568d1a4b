"""Trends of memories: what each kind of use is called, and what must not matter."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from reference_worlds import looks, timelines
from scipy.special import betainc
from thorough import examples

from slowwave.transforms.usage.params import TrendParams
from slowwave.transforms.usage.trends import memory_trends

PARAMS = TrendParams()
EMPTY_DAYS = {"memory": pl.UInt32, "day": pl.Int32}


def frames(referenced, active, created=None):
    """One memory: the days it was referenced, the days its scope was active, the day it landed (None: never)."""
    memories = pl.DataFrame(
        {"memory": [0], "scope": [7], "created_day": [created]},
        schema={"memory": pl.UInt32, "scope": pl.UInt32, "created_day": pl.Int32},
    )
    days = pl.DataFrame({"memory": [0] * len(referenced), "day": sorted(referenced)}, schema=EMPTY_DAYS)
    scope_days = pl.DataFrame(
        {"scope": [7] * len(active), "day": sorted(active)}, schema={"scope": pl.UInt32, "day": pl.Int32}
    )
    return memories, days, scope_days


def trend_at(day, referenced, active, created=None, params=PARAMS):
    """Trend of one memory at a look."""
    asked = pl.DataFrame({"memory": [0], "day": [day]}, schema=EMPTY_DAYS)
    return memory_trends(*frames(referenced, active, created), asked, params)["trend"].item()


def every(step, length):
    """Days 0, step, 2 step, ... before `length`."""
    return list(range(0, length, step))


@pytest.mark.parametrize(
    ("referenced", "day", "expected"),
    [
        pytest.param(every(1, 400), 400, "stable", id="steady_daily_400d"),
        pytest.param(every(7, 365), 365, "stable", id="weekly_1y"),
        pytest.param(every(30, 1095), 1095, "stable", id="monthly_3y"),
        pytest.param([10, 395], 400, "unproven", id="one_old_one_recent"),
        pytest.param([900], 400, "unproven", id="future"),
        pytest.param([390], 400, "unproven", id="burst_one_day"),
        pytest.param(every(1, 9), 100, "unproven", id="one_burst_at_the_start"),
        pytest.param([*range(200, 208)], 400, "unproven", id="one_burst_later"),
        pytest.param([35, 400, 765, 1130, 1495], 1700, "stable", id="slow_yearly"),
        pytest.param([35, 400, 765], 900, "unproven", id="three_years_of_yearly"),
        pytest.param(every(1, 300), 400, "stale", id="daily_then_never"),
        pytest.param(every(7, 300), 400, "stale", id="weekly_then_never"),
        pytest.param([*every(7, 300), *range(300, 360)], 360, "strengthening", id="weekly_then_daily"),
        pytest.param([*every(2, 300), *range(300, 360, 10)], 360, "weakening", id="rarer"),
    ],
)
def test_what_each_use_is_called(referenced, day, expected):
    assert trend_at(day, referenced, range(2000), created=0) == expected


def test_a_single_reference_says_as_little_29_days_ago_as_31_days_ago():
    assert [trend_at(400, [400 - age], range(400), created=0) for age in (29, 31)] == ["unproven", "unproven"]
    assert [trend_at(400, [400 - age], range(400)) for age in (29, 31)] == ["unproven", "unproven"]


def test_a_memory_is_new_until_its_scope_was_active_on_enough_days():
    asked = looks(1, range(100, 131))
    found = memory_trends(*frames([], range(200), created=100), asked, PARAMS)
    trends = dict(found.select("day", "trend").iter_rows())
    # observed from the day after it landed; a change needs two looks
    last_new = 100 + PARAMS.new_active_days + 1
    assert [day for day, trend in trends.items() if trend == "new"] == list(range(100, last_new + 1))
    assert {trend for day, trend in trends.items() if day > last_new} == {"unproven"}
    # on every tenth day only: ten times as long
    assert trend_at(290, [], range(0, 2000, 10), created=100) == "new"
    assert trend_at(400, [], range(0, 2000, 10), created=100) == "unproven"


def test_what_is_older_than_the_log_and_was_never_referenced_in_it_is_stale():
    active = range(100, 200)
    assert [trend_at(day, [], active, created=0) for day in (101, 110, 130, 200)] == ["stale"] * 4
    # nothing of the log is seen yet
    assert trend_at(100, [], active, created=0) == "new"
    # from its first reference on its use tells
    assert [trend_at(day, [108], active, created=0) for day in (108, 109, 112)] == ["stale", "new", "new"]
    # made shortly before the log began it is as young as what was made in it
    assert [trend_at(day, [], active, created=99) for day in (110, 119, 120)] == ["new", "new", "stale"]
    assert trend_at(110, [], active, created=100) == "new"
    # neither is silence evidence: only active days are seen
    assert trend_at(1000, [], [100, 101], created=99) == "new"
    # of what never landed nothing is known
    assert trend_at(130, [], active) == "unproven"


def test_use_from_the_first_day_on_is_new_at_first():
    assert trend_at(15, every(1, 15), range(15), created=0) == "new"
    assert trend_at(15, every(1, 15), range(15)) == "new"


def test_what_never_landed_nor_was_referenced_yet_is_unproven():
    assert trend_at(50, [60], range(100)) == "unproven"
    assert trend_at(65, [60], range(100)) == "new"


def test_future_references_count_when_they_come():
    past = every(7, 300)
    future = range(300, 400)
    for day in (200, 290, 300):
        assert trend_at(day, past, range(400)) == trend_at(day, [*past, *future], range(400)) == "stable"
    assert trend_at(330, [*past, *future], range(400)) == "strengthening"


def test_a_silent_scope_changes_nothing():
    rng = np.random.default_rng(3)
    referenced = np.flatnonzero(rng.random(300) < np.where(np.arange(300) < 150, 0.3, 0.02)).tolist()
    trends = set()
    for end in range(30, 300, 9):
        seen = [day for day in referenced if day < end]
        now = trend_at(end, seen, range(end), created=0)
        trends.add(now)
        for later in (end + 1, end + 40, end + 4000):
            assert trend_at(later, seen, range(end), created=0) == now
    assert len(trends) > 1


def test_silent_days_in_between_change_nothing():
    rng = np.random.default_rng(4)
    active = np.flatnonzero(rng.random(900) < 0.3)
    dense = np.flatnonzero(rng.random(len(active)) < np.where(np.arange(len(active)) < 200, 0.5, 0.1))
    for end in range(5, len(active), 7):
        kept = dense[dense < end]
        spread = trend_at(active[end], active[kept].tolist(), active.tolist(), created=int(active[0]))
        assert spread == trend_at(end, kept.tolist(), range(len(active)), created=0)


def test_a_reference_without_activity_of_the_scope_is_left_out():
    assert trend_at(400, every(7, 400), []) == "unproven"
    weekdays = [day for day in range(400) if day % 7 < 5]
    weekends = [day for day in range(200, 400) if day % 7 >= 5]
    referenced = every(7, 400)
    assert trend_at(400, [*referenced, *weekends], weekdays) == trend_at(400, referenced, weekdays) == "stable"
    assert trend_at(400, weekends, weekdays, created=0) == "unproven"


@pytest.mark.parametrize("params", [PARAMS, TrendParams(max_reference_days=12, min_bursts=2, new_active_days=10)])
def test_what_is_published_is_what_two_looks_in_a_row_last_agreed_on(params):
    """All against single looks told plainly, of users who change, begin, end and pause."""
    rng = np.random.default_rng(5)
    rates = np.repeat([0.03, 0.15, 0.5, 0.9], 8)[:, None] * np.ones(260)
    rates[::4, 130:] *= 0.3
    rates[1::4, 130:] *= 3
    rates[2::4, 130:] = 0
    rates[3::4, 8:130] = 0
    users = len(rates)
    counts = rng.poisson(rates)
    created = rng.integers(-30, 120, users)
    memories, days, scope_days = timelines(counts, np.ones_like(counts, dtype=bool))
    memories = memories.with_columns(pl.Series("created_day", created, dtype=pl.Int32))
    found = memory_trends(memories, days, scope_days, looks(users, range(40, 261)), params)
    alone, trends = 0, found["trend"].to_numpy().reshape(users, -1)
    for user in range(users):
        referenced = np.flatnonzero(counts[user]).tolist()
        # nothing happened before day 0, so that is no active day
        single = [_raw(day, referenced, max(created[user], -1), params) for day in range(1, 261)]
        for day in range(40, 261):
            settled = next(t for t in range(day - 1, 0, -1) if single[t] == single[t - 1])
            is_unused = not referenced or referenced[0] >= day
            is_left_over = is_unused and created[user] < 0 and day - 1 - created[user] >= params.new_active_days
            assert trends[user, day - 40] == ("stale" if is_left_over else single[settled]), (user, day)
            alone += single[day - 1] != single[settled]
    assert alone > 0
    assert set(trends.ravel()) == {"new", "unproven", "stale", "strengthening", "weakening", "stable"}


def _raw(day, referenced, created, params):
    """The finding of a single look in a scope that is active every day, told plainly."""
    seen = [d for d in referenced if d < day]
    begin = min([day, created + 1, *(d + 1 for d in seen[:1])])
    counted = [d for d in seen if d >= begin]
    start = begin
    if len(counted) > params.max_reference_days:
        start = counted[-params.max_reference_days - 1] + 1
        counted = counted[-params.max_reference_days :]
    if day - begin < params.new_active_days:
        return "new"
    if len(counted) < params.min_reference_days or counted[-1] + 1 - start < params.new_active_days:
        return "unproven"
    closed, number = counted[-1] + 1 - start, len(counted)
    gaps = np.diff([start - 1, *counted])
    spread = np.mean(gaps**2) / np.mean(gaps) ** 2 - 1
    default = params.dispersion * (1 - number / (closed + 1))
    weight = params.dispersion_gaps
    bursts = number / max((weight * default + number * spread) / (weight + number), params.min_dispersion)
    if bursts < params.min_bursts:
        return "unproven"
    run, span = day - counted[-1] - 1, day - start
    if run >= params.stale_active_days and (1 + run / closed) ** (1 - bursts) < params.stale_probability:
        return "stale"
    window = max(int(np.ceil(params.recent_bursts / bursts * span)), params.recent_active_days)
    window = min(window, int(span * params.recent_share))
    share = sum(d >= day - window for d in counted) / number
    less = betainc(share * bursts + 0.5, (1 - share) * bursts + 0.5, window / span)
    if less > params.change_probability:
        return "weakening"
    return "strengthening" if 1 - less > params.change_probability else "stable"


@cache
def _mixed_world():
    rng = np.random.default_rng(6)
    rates = np.repeat([0.02, 0.1, 0.4, 0.9], 10)[:, None] * np.ones(250)
    rates[::3, 150:] *= 0.2
    rates[1::3, 150:] *= 3
    return timelines(rng.poisson(rates), rng.random((40, 250)) < 0.8)


def test_neither_the_order_asked_in_nor_who_else_is_asked_matters():
    asked = looks(40, range(0, 260, 3))
    found = memory_trends(*_mixed_world(), asked, PARAMS)
    assert set(found["trend"]) == {"new", "unproven", "stale", "strengthening", "weakening", "stable"}
    shuffled = pl.concat([asked, asked]).sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(memory_trends(*_mixed_world(), shuffled, PARAMS), found)
    some = asked.sample(100, seed=2)
    assert_frame_equal(
        memory_trends(*_mixed_world(), some, PARAMS),
        found.join(some, on=["memory", "day"], how="semi").sort("memory", "day"),
    )


def test_what_was_believed_does_not_depend_on_what_came_later():
    memories, days, scope_days = _mixed_world()
    for day in (40, 120, 200):
        asked = looks(40, [day])
        known = memory_trends(
            memories, days.filter(pl.col("day") < day), scope_days.filter(pl.col("day") < day), asked, PARAMS
        )
        assert_frame_equal(memory_trends(memories, days, scope_days, asked, PARAMS), known)


@settings(max_examples=examples(8, 60), deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 90), max_size=60), min_size=1, max_size=4),
    st.lists(st.one_of(st.none(), st.integers(-5, 95)), min_size=4, max_size=4),
    st.integers(0, 100),
)
def test_memories_of_one_scope_do_not_touch_each_other(referenced, created, day):
    quick = TrendParams(new_active_days=5, min_reference_days=3, min_bursts=1.5, recent_active_days=5)
    memories = pl.DataFrame(
        {"memory": range(len(referenced)), "scope": [7] * len(referenced), "created_day": created[: len(referenced)]},
        schema={"memory": pl.UInt32, "scope": pl.UInt32, "created_day": pl.Int32},
    )
    rows = [(number, on) for number, days in enumerate(referenced) for on in sorted(days)]
    days = pl.DataFrame(rows, schema=EMPTY_DAYS, orient="row")
    _, _, scope_days = frames([], range(91))
    found = memory_trends(memories, days, scope_days, looks(len(referenced), [day]), quick)["trend"].to_list()
    assert found == [trend_at(day, days, range(91), at, quick) for days, at in zip(referenced, created, strict=False)]


def test_only_days_count_not_references():
    memories, days, scope_days = _mixed_world()
    asked = looks(40, range(0, 260, 3))
    assert_frame_equal(
        memory_trends(memories, days.with_columns(pl.col("reference_count") * 50), scope_days, asked, PARAMS),
        memory_trends(memories, days, scope_days, asked, PARAMS),
    )


def test_nothing_asked_no_rows():
    found = memory_trends(*frames([1], range(9)), pl.DataFrame(schema=EMPTY_DAYS), PARAMS)
    assert found.schema == {"memory": pl.UInt32, "day": pl.Int32, "trend": pl.String}
    assert found.is_empty()
    assert memory_trends(*frames([], []), looks(1, [5]), PARAMS)["trend"].to_list() == ["unproven"]
