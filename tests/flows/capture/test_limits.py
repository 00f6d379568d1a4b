"""How fast one may post, by a clock that nobody sets."""

from __future__ import annotations

import time

import pytest

from slowwave.flows.capture.limits import Rates


def test_so_many_requests_a_second_and_as_many_at_once():
    now = 0.0
    rates = Rates(2, lambda: now)
    assert [rates.is_too_fast("a") for _ in range(3)] == [False, False, True]
    assert not rates.is_too_fast("b")
    now = 0.5
    assert [rates.is_too_fast("a") for _ in range(2)] == [False, True]
    now = 100.0
    assert [rates.is_too_fast("a") for _ in range(3)] == [False, False, True]
    assert not any(Rates(0).is_too_fast("a") for _ in range(1_000))


@pytest.mark.parametrize("jump", [-(10**9), 10**9])
def test_a_clock_that_is_set_lets_nobody_post_more_or_less(jump: int, monkeypatch: pytest.MonkeyPatch):
    rates = Rates(0.001)  # one in a quarter of an hour
    assert not rates.is_too_fast("a")
    was = time.time()
    monkeypatch.setattr(time, "time", lambda: was + jump)
    monkeypatch.setattr(time, "time_ns", lambda: int((was + jump) * 10**9))
    assert rates.is_too_fast("a")
