"""Workers of Ray: of a cluster that runs already, or started here and ended.

By Ray itself, not by a task runner of Prefect's, for the reasons that `dask_workers` has.
"""

from __future__ import annotations

import logging
import os
import signal
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from slowwave.flows.engines.cluster import TaskResult, WorkerEndedError, does_not_answer, run_task_message
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.processes import COMPUTING

# The least that Ray takes: messages and results are small.
_STORE_BYTES = 80 * 2**20
_TRIES = 3


@contextmanager
def ray_workers(chosen: EngineSettings) -> Iterator[RayWorkers]:
    """The workers. Raises UserError when no cluster answers at the address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    if chosen.address and _has_token():  # a cluster that was started in the usual way asks for it, and Ray shows it
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # only when told to
    import ray

    ended = signal.getsignal(signal.SIGTERM)
    # Ray tells of workers that end on standard output, which is for results
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        try:
            with warnings.catch_warnings(action="ignore"):  # that nobody answers is said by us
                _connect(ray, chosen)
        except (OSError, RuntimeError, ValueError) as error:
            if not chosen.address:
                raise
            asks = "if it asks for a token, RAY_AUTH_TOKEN or ~/.ray/auth_token must be here as on its head"
            does_not_answer(chosen, f"{error}; {asks}")
        try:
            signal.signal(signal.SIGTERM, ended)  # Ray's own would take the place of ours
            yield RayWorkers(ray)
        finally:
            ray.shutdown()


def _connect(ray: Any, chosen: EngineSettings) -> None:  # noqa: ANN401 - Ray is loaded where it is chosen
    """Connect to the cluster; again where its head answers but the server it starts for us ends, as on a busy machine.

    Raises what Ray raises: ConnectionError, RuntimeError or ValueError.
    """
    for more in reversed(range(_TRIES)):
        try:
            ray.init(**_options(chosen))
        except ConnectionAbortedError:  # raised only for what a head itself answered
            if not more:
                raise
        else:
            return


def _has_token() -> bool:
    """Whether there is a token for a cluster where Ray looks for it."""
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    return bool(named) or (Path.home() / ".ray" / "auth_token").exists()


def _options(chosen: EngineSettings) -> dict[str, Any]:
    quiet = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    if chosen.address:
        return {"address": chosen.address, **quiet}
    return {
        "address": "local",
        "num_cpus": chosen.workers,
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
        "runtime_env": {"env_vars": COMPUTING},
        **quiet,
    }


class RayWorkers:
    """As in Cluster; a task is a reference to its result."""

    def __init__(self, ray: Any) -> None:  # noqa: ANN401 - Ray is loaded where it is chosen
        self._ray = ray
        # how often a task is tried is counted by us
        self._done = ray.remote(max_retries=0, num_cpus=1)(run_task_message)

    def places(self) -> int:
        """As in Cluster."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def submit(self, code: str, message: bytes) -> Any:  # noqa: ANN401 - a reference
        """As in Cluster."""
        return self._done.remote(code, message)

    def wait_for_finished(self, handles: Collection[Any], seconds: float) -> Collection[Any]:
        """As in Cluster."""
        return self._ray.wait(list(handles), timeout=seconds)[0]

    def result(self, handle: Any) -> TaskResult:  # noqa: ANN401 - a reference
        """As in Cluster."""
        gone = self._ray.exceptions
        try:
            return self._ray.get(handle)
        except (gone.WorkerCrashedError, gone.NodeDiedError, gone.OutOfMemoryError, gone.ObjectLostError) as error:
            raise WorkerEndedError from error

    def stop(self, handle: Any) -> None:  # noqa: ANN401 - a reference
        """As in Cluster."""
        self._ray.cancel(handle, force=True)
