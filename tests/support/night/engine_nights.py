"""What workers gain: the days of a log built on each engine, three times over, by one worker and by two.

    engine_nights.py FOLDER [--interactions 30000 --memories 3000 --projects 30 --days 24] [--rounds 3]

Logs and a home are made in FOLDER. Of each engine the first round is shown, which starts the workers and loads what
they compute with, and the best one, which is building alone. Seconds are by the clock: they say something where nothing
else runs, CPU seconds anywhere. Fails where an engine builds other files.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from night_logs import write_logs
from night_memories import Size

from slowwave.flows.engines.engine import opened_engine
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.nightly.nightly import land_paths, make_plan, start_run
from slowwave.flows.publish.build_tasks import build_tasks, run_build_task

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
LOCAL = EngineSettings()
# Each has one thread.
WORKERS = tuple(EngineSettings(name, workers=workers) for name in ("dask", "ray") for workers in (1, 2))


@dataclass(frozen=True)
class Round:
    """One time that all days were built: seconds by the clock, CPU seconds of the tasks, a digest of the files."""

    clock: float
    cpu: float
    files: str


def cpu_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def landed_home(folder: Path, size: Size) -> Settings:
    """A home in which the logs have landed."""
    settings = Settings(folder / "home")
    if settings.home.exists():
        return settings
    write_logs(folder / "logs", size)
    settings.inbox.mkdir(parents=True)
    for path in (folder / "logs").glob("*.parquet"):
        path.rename(settings.inbox / path.name)
    with writer_lock(settings, "land"):
        land_paths(start_run(settings, "land"), inbox_deliveries(settings.inbox))
    return settings


def building(settings: Settings, engine: EngineSettings, rounds: int) -> list[Round]:
    """The rounds, on the same workers; `local` is this process, doing what a worker does."""
    found = []
    with writer_lock(settings, "nightly"):
        run = start_run(settings, "nightly")
        run.engine = engine
        plan = make_plan(run, AS_OF)
        begun = time.monotonic()
        with opened_engine(engine) as opened:
            for _ in range(rounds):
                cpu = 0.0
                for tasks in build_tasks(run.engine, run.run_id, plan.log, plan.days, verify=False):
                    cpu += sum(sum(each.costs.seconds.values()) for each in opened.results(run_build_task, tasks))
                found.append(Round(time.monotonic() - begun, cpu, taken_away(settings.lake_folder / "evidence")))
                begun = time.monotonic()
    return found


def taken_away(folder: Path) -> str:
    """A digest of the names and bytes of all files in a folder, which are removed."""
    told = hashlib.blake2b()
    for path in sorted(folder.rglob("*.parquet")):
        told.update(f"{path.relative_to(folder)} {hashlib.blake2b(path.read_bytes()).hexdigest()}\n".encode())
        path.unlink()
    return told.hexdigest()


def best_rounds(folder: Path, size: Size, rounds: int) -> Iterator[tuple[EngineSettings, Round, Round]]:
    """Of this process and of each engine with so many workers the first round and the best one.

    Ends the program where an engine builds other files.
    """
    settings, files = landed_home(folder, size), ""
    for engine in (LOCAL, *WORKERS):
        taken = building(settings, engine, rounds)
        best = min(taken, key=lambda one: one.clock)
        files = files or best.files
        yield engine, taken[0], best
        if {one.files for one in taken} != {files}:
            message = f"{engine.name} builds other files than {LOCAL.name}"
            raise SystemExit(message)


def main() -> None:
    """Print a line for each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, default in (("interactions", 30_000), ("memories", 3_000), ("projects", 30), ("days", 24)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=3)
    said = vars(parser.parse_args())
    folder, rounds = said.pop("folder"), said.pop("rounds")
    of_one = 0.0
    for engine, first, best in best_rounds(folder, Size(**said, seed=1, more=0), rounds):
        of_one = best.clock if engine.workers == 1 else of_one
        gain = f", {of_one / best.clock:.2f} x as fast as one" if engine.workers > 1 else ""
        at_first = f"the first {first.clock:.1f} s, {first.cpu:.1f} CPU s"
        said_of = f"{best.clock:6.1f} s at best of {rounds}, {best.cpu:6.1f} CPU s ({at_first}){gain}"
        print(f"{engine.name:6} {engine.workers} worker(s): {said_of}", flush=True)


if __name__ == "__main__":
    main()
