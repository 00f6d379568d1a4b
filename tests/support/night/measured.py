"""One measured step of a benchmark, in a process of its own: prints what it took as JSON.

    measured.py STEP ARGUMENT...

CPU seconds are user and system time of the process and of its children that have ended, imports included.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slowwave.flows.kernel.processes import use_one_thread

Said = dict[str, Any]
_LIMIT_SECONDS = 2.0
# What is text in a delivery, by the beginning of the file's name.
_TEXTS = {
    "interactions": ("prompt", "response", "response_summary"),
    "outcomes": ("task", "strategy", "error_message", "feedback"),
    "memories": ("content",),
}


def cpu_seconds() -> float:
    """What this process and its children took so far."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def logs(folder: str, interactions: str, memories: str, projects: str, days: str = "30") -> Said:
    """Make logs of so many days, and one more day apart."""
    from night_logs import write_logs
    from night_memories import Size

    write_logs(Path(folder), Size(int(interactions), int(memories), int(projects), int(days), more=1))
    return {}


def limit(folder: str) -> Said:
    """Read the texts of the delivered files and lower-case them, repeated until it has taken two CPU seconds."""
    import polars as pl

    def once(pattern: str) -> None:
        for name, texts in _TEXTS.items():
            if files := sorted(Path(folder).glob(f"{name}-{pattern}.parquet")):
                rows = pl.scan_parquet(files, missing_columns="insert")
                rows.select(pl.col(texts).str.to_lowercase().str.len_bytes().sum()).collect()

    once("0[1-3]")  # threads are started, modules loaded
    rounds, begun = 0, cpu_seconds()
    while cpu_seconds() - begun < _LIMIT_SECONDS:
        once("*")
        rounds += 1
    return {"each": (cpu_seconds() - begun) / rounds}


def night(home: str, as_of: str, memory: str = "") -> Said:
    """A whole night, from the inbox to the report, by plain functions: Prefect is left out.

    With every default, or with so many bytes as `[engine] memory`.
    """
    from slowwave.flows.ask.report import ensure_current_report
    from slowwave.flows.engines.settings import EngineSettings
    from slowwave.flows.kernel.lock import writer_lock
    from slowwave.flows.kernel.settings import Settings
    from slowwave.flows.kernel.stage_costs import StageCosts, listening
    from slowwave.flows.kernel.times import parse_as_of
    from slowwave.flows.nightly.nightly import nightly, start_run

    settings, costs = Settings(Path(home)), StageCosts()
    listening.set(costs)
    with writer_lock(settings, "nightly"):
        run = start_run(settings, "nightly")
        if memory:
            run.engine = EngineSettings(memory=int(memory))
        result = nightly(run, as_of=parse_as_of(as_of) if as_of else None)
        report = ensure_current_report(settings)
    if not Path(report).exists():
        raise SystemExit(report)
    return {
        "stages": costs.seconds,
        "steps": costs.of_steps,
        "status": result.status,
        "landed": result.landed.total("accepted"),
    }


STEPS: dict[str, Callable[..., Said]] = {"logs": logs, "limit": limit, "night": night}


def main(steps: dict[str, Callable[..., Said]]) -> None:
    """Run the step that the command line names, with as many threads as a command."""
    use_one_thread()
    begun = time.perf_counter()
    said = steps[sys.argv[1]](*sys.argv[2:])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says begins with what the parent held
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        peak = int(line.split()[1]) / 1024
    print(json.dumps({**said, "cpu": cpu_seconds(), "wall": time.perf_counter() - begun, "peak_mb": peak}))


if __name__ == "__main__":
    main(STEPS)
