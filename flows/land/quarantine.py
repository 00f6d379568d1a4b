"""What was refused: its rows in the ledger, and the bytes of what could not be read, kept as delivered.

A file's rows in the ledger count once the file's own entry in `run_files` is there: that is written last, so that a
landing killed before it, or stopped by a fault of ours, leaves nothing that counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import orjson
import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.formats.chunk import BadRow, Chunk
from slowwave.flows.land.report import FileCounts, ShownRow
from slowwave.transforms.core.schema import Table
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.coerce import json_text
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import QUARANTINE_SCHEMA, ROW_NUMBER, LandedRows
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles
from slowwave.transforms.landing.tables import LANDED

_BLOCK = 2**20
_TEXTS = ("raw_text", "header")
_SHOWN_CHARACTERS = 10_000


class ChangedFileError(Exception):
    """A delivered file is no longer what was read."""


def kept_path(lake: Lake, sha256: str) -> Path:
    """Where the bytes with this hash are kept."""
    return lake.root / Quarantine.name / "files" / sha256


def keep_bytes(lake: Lake, handle: BinaryIO, sha256: str) -> None:
    """Keep the bytes of a delivered file, durably, unless they are kept already.

    Raises ChangedFileError when they no longer have that hash, OSError when a disk fails.
    """
    path = kept_path(lake, sha256)
    if storage_of(path).exists(path):
        return

    def copy(aside: Path) -> None:
        handle.seek(0)
        state = hashlib.sha256()
        with aside.open("wb") as out:
            while block := handle.read(_BLOCK):
                state.update(block)
                out.write(block)
        if state.hexdigest() != sha256:
            raise ChangedFileError

    write_durably(path, copy)


def refused_rows(lake: Lake) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`quarantine`, refused to this day, and `quarantine_resolved`, passed since; their texts: see `with_texts`."""
    files = lake.ledger(RunFiles).select("run_id", "file_hash").unique()
    stored, noted = (lake.ledger(table, without=_TEXTS) for table in (Quarantine, QuarantineResolved))
    is_early = pl.col("format").is_null()  # by a release that wrote the rows of a file under whichever run came first
    refused = pl.concat(
        [
            stored.filter(is_early).join(files, on="file_hash", how="semi"),
            stored.filter(~is_early).join(files, on=["run_id", "file_hash"], how="semi"),
        ]
    )
    refused = refused.sort("landed_at", "run_id").unique("quarantine_id", keep="first").sort("quarantine_id")
    resolved = noted.join(
        files, left_on=["resolved_run_id", "file_hash"], right_on=["run_id", "file_hash"], how="semi"
    ).sort("resolved_at", "resolved_run_id")
    resolved = resolved.unique("quarantine_id", keep="first").sort("quarantine_id")
    return refused.join(resolved, on="quarantine_id", how="anti", maintain_order="left"), resolved


def with_texts(lake: Lake, table: type[Table], rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows of `refused_rows` whole, as much at a time as a file of the ledger holds: their texts may be gigabytes."""
    left = rows.select(table.stored_key)
    for part in lake.ledger_parts(table):
        found = part.join(left.lazy(), on=table.stored_key, how="semi").unique(table.stored_key, keep="any").collect()
        left = left.join(found.select(table.stored_key), on=table.stored_key, how="anti")
        yield found.sort(table.key)


def landing_ledger(lake: Lake) -> Iterator[tuple[type[Table], Iterator[pl.LazyFrame]]]:
    """Yield each ledger table that landing writes, and its rows as they are published, some at a time."""
    yield RunFiles, iter([lake.ledger(RunFiles).lazy()])
    for table, refused in zip((Quarantine, QuarantineResolved), refused_rows(lake), strict=True):
        yield table, (rows.lazy().with_columns(_shown_text()) for rows in with_texts(lake, table, refused))


def _shown_text() -> pl.Expr:
    """`raw_text` as it is published: enough to see what it is, and no more than a serving file can hold of many."""
    return pl.col("raw_text").str.head(_SHOWN_CHARACTERS)


def forget_resolved_bytes(lake: Lake, young: float) -> int:
    """Remove kept files that no refused row needs, unless changed after `young`; returns how many bytes went."""
    folder = kept_path(lake, "")
    storage = storage_of(folder)
    kept = storage.files(folder)
    if not kept:
        return 0
    needed = set(refused_rows(lake)[0]["kept_file"].drop_nulls())
    gone = [path for path in kept if path.name not in needed and storage.changed_at(path) < young]
    size = sum(storage.size(path) for path in gone)
    storage.remove(gone)
    return size


# What is longer is kept as bytes: every publish holds the text of all refused rows.
_TEXT_CHARACTERS = 1_000_000
# Every publish holds half a kilobyte of each: a packed file of a few kilobytes may hold twenty million.
MOST_REFUSED = 1_000_000


def refused_frame(file: FileCounts, chunk: Chunk, quarantine: pl.DataFrame, kind: LandedTable | None) -> pl.DataFrame:
    """The refused rows of a chunk as rows of `quarantine`, without run and time."""
    refused = pl.concat([quarantine, _bad_rows(chunk.bad)])
    header = chunk.header if chunk.header is None or len(chunk.header) <= _TEXT_CHARACTERS else None
    is_cut = pl.col("raw_text").str.len_chars() > _TEXT_CHARACTERS
    says_all = pl.col(ROW_NUMBER).is_not_null() & pl.col("is_whole") & ~is_cut & (header == chunk.header)
    number = pl.col(ROW_NUMBER).cast(pl.String).fill_null("file")
    return refused.select(
        pl.concat_str(pl.lit(f"{file.file_hash}-"), number).alias("quarantine_id"),
        pl.lit(file.source).alias("source"),
        pl.lit(file.file_hash).alias("file_hash"),
        ROW_NUMBER,
        "field",
        "reason",
        pl.col("raw_text").str.head(_TEXT_CHARACTERS),
        pl.lit(chunk.format).alias("format"),
        pl.lit(header, dtype=pl.String).alias("header"),
        pl.lit(kind, dtype=pl.String).alias("kind"),
        pl.when(~says_all).then(pl.lit(file.file_hash)).alias("kept_file"),
    )


def not_read_on(last: Chunk, refused_count: int) -> Chunk:
    """What stands for the rest of a file behind `last` when so many of its rows were refused."""
    reason = (
        f"{refused_count:,} rows of the file were refused, and of no file more than {MOST_REFUSED:,} are listed, so it "
        "is not read on: mend them, or deliver the rows behind them in files of their own"
    )
    return Chunk(RecordRows([], [], []), [BadRow(None, reason, b"")], last.bytes_read, last.format)


def _bad_rows(bad: Sequence[BadRow]) -> pl.DataFrame:
    return pl.DataFrame([_bad_row(row) for row in bad], schema=QUARANTINE_SCHEMA, orient="row")


def _bad_row(row: BadRow) -> tuple[int | None, str, str, str, bool]:
    try:
        return row.row_number, "", row.reason, row.raw.decode(), row.is_whole
    except UnicodeDecodeError:
        return row.row_number, "", row.reason, row.raw.decode("utf-8", "backslashreplace"), False


# The first rows of a rehearsal as delivered and as they would land, so that a mapping can be judged by eye.

MOST_SHOWN = 3
_INTERNAL = frozenset({ROW_NUMBER, "row_hash", "key_hash", "clears"})


def shown_rows(landed: LandedRows, most: int) -> list[ShownRow]:
    """The first rows of a chunk, `most` at most, by their numbers."""
    if most <= 0:
        return []
    texts: dict[int, str] = {}
    for part in landed.parts:
        texts |= {number: part.rows.raw(i) for i, number in enumerate(part.rows.row_numbers[:most])}
    return [ShownRow(number, texts[number], _after(landed, number)) for number in sorted(texts)[:most]]


def _after(landed: LandedRows, number: int) -> str:
    said = [
        f"{table.name} {json_text(_non_null_fields(row))}"
        for table in LANDED
        for row in landed.table(table).filter(landed.table(table)[ROW_NUMBER] == number).to_dicts()
    ]
    refused = landed.quarantine.filter(landed.quarantine[ROW_NUMBER] == number)["reason"]
    return " and ".join([*said, *(f"refused: {reason}" for reason in refused)])


def _non_null_fields(row: dict[str, object]) -> dict[str, object]:
    stated = {name: value for name, value in row.items() if value is not None and name not in _INTERNAL}
    return stated | ({"extra": orjson.loads(str(stated["extra"]))} if "extra" in stated else {})
