"""Rows of several files, gathered to be written together."""

from __future__ import annotations

import polars as pl

from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON
from slowwave.flows.land.small_files import FILE_NUMBER
from slowwave.transforms.landing.landed_rows import ROW_NUMBER, LandedRows
from slowwave.transforms.landing.tables import LANDED


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
