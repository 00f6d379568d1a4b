"""Refused rows of a delivered file as rows of `quarantine`: the text of each, and whether the file must be kept too."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import polars as pl

from slowwave.flows.land.formats.chunk import BadRow, Chunk
from slowwave.flows.land.report import FileCounts, ShownRow
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.coerce import json_text
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import QUARANTINE_SCHEMA, ROW_NUMBER, LandedRows
from slowwave.transforms.landing.tables import LANDED

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
