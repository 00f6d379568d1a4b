"""Files of the lake in pieces small enough to be held, however well they are packed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.flows.kernel.storage.folder import Folder, Range
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.files import LakeFile

if TYPE_CHECKING:
    from pyarrow.parquet import ColumnChunkMetaData, FileMetaData, RowGroupMetaData

# So many times its size a file may unpack to; into what is little even then it does not pay to look.
_MOST_UNPACKED = 1000
_LITTLE_BYTES = 192 * 2**20
# With so much of the end of a file, what it says of itself has mostly come.
_OFTEN_ENOUGH = 2**16


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of one file; `rows` None: all there are. `bytes`: what they take at most when decoded.

    `ranges`: where they stand in the file, of which no more is wanted; none: all of it is.
    """

    file: LakeFile
    offset: int
    rows: int | None
    bytes: int
    ranges: tuple[Range, ...] = ()

    @property
    def path(self) -> Path:
        """A file to read them from, as they stand in the lake's file."""
        path = self.file.path
        return storage_of(path).ranges_on_disk(path, self.ranges) if self.ranges else path


@dataclass(frozen=True)
class Between:
    """Rows from `first` (included) to `end` (left out; None: to the last), in the order of columns of texts."""

    columns: tuple[str, ...]
    first: tuple[str, ...] = ()
    end: tuple[str, ...] | None = None

    def may_be_in(self, group: Any) -> bool:  # noqa: ANN401 - a row group of pyarrow
        """Whether the statistics of a row group leave it open that such a row is in it."""
        told = {column.path_in_schema: column.statistics for column in map(group.column, range(group.num_columns))}
        known = [each for name in self.columns if (each := told.get(name)) is not None and each.has_min_max]
        if len(known) < len(self.columns):
            return True
        is_before_end = self.end is None or tuple(each.min for each in known) < self.end
        return is_before_end and tuple(each.max for each in known) >= self.first

    def holds(self) -> pl.Expr:
        """Whether a row is one of them."""
        is_before_end = pl.lit(value=True) if self.end is None else self._is_before(self.end)
        return is_before_end & ~self._is_before(self.first)

    def _is_before(self, place: tuple[str, ...]) -> pl.Expr:
        is_before = pl.lit(value=False)
        for name, value in reversed(list(zip(self.columns, place, strict=False))):
            is_before = (pl.col(name) < value) | ((pl.col(name) == value) & is_before)
        return is_before


def pieces(files: Sequence[LakeFile], within: Between | None = None) -> list[Piece]:
    """Files by row groups, none of which is much more than 32 MB decoded, or whole where they all are small.

    Row groups that hold nothing of what is wanted are left out, where the file says so.
    """
    packed = [file.size * _MOST_UNPACKED for file in files]
    if sum(packed) <= _LITTLE_BYTES:
        return [Piece(file, 0, None, size) for file, size in zip(files, packed, strict=True)]
    return [piece for file in files for piece in _of_file(file, within)]


def _of_file(file: LakeFile, within: Between | None) -> list[Piece]:
    told = footer(file.path)
    found, offset = [], 0
    for group in map(told.row_group, range(told.num_row_groups)):
        if within is None or within.may_be_in(group):
            found.append(Piece(file, offset, group.num_rows, group.total_byte_size, _ranges(group)))
        offset += group.num_rows
    if 2 * len(found) > told.num_row_groups:  # whole, with one request
        return [replace(piece, ranges=()) for piece in found]
    return [replace(piece, ranges=(*piece.ranges, _end(file.path))) for piece in found]


def footer(path: Path) -> FileMetaData:
    """What a Parquet file of the lake says of itself; of one in a bucket no more is fetched."""
    import pyarrow.parquet as pq

    return pq.read_metadata(storage_of(path).ranges_on_disk(path, [_end(path)]))


def with_columns(files: Sequence[LakeFile], names: Collection[str]) -> list[Path]:
    """Files to read these columns from and no others, as they stand in the lake's files."""
    return [_with_columns(file.path, names) for file in files]


def _with_columns(path: Path, names: Collection[str]) -> Path:
    storage = storage_of(path)
    if isinstance(storage, Folder) or storage.size(path) < _OFTEN_ENOUGH:
        return path
    told = footer(path)
    ranges = [_end(path)]
    for group in map(told.row_group, range(told.num_row_groups)):
        columns = map(group.column, range(group.num_columns))
        ranges += [_range(one) for one in columns if one.path_in_schema.split(".")[0] in names]
    return storage.ranges_on_disk(path, ranges)


def _end(path: Path) -> Range:
    """Where a file says what is in it: at its end, as long as the last eight bytes tell."""
    storage = storage_of(path)
    size = storage.size(path)
    with storage.ranges_on_disk(path, [(max(0, size - _OFTEN_ENOUGH), size)]).open("rb") as file:
        file.seek(-8, os.SEEK_END)
        return max(0, size - 8 - int.from_bytes(file.read(4), "little")), size


def _ranges(group: RowGroupMetaData) -> tuple[Range]:
    """Where a row group stands: its columns stand one after the other."""
    columns = [_range(group.column(at)) for at in range(group.num_columns)]
    return ((min(start for start, _ in columns), max(end for _, end in columns)),)


def _range(column: ColumnChunkMetaData) -> Range:
    offsets = (column.dictionary_page_offset, column.data_page_offset)
    start = min(at for at in offsets if at is not None)
    return start, start + column.total_compressed_size


def gathered_pieces(files: Sequence[LakeFile], at_once: int, within: Between | None = None) -> Iterator[list[Piece]]:
    """Pieces of the files, gathered up to so many bytes."""
    gathered: list[Piece] = []
    held = 0
    for piece in pieces(files, within):
        if gathered and held + piece.bytes > at_once:
            yield gathered
            gathered, held = [], 0
        gathered.append(piece)
        held += piece.bytes
    if gathered:
        yield gathered
