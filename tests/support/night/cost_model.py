"""What a million interactions cost, by stage and by engine, in a folder and in a bucket; and what a large day would.

    cost_model.py FOLDER [--interactions 20000] [--memories 2000] [--projects 20] [--without-engines] [--without-bucket]

Logs and homes are made in FOLDER. First a night of ten days is measured: CPU seconds, bytes read and written,
objects and requests. Then the tasks of one large day, in small buckets, are measured one by one, as a run gives them
out. From these seconds the simulated scheduler (`scheduled`) tells what days of other sizes take on so many workers:
every line that begins with "plan" is extrapolated, in proportion.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from engine_nights import AS_OF, LOCAL, WORKERS, building, cpu_seconds, landed_home
from night_memories import Size
from night_shapes import measured_night
from scheduled import makespan
from stage_measures import peak_bytes

from slowwave.flows.engines.settings import MEMORY, EngineSettings
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.nightly import make_plan, start_run
from slowwave.flows.publish.build_tasks import BuildTask, build_tasks, run_build_task
from slowwave.flows.publish.replay import days_bytes
from slowwave.transforms.evidence.buckets import buckets_count

_PER = 1_000_000
_DAYS = 10
_PLANNED = (100_000, 1_000_000, 10_000_000, 1_000_000_000)
_WORKERS = (1, 2, 4, 8, 16, 32, 64)
# One day of so many times the interactions: of a small one, rows are compared otherwise.
_TIMES = 3
_MEASURED_BUCKETS = 6


def in_folder(folder: Path, logs: Path, size: Size) -> None:
    """A line for each stage of a night of a new home."""
    costs, _ = measured_night(folder / "home", logs, EngineSettings())
    print(f"\nper million interactions, folder, local{'CPU s':>10}{'GB read':>9}{'written':>9}{'peak MB':>9}")
    for stage, seconds in costs.seconds.items():
        moved = (costs.read.get(stage, 0), costs.written.get(stage, 0))
        told = "".join(f"{each / 1e9 / size.interactions * _PER:9.2f}" for each in moved)
        print(f"  {stage:37}{seconds / size.interactions * _PER:10,.0f}{told}{costs.peak.get(stage, 0) / 1e6:9,.0f}")
    files = [path for path in (folder / "home" / "lake").rglob("*") if path.is_file()]
    held = sum(path.stat().st_size for path in files) / 1e9 / size.interactions * _PER
    print(f"  {len(files):,} objects of the lake after {size.days} days, {held:.2f} GB a million")


def on_engines(folder: Path, size: Size) -> None:
    """A line for each engine: CPU seconds of its tasks, and of all that it takes besides, starting included."""
    settings = landed_home(folder, size)
    print(f"\nCPU s to build the same {size.days} days{'tasks':>10}{'besides':>10}")
    for engine in (LOCAL, *WORKERS):
        begun = cpu_seconds()
        (taken,) = building(settings, engine, rounds=1)
        besides = cpu_seconds() - begun - taken.cpu
        print(
            f"  {engine.name}, {engine.workers} worker(s)".ljust(31) + f"{taken.cpu:10.1f}{besides:10.1f}", flush=True
        )


def in_bucket(folder: Path, logs: Path, size: Size) -> None:
    """What the same night asks of a bucket."""
    from bucket_server import Proxy, environment, make_bucket, s3_server

    with s3_server() as port:
        make_bucket(port, "costs")
        proxy = Proxy(port)
        before = dict(os.environ)
        os.environ.update(environment(proxy.port, "s3://costs/lake"))
        try:
            costs, _ = measured_night(folder / "bucket home", logs, EngineSettings())
        finally:
            os.environ.clear()
            os.environ.update(before)
        asked = ", ".join(f"{count:,} {kind}" for kind, count in sorted(proxy.requests.items()))
        print(f"\nthe same night in a bucket: {sum(costs.seconds.values()):.1f} CPU s; {size.days} days asked {asked}")
        proxy.close()


@dataclass(frozen=True)
class DayCosts:
    """Seconds and bytes of one day in buckets, measured.

    Args:
        interactions: of the day.
        decoded: bytes of its rows.
        planning: seconds to find which of them count, before tasks are given out.
        search: seconds of all its buckets.
        join: seconds of what is done before and after them.
        searching: bytes more than a process begins with that one bucket took at the most.
        joining: likewise to put together what was found.
    """

    interactions: int
    decoded: int
    planning: float
    search: float
    join: float
    searching: int
    joining: int

    def rounds(self, interactions: int) -> list[list[float]]:
        """Seconds of the tasks of a day of another size, in the buckets that it would have."""
        times = interactions / self.interactions
        buckets = buckets_count(int(self.decoded * times), MEMORY // 16)
        return [[self.planning * times], [self.search / buckets * times] * buckets, [self.join * times]]


def measured_day(folder: Path, size: Size) -> tuple[DayCosts, list[list[float]]]:
    """One day in a few buckets; also the seconds of each task that the run gave out, each done as a worker does it."""
    size = replace(size, interactions=_TIMES * size.interactions, days=1)
    settings = landed_home(folder, size)
    with writer_lock(settings, "nightly"):
        run = start_run(settings, "nightly")
        begun = cpu_seconds()
        plan = make_plan(run, AS_OF)
        planning = cpu_seconds() - begun
        decoded = sum(days_bytes(plan.log, plan.to_build).values())
        run.engine = EngineSettings(memory=16 * decoded // _MEASURED_BUCKETS)
        rounds = build_tasks(run.engine, run.run_id, plan.log, plan.to_build, verify=False)
        (beginning,), searching, (join,) = rounds
        _in_a_new_process(beginning)
        peak_search = _in_a_new_process(searching[0])
        seconds = [[sum(run_build_task(task).costs.seconds.values()) for task in searching[1:]]]
        peak_join = _in_a_new_process(join)
        for path in (settings.lake_folder / "evidence").rglob("*.parquet"):
            if "." not in path.stem:
                path.unlink()
        seconds.append([sum(run_build_task(task).costs.seconds.values()) for task in (beginning, join)])
    search = sum(seconds[0]) / len(seconds[0]) * len(searching)
    costs = DayCosts(size.interactions, decoded, planning, search, sum(seconds[1]), peak_search, peak_join)
    return costs, [[planning], seconds[0], [sum(seconds[1])]]


def _in_a_new_process(task: BuildTask) -> int:
    """Carry out a task in a process that holds nothing that it could use again; bytes that it took at the most."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        before = fresh.submit(peak_bytes).result()
        fresh.submit(run_build_task, task).result()
        return fresh.submit(peak_bytes).result() - before


def plan(costs: DayCosts, measured: Sequence[Sequence[float]]) -> None:
    """Print what was measured of a day, and what follows for others."""
    million = costs.interactions / _PER
    print(f"\none day of {costs.interactions:,} in {_MEASURED_BUCKETS} buckets, CPU seconds a million interactions:")
    print(f"  planning {costs.planning / million:,.1f}, searching {costs.search / million:,.0f}", end="")
    print(f", putting together {costs.join / million:,.1f}")
    print(f"  a bucket took {costs.searching / 1e6:,.0f} MB, putting together {costs.joining / 1e6:,.0f}")
    one = makespan(measured, 1)
    shown = ", ".join(f"{workers}: {one / makespan(measured, workers):.2f}" for workers in _WORKERS[:4])
    print(f"  its tasks on workers, simulated, times as fast as on one: {shown}")
    for interactions in _PLANNED:
        rounds = costs.rounds(interactions)
        hours = ", ".join(f"{workers}: {makespan(rounds, workers) / 3600:.2f}" for workers in _WORKERS)
        needed = costs.joining * interactions / costs.interactions / 1e9
        print(
            f"plan: {interactions:,} a day: {len(rounds[1])} buckets, {needed:.1f} GB to put together; hours on {hours}"
        )
    most = MEMORY / costs.joining * costs.interactions
    print(f"plan: what is found in {most:,.0f} interactions of a day is put together in {MEMORY / 1e9:.0f} GB")


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, default in (("interactions", 20_000), ("memories", 2_000), ("projects", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--without-engines", action="store_true")
    parser.add_argument("--without-bucket", action="store_true")
    chosen = parser.parse_args()
    size = Size(chosen.interactions, chosen.memories, chosen.projects, _DAYS)
    logs = chosen.folder / "logs"
    if not logs.exists():
        from night_logs import write_logs

        write_logs(logs, size)
    in_folder(chosen.folder, logs, size)
    if not chosen.without_bucket:
        in_bucket(chosen.folder, logs, size)
    if not chosen.without_engines:
        on_engines(chosen.folder / "engines", size)
    plan(*measured_day(chosen.folder / "day", size))


if __name__ == "__main__":
    main()
