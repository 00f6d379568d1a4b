"""Simulated users: how often steady use is called changed, and how soon a change is found. Figures: pytest -s."""

# ruff: noqa: T201 - figures are printed

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from reference_worlds import RATES, bursts, looks, poisson, timelines

from slowwave.transforms.usage.params import TrendParams
from slowwave.transforms.usage.trends import memory_trends

pytestmark = pytest.mark.slow

PARAMS = TrendParams()
TRENDS = ("new", "unproven", "strengthening", "stable", "weakening", "stale")
ALARMS = ("strengthening", "weakening", "stale")
USERS = 400
CHANGED_AT = 365
AFTER = (15, 30, 60, 90, 120, 180, 240, 360)


def _steady(kind, length, rng):
    """References per day of users of one kind whose use never changes."""
    name, *rest = kind
    if name == "poisson":
        return poisson(rng, np.full((USERS, length), RATES[rest[0]]))
    if name == "burst":
        size, spread, apart = rest
        return np.array([bursts(rng, length, 1 / apart, size, spread) for _ in range(USERS)])
    counts = np.zeros((USERS, length), dtype=np.int64)
    (step,) = rest
    for user in range(USERS):
        # within a third of the step of when it was due
        due = np.arange(rng.integers(0, step), length, step)
        counts[user, np.clip(due + rng.integers(-(step // 3), step // 3 + 1, len(due)), 0, length - 1)] = 1
    return counts


STEADY = (
    *(("poisson", name) for name in RATES),
    *(("burst", size, spread, apart) for size in (3, 8) for spread in (False, True) for apart in (4, 10, 30)),
    *(("regular", step) for step in (1, 7, 30)),
)


@cache
def _confusion(length):
    """Share of looks, one a week from the 30th day on, at which each kind of user has each trend."""
    rows = []
    for number, kind in enumerate(STEADY):
        counts = _steady(kind, length, np.random.default_rng([7, number, length]))
        # of every two users one has a project that rests at weekends
        active = np.ones(counts.shape, dtype=bool)
        active[::2, np.arange(length) % 7 >= 5] = False
        found = memory_trends(*timelines(counts, active), looks(USERS, range(30, length, 7)), PARAMS)
        shares = dict(found["trend"].value_counts(normalize=True).iter_rows())
        rows.append({"use": " ".join(map(str, kind)), **{trend: shares.get(trend, 0.0) for trend in TRENDS}})
    return pl.DataFrame(rows).with_columns(pl.sum_horizontal(ALARMS).alias("alarms"))


@pytest.mark.parametrize("length", [400, 1100])
def test_steady_use_is_called_changed_at_most_at_one_look_in_twenty(length):
    found = _confusion(length)
    with pl.Config(tbl_rows=50, tbl_width_chars=160, float_precision=3):
        print(f"\n{length} days, {USERS} users a row, shares of looks\n{found}")
    assert found.filter(pl.col("alarms") > 0.05).is_empty()
    # and something is said: of users seen often enough
    often = found.filter(
        ~pl.col("use").is_in(["poisson 1 a month", "regular 30"]) & ~pl.col("use").str.ends_with(" 30")
    )
    assert often.filter(pl.col("stable") < 0.8).is_empty()


def _found_after(rate, factor, good):
    """Share of users with a trend among `good` at any look by, and at, so many days after their rate changed."""
    rng = np.random.default_rng([8, round(1000 * rate), round(1000 * factor)])
    rates = np.full((USERS, CHANGED_AT + AFTER[-1] + 1), rate)
    rates[:, CHANGED_AT:] *= factor
    asked = looks(USERS, range(CHANGED_AT + 1, CHANGED_AT + AFTER[-1] + 1))
    found = memory_trends(*timelines(poisson(rng, rates)), asked, PARAMS).with_columns(
        pl.col("trend").is_in(good).alias("now")
    )
    by_day = (
        found.with_columns(pl.col("now").cum_max().over("memory").alias("by_then"))
        .group_by(pl.col("day") - CHANGED_AT)
        .agg(pl.col("by_then", "now").mean())
    )
    shares = {day: (by_then, now) for day, by_then, now in by_day.iter_rows()}
    return {days: shares[days] for days in AFTER}


def _report(name, what, shares):
    print(f"{name:>10} {what:>6}:", *(f"+{days} {by:.2f} ({now:.2f})" for days, (by, now) in shares.items()))


# by how many days after the change nine of ten users are found
RISING = {"1 a day": 60, "2 a week": 60, "1 a week": 90, "1 a month": 360}
FALLING = {"5 a day": 90, "1 a day": 60, "2 a week": 120, "1 a week": 180}
STOPPED = {"5 a day": 30, "1 a day": 30, "2 a week": 30, "1 a week": 60, "1 a month": 360}


def test_a_threefold_rise_is_found():
    print("\nshare found by (and called so at) days after the change; x 1: false alarms")
    for name in RATES:
        shares = _found_after(RATES[name], 3, ["strengthening"])
        _report(name, "x 3", shares)
        steady = _found_after(RATES[name], 1, ["strengthening"])
        _report(name, "x 1", steady)
        # five a day are on every day already: more of them is no more days
        if name in RISING:
            assert shares[RISING[name]][0] >= 0.9
        assert max(now for _, now in steady.values()) <= 0.05


def test_a_fall_to_a_third_is_found():
    print("\nshare found by (and called so at) days after the change; x 1: false alarms")
    for name in RATES:
        shares = _found_after(RATES[name], 1 / 3, ["weakening", "stale"])
        _report(name, "to 1/3", shares)
        steady = _found_after(RATES[name], 1, ["weakening", "stale"])
        _report(name, "x 1", steady)
        if name in FALLING:
            assert shares[FALLING[name]][0] >= 0.9
        assert max(now for _, now in steady.values()) <= 0.08


def test_the_end_of_use_is_found_and_stays_found():
    print("\nshare found by (and called so at) days after the change")
    for name in RATES:
        shares = _found_after(RATES[name], 0, ["weakening", "stale"])
        _report(name, "ended", shares)
        by_then, now = shares[STOPPED[name]]
        assert min(by_then, now) >= 0.9
