"""One night on each engine: the seconds that its days take to build, and whether its tables are the same.

    engine_nights.py FOLDER [--interactions 50000 --memories 5000 --projects 50 --days 30]

Logs and homes are made in FOLDER. Seconds are by the clock: they say something where nothing else runs.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from night_logs import write_logs
from night_memories import Size

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.nightly.nightly import land_paths, nightly, start_run
from slowwave.transforms.landing.ledger_tables import Runs

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC
# The first warms up: what is compiled once and kept is compiled then.
ENGINES = (
    EngineSettings(),
    EngineSettings(),
    *(EngineSettings(name, workers=workers) for name in ("dask", "ray") for workers in (1, 2)),
)


def landed_home(folder: Path, size: Size) -> Path:
    """A home in which the logs have landed."""
    settings = Settings(folder / "landed")
    write_logs(folder / "logs", size)
    settings.inbox.mkdir(parents=True)
    for path in (folder / "logs").glob("*.parquet"):
        path.rename(settings.inbox / path.name)
    with writer_lock(settings, "land"):
        land_paths(start_run(settings, "land"), inbox_deliveries(settings.inbox))
    return settings.home


def night(home: Path, engine: EngineSettings) -> tuple[float, list[str]]:
    """Seconds of building, and the hashes of the tables."""
    seconds = 0.0

    def timed(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal seconds
        begun = time.monotonic()
        done = function(*arguments)
        seconds += time.monotonic() - begun if name.startswith("replay") else 0.0
        return done

    settings = Settings(home)
    with writer_lock(settings, "nightly"):
        run = start_run(settings, "nightly", call=timed)
        run.engine = engine
        result = nightly(run, as_of=AS_OF)
    published = run.lake.ledger(Runs).filter(pl.col("run_id") == result.run_id)
    return seconds, published["table_hashes"].item().to_list()


def main() -> None:
    """Print a line for each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, default in (("interactions", 50_000), ("memories", 5_000), ("projects", 50), ("days", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    said = vars(parser.parse_args())
    folder = said.pop("folder")
    landed = landed_home(folder, Size(**said, seed=1, more=0))
    expected: list[str] = []
    for engine in ENGINES:
        home = Path(shutil.copytree(landed, folder / "home", symlinks=True))
        seconds, hashes = night(home, engine)
        expected = expected or hashes
        same = "the same tables" if hashes == expected else "OTHER TABLES"
        print(f"{engine.name:6} {engine.workers} worker(s): built in {seconds:6.1f} s, {same}", flush=True)
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
