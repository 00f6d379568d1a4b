"""What was found in texts that have gone, by day: written before they go."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import polars as pl

from slowwave.flows.kernel.store import write_parquet
from slowwave.flows.lake.erased.raw_files import rewritten
from slowwave.flows.lake.lake import Lake, scan_declared
from slowwave.transforms.core.frames import Lazy, T
from slowwave.transforms.core.hashing import rows_digest
from slowwave.transforms.core.schema import Table, polars_schema
from slowwave.transforms.evidence.kept.tables import KeptReferences, KeptStatements

KEPT: tuple[type[Table], ...] = (KeptReferences, KeptStatements)


def keep_found(lake: Lake, table: type[Table], day: date, rows: pl.DataFrame, of: pl.Series) -> None:
    """Keep what was found in the texts of a day's rows with the hashes `of`, in place of what is kept of them.

    Killed in the midst, the texts are still there, and it is found again.
    """
    for file in lake.files(table.name).get(day, []):
        before = scan_declared(table, [file.path]).collect()
        others = before.filter(~pl.col("row_hash").is_in(of.implode()))
        if others.height < before.height:
            rewritten(file.path, others)
    if rows.height:
        write_parquet(lake.folder(table.name, day) / f"{rows_digest(rows['row_hash'].unique().sort())}.parquet", rows)


def scan_kept(lake: Lake, table: type[T], days: Iterable[date]) -> Lazy[T]:
    """What is kept of some days."""
    files = lake.files(table.name)
    paths = [file.path for day in days for file in files.get(day, [])]
    return scan_declared(table, paths) if paths else pl.LazyFrame(schema=polars_schema(table))  # pyright: ignore[reportReturnType] - no rows
