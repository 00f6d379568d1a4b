"""Parquet files as they were written, by whichever release: to look through, or take rows and texts out for good.

The evidence found in texts is retained before they go. Keys, times, hashes and what else counts stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import polars as pl
import pyarrow.parquet as pq

from slowwave.flows.kernel.storage.storage import on_disk, storage_of
from slowwave.flows.kernel.store import write_parquet
from slowwave.flows.lake.files import LakeFile, microseconds
from slowwave.flows.lake.lake import Lake, scan_declared
from slowwave.transforms.core.hashing import rows_digest
from slowwave.transforms.core.schema import Landed, Table, polars_schema
from slowwave.transforms.evidence.retained_evidence import KeptReferences, KeptStatements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.landing.erasure import TEXTS_OF, is_text_expired
from slowwave.transforms.landing.schema_changes import from_extra
from slowwave.transforms.landing.tables import Interactions
from slowwave.transforms.landing.versions import is_visible

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 8_192


def read_raw_frames(path: Path) -> Iterator[pl.DataFrame]:
    """Read all rows of a Parquet file, some thousand at a time, with the columns that it has.

    Raises OSError, or ValueError where it is none.
    """
    return map(_batch_to_frame, _batches(path))


def read_damaged_frames(path: Path) -> Iterator[pl.DataFrame]:
    """Read as `read_raw_frames` does; where a text is not UTF-8, all texts of these rows are bytes."""
    import pyarrow as pa

    for batch in _batches(path):
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid:
            fields = [field.with_type(_as_bytes(field.type)) for field in batch.schema]
            try:
                batch = batch.cast(pa.schema(fields))  # noqa: PLW2901 - the same rows
                batch.validate(full=True)
            except pa.ArrowException as error:
                message = f"{path} holds rows that cannot be read: {error}"
                raise ValueError(message) from error
        yield _batch_to_frame(batch)


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(storage_of(path).on_disk([path])[0]) as file:
            yield from file.iter_batches(_BATCH_ROWS)
    except pa.ArrowException as error:
        message = f"{path} is no Parquet file that can be read: {error}"
        raise ValueError(message) from error


def _batch_to_frame(batch: pa.RecordBatch) -> pl.DataFrame:
    import pyarrow as pa

    frame = pl.from_arrow(pa.Table.from_batches([batch]))
    return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()


def _as_bytes(dtype: pa.DataType) -> pa.DataType:
    """The type with bytes in the place of texts, nested ones too."""
    import pyarrow as pa

    if pa.types.is_string(dtype):
        return pa.binary()
    if pa.types.is_large_string(dtype):
        return pa.large_binary()
    if pa.types.is_struct(dtype):
        return pa.struct([field.with_type(_as_bytes(field.type)) for field in dtype])
    for is_it, made in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
        if is_it(dtype):
            return made(dtype.value_field.with_type(_as_bytes(dtype.value_type)))
    return dtype


def remove_rows(table: type[Landed], file: LakeFile, row_hashes: pl.Series) -> int:
    """Take rows out of a landed file; returns how many went.

    What is left is written under its own name first, so that a kill in between leaves each row at least once.
    """
    rows = pl.read_parquet(storage_of(file.path).on_disk([file.path])[0], glob=False, hive_partitioning=False)
    left = rows.join(row_hashes.to_frame("row_hash"), on="row_hash", how="anti", maintain_order="left")
    if left.height == rows.height:
        return 0
    if left.height:
        newest = left.select(pl.max_horizontal(pl.col(table.event_time).max(), pl.col("recorded_at").max())).item()
        path = file.path.with_name(f"{rows_digest(left['row_hash'])}-{microseconds(newest)}.parquet")
        write_parquet(path, left)
    storage_of(file.path).remove([file.path])
    return rows.height - left.height


def rewrite_rows(path: Path, rows: pl.DataFrame) -> None:
    """Put rows in place of all that a file of the lake holds; without any it goes."""
    if rows.height:
        write_parquet(path, rows)
    else:
        storage_of(path).remove([path])


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
