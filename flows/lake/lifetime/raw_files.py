"""Parquet files as they were written, by whichever release: to look through their rows, or take rows out for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_parquet
from slowwave.flows.lake.files import LakeFile, microseconds
from slowwave.transforms.core.hashing import rows_digest
from slowwave.transforms.core.schema import Landed

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
