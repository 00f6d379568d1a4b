"""Files of the lake in pieces small enough to be held, however well they are packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.flows.kernel.storage.storage import on_disk
from slowwave.flows.lake.files import LakeFile

# So many times its size a file may unpack to; into what is little even then it does not pay to look.
_MOST_UNPACKED = 1000
_LITTLE_BYTES = 192 * 2**20


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of one file; `rows` None: all there are. `bytes`: what they take at most when decoded."""

    file: LakeFile
    offset: int
    rows: int | None
    bytes: int


@dataclass(frozen=True)
class Between:
    """Rows from one to another, both included, in the order of some columns of texts."""

    columns: tuple[str, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]

    def may_be_in(self, group: Any) -> bool:  # noqa: ANN401 - a row group of pyarrow
        """Whether the statistics of a row group leave it open that such a row is in it."""
        told = {column.path_in_schema: column.statistics for column in map(group.column, range(group.num_columns))}
        known = [each for name in self.columns if (each := told.get(name)) is not None and each.has_min_max]
        if len(known) < len(self.columns):
            return True
        return tuple(each.min for each in known) <= self.last and tuple(each.max for each in known) >= self.first


def pieces(files: Sequence[LakeFile], within: Between | None = None) -> list[Piece]:
    """Files by row groups, none of which is much more than 32 MB decoded, or whole where they all are small.

    Row groups that hold nothing of what is wanted are left out, where the file says so.
    """
    packed = [file.size * _MOST_UNPACKED for file in files]
    if sum(packed) <= _LITTLE_BYTES:
        return [Piece(file, 0, None, size) for file, size in zip(files, packed, strict=True)]
    import pyarrow.parquet as pq

    found = []
    for file in files:
        metadata, offset = pq.read_metadata(on_disk([file.path])[0]), 0
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            if within is None or within.may_be_in(group):
                found.append(Piece(file, offset, group.num_rows, group.total_byte_size))
            offset += group.num_rows
    return found


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
