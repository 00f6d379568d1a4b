"""The days to build as tasks: plain data that any process with the lake can carry out, and what comes back."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from slowwave.flows.kernel.doors import home_umask
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.stage_costs import StageCosts, heard_by
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import DayPlan
from slowwave.flows.publish.replay import batches_of_days, build_days
from slowwave.flows.publish.run import Run
from slowwave.transforms.params import Params

# What a task takes at its most, in slices of text: what is made of a slice is several times as large.
_SLICES = 20
# Tasks are not alike: with more than one each, a worker that is done early takes from the others.
_TASKS_PER_WORKER = 3


@dataclass(frozen=True)
class Replay:
    """What all tasks of a run have in common, as plain data.

    Args:
        lake: its address, the same on every worker.
        run_id: of the run that asks.
        as_of: what is known.
        params: as JSON.
        params_hash: of them: what a worker makes of them must have it.
        umask: of the files that are written.
        slice_bytes: of text that are held at once.
        verify: whether what is there is compared, not left.
    """

    lake: str
    run_id: str
    as_of: datetime
    params: str
    params_hash: str
    umask: int
    slice_bytes: int
    verify: bool


@dataclass(frozen=True)
class BuildTask:
    """Days that are built together: which tables they lack, and the names of their partitions, the plans say."""

    replay: Replay
    plans: tuple[DayPlan, ...]

    def __str__(self) -> str:
        first, last = self.plans[0].day, self.plans[-1].day
        return f"replay {first}" + (f" to {last}" if last > first else "")


@dataclass(frozen=True)
class Built:
    """What a task came to: its days, CPU seconds by stage and by step, and the most memory its process ever held."""

    days: int
    costs: StageCosts = field(compare=False)
    peak_bytes: int = 0


def build_tasks(run: Run, log: LogAsOf, wanted: Sequence[DayPlan], *, verify: bool) -> list[BuildTask]:
    """Days to build, as many together as a worker may hold, and as few as give every worker something to do."""
    slice_bytes = run.engine.memory // _SLICES
    replay = Replay(
        lake=str(log.lake.root.absolute()),
        run_id=run.run_id,
        as_of=log.as_of,
        params=log.params.model_dump_json(),
        params_hash=log.params.params_hash(),
        umask=home_umask(),
        slice_bytes=slice_bytes,
        verify=verify,
    )
    parts = 1 if run.engine.name == "local" else _TASKS_PER_WORKER * max(run.engine.workers, 1)
    return [BuildTask(replay, tuple(plans)) for plans in batches_of_days(log, wanted, slice_bytes, parts)]


def built(task: BuildTask) -> Built:
    """Carry out a task in a process that has the lake and nothing else.

    Raises UserError when this process does not see the lake or reads the params otherwise than they were sent, and as
    `build_days` does.
    """
    replay, costs = task.replay, StageCosts()
    with _umask(replay.umask), heard_by(costs):
        days = build_days(_log(replay), task.plans, verify=replay.verify, slice_bytes=replay.slice_bytes)
    return Built(days, costs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10)


@lru_cache(maxsize=1)
def _log(replay: Replay) -> LogAsOf:
    """The log of a run: its tasks, one after the other, read the memories once."""
    params = Params.model_validate(json.loads(replay.params))
    if params.params_hash() != replay.params_hash:
        message = "it reads the params otherwise than they were sent"
        raise UserError(message)
    lake = Lake(Path(replay.lake))
    if lake.check_format() is None:
        message = f"there is no lake in {replay.lake} there: mount it under the same path on every worker"
        raise UserError(message)
    return LogAsOf(lake, replay.as_of, params)


@contextmanager
def _umask(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
