"""Workers of Dask: of a scheduler that runs already, or started here and ended.

By Dask's own client, not by a task runner of Prefect's: so a worker needs no Prefect and no way to its API, and that
one has died is seen here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from slowwave.flows.engines.cluster import TaskResult, WorkerEndedError, does_not_answer, run_task_message
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.processes import COMPUTING

_ANSWER_SECONDS = 10


@contextmanager
def dask_workers(chosen: EngineSettings) -> Iterator[DaskWorkers]:
    """The workers. Raises UserError when no scheduler answers at the address."""
    import distributed

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a worker that ends is reported by us
    if not chosen.address:
        with _start_cluster(chosen.workers) as cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield DaskWorkers(client, lambda: cluster.scale(chosen.workers))
        return
    try:
        client = distributed.Client(chosen.address, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        does_not_answer(chosen, error)
    with client:
        yield DaskWorkers(client)


@contextmanager
def _start_cluster(workers: int) -> Iterator[Any]:
    """So many processes of one thread, on this machine only; a process that ends is started again."""
    import dask.config
    import distributed

    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
        "memory_limit": 0,  # what is held follows from the size of the tasks; to end a process would lose its work
        "silence_logs": logging.CRITICAL,
        "security": True,  # else every user of this machine could run code in them
        "env": COMPUTING,
    }
    settings = {
        "distributed.scheduler.allowed-failures": 0,  # how often a task is tried is counted by us
        # else what a worker is about is noted a hundred times a second, on its one core
        "distributed.worker.profile.enabled": False,
        # else what every large array took is given back to the system, and asked for anew by the next
        "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=workers, **options) as cluster,
    ):
        yield cluster


class DaskWorkers:
    """As in Cluster; a task is a future."""

    def __init__(
        self,
        client: Any,  # noqa: ANN401 - Dask is loaded where it is chosen
        complete: Callable[[], object] = lambda: None,
    ) -> None:
        self._client = client
        self._complete = complete

    def places(self) -> int:
        """As in Cluster. A worker that is killed while it starts, its nanny gives up: such are made up for here."""
        self._complete()
        return sum(self._client.nthreads().values())

    def submit(self, code: str, message: bytes) -> Any:  # noqa: ANN401 - a future
        """As in Cluster."""
        return self._client.submit(run_task_message, code, message, pure=False)

    def wait_for_finished(self, handles: Collection[Any], seconds: float) -> Collection[Any]:
        """As in Cluster."""
        import distributed

        with self._client.as_current(), suppress(TimeoutError):
            distributed.wait(list(handles), timeout=seconds, return_when="FIRST_COMPLETED")
        return [handle for handle in handles if handle.status != "pending"]

    def result(self, handle: Any) -> TaskResult:  # noqa: ANN401 - a future
        """As in Cluster."""
        from distributed import KilledWorker

        try:
            return handle.result()
        except KilledWorker as error:
            raise WorkerEndedError(error.allowed_failures + 1) from error

    def stop(self, handle: Any) -> None:  # noqa: ANN401 - a future
        """As in Cluster: by the thread that answers the scheduler. A nanny starts the worker again."""
        at = [worker for worker, keys in self._client.processing().items() if handle.key in keys]
        handle.cancel(force=True)
        if at:
            self._client.run(os._exit, 1, workers=at, on_error="ignore")
