"""Building the evidence of days: what is to be done, handed to the engine of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from slowwave.flows.engines.engine import Local, opened_engine
from slowwave.flows.kernel.storage.mounts import bucket_at
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.run import Run

if TYPE_CHECKING:
    from slowwave.flows.publish.build_tasks import BuildTask


def build(run: Run, plan: BuildPlan, *, verify: bool = False) -> list[DayPlan]:
    """Build the days that must be built, some days at a time, on the engine of the run."""
    from slowwave.flows.publish.build_tasks import build_tasks

    wanted = plan.to_build
    rounds = build_tasks(run.engine, run.run_id, plan.log, wanted, verify=verify)
    run.progress("replay", 0, len(wanted))
    if run.engine.name == "local":
        _build_here(run, plan.log, rounds)
    elif wanted:
        run.stage(f"replay on {run.engine.name}", _build_on_workers, run, rounds)
    plan.log.forget_pool()  # the memory is wanted for publishing
    return wanted


def _build_here(run: Run, log: LogAsOf, rounds: Sequence[Sequence[BuildTask]]) -> None:
    """Each task a stage of the run, from the log that was read for the plan."""
    from slowwave.flows.publish.build_tasks import replay

    def run_stage(task: BuildTask) -> int:
        return run.stage(str(task), replay, log, task)

    _follow(run, rounds, (days for tasks in rounds for days in Local().results(run_stage, tasks)))


def _build_on_workers(run: Run, rounds: Sequence[Sequence[BuildTask]]) -> None:
    """One stage: the engine tries its tasks again, not the run."""
    from slowwave.flows.publish.build_tasks import Built, run_build_task

    def add_costs(each: Built) -> int:
        run.costs.add(each.costs)
        return each.days

    with opened_engine(run.engine) as engine:
        _follow(run, rounds, (add_costs(each) for tasks in rounds for each in engine.results(run_build_task, tasks)))
    if bucket := bucket_at(run.lake.root):
        bucket.look_again()


def _follow(run: Run, rounds: Sequence[Sequence[BuildTask]], finished: Iterable[int]) -> None:
    """Have the tasks carried out, and tell how many days are finished."""
    wanted = sum(task.finishes for task in chain(*rounds))
    done = 0
    for days in finished:
        done += days
        run.progress("replay", done, wanted)
