"""The same rows as the three formats deliver them, without files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

import orjson
import polars as pl
import pyarrow as pa

from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import FrameRows, RecordRows
from slowwave.transforms.landing.landed_rows import LandedRows, landed_rows

Record = dict[str, Any]


def utc(*parts: int) -> datetime:
    """A naive time that holds UTC, as everywhere in the tables."""
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


def as_jsonl(records: Sequence[Record]) -> RecordRows:
    """Rows that went through JSON text."""
    raws = [orjson.dumps(record) for record in records]
    return RecordRows([orjson.loads(raw) for raw in raws], range(1, len(raws) + 1), raws)


def as_csv(records: Sequence[Record]) -> RecordRows:
    """Rows that went through CSV text: lists and objects as JSON, an empty cell says nothing."""
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(names)
    for record in records:
        writer.writerow([_cell(record.get(name)) for name in names])
    header, *rows = csv.reader(io.StringIO(out.getvalue(), newline=""))
    kept = [{name: cell for name, cell in zip(header, row, strict=True) if cell != ""} for row in rows]
    return RecordRows(kept, range(1, len(kept) + 1), [",".join(row).encode() for row in rows])


def _cell(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, (list, dict, bool)) else value


def as_frame(records: Sequence[Record]) -> FrameRows:
    """Rows as a Parquet file holds them, each column with the type its values have.

    By way of Arrow: Polars takes the type of a struct's field from the first value, and NULLs what comes later.
    """
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    return FrameRows(cast("pl.DataFrame", pl.from_arrow(pa.table(columns))), range(1, len(records) + 1))


def land(*records: Record, kind: LandedTable | None = None) -> LandedRows:
    """JSONL rows, landed."""
    return landed_rows(as_jsonl(records), kind)


def tables(landed: LandedRows) -> dict[str, pl.DataFrame]:
    """The three landed tables by name."""
    return {"interactions": landed.interactions, "outcomes": landed.outcomes, "memories": landed.memories}


def row_hashes(*landed: LandedRows) -> dict[str, list[str]]:
    """Per table all row hashes, sorted: rows are equal where their hashes are."""
    names = ("interactions", "outcomes", "memories")
    return {name: sorted(h for part in landed for h in tables(part)[name]["row_hash"].to_list()) for name in names}
