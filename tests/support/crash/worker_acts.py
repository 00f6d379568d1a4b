"""What workers are asked to do in tests: most of it ends them. A worker imports this by name."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from slowwave.flows.publish.build_tasks import BuildTask, Built, run_build_task


@dataclass(frozen=True)
class Marked:
    """A task that is told by a file that it was tried before."""

    tries: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return "the marked task"


def _tried(task: Marked) -> int:
    """Which time it is."""
    folder = Path(task.tries)
    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return len(list(folder.iterdir()))


def dies(task: Marked) -> int:
    _tried(task)
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def dies_once(task: Marked) -> int:
    times = _tried(task)
    return dies(task) if times == 1 else times


def sleeps_once(task: Marked) -> int:
    times = _tried(task)
    if times == 1:
        time.sleep(600)
    return times


def finds_no_folder(task: Marked) -> int:
    _tried(task)
    (Path(task.tries) / "gone" / "file").touch()
    return 0


@dataclass(frozen=True)
class Killed:
    """A task to build days, whose worker is killed after some time when it is first tried."""

    task: BuildTask
    marker: str
    seconds: float


def built_in_the_end(killed: Killed) -> Built:
    marker = Path(killed.marker)
    if not marker.exists():
        marker.touch()
        threading.Timer(killed.seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
        done = run_build_task(killed.task)
        time.sleep(killed.seconds)  # done too soon: killed all the same, and done again
        return done
    return run_build_task(killed.task)
