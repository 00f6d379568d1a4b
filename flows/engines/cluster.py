"""What is asked of a cluster, and what is the same for all: who must answer, what a worker is sent."""

from __future__ import annotations

import os
import pickle
import platform
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any, NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError, not_installed

Handle = TypeVar("Handle")
# What computes besides our own code: with another version, the last bit of a number may be another.
_COMPUTING = ("numba", "numpy", "polars", "scipy")
_ANSWER_SECONDS = 3.0
_MODULES = {"dask": "distributed", "ray": "ray"}
_EXAMPLES = {"dask": "tcp://scheduler:8786", "ray": "ray://head:10001"}
_NOT_SPOKEN = {"dask": {"http", "https", "ray"}, "ray": {"http", "https", "tcp", "tls"}}  # what is easily mistaken


class WorkerEndedError(Exception):
    """The process that had a task is gone, and the task with it; `times` that it was tried."""

    def __init__(self, times: int = 1) -> None:
        super().__init__(times)
        self.times = times


class Cluster(Protocol[Handle]):
    """Processes that take tasks; each task is `run_task_message(code, message)`."""

    def places(self) -> int:
        """How many tasks are taken at once, now: workers come and go."""
        ...

    def submit(self, code: str, message: bytes) -> Handle:
        """Give a task to somebody."""
        ...

    def wait_for_finished(self, handles: Collection[Handle], seconds: float) -> Collection[Handle]:
        """Those that have ended, however they did; waits at most so long for the first."""
        ...

    def result(self, handle: Handle) -> TaskResult:
        """What came of one that has ended. Raises WorkerEndedError, UserError, or what is a fault of ours."""
        ...

    def stop(self, handle: Handle) -> None:
        """End a task, with the process that has it: what does not answer is not asked to stop."""
        ...


@dataclass(frozen=True)
class TaskResult:
    """What a worker gives back: a value, or why there is none. Plain data.

    `refused`: a sentence for the user, and no other worker would say anything else. `fault`: of a disk or a network.
    """

    worker: str
    value: Any = None
    refused: str = ""
    fault: str = ""


@cache
def own_code() -> str:
    """What decides on the bits of a result: the code, and the versions of what it computes with."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _COMPUTING)
    return f"slowwave {metadata.version('slowwave')} ({code_hash()[:12]}, {versions})"


def message_of(work: Callable[..., Any], task: object) -> bytes:
    """A function, by its name, and a task, for `run_task_message`."""
    return pickle.dumps((work, task))


def run_task_message(code: str, message: bytes) -> TaskResult:
    """What a worker does with a message, if its code is that of the sender: before that, nothing of it is read."""
    worker = f"{platform.node()}, process {os.getpid()}"
    if own_code() != code:
        return TaskResult(
            worker, refused=f"has {own_code()}, not {code}: install the same on every worker, start them again"
        )
    try:
        work, task = pickle.loads(message)  # noqa: S301 - who may send a message to a worker may run code on it anyway
        return TaskResult(worker, work(task))
    except UserError as error:
        return TaskResult(worker, refused=str(error))
    except OSError as error:
        return TaskResult(worker, fault=str(error))


def require_engine(chosen: EngineSettings) -> None:
    """Raises UserError, within seconds, when an engine is not installed, or nobody answers at its address."""
    if chosen.name != "local" and find_spec(_MODULES[chosen.name]) is None:
        raise not_installed(f"the engine {chosen.name} is not installed", chosen.name)
    if not chosen.address:
        return
    try:
        parts = urlsplit(chosen.address if "://" in chosen.address else f"//{chosen.address}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = chosen.address.partition("://")[0], None, None
    if scheme in _NOT_SPOKEN.get(chosen.name, ()):
        message = f"{chosen.name} is not reached by {scheme}: use an address such as {_EXAMPLES[chosen.name]}"
        raise UserError(message)
    if not host or not port:
        message = f"{chosen.address!r} names no host and port: use an address such as {_EXAMPLES[chosen.name]}"
        raise UserError(message)
    try:
        socket.create_connection((host, port), _ANSWER_SECONDS).close()
    except OSError as error:
        does_not_answer(chosen, error)


def does_not_answer(chosen: EngineSettings, why: object) -> NoReturn:
    """Raises UserError: there is no such cluster at the address."""
    message = f"no cluster of {chosen.name} answers at {chosen.address} ({why}): start it, or name another address"
    raise UserError(message)
