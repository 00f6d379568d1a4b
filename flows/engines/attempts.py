"""Tasks on workers that may die, hang or refuse: each is tried three times at most, and the rest goes on."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from slowwave.flows.engines.cluster import Cluster, WorkerEndedError, message_of, own_code
from slowwave.flows.kernel.errors import UserError

Task = TypeVar("Task")
Result = TypeVar("Result")
TIMES = 3
_LOOK_SECONDS = 1.0


@dataclass
class _Attempt:
    """A task, and how it went so far."""

    task: Any
    times: int = 0
    since: float = 0.0


def tried_results(
    cluster: Cluster[Any], work: Callable[[Task], Result], tasks: Sequence[Task], *, seconds: float
) -> Iterator[Result]:
    """What `work` gives of each task, as it is done.

    No more tasks are given out than are taken at once, so that `seconds` are of work, not of waiting for a place.

    Raises UserError when a worker refuses a task, when one has failed three times, or when there is no worker for so
    long. What was done by then stays.
    """
    waiting = deque(_Attempt(task) for task in tasks)
    running: dict[Any, _Attempt] = {}
    seen = time.monotonic()
    while waiting or running:
        while waiting and len(running) < cluster.places():
            attempt = waiting.popleft()
            attempt.since = seen = time.monotonic()
            running[cluster.submit(own_code(), message_of(work, attempt.task))] = attempt
        if not running:
            _wait_for_a_worker(seen, seconds)
            continue
        for handle in cluster.wait_for_finished(running, _LOOK_SECONDS):
            attempt = running.pop(handle)
            seen = time.monotonic()
            try:
                came = cluster.result(handle)
            except WorkerEndedError as error:
                waiting.append(_again(attempt, "its worker ended, killed or out of memory", error.times))
                continue
            if came.refused:
                message = f"a worker ({came.worker}) cannot do {attempt.task}: {came.refused}"
                raise UserError(message)
            if came.fault:
                waiting.append(_again(attempt, came.fault))
                continue
            yield came.value
        for handle in [one for one, attempt in running.items() if time.monotonic() - attempt.since > seconds]:
            cluster.stop(handle)
            waiting.append(_again(running.pop(handle), f"it took more than {seconds:,.0f} seconds"))


def _again(attempt: _Attempt, why: str, times: int = 1) -> _Attempt:
    attempt.times += times
    if attempt.times < TIMES:
        return attempt
    message = f"{attempt.task} was tried {attempt.times} times on the workers, and failed: {why}"
    raise UserError(message)


def _wait_for_a_worker(since: float, seconds: float) -> None:
    if time.monotonic() - since > seconds:
        message = f"there has been no worker for {seconds:,.0f} seconds: start some, then run this again"
        raise UserError(message)
    time.sleep(_LOOK_SECONDS)
