"""How sure one can be of each strategy: counts, interval, reliability."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import timedelta

import pytest
from attempt_rows import START, heuristics_of
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.learning.params import AgentScope, AttemptParams

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
