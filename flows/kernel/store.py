"""Files that are whole or absent: those of the lake where it is kept, all others in their folder (see `storage`).

Some are their owner's alone: tokens, and what was taken in over the wire. What all that needs of a file system is tried
out in a folder that is removed at once.
"""

from __future__ import annotations

import fcntl
import io
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
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


PROBE_PREFIX = ".doctor-"


def missing_abilities(folder: Path) -> list[str]:
    """What the file system under `folder` cannot do, each as a verb with the system's reason; [] when it will do.

    Raises OSError when nothing can be written there.
    """
    missing = []
    # Named as half-written files are, so that what a killed doctor leaves is cleared with them.
    with tempfile.TemporaryDirectory(prefix=PROBE_PREFIX, suffix=TEMPORARY, dir=folder) as probe:
        for ability, tries in _ABILITIES.items():
            try:
                tries(Path(probe))
            except OSError as error:
                missing.append(f"{ability} ({error.strerror or error})")
    return missing


def _replace_a_file(probe: Path) -> None:
    old, new = probe / "old", probe / "new"
    old.write_bytes(b"old")
    new.write_bytes(b"new")
    fsync_path(new)
    new.replace(old)


def _replace_a_symbolic_link(probe: Path) -> None:
    link, aside = probe / "link", probe / "aside"
    link.symlink_to("one")
    aside.symlink_to("two")
    aside.replace(link)


def _keep_a_second_writer_out(probe: Path) -> None:
    path = probe / "lock"
    path.touch()
    with path.open("rb") as first, path.open("rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    message = "two had the lock at once"
    raise OSError(message)


_ABILITIES: dict[str, Callable[[Path], None]] = {
    "flush and replace a file": _replace_a_file,
    "replace a symbolic link": _replace_a_symbolic_link,
    "flush a folder": fsync_path,
    "keep a second writer out with a lock": _keep_a_second_writer_out,
}


def nearest_folder(path: Path) -> Path:
    """The path itself where it is there, else the nearest folder above it that is."""
    return next(above for above in (path, *path.parents) if above.exists())


def can_be_written(path: Path) -> bool:
    """Whether the system lets this user write to a file, or make files in a folder; nothing is tried."""
    return os.access(path, os.W_OK | (os.X_OK if path.is_dir() else 0))


_MODE = 0o600


def write_private(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file aside, flush it, give it its name and flush the folder; nobody else may read it, whatever the umask.

    Raises OSError as the system does: then there is no such file, unless the folder alone could not be flushed and the
    file not be taken away again either.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    try:
        flush_folder(path.parent)
    except OSError:
        with suppress(OSError):  # it is not known to last
            path.unlink()
        raise


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
