"""The ledger of runs: a row for each run, from its beginning on. A killed run leaves what it was at."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.landing.ledger_tables import Runs


def read_run(lake: Lake, serving: Path | None) -> pl.DataFrame:
    """Return the row of the run that published a serving file; none where the ledger has none."""
    return lake.ledger(Runs).filter(pl.col("run_id") == (serving.stem if serving else ""))


def read_other_runs(lake: Lake, run_id: str) -> pl.DataFrame:
    """Return the rows of all runs but one."""
    return lake.ledger(Runs).filter(pl.col("run_id") != run_id)


def with_run(others: pl.DataFrame, row: dict[str, Any]) -> pl.LazyFrame:
    """Return these runs and one more."""
    return pl.concat([others, _one_row(row)]).lazy()


def write_run(lake: Lake, row: dict[str, Any] | pl.DataFrame) -> None:
    """Write the row of a run, in place of what stands there of it."""
    rows = row if isinstance(row, pl.DataFrame) else _one_row(row)
    lake.write_ledger(Runs, rows["started_at"].item().date(), rows["run_id"].item(), rows)


def compact_runs(lake: Lake, started_at: datetime) -> None:
    """Merge the small files of the runs of a day."""
    lake.compact(Runs, started_at.date())


def remove_run(lake: Lake, started_at: datetime, run_id: str) -> None:
    """Take the row of a run that did nothing out of the ledger."""
    path = lake.folder(Runs.name, started_at.date()) / f"{run_id}.parquet"
    storage_of(path).remove([path])


def has_ended(lake: Lake, run_id: str) -> bool:
    """Whether the ledger says how a run ended."""
    return run_id in set(lake.ledger(Runs).filter(pl.col("status") != "started")["run_id"])


def _one_row(row: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([row], schema=polars_schema(Runs))
