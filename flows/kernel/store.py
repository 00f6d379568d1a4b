"""Files that are whole or absent: those of the lake where it is kept, all others in their folder (see `storage`)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.flows.kernel.storage.folder import TEMPORARY, fsync_path, make_durable_folder
from slowwave.flows.kernel.storage.storage import on_disk, storage_of

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "TEMPORARY",
    "fsync_path",
    "make_durable_folder",
    "packed_parquet",
    "row_groups_count",
    "write_durably",
    "write_parquet",
    "write_parquet_parts",
]


def write_durably(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file aside, then put it at `path`: durable, and never seen half-written.

    Raises OSError as the system does; what was written aside is then removed.
    """
    storage_of(path).write(path, write)


# A row group is the unit a reader holds in memory: by rows where they are short, by bytes where they are long.
_ROWS_PER_GROUP = 32_768
_BYTES_PER_GROUP = 32 * 2**20


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame durably, as `packed_parquet`. Raises OSError as the system does."""
    packed = packed_parquet(frame)
    write_durably(path, lambda aside: aside.write_bytes(packed))


def write_parquet_parts(path: Path, parts: Iterable[pl.DataFrame]) -> None:
    """Write frames of one schema durably as one file, one after the other. Raises OSError as the system does."""
    import polars as pl
    import pyarrow.parquet as pq

    def write(aside: Path) -> None:
        writer: pq.ParquetWriter | None = None
        try:
            for part in parts:
                rows = part.to_arrow(compat_level=pl.CompatLevel.oldest())
                if writer is None:
                    writer = pq.ParquetWriter(aside, rows.schema, compression="zstd", compression_level=1)
                writer.write_table(rows, row_group_size=_ROWS_PER_GROUP)
        finally:
            if writer is not None:
                writer.close()

    write_durably(path, write)


def packed_parquet(frame: pl.DataFrame) -> memoryview:
    """A frame as zstd Parquet, in row groups of about 32 MB at most."""
    bytes_per_row = max(1, int(frame.estimated_size()) // max(1, frame.height))
    rows = max(1, min(_ROWS_PER_GROUP, _BYTES_PER_GROUP // bytes_per_row))
    packed = io.BytesIO()  # written by Python: of a full disk, Polars says only that Parquet is "out of specification"
    frame.write_parquet(packed, compression="zstd", compression_level=1, row_group_size=rows)
    return packed.getbuffer()


def row_groups_count(path: Path) -> int:
    """Row groups of a file that `write_parquet` wrote: none is much more than 32 MB decoded, or one row."""
    import pyarrow.parquet as pq  # loads numpy, which a night with nothing to land does not need

    return pq.read_metadata(on_disk([path])[0]).num_row_groups
