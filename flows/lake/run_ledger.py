"""The ledger of runs: a row for each run, from its beginning on, and the partitions it used, as `day_inputs` has them.

A killed run leaves what it was at.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Table, polars_schema
from slowwave.transforms.graph import EVIDENCE
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


def unlike(fingerprint: str, names: Mapping[str, str]) -> list[str] | None:
    """`day_inputs.partitions` of a day: table=name of those with other names than its fingerprint."""
    return [f"{table}={name}" for table, name in names.items() if name != fingerprint] or None


def name_of(table: type[Table], row: Mapping[str, Any]) -> str:
    """The name of a table's partition, by a row of `day_inputs`."""
    others = dict(other.split("=", 1) for other in row["partitions"] or ())
    return others.get(table.name, row["fingerprint"])


def partition_names(inputs: pl.DataFrame) -> pl.DataFrame:
    """table, day, name of every evidence partition that rows of `day_inputs` name; a name may come twice."""
    rows = inputs.filter(pl.col("fingerprint") != "")
    of_tables = [
        rows.select(pl.lit(table.name).alias("table"), "day", _name(table).alias("name")) for table in EVIDENCE
    ]
    return pl.concat(of_tables)


def partitions_of(inputs: pl.DataFrame, table: type[Table]) -> dict[Any, str]:
    """By day the partition of a table that rows of `day_inputs`, one per day, name."""
    rows = inputs.filter(pl.col("fingerprint") != "").sort("day")
    return dict(rows.select("day", _name(table)).iter_rows())


def _name(table: type[Table]) -> pl.Expr:
    own = pl.element().filter(pl.element().str.starts_with(f"{table.name}=")).str.slice(len(table.name) + 1)
    return pl.coalesce(pl.col("partitions").list.eval(own).list.first(), "fingerprint")
