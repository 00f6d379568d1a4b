"""Landed files whose texts expire: the evidence found in them is retained, then the texts go.

Keys, times, hashes and what else counts stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime

import orjson
import polars as pl
import pyarrow.parquet as pq

from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.flows.kernel.store import write_parquet
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import Lake, scan_declared
from slowwave.flows.lake.lifetime.raw_files import rewrite_rows
from slowwave.transforms.core.hashing import rows_digest
from slowwave.transforms.core.schema import Landed, Table, polars_schema
from slowwave.transforms.evidence.retained_evidence import KeptReferences, KeptStatements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.landing.erasure import TEXTS_OF, is_text_expired
from slowwave.transforms.landing.schema_changes import from_extra
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.landing.versions import is_visible

# What is retained of each table that is found in texts.
RETAINED: Mapping[type[Table], type[Table]] = {
    MemoryReferences: KeptReferences,
    ExtractedStatements: KeptStatements,
}


def retain_evidence(lake: Lake, table: type[Table], day: date, rows: pl.DataFrame, of: pl.Series) -> None:
    """Write the evidence found in the texts of a day's rows with the hashes `of`, in place of what is there of them.

    Killed in the midst, the texts are still there, and it is found again.
    """
    for file in lake.files(table.name).get(day, []):
        before = scan_declared(table, [file.path]).collect()
        others = before.filter(~pl.col("row_hash").is_in(of.implode()))
        if others.height < before.height:
            rewrite_rows(file.path, others)
    if rows.height:
        write_parquet(lake.folder(table.name, day) / f"{rows_digest(rows['row_hash'].unique().sort())}.parquet", rows)


def scan_retained(lake: Lake, table: type[Table], days: Iterable[date]) -> pl.LazyFrame:
    """Return what is retained of a table of some days, each row once."""
    retained = RETAINED[table]
    files = lake.files(retained.name)
    paths = [file.path for day in days for file in files.get(day, [])]
    rows = scan_declared(retained, paths) if paths else pl.LazyFrame(schema=polars_schema(retained))
    return rows.unique(retained.key)


def find_rows_with_texts(table: type[Landed], file: LakeFile, as_of: datetime) -> tuple[pl.Series, int]:
    """Return the hashes of the rows visible at `as_of` that have texts still, and how many rows are not visible yet."""
    (path,) = on_disk([file.path])
    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    has_text = (
        ~is_text_expired() if table is Interactions else pl.any_horizontal(pl.col(*TEXTS_OF[table]).is_not_null())
    )
    seen = rows.select("row_hash", is_visible(table, as_of).alias("is_visible"), has_text.alias("has_text")).collect()
    return seen.filter("is_visible", "has_text")["row_hash"], seen.filter(~pl.col("is_visible")).height


def measure_texts(table: type[Landed], file: LakeFile) -> int:
    """Return how many bytes the texts of a file take in it."""
    metadata = pq.read_metadata(on_disk([file.path])[0])
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    chunks = (group.column(at) for group in groups for at in range(group.num_columns))
    return sum(one.total_compressed_size for one in chunks if one.path_in_schema.split(".")[0] in TEXTS_OF[table])


def remove_texts(table: type[Landed], file: LakeFile, as_of: datetime) -> int:
    """Rewrite a file without the texts of the rows visible at `as_of`; return the bytes saved.

    What `extra` of an older file says of columns that came later stays: it is read from there.
    """
    (path,) = on_disk([file.path])
    rows = pl.read_parquet(path, glob=False, hive_partitioning=False)
    later = [c.name for c in from_extra(table) if c.name not in rows.columns]
    nothing = {"prompt": pl.lit("")}
    if later:
        nothing["extra"] = pl.lit(
            pl.Series("extra", [_select_fields(later, text) for text in rows["extra"]], pl.String)
        )
    goes = is_visible(table, as_of)
    left = rows.with_columns(
        pl.when(goes).then(nothing.get(name, pl.lit(None))).otherwise(name).cast(polars_schema(table)[name]).alias(name)
        for name in TEXTS_OF[table]
    )
    before = file.size
    write_parquet(file.path, left)
    return before - LakeFile(file.day, file.path).size


def _select_fields(names: list[str], text: str | None) -> str | None:
    stated = orjson.loads(text) if text else {}
    kept = {name: stated[name] for name in names if name in stated}
    return orjson.dumps(kept).decode() if kept else None
