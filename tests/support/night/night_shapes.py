"""What a night of an uncommon shape takes by stage: CPU, bytes read and written, the most memory it holds.

    night_shapes.py FOLDER SHAPE [--interactions 300000] [--memories 10000] [--memory 4GB] [--each]

SHAPE: `day` (all on one day), `project` (one project has nine of ten), `memories` (all of one project), `sessions` (one
for each interaction). Logs are made in FOLDER once; what is measured is a night of a new home, landing included.
"""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import polars as pl
from night_logs import write_logs
from night_memories import Size
from stage_measures import StageMeasures

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings, size_in_bytes
from slowwave.flows.kernel.stage_costs import heard_by
from slowwave.flows.nightly.nightly import nightly, start_run
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.landing.ledger_tables import Runs

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
SHAPES = {
    "day": Size(0, 0, projects=50, days=1),
    "project": Size(0, 0, projects=20, days=10),
    "memories": Size(0, 0, projects=1, days=10),
    "sessions": Size(0, 0, projects=50, days=10),
}


def shaped_logs(folder: Path, shape: str, interactions: int, memories: int) -> None:
    """Write the logs of a shape into a folder."""
    write_logs(folder, replace(SHAPES[shape], interactions=interactions, memories=memories))
    for path in folder.glob("*.parquet"):
        rows = pl.scan_parquet(path)
        if shape == "project":  # all but two of twenty are one
            others = pl.col("project").is_in(["project-18", "project-19"])
            rows = rows.with_columns(
                pl.when(others | (pl.col("project") == "")).then("project").otherwise(pl.lit("large"))
            )
        elif shape == "sessions" and not path.name.startswith("memories"):
            rows = rows.with_columns(pl.col("interaction_id").alias("session_id"))
        else:
            continue
        rows.sink_parquet(path.with_suffix(".aside"), compression="zstd", row_group_size=8_000)
        path.with_suffix(".aside").rename(path)


def measured_night(home: Path, logs: Path, engine: EngineSettings) -> tuple[StageMeasures, list[str]]:
    """A night of a new home that these logs are delivered to, and the hashes of its tables."""
    shutil.rmtree(home, ignore_errors=True)
    settings, costs = Settings(home), StageMeasures()
    settings.inbox.mkdir(parents=True)
    for path in sorted(logs.glob("*.parquet")):
        (settings.inbox / path.name).hardlink_to(path)
    with heard_by(costs), writer_lock(settings, "nightly"):
        run = start_run(settings, "nightly")
        run.engine = engine
        result = nightly(run, as_of=AS_OF)
    published = run.lake.ledger(Runs).filter(pl.col("run_id") == result.run_id)
    return costs, published["table_hashes"].item().to_list()


def main() -> None:
    """Print a line for each stage, or each step, then the hashes as one digest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--interactions", type=int, default=300_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--memory", type=size_in_bytes, default=EngineSettings().memory)
    parser.add_argument("--each", action="store_true", help="also the steps of the stages")
    chosen = parser.parse_args()
    logs = chosen.folder / f"{chosen.shape} {chosen.interactions} {chosen.memories}"
    if not logs.exists():
        shaped_logs(logs, chosen.shape, chosen.interactions, chosen.memories)
    costs, hashes = measured_night(chosen.folder / f"home {chosen.shape}", logs, EngineSettings(memory=chosen.memory))
    print(f"{'':36}{'CPU s':>8}{'MB read':>10}{'written':>10}{'peak MB':>10}")
    for name, peak in costs.peak.items():
        seconds = costs.seconds.get(name, costs.of_steps.get(name, 0.0))
        if chosen.each or name in costs.seconds:
            moved = (costs.read[name] / 1e6, costs.written[name] / 1e6, peak / 1e6)
            print(f"{name:36}{seconds:8.1f}" + "".join(f"{size:10,.0f}" for size in moved))
    whole = f"{sum(costs.seconds.values()):.1f} s, at the most {max(costs.peak.values()) / 1e6:,.0f} MB"
    print(f"whole: {whole}; the tables are {digest(hashes)[:16]}")


if __name__ == "__main__":
    main()
