"""The scheduler of a night, simulated: tasks of known seconds on workers, given out as `engines.attempts` does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence


def makespan(rounds: Iterable[Sequence[float]], workers: int, handed: float = 0.0) -> float:
    """Seconds until all is done.

    Tasks are given out in order, each to the worker that is free first; a round begins when the one before is done.

    Args:
        rounds: of each the seconds of its tasks.
        workers: that take one task at a time.
        handed: seconds that it takes to give out a task and to take back what it came to.
    """
    now = 0.0
    for tasks in rounds:
        free = [now] * workers
        for seconds in tasks:
            heapq.heapreplace(free, free[0] + seconds + handed)
        now = max(free)
    return now
