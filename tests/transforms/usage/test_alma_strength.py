"""ALMA's strength: their published figures, from the same frames as ours."""

from __future__ import annotations

import math

import polars as pl
import pytest
from alma_strength import alma_strength, alma_strengths
from hypothesis import given
from hypothesis import strategies as st


def _told(days, asked, **fields):
    """Strength at the end of each day asked, of one memory made on day 0 and used on `days` (day: times)."""
    row = {"memory_type": "knowledge", "importance": None, "created_day": 0, **fields}
    memories = pl.DataFrame(
        [{"memory": 0, "scope": 0, "status": "active", "pinned": False, **row}],
        schema={
            "memory": pl.UInt32,
            "scope": pl.UInt32,
            "memory_type": pl.String,
            "status": pl.String,
            "importance": pl.Float64,
            "pinned": pl.Boolean,
            "created_day": pl.Int32,
        },
    )
    counts = dict.fromkeys(("reference_count", "broad_count", "bulk_count"), pl.Int64)
    frame = pl.DataFrame(
        [(0, day, times, 0, 0) for day, times in sorted(days.items())],
        schema={"memory": pl.UInt32, "day": pl.Int32, **counts},
        orient="row",
    )
    pairs = pl.DataFrame([(0, day) for day in asked], schema={"memory": pl.UInt32, "day": pl.Int32}, orient="row")
    return alma_strengths(memories, frame, pairs)


@pytest.mark.parametrize(
    ("given_", "strength"),
    [
        ((3650, 60, 0, 30.0, 0.5), 0.3),  # the bonus of 60 accesses never fades
        ((0, 0, 0, 30.0, 0.0), 0.5),  # importance 0 halves even what is fresh
        ((0, 0, 0, 30.0, 0.5), 0.75),
        ((30, 0, 0, 30.0, 1.0), 0.5),
        ((0, 60, 3, 30.0, 1.0), 1.0),
        ((90, 4, 0, 90.0, 0.5), (math.exp(-0.693) + 0.1 * math.log(5)) * 0.75),
        ((1, 2, 9, 60.0, 0.2), 0.6 * (math.exp(-0.693 / 60) + 0.1 * math.log(3) + 0.3)),
    ],
)
def test_the_formula_gives_their_figures(given_, strength):
    assert alma_strength(*given_) == pytest.approx(strength, abs=1e-3)


def test_their_projection_of_47_days_is_not_when_their_strength_gets_there():
    # they say "47 days until .3" of 60 accesses fading with half-life 30, importance .5: by their formula never below
    days = {0: 60}
    projected, later = (_told(days, [day], memory_type="heuristic")["strength"][0] for day in (94, 3_650))
    assert projected > 0.3
    assert later == pytest.approx(0.3)


@given(
    st.integers(0, 5_000),
    st.integers(0, 500),
    st.integers(0, 10),
    st.sampled_from([30.0, 45.0, 60.0, 90.0, 365.0]),
    st.floats(0, 1),
)
def test_the_formula_is_the_one_written_down(idle, accesses, reinforcements, half_life, importance):
    bonus = min(0.4, 0.1 * math.log(1 + accesses)) + min(0.3, 0.1 * reinforcements)
    expected = (math.exp(-0.693 * idle / half_life) + bonus) * (0.5 + 0.5 * importance)
    found = alma_strength(idle, accesses, reinforcements, half_life, importance)
    assert found == pytest.approx(min(1, max(0, expected)), rel=1e-12)


@given(st.dictionaries(st.integers(0, 60), st.integers(1, 4), max_size=8), st.integers(0, 90))
def test_uses_and_those_of_the_last_seven_days_come_from_the_days(days, asked):
    accesses = sum(times for day, times in days.items() if day <= asked)
    recent = sum(times for day, times in days.items() if asked - 7 < day <= asked)
    idle = asked - max((day for day in days if day <= asked), default=0)
    told = _told(days, [asked], memory_type="outcome", importance=0.4)["strength"].to_list()
    assert told == [pytest.approx(alma_strength(idle, accesses, recent, 30.0, 0.4), rel=1e-12)]


def test_half_lives_are_theirs_and_not_fitted():
    types = {"heuristic": 60, "outcome": 30, "preference": 365, "knowledge": 90, "anti_pattern": 45, "project": 30}
    for memory_type, half_life in types.items():
        assert _told({}, [0], memory_type=memory_type)["half_life_days"].to_list() == [half_life]
    assert _told({3: 1}, [3], memory_type=None, created_day=None)["half_life_days"].to_list() == [30]


def test_states_are_their_bands():
    # importance .5: a fresh one is .75; .3, .1 of it are crossed as the base falls
    told = _told({}, [0, 10, 40, 91, 200, 400], memory_type="outcome")
    assert told["strength_state"].to_list() == ["strong", "normal", "weak", "forgettable", "forgettable", "forgettable"]


def test_an_old_memory_never_used_is_as_old_as_it_is():
    # theirs counts the age of a memory from the first look at it, and never decays one not looked at
    assert _told({}, [4_000])["strength"].to_list() == [pytest.approx(0, abs=1e-12)]


def test_a_future_use_counts_for_nothing_until_it_comes():
    assert _told({500: 1}, [100])["strength"].to_list() == _told({}, [100])["strength"].to_list()
