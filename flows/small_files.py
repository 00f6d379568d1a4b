"""Small files landed together: what it takes to land one row is much the same for a thousand of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from slowwave.flows.delivered_chunk import Chunk
from slowwave.flows.landing_report import FileCounts
from slowwave.transforms.delivered_rows import RecordRows
from slowwave.transforms.landed_tables import LANDED
from slowwave.transforms.landing import ROW_NUMBER, Kind, readable_rows

FILE_NUMBER = "file_number"
SMALL_BYTES = 2**16
_MOST_ROWS = 5_000
_MOST_BYTES = 8 * 2**20


@dataclass
class SmallFiles:
    """Files that were read whole, each one chunk of good lines, and wait to be landed together."""

    files: list[tuple[FileCounts, RecordRows]] = field(default_factory=list)
    hashes: set[str] = field(default_factory=set)
    rows_count: int = 0
    bytes_count: int = 0

    def takes(self, file: FileCounts, chunk: Chunk) -> bool:
        """Take a file, if it is one of these."""
        rows = chunk.rows
        if chunk.bad or chunk.bytes_read > SMALL_BYTES or not isinstance(rows, RecordRows):
            return False
        self.files.append((file, rows))
        self.hashes.add(file.file_hash)
        self.rows_count += len(rows)
        self.bytes_count += chunk.bytes_read
        return True

    @property
    def is_full(self) -> bool:
        """Whether it is time to land them."""
        return self.rows_count >= _MOST_ROWS or self.bytes_count >= _MOST_BYTES or len(self.files) >= _MOST_ROWS


def landed_together(small: SmallFiles, kind: Kind | None) -> tuple[dict[str, pl.DataFrame], set[int]]:
    """Landed rows of all tables with `file_number`, and the numbers of files with refused rows, which are left out."""
    places = pl.DataFrame(
        {
            ROW_NUMBER: pl.Series(range(small.rows_count), dtype=pl.Int64),
            FILE_NUMBER: pl.Series(
                [f.file_number for f, rows in small.files for _ in range(len(rows))], dtype=pl.Int64
            ),
            "number": pl.Series([n for _, rows in small.files for n in rows.row_numbers], dtype=pl.Int64),
        }
    )
    together = RecordRows(
        [record for _, rows in small.files for record in rows.records],
        range(small.rows_count),
        [raw for _, rows in small.files for raw in rows.raws],
    )
    landed = readable_rows(together, kind)
    refused = set(places.join(landed.quarantine, on=ROW_NUMBER, how="semi")[FILE_NUMBER])
    good = places.filter(~pl.col(FILE_NUMBER).is_in(list(refused)))
    frames = {
        table.name: landed.table(table)
        .join(good, on=ROW_NUMBER, how="inner", maintain_order="left")
        .drop(ROW_NUMBER)
        .rename({"number": ROW_NUMBER})
        for table in LANDED
    }
    return frames, refused
