"""A run of Langfuse's export in a folder, as its server writes it, in every format."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from imports_run import aged
from langfuse_rows import PROJECT

Rows = Sequence[dict[str, Any]]
TIME = "2026-08-01T12-00-00"


def _jsonl(rows: Rows) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def _json(rows: Rows) -> bytes:
    return orjson.dumps(list(rows))


def _csv(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            ["" if v is None else v if isinstance(v, str) else orjson.dumps(v).decode() for v in row.values()]
        )
    return out.getvalue().encode()


def _parquet(rows: Rows) -> bytes:
    """As the server's database writes it: maps of text, and times and decimals that are such."""
    maps = {"metadata": pa.string(), "usage_details": pa.int64(), "cost_details": pa.float64()}
    times = {"timestamp", "start_time", "end_time", "created_at", "updated_at"}
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name in maps:
            columns[name] = pa.array([list(v.items()) for v in values], pa.map_(pa.string(), maps[name]))
        elif name in times:
            columns[name] = pa.array([datetime.fromisoformat(v) for v in values], pa.timestamp("ms", "UTC"))
        elif name == "total_cost":
            columns[name] = pa.array([Decimal(str(v)) for v in values], pa.decimal128(38, 12))
        else:
            columns[name] = pa.array(values)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "jsonl.gz": lambda rows: gzip.compress(_jsonl(rows)),
    "json.gz": lambda rows: gzip.compress(_json(rows)),
    "csv.gz": lambda rows: gzip.compress(_csv(rows)),
}


def exported(
    folder: Path, tables: Mapping[str, Rows], extension: str = "jsonl", moment: str = TIME, *, has_manifest: bool = True
) -> Path:
    """A run as the server writes it, its manifest last; nothing was written to it for two hours."""
    files = []
    for table, rows in tables.items():
        path = folder / PROJECT / table / f"{moment}.{extension}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FORMATS[extension](rows))
        key = f"some/prefix/{PROJECT}/{table}/{path.name}"
        files.append({"key": key, "table": table, "sizeBytes": path.stat().st_size, "rowCount": None})
    if has_manifest:
        manifest = folder / PROJECT / "manifests" / f"{moment}.json"
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text(orjson.dumps({"version": 1, "files": files}, option=orjson.OPT_INDENT_2).decode() + "\n")
    for path in folder.rglob("*.*"):
        aged(path)
    return folder
