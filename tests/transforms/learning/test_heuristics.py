"""How sure one can be of each strategy: counts, interval, trend, reliability."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import timedelta

import pytest
from attempt_rows import START, heuristics_of, tried
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.learning.attempts.params import AgentScope, AttemptParams
from slowwave.transforms.learning.attempts.sessions import session_correlations
from slowwave.transforms.learning.forecast.params import ForecastParams

_FORECAST = ForecastParams()

_ALL = range(10_000)


def _rows(days: Iterable[int], successes: Container[int] = _ALL, strategy="x", per_session=1, **given):
    """One session of `per_session` attempts at each of `days` after START; those numbered in `successes` succeed."""
    return [
        {
            "strategy": strategy,
            "created_at": START + timedelta(days=day),
            "session_id": f"{strategy}{number // per_session}",
            "success": number in successes,
            **given,
        }
        for number, day in enumerate(day for day in days for _ in range(per_session))
    ]


def _after(days):
    return START + timedelta(days=days)


def _width(row):
    return row["confidence_high"] - row["confidence_low"]


def test_counts():
    rows = _rows([0, 1, 1, 5], {0, 3}, per_session=2) + _rows([3], strategy="y", agent="b")
    found = heuristics_of(rows, _after(9))
    kept = ("project", "agent", "task_type", "attempts", "successes", "success_rate", "sessions", "variants")
    assert [found["x"][name] for name in kept] == ["p", "a", "t", 8, 2, 0.25, 4, ["x"]]
    assert [found["y"][name] for name in kept] == ["p", "b", "t", 1, 1, 1, 1, ["y"]]
    assert (found["x"]["first_seen_at"], found["x"]["last_validated_at"]) == (_after(0), _after(5))


def test_one_attempt_is_a_row():
    assert heuristics_of(_rows([0]), _after(1))["x"]["attempts"] == 1


@settings(max_examples=examples(3, 10))
@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from("xyz"), st.sampled_from("ab"), st.integers(0, 9), st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.integers(0, 4_000),
)
def test_an_interval_holds_its_mean(rows, later):
    told = [
        {"created_at": _after(day), "strategy": strategy + agent, "session_id": str(session), "success": success}
        for day, strategy, agent, session, success in rows
    ]
    for row in heuristics_of(told, _after(401 + later)).values():
        assert 0 <= row["confidence_low"] <= row["confidence"] <= row["confidence_high"] <= 1
        assert row["confidence_low"] < row["confidence_high"]
        assert 0 < row["effective_sessions"] <= row["attempts"] * (1 + 1e-9)


def test_more_sessions_are_narrower():
    widths = [_width(heuristics_of(_rows([0] * n, range(0, n, 2)), _after(1))["x"]) for n in (2, 4, 8, 16, 64, 256)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 4


def test_ten_attempts_of_one_session_say_less_than_ten_sessions():
    together = heuristics_of(_rows([0], range(0, 10, 2), per_session=10), _after(1))["x"]
    apart = heuristics_of(_rows([0] * 10, range(0, 10, 2)), _after(1))["x"]
    assert (together["sessions"], apart["sessions"]) == (1, 10)
    # one session tells nothing of the correlation: the default counts
    assert together["effective_sessions"] == pytest.approx(10 / (1 + 9 * 0.2))
    assert apart["effective_sessions"] == pytest.approx(10)
    assert _width(together) > 1.2 * _width(apart)


def test_old_evidence_is_worth_less_not_more():
    found = [heuristics_of(_rows([0] * 10), _after(age))["x"] for age in (1, 30, 90, 365, 4_000, 40_000)]
    widths = [_width(row) for row in found]
    assert widths == sorted(widths)
    assert widths[-1] > 0.8
    assert found[-1]["confidence"] == pytest.approx(0.5)


def test_a_strategy_tried_once_leans_on_the_others():
    others = [row for n in range(8) for row in _rows([0] * 5, strategy=f"o{n}")]
    once = heuristics_of([*others, *_rows([0], ())], _after(1))["x"]
    alone = heuristics_of(_rows([0], ()), _after(1))["x"]
    assert once["confidence"] > alone["confidence"]
    assert once["confidence_high"] > 0.5


_DAILY = range(60)


@pytest.mark.parametrize(
    ("rows", "age", "trend"),
    [
        (_rows([58, 59]), 60, "unproven"),
        (_rows([50, 58, 59]), 60, "new"),
        (_rows([32, 58, 59]), 60, "new"),
        (_rows([31, 58, 59]), 60, "unproven"),
        (_rows([0, 1, 2]), 60, "stale"),
        (_rows([0, 1, 31]), 60, "stale"),
        (_rows([0, 1, 32]), 60, "unproven"),
        (_rows([0, 400]), 401, "unproven"),
        (_rows(range(400)), 400, "stable"),
        (_rows(range(400), ()), 400, "stable"),
        (_rows(range(400), range(0, 400, 2)), 400, "stable"),
        (_rows(range(0, 365, 7)), 365, "stable"),
        (_rows(range(0, 365, 7), range(0, 60, 2)), 365, "stable"),
        (_rows(range(60), range(32, 60)), 60, "strengthening"),
        (_rows(range(60), range(32)), 60, "weakening"),
        (_rows([1, 1, 1, 59, 59, 59], {0, 1, 3, 4, 5}), 60, "stable"),
    ],
)
def test_trend(rows, age, trend):
    assert heuristics_of(rows, _after(age))["x"]["trend"] == trend


def test_one_session_cannot_make_a_trend():
    burst = _rows(range(30), range(0, 30, 2)) + [
        {**row, "session_id": "burst"} for row in _rows([59] * 50, strategy="x")
    ]
    assert heuristics_of(burst, _after(60))["x"]["trend"] == "unproven"


_NEEDS = AttemptParams(
    min_occurrences=3,
    scopes=(AgentScope(agent="hasty", min_occurrences=1), AgentScope(agent="slow", min_occurrences=9)),
)


@pytest.mark.parametrize(
    ("agent", "attempts", "is_reliable"),
    [("a", 2, False), ("a", 3, True), ("hasty", 1, True), ("slow", 8, False), ("slow", 9, True)],
)
def test_reliable_takes_the_attempts_its_agent_needs(agent, attempts, is_reliable):
    # what others did makes all of them sure enough
    others = [row for n in range(9) for row in _rows([0] * 9, strategy=f"o{n}", agent=agent)]
    found = heuristics_of([*others, *_rows([0] * attempts, agent=agent)], _after(1), _NEEDS)["x"]
    assert found["confidence_low"] > 0.5
    assert found["is_reliable"] == is_reliable


@pytest.mark.parametrize(("successes", "is_reliable"), [(10, True), (7, False), (0, False)])
def test_reliable_takes_a_lower_bound_above_one_half(successes, is_reliable):
    found = heuristics_of(_rows([0] * 10, range(successes)), _after(1))["x"]
    assert (found["confidence_low"] > 0.5) == is_reliable
    assert found["is_reliable"] == is_reliable


def test_an_inferred_task_type_is_marked_where_none_was_said():
    told = _rows([0], task_type="testing")
    inferred = _rows([0], task_type=None, task="Test it")
    assert not heuristics_of(told + inferred, _after(1))["x"]["is_task_type_inferred"]
    assert heuristics_of(inferred, _after(1))["x"]["is_task_type_inferred"]


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 4), st.booleans()), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_session_correlation_is_that_of_the_pairs(rows, random):
    told = [{"strategy": strategy, "session_id": str(n), "success": won} for strategy, n, won in rows]
    found = []
    for some in (told, random.sample(told, len(told))):
        of = tried([{**row, "created_at": START} for row in some])
        found.append(session_correlations(of.sessions, of.cells, _FORECAST)["session_correlation"].item())
    excess, variance = 0.0, 0.0
    for strategy in "xyz":
        own = [(n, won) for name, n, won in rows if name == strategy]
        pairs = [(a, b) for k, a in enumerate(own) for j, b in enumerate(own) if k != j]
        both = [(a[0] == b[0], a[1] and b[1]) for a, b in pairs]
        within, across = ([won for is_same, won in both if is_same == same] for same in (True, False))
        if within and across:
            apart = sum(across) / len(across)
            excess += sum(within) - len(within) * apart
            variance += len(within) * (sum(won for _, won in own) / len(own) - apart)
    prior = _FORECAST.session_correlation_pairs / 4
    expected = (excess + _FORECAST.session_correlation * prior) / (variance + prior)
    assert found[0] == pytest.approx(min(max(expected, 0), 1), abs=1e-6)
    assert found[0] == found[1]
