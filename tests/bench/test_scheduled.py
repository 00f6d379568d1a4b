"""The simulated scheduler: no worker is idle while a task waits, and rounds follow each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduled import makespan

_TASKS = st.lists(st.floats(0, 100), max_size=30)


@given(st.lists(_TASKS, max_size=3), st.integers(1, 9))
def test_it_takes_no_less_than_the_work_and_no_more_than_one_task_longer(
    rounds: list[list[float]], workers: int
) -> None:
    taken = makespan(rounds, workers)
    assert taken >= sum(max(sum(tasks) / workers, max(tasks, default=0)) for tasks in rounds) - 1e-6
    assert taken <= sum(sum(tasks) / workers + max(tasks, default=0) for tasks in rounds) + 1e-6
    assert makespan(rounds, 1) == pytest.approx(sum(map(sum, rounds)))


def test_a_long_task_at_the_end_is_waited_for() -> None:
    assert makespan([[1, 1, 4]], 2) == 5
    assert makespan([[4, 1, 1]], 2) == 4
    assert makespan([[1, 1], [2]], 2) == 3
    assert makespan([[1, 1]], 2, handed=0.5) == 1.5
