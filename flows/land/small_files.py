"""Small files landed together: what it takes to land one row is much the same for a thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON, ErasedRows
from slowwave.flows.land.formats.chunk import Chunk
from slowwave.flows.land.report import FileCounts
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import FrameRows, RecordRows
from slowwave.transforms.landing.landed_rows import ROW_NUMBER, LandedRows, readable_rows
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields
from slowwave.transforms.landing.tables import LANDED

FILE_NUMBER = "file_number"
SMALL_BYTES = 2**20
_MOST_ROWS = 5_000
_MOST_BYTES = 8 * 2**20

SmallFile = tuple[FileCounts, RecordRows | FrameRows, ReadingOptions]


@dataclass
class SmallFiles:
    """Files that were read whole, each one chunk of good rows, and wait to be landed together."""

    files: list[SmallFile] = field(default_factory=list)
    hashes: set[str] = field(default_factory=set)
    rows_count: int = 0
    bytes_count: int = 0

    def takes(self, file: FileCounts, chunk: Chunk, reading: ReadingOptions) -> bool:
        """Take a file, if it is one of these."""
        rows = chunk.rows
        if isinstance(rows, RecordRows):
            size, most = chunk.bytes_read, _MOST_BYTES
        elif isinstance(rows, FrameRows):
            size, most = int(rows.frame.estimated_size()), _MOST_BYTES
        else:
            return False
        if chunk.bad or chunk.readings or size > most:
            return False
        self.files.append((file, rows, reading))
        self.hashes.add(file.file_hash)
        self.rows_count += len(rows)
        self.bytes_count += size
        return True

    @property
    def is_full(self) -> bool:
        """Whether it is time to land them."""
        return self.rows_count >= _MOST_ROWS or self.bytes_count >= _MOST_BYTES or len(self.files) >= _MOST_ROWS


def landed_together(
    small: SmallFiles, kind: LandedTable | None, erased: ErasedRows
) -> tuple[dict[str, list[pl.DataFrame]], set[int], UnknownFields]:
    """Landed rows by table with `file_number`, the numbers of files with refused rows, and the unknown fields.

    Files with refused rows are left out of all else.
    """
    frames: dict[str, list[pl.DataFrame]] = {table.name: [] for table in LANDED}
    refused: set[int] = set()
    unknown = UnknownFields()
    for files, reading in _alike(small):
        places = pl.DataFrame(
            {
                ROW_NUMBER: pl.Series(range(sum(len(rows) for _, rows, _ in files)), dtype=pl.Int64),
                FILE_NUMBER: pl.Series(
                    [f.file_number for f, rows, _ in files for _ in range(len(rows))], dtype=pl.Int64
                ),
                "number": pl.Series([n for _, rows, _ in files for n in rows.row_numbers], dtype=pl.Int64),
            }
        )
        joined = _join_rows([rows for _, rows, _ in files])
        landed = erased.refuse_erased(readable_rows(joined, None if reading.is_import else kind, reading))
        bad = set(places.join(landed.quarantine, on=ROW_NUMBER, how="semi")[FILE_NUMBER])
        good = places.filter(~pl.col(FILE_NUMBER).is_in(list(bad)))
        refused |= bad
        but = places.filter(pl.col(FILE_NUMBER).is_in(list(bad)))[ROW_NUMBER] if bad else ()
        if not reading.is_import:
            unknown.add(landed.parts, frozenset(but))
        for table in LANDED:
            rows = landed.table(table).join(good, on=ROW_NUMBER, how="inner", maintain_order="left")
            if rows.height:
                frames[table.name].append(rows.drop(ROW_NUMBER).rename({"number": ROW_NUMBER}))
    return frames, refused, unknown


def _alike(small: SmallFiles) -> list[tuple[list[SmallFile], ReadingOptions]]:
    """The files whose rows can stand in one frame, and are read alike: of text, or of one schema."""
    alike: dict[tuple[object, ...], tuple[list[SmallFile], ReadingOptions]] = {}
    for file, rows, reading in small.files:
        schema = tuple(rows.frame.schema.items()) if isinstance(rows, FrameRows) else ()
        alike_read = reading.mapping.name if reading.mapping else None, reading.keeps_unknown, reading.is_import
        alike.setdefault((schema, alike_read), ([], reading))[0].append((file, rows, reading))
    return list(alike.values())


def _join_rows(parts: Sequence[RecordRows | FrameRows]) -> RecordRows | FrameRows:
    """Rows of files that are alike, numbered as one."""
    numbers = range(sum(map(len, parts)))
    frames = [rows.frame for rows in parts if isinstance(rows, FrameRows)]
    if frames:
        return FrameRows(pl.concat(frames), numbers)
    records = [rows for rows in parts if isinstance(rows, RecordRows)]
    return RecordRows(
        [record for rows in records for record in rows.records], numbers, [raw for rows in records for raw in rows.raws]
    )


# Rows of several files, gathered to be written together.


class Batch:
    """Rows of several files, landed together so that many small files make few lake files."""

    def __init__(self) -> None:
        self.frames: dict[str, list[pl.DataFrame]] = {table.name: [] for table in LANDED}
        self.quarantine: list[pl.DataFrame] = []
        self.bytes = 0

    def add(self, file_number: int, landed: LandedRows, quarantine: pl.DataFrame) -> None:
        """Add rows of one file, and its refused ones."""
        number = pl.lit(file_number, dtype=pl.Int64).alias(FILE_NUMBER)
        for table in LANDED:
            frame = landed.table(table)
            if frame.height:
                self.frames[table.name].append(frame.with_columns(number))
                self.bytes += frame.estimated_size()
        if quarantine.height:
            self.quarantine.append(quarantine.with_columns(number))
            self.bytes += quarantine.estimated_size()

    def add_refused(self, file_number: int, quarantine: pl.DataFrame) -> None:
        """Add refused rows of a file of which nothing else is added."""
        if quarantine.height:
            number = pl.lit(file_number, dtype=pl.Int64).alias(FILE_NUMBER)
            self.quarantine.append(quarantine.with_columns(number))

    def without_bytes(self, file_number: int, *, is_whole: bool) -> None:
        """The bytes of a file are not kept, for it names what was erased: its refused rows say so.

        `is_whole`: what stands for the file as a whole says why.
        """
        for at, frame in enumerate(self.quarantine):
            if frame[FILE_NUMBER][0] == file_number:
                of_file = pl.col(ROW_NUMBER).is_null() & is_whole
                told = pl.when(of_file).then(pl.lit(ERASED_REASON)).otherwise("reason").alias("reason")
                self.quarantine[at] = frame.with_columns(told, kept_file=pl.lit(None, pl.String))

    def add_together(self, frames: dict[str, list[pl.DataFrame]]) -> None:
        """Add rows of several files, with their numbers."""
        for name, added in frames.items():
            self.frames[name] += added
            self.bytes += sum(frame.estimated_size() for frame in added)

    def drop(self, file_number: int) -> None:
        """Forget the rows of a file that was added alone."""
        for frames in (*self.frames.values(), self.quarantine):
            frames[:] = [frame for frame in frames if frame[FILE_NUMBER][0] != file_number]
