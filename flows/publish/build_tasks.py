"""The days to build as tasks: plain data that any process with the lake can carry out, and what comes back."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.doors import home_umask
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import peak_memory
from slowwave.flows.kernel.stage_costs import StageCosts, heard_by
from slowwave.flows.kernel.storage.mounts import bucket_at, bucket_folder
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.pieces import Between
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import DayPlan
from slowwave.flows.publish.replay import (
    batches_of_days,
    build_days,
    days_bytes,
    planned_inputs,
    search_bucket,
    write_planned,
)
from slowwave.flows.publish.replay_inputs import Times, divide_rows
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.buckets import ORDER, buckets_count
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.graph import FOUND_IN_TEXTS, PLANNED
from slowwave.transforms.params import Params

# What a task takes at its most, in slices of text: what is made of a slice is several times as large.
_SLICES = 20
# A day that is larger, decoded, than this part of it is divided into buckets.
_BUCKETS = 16
# Tasks are not alike: with more than one each, a worker that is done early takes from the others.
_TASKS_PER_WORKER = 3


@dataclass(frozen=True)
class Replay:
    """What all tasks of a run have in common, as plain data.

    Args:
        lake: its folder, under the same path on every worker, or the URL of its bucket.
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
    """Days that are built together: which tables they lack, and the names of their partitions, the plans say.

    A large day is one plan, done in three rounds: what its `buckets` are searched by is written; each of them is
    searched; what was found is put together.

    Args:
        replay: what all tasks have in common.
        plans: the days.
        buckets: of a large day.
        times: of a large day, its first and last.
        bucket: the one that is searched.
        is_begun: whether what the buckets are searched by is there.
    """

    replay: Replay
    plans: tuple[DayPlan, ...]
    buckets: tuple[Between, ...] = ()
    times: Times = None
    bucket: int | None = None
    is_begun: bool = True

    @property
    def finishes(self) -> int:
        """How many days are finished with it."""
        return len(self.plans) if self.bucket is None and self.is_begun else 0

    def __str__(self) -> str:
        first, last = self.plans[0].day, self.plans[-1].day
        if self.bucket is not None:
            return f"replay {first}, bucket {self.bucket + 1} of {len(self.buckets)}"
        if not self.is_begun:
            return f"replay {first}, eligibility"
        return f"replay {first}" + (f" to {last}" if last > first else "")


@dataclass(frozen=True)
class Built:
    """What a task came to: its days, CPU seconds by stage and by step, and the most memory its process ever held."""

    days: int
    costs: StageCosts = field(compare=False)
    peak_bytes: int = 0


def build_tasks(
    engine: EngineSettings, run_id: str, log: LogAsOf, wanted: Sequence[DayPlan], *, verify: bool
) -> list[list[BuildTask]]:
    """What is to be done, in rounds: of large days, what one has written or found is what the next goes on from.

    Small days are built as many together as a worker may hold, and as few as give every worker something to do.
    """
    slice_bytes = engine.memory // _SLICES
    common = Replay(
        lake=_address(log.lake),
        run_id=run_id,
        as_of=log.as_of,
        params=log.params.model_dump_json(),
        params_hash=log.params.params_hash(),
        umask=home_umask(),
        slice_bytes=slice_bytes,
        verify=verify,
    )
    sizes = days_bytes(log, wanted)
    buckets = large_days(wanted, sizes, engine.memory)
    small = [plan for plan in wanted if plan.day not in buckets]
    large = [_large(common, log, plan, buckets[plan.day]) for plan in wanted if plan.day in buckets]
    parts = 1 if engine.name == "local" else _TASKS_PER_WORKER * engine.workers
    return [
        [replace(task, is_begun=False) for task in large if _lacks_any(PLANNED, task.plans[0])],
        [
            *(replace(task, bucket=bucket) for task in large for bucket in range(len(task.buckets))),
            *(BuildTask(common, tuple(plans)) for plans in batches_of_days(log, small, sizes, slice_bytes, parts)),
        ],
        large,
    ]


def _large(common: Replay, log: LogAsOf, plan: DayPlan, buckets: int) -> BuildTask:
    """The task that finishes a large day."""
    parts = divide_rows(REPLAYED.of, log.files(REPLAYED.of)[plan.day], ORDER, buckets)
    return BuildTask(common, (plan,), tuple(parts), planned_inputs(log, plan, keep=True).times)


def _address(lake: Lake) -> str:
    bucket = bucket_at(lake.root)
    return bucket.url if bucket else str(lake.root.absolute())


def large_days(wanted: Sequence[DayPlan], bytes_of: Mapping[date, int], memory: int) -> dict[date, int]:
    """How many buckets those days are built in that have several, and whose texts are looked through.

    `memory`: bytes that a worker should stay below.
    """
    searched = [plan.day for plan in wanted if _lacks_any(FOUND_IN_TEXTS, plan)]
    counts = {day: buckets_count(bytes_of[day], memory // _BUCKETS) for day in searched}
    return {day: count for day, count in counts.items() if count > 1}


def _lacks_any(tables: Iterable[type[Table]], plan: DayPlan) -> bool:
    return any(table.name in plan.missing for table in tables)


def replay(log: LogAsOf, task: BuildTask) -> int:
    """Carry out a task; returns how many days it has finished. Raises as `build_days` does."""
    common = task.replay
    if task.bucket is not None:
        within = task.buckets[task.bucket]
        search_bucket(log, task.plans[0], within, task.times, common.slice_bytes, verify=common.verify)
    elif not task.is_begun:
        write_planned(log, task.plans[0], verify=common.verify)
    else:
        build_days(log, task.plans, common.verify, common.slice_bytes, task.buckets)
    return task.finishes


def run_build_task(task: BuildTask) -> Built:
    """Carry out a task in a process that has the lake and nothing else.

    Raises UserError when this process does not see the lake or reads the params otherwise than they were sent, and as
    `build_days` does.
    """
    costs = StageCosts()
    with _umask(task.replay.umask), heard_by(costs):
        log = _log(task.replay)
        days = replay(log, task)
        if bucket := bucket_at(log.lake.root):
            bucket.settle()
    return Built(days, costs, peak_memory())


@lru_cache(maxsize=1)
def _log(common: Replay) -> LogAsOf:
    """The log of a run: its tasks, one after the other, read the memories once."""
    params = Params.model_validate(json.loads(common.params))
    if params.params_hash() != common.params_hash:
        message = "it reads the params otherwise than they were sent"
        raise UserError(message)
    lake = Lake(bucket_folder(common.lake, _copies()) if "://" in common.lake else Path(common.lake))
    if lake.check_format() is None:
        message = f"there is no lake in {common.lake} there: mount it under the same path on every worker"
        raise UserError(message)
    return LogAsOf(lake, common.as_of, params)


@cache
def _copies() -> Path:
    """Where a worker keeps what it has read of a bucket, until it ends."""
    folder = Path(mkdtemp(prefix="slowwave-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def _umask(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
