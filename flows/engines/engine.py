"""An engine: what runs tasks, wherever that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from slowwave.flows.engines.attempts import tried_results
from slowwave.flows.engines.cluster import Cluster, require_engine
from slowwave.flows.engines.settings import EngineSettings

Task = TypeVar("Task")
Result = TypeVar("Result")


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
