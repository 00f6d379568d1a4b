"""Rows that earlier versions of an adapter made: those of a later one win over them, whatever times they state."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import polars as pl

from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.adapter import Adapter
from slowwave.transforms.landing.tables import Interactions, Outcomes


def earlier_readings(lake: Lake, adapter: Adapter) -> Mapping[str, datetime]:
    """Return by id of a row when its last version was recorded, of rows that earlier versions of the adapter made."""
    found: dict[str, datetime] = {}
    provenance = pl.col("extra").str.json_path_match
    for table in (Interactions, Outcomes):
        files = [file for of_day in lake.files(table.name).values() for file in of_day]
        if not files:
            continue
        (key,) = table.key
        rows = (
            lake.scan_files(table, files, [key, "recorded_at", "extra"])
            .filter(pl.col("extra").str.contains(f'"{adapter.name}"', literal=True))
            .filter(
                provenance("$.provenance.adapter") == adapter.name,
                provenance("$.provenance.v").cast(pl.Int64, strict=False) < adapter.version,
            )
            .group_by(key)
            .agg(pl.col("recorded_at").max())
            .collect()
        )
        found |= dict(rows.iter_rows())
    return found
