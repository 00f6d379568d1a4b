"""Which file of the lake holds an evidence table of a day, as the runs that used it noted in `day_inputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slowwave.transforms.core.schema import Table
from slowwave.transforms.graph import EVIDENCE


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
