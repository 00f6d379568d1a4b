"""Files that are whole or absent: every write is made aside, flushed to the disk, renamed, and its folder flushed."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable
from pathlib import Path

import polars as pl

TEMPORARY = ".tmp"


def fsync_path(path: Path) -> None:
    """Flush a file or a folder to the disk. Raises OSError, naming the path."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(handle)


def make_durable_folder(folder: Path) -> None:
    """Make a folder and its parents, so that none of them is lost when the power goes."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        fsync_path(new.parent)


def write_durably(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then put it there: durable, and never seen half-written.

    Raises OSError as the system does; what was written aside is then removed.
    """
    make_durable_folder(path.parent)
    aside = path.parent / f".{path.name[:80]}.{uuid.uuid4().hex[:8]}{TEMPORARY}"
    try:
        write(aside)
        fsync_path(aside)
        aside.rename(path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(aside), aside):
            error.filename = str(path)  # what was asked for, not the file beside it
            error.filename2 = None
        raise
    fsync_path(path.parent)


# A row group is the unit a reader holds in memory: by rows where they are short, by bytes where they are long.
_ROWS_PER_GROUP = 32_768
_BYTES_PER_GROUP = 32 * 2**20


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame durably as zstd Parquet in row groups of about 32 MB at most. Raises OSError as the system does."""
    bytes_per_row = max(1, int(frame.estimated_size()) // max(1, frame.height))
    rows = max(1, min(_ROWS_PER_GROUP, _BYTES_PER_GROUP // bytes_per_row))
    packed = io.BytesIO()  # written by Python: of a full disk, Polars says only that Parquet is "out of specification"
    frame.write_parquet(packed, compression="zstd", compression_level=1, row_group_size=rows)
    write_durably(path, lambda aside: aside.write_bytes(packed.getbuffer()))


def row_groups_count(path: Path) -> int:
    """Row groups of a file that `write_parquet` wrote: none is much more than 32 MB decoded, or one row."""
    import pyarrow.parquet as pq  # loads numpy, which a night with nothing to land does not need

    return pq.read_metadata(path).num_row_groups
