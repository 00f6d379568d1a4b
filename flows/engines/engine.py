"""An engine: what runs tasks, wherever that is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from slowwave.flows.engines.cluster import Cluster, WorkerEndedError, message_of, own_code, require_engine
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.errors import UserError

# Tasks on workers that may die, hang or refuse: each is tried three times at most, and the rest goes on.

Task = TypeVar("Task")
Result = TypeVar("Result")
TIMES = 3
_LOOK_SECONDS = 1.0
# What ended one worker may end the next, and a scheduler gives tasks to a worker that is gone until it hears of that.
_PAUSE_SECONDS = 2.0


@dataclass
class _Attempt:
    """A task, and how it went so far."""

    task: Any
    times: int = 0
    since: float = 0.0
    due: float = 0.0


def tried_results(
    cluster: Cluster[Any], work: Callable[[Task], Result], tasks: Sequence[Task], *, seconds: float
) -> Iterator[Result]:
    """What `work` gives of each task, as it is done.

    No more tasks are given out than are taken at once, so that `seconds` are of work, not of waiting for a place.

    Raises UserError when a worker refuses a task, when one has failed three times, or when there is no worker for so
    long. What was done by then stays.
    """
    waiting = [_Attempt(task) for task in tasks]
    running: dict[Any, _Attempt] = {}
    seen = time.monotonic()
    while waiting or running:
        while len(running) < cluster.places() and (attempt := _next_due(waiting)):
            attempt.since = seen = time.monotonic()
            running[cluster.submit(own_code(), message_of(work, attempt.task))] = attempt
        if not running:
            if cluster.places():  # all that waits was tried a moment ago
                seen = time.monotonic()
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


def _next_due(waiting: list[_Attempt]) -> _Attempt | None:
    """Take the first that need not wait any more."""
    now = time.monotonic()
    at = next((at for at, attempt in enumerate(waiting) if attempt.due <= now), None)
    return None if at is None else waiting.pop(at)


def _again(attempt: _Attempt, why: str, times: int = 1) -> _Attempt:
    attempt.times += times
    if attempt.times < TIMES:
        attempt.due = time.monotonic() + attempt.times * _PAUSE_SECONDS
        return attempt
    message = f"{attempt.task} was tried {attempt.times} times on the workers, and failed: {why}"
    raise UserError(message)


def _wait_for_a_worker(since: float, seconds: float) -> None:
    if time.monotonic() - since > seconds:
        message = f"there has been no worker for {seconds:,.0f} seconds: start some, then run this again"
        raise UserError(message)
    time.sleep(_LOOK_SECONDS)


class Engine(Protocol):
    """What runs a function on tasks."""

    def results(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """What `work` gives of each task, as it is done, in whatever order.

        Raises what `work` raises, UserError where workers cannot do a task.
        """
        ...


class Local:
    """This process: one task after the other; nothing is started, and `work` may hold what it likes."""

    def results(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """As in Engine."""
        return map(work, tasks)


class Workers:
    """Other processes, here or elsewhere. `work` is a function that they can import; tasks are plain data."""

    def __init__(self, cluster: Cluster[Any], seconds: float) -> None:
        self._cluster = cluster
        self._seconds = seconds

    def results(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """As in Engine."""
        return tried_results(self._cluster, work, tasks, seconds=self._seconds)


@contextmanager
def opened_engine(chosen: EngineSettings) -> Iterator[Engine]:
    """The engine, with its workers if it has any; those that were started are ended.

    Raises UserError when it is not installed, or nobody answers at its address.
    """
    if chosen.name == "local":
        yield Local()
        return
    with opened_cluster(chosen) as cluster:
        yield Workers(cluster, chosen.seconds)


@contextmanager
def opened_cluster(chosen: EngineSettings) -> Iterator[Cluster[Any]]:
    """The workers of Dask or Ray. Raises as `opened_engine`."""
    require_engine(chosen)
    if chosen.name == "dask":
        from slowwave.flows.engines.dask_workers import dask_workers as opened
    else:
        from slowwave.flows.engines.ray_workers import ray_workers as opened
    with opened(chosen) as cluster:
        yield cluster
