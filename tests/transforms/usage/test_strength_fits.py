"""Fitted half-lives: from the past alone, moved by evidence and never by silence."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.transforms.core.schema import columns
from slowwave.transforms.usage.params import StrengthParams
from slowwave.transforms.usage.strength_fits import fits_at, strength_fits, window_counts
from slowwave.transforms.usage.strength_now import strengths
from slowwave.transforms.usage.tables import FittedStrengths

_PARAMS = StrengthParams()
_EAGER = StrengthParams(min_fit_windows=2, min_fit_references=1, fit_margin_nats=0, fit_days=10)
_START = 19_000
_SCHEMA = {
    "memory": pl.UInt32,
    "scope": pl.UInt32,
    "memory_type": pl.String,
    "status": pl.String,
    "importance": pl.Float64,
    "pinned": pl.Boolean,
    "created_day": pl.Int32,
}
_COUNTS = dict.fromkeys(("reference_count", "broad_count", "bulk_count"), pl.Int64)


def _frames(rows, active):
    """memories, days, scope_days of (fields, days referenced) per memory and active days per scope."""
    memories = [
        {"memory": n, "scope": 0, "memory_type": "project", "status": "active", "pinned": False, **fields}
        for n, (fields, _) in enumerate(rows)
    ]
    days = [(n, int(day), 1, 0, 0) for n, (_, used) in enumerate(rows) for day in sorted(set(used))]
    spent = [(scope, day) for scope, known in active.items() for day in sorted(known)]
    return (
        pl.DataFrame(memories, schema=_SCHEMA),
        pl.DataFrame(days, schema={"memory": pl.UInt32, "day": pl.Int32, **_COUNTS}, orient="row"),
        pl.DataFrame(spent, schema={"scope": pl.UInt32, "day": pl.Int32}, orient="row"),
    )


def _fits(log, today, params):
    memories, days, scope_days = log
    return strength_fits(memories, days, scope_days, today, params)


def _log(memories=300, days=500, seed=4):
    """Two types: "brief" memories are used for some days and never again, "lasting" ones at their own steady rate."""
    generator = np.random.default_rng(seed)
    rows = []
    for n in range(memories):
        born = _START + int(generator.integers(0, days - 60))
        ages = np.arange(_START + days - born)
        if n % 2:
            fields, rate = {"memory_type": "brief"}, 0.5 * np.exp2(-ages / 8)
        else:
            fields, rate = {"memory_type": "lasting"}, np.full(len(ages), generator.choice([0.0005, 0.012]))
        rows.append(({**fields, "created_day": born}, born + np.flatnonzero(generator.random(len(ages)) < rate)))
    return _frames(rows, {0: range(_START, _START + days)})


@pytest.fixture(scope="module")
def log():
    return _log()


_TODAY = _START + 500


def test_what_fades_fast_gets_a_short_half_life_and_what_lasts_a_long_one(log):
    fits = _fits(log, _TODAY, _PARAMS)
    assert fits["memory_type"].to_list() == ["brief", "lasting"]
    brief, lasting = fits.iter_rows(named=True)
    assert brief["half_life_days"] < 60 < lasting["half_life_days"]
    for row in (brief, lasting):
        assert row["default_half_life_days"] == 60
        assert (row["default_log_loss"] - row["log_loss"]) * row["forecasts"] >= _PARAMS.fit_margin_nats
        assert row["windows"] == 16
    assert fits.columns == [c.name for c in columns(FittedStrengths) if c.name not in {"run_id", "as_of"}]


def test_little_evidence_keeps_the_default(log):
    known = _fits(log, _TODAY, _PARAMS)
    for change in (
        {"min_fit_windows": 17},
        {"min_fit_references": max(known["references"]) + 1},
        {"fit_margin_nats": 1e6},
    ):
        fits = _fits(log, _TODAY, _PARAMS.model_copy(update=change))
        assert fits["half_life_days"].to_list() == [60, 60]
        assert fits["log_loss"].to_list() == fits["default_log_loss"].to_list() == known["default_log_loss"].to_list()


def test_silent_time_and_the_order_of_rows_change_no_fit(log):
    fits = _fits(log, _TODAY, _PARAMS)
    for later in (_TODAY + 1, _TODAY + 29, _TODAY + 5_000):
        assert_frame_equal(_fits(log, later, _PARAMS), fits, check_exact=True)
    mixed = [frame.sample(fraction=1, shuffle=True, seed=3) for frame in log]
    assert_frame_equal(_fits(mixed, _TODAY, _PARAMS), fits, check_exact=True)


@given(st.integers(_START, _TODAY))
def test_only_the_past_is_looked_at_and_one_count_serves_every_day_before(log, day):
    memories, days, scope_days = log
    fits = strength_fits(memories, days, scope_days, day, _PARAMS)
    past = (days.filter(pl.col("day") < day), scope_days.filter(pl.col("day") < day))
    assert_frame_equal(strength_fits(memories, *past, _TODAY + 100, _PARAMS), fits, check_exact=True)
    counted = window_counts(memories, days, scope_days, _TODAY, _PARAMS)
    assert_frame_equal(fits_at(counted, day, _PARAMS), fits.drop("reach_days"), check_exact=True)


@pytest.mark.slow
def test_it_changes_only_when_a_window_is_over(log):
    # windows of 30 days stand on a grid of their own, wherever the log begins
    seen = [_fits(log, day, _PARAMS)["forecasts"].sum() for day in range(_TODAY - 65, _TODAY)]
    changes = [_TODAY - 65 + n for n in range(1, 65) if seen[n] != seen[n - 1]]
    assert len(changes) == 2
    assert [day % 30 for day in changes] == [0, 0]


_worlds = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {
                "memory_type": st.sampled_from(["project", None]),
                "scope": st.integers(0, 1),
                "created_day": st.none() | st.integers(_START, _START + 40),
                "status": st.sampled_from(["active", "active", None, "archived", "candidate"]),
                "pinned": st.sampled_from([False, False, False, True]),
            }
        ),
        st.sets(st.integers(_START, _START + 79), max_size=8),
    ),
    min_size=1,
    max_size=8,
)


def _plain_rows(world, active):
    """Per memory type the rows forecast, from the definition: window, memory, was it referenced."""
    rows = {}
    for n, (fields, used) in enumerate(world):
        evidence = [*used, *([] if fields["created_day"] is None else [fields["created_day"]])]
        if fields["status"] not in {"active", None} or fields["pinned"] or not evidence:
            continue
        for start in range(_START // 10 * 10, _START + 80, 10):
            own = active[fields["scope"]]
            is_over = any(day >= start + 9 for day in own) and any(start <= day <= start + 9 for day in own)
            if is_over and min(evidence) < start:
                is_used = any(start <= day <= start + 9 for day in used)
                rows.setdefault(fields["memory_type"] or "", []).append((start, n, is_used))
    return rows


@given(_worlds, st.lists(st.sets(st.integers(_START, _START + 79), min_size=1), min_size=2, max_size=2))
def test_windows_losses_and_choice_are_those_of_the_definition(world, active):
    active = dict(enumerate(active))
    frames = _frames(world, active)
    fits = _fits(frames, _START + 80, _EAGER)
    rows = _plain_rows(world, active)
    assert fits["memory_type"].to_list() == sorted({fields["memory_type"] or "" for fields, _ in world})
    for fit in fits.iter_rows(named=True):
        asked = sorted(rows.get(fit["memory_type"], []))
        starts = sorted({start for start, _, _ in asked})
        later = [row for row in asked if row[0] > starts[0]]
        assert fit["windows"] == len(starts)
        assert (fit["forecasts"], fit["references"]) == (len(later), sum(used for _, _, used in later))
        losses = [_plain_loss(frames, asked, starts, fit, times) for times in _EAGER.half_life_factors]
        if later:
            assert fit["default_log_loss"] == pytest.approx(losses[0] / len(later))
            assert fit["log_loss"] == pytest.approx(
                min(losses) / len(later) if fit["references"] else losses[0] / len(later)
            )
        else:
            assert fit["log_loss"] is None
            assert fit["half_life_days"] == 60


def _plain_loss(frames, asked, starts, fit, times):
    """Log loss of one factor, row by row."""
    memories, days, _ = frames
    half_lives = pl.DataFrame({"memory_type": [fit["memory_type"]], "half_life_days": [60.0 * times]})
    total, seen, hits = 0.0, np.zeros(20), np.zeros(20)
    for start in starts:
        now = [(n, used) for when, n, used in asked if when == start]
        pairs = pl.DataFrame(
            [(n, start - 1) for n, _ in now], schema={"memory": pl.UInt32, "day": pl.Int32}, orient="row"
        )
        told = strengths(memories, days, half_lives, pairs, _EAGER)["strength"]
        bands = [min(19, int(strength * 20)) for strength in told]
        if start > starts[0]:
            for band, (_, used) in zip(bands, now, strict=True):
                rate = (hits[band] + 1) / (seen[band] + 2)
                total -= math.log(rate if used else 1 - rate)
        for band, (_, used) in zip(bands, now, strict=True):
            seen[band] += 1
            hits[band] += used
    return total


def test_of_a_large_lake_every_nth_memory_of_each_type_is_looked_at(log):
    whole = _fits(log, _TODAY, _PARAMS)
    some = _fits(log, _TODAY, _PARAMS.model_copy(update={"max_fit_rows": 500}))
    for all_rows, rows in zip(whole["forecasts"], some["forecasts"], strict=True):
        assert 100 < rows < 400 < all_rows


def test_only_the_latest_windows_are_looked_at(log):
    memories, days, scope_days = log
    few = _PARAMS.model_copy(update={"fit_windows": 6})
    fits = _fits(log, _TODAY, few)
    assert fits["windows"].to_list() == [6, 6]
    # silence before them hides the older windows, and leaves what was known of the memories
    silent = scope_days.filter(pl.col("day") >= _TODAY - 6 * 30)
    found = _fits((memories, days, silent), _TODAY, _PARAMS)
    assert_frame_equal(found.drop("reach_days"), fits.drop("reach_days"), check_exact=True)
    # before the first active day nothing is watched
    assert all(days < 6 * 30 + 30 for days in found["reach_days"])
    assert all(days >= 6 * 30 + 30 for days in fits["reach_days"])


def test_nothing():
    assert _fits(_frames([], {}), 0, _PARAMS).is_empty()
