"""The quarantine tried again: per file its kept bytes, or the texts of its refused rows, read as if delivered now."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON
from slowwave.flows.land.formats.chunk import CHUNK_BYTES, CHUNK_ROWS, BadRow, Chunk
from slowwave.flows.land.formats.csv import csv_chunks
from slowwave.flows.land.formats.delivery import chunks, json_row, jsonl_chunks
from slowwave.flows.land.formats.kind import delimiter_of, partition_values, with_contract_names
from slowwave.flows.land.formats.lines import Lines
from slowwave.flows.land.quarantine import kept_path, refused_rows, with_texts
from slowwave.flows.land.report import FileCounts
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles


@dataclass
class Attempt:
    """What is in quarantine of one file, and what comes of trying it again.

    `tried`: its rows there. `known`: ids of its rows that have passed before. `rows_count`: rows of the file, as its
    entries in the ledger have it. `kept`: its bytes, read again whole; None: only the texts of the rows are.
    """

    source: str
    file_hash: str
    bytes_count: int
    kind: LandedTable | None
    tried: pl.DataFrame
    known: set[str]
    rows_count: int
    kept: Path | None
    still: set[str] = field(default_factory=set)  # of `tried`, refused again
    fresh_count: int = 0  # rows refused that were not in quarantine before
    has_changed: bool = False

    def chunks(self, longest_row: int, others: frozenset[str] = frozenset()) -> Iterator[Chunk]:
        """The rows to try; `others`: other names of fields, as in `chunks`. Raises OSError as the disk does."""
        if self.kept is None:
            stated = partition_values(self.source)
            for chunk in _text_chunks(self.tried, longest_row, others):
                yield with_contract_names(chunk, stated, others)
            return
        (copy,) = storage_of(self.kept).on_disk([self.kept])
        with copy.open("rb") as handle:
            yield from chunks(handle, self.source, longest_row, others)

    def newly_refused(self, refused: pl.DataFrame) -> pl.DataFrame:
        """Of rows refused now those that are not in quarantine yet; the others are noted as still there."""
        before = set(self.tried["quarantine_id"])
        ids = refused["quarantine_id"].to_list()
        self.still |= before.intersection(ids)
        fresh = refused.filter(
            pl.Series([each not in before and each not in self.known for each in ids], dtype=pl.Boolean)
        )
        self.fresh_count += fresh.height
        return fresh

    def is_worse(self, refused: pl.DataFrame) -> bool:
        """Whether the file, which was read to its end, cannot be now."""
        return refused["row_number"].null_count() > 0 and self.tried["row_number"].null_count() == 0

    def settle(self, file: FileCounts) -> None:
        """Turn the counts of this reading into what it changes of the file's."""
        self.has_changed = bool(file.accepted or self.fresh_count or len(self.still) < self.tried.height)
        if self.kept is None or not self.has_changed:
            file.delivered = 0
        else:
            file.delivered -= self.rows_count
        file.quarantined = len(self.still) + self.fresh_count - self.tried.height
        file.duplicate = file.delivered - file.accepted - file.quarantined

    @property
    def passed(self) -> pl.DataFrame:
        """The rows that leave the quarantine."""
        return self.tried.filter(~pl.col("quarantine_id").is_in(list(self.still)))


def attempts(lake: Lake) -> list[Attempt]:
    """What is in quarantine, file by file, in the order it came in."""
    refused, resolved = refused_rows(lake)
    refused = refused.filter(pl.col("reason") != ERASED_REASON)
    refused = pl.concat([pl.DataFrame(schema=polars_schema(Quarantine)), *with_texts(lake, Quarantine, refused)])
    is_kept = (pl.col("raw_text") != "") | pl.col("kept_file").is_not_null()
    refused = refused.filter(is_kept)  # of others nothing is there any more that could be tried
    passed = dict(resolved.group_by("file_hash").agg("quarantine_id").iter_rows())
    entries = lake.ledger(RunFiles)
    counts = rows_of_files(entries)
    sizes = dict(entries.select("file_hash", "bytes_count").iter_rows())
    found = []
    for (file_hash,), rows in (
        refused.sort("landed_at", "file_hash", "row_number")
        .partition_by("file_hash", as_dict=True, maintain_order=True)
        .items()
    ):
        named = rows["kept_file"].drop_nulls()
        kept = kept_path(lake, named[0]) if len(named) else None
        if kept is not None and not storage_of(kept).exists(kept):  # with rows that were erased
            kept = None
        found.append(
            Attempt(
                source=rows["source"][0],
                file_hash=str(file_hash),
                bytes_count=sizes[file_hash],
                kind=cast("LandedTable | None", rows["kind"][0]),
                tried=rows,
                known=set(passed.get(file_hash, [])),
                rows_count=counts[str(file_hash)],
                kept=kept,
            )
        )
    return found


def rows_of_files(entries: pl.DataFrame) -> dict[str, int]:
    """How many rows each landed file has, by its hash: as first delivered, and what trying again changed."""
    ordered = entries.sort("landed_at", "run_id", "file_number")
    of_retries = pl.col("delivered").filter(pl.col("retried").is_not_null()).sum()
    first = pl.col("delivered").filter(pl.col("retried").is_null()).first()
    return dict(ordered.group_by("file_hash").agg(first + of_retries).iter_rows())


def file_identity(file_hash: str, source: str) -> str:
    """Return what tells a file from others: its bytes, and what its folders state, which makes other rows of them."""
    stated = partition_values(source)
    return f"{file_hash} {stated}" if stated else file_hash


def rows_of_placed_files(entries: pl.DataFrame) -> dict[str, int]:
    """As `rows_of_files`, by what `file_identity` tells of each."""
    stated = [source for source in entries["source"].unique() if "=" in source]
    if not stated:
        return rows_of_files(entries)
    parts = {source: file_identity("", source) for source in stated}
    place = pl.col("file_hash") + pl.col("source").replace_strict(parts, default="", return_dtype=pl.String)
    return rows_of_files(entries.with_columns(place.alias("file_hash")))


def _text_chunks(rows: pl.DataFrame, longest_row: int, others: frozenset[str]) -> Iterator[Chunk]:
    """Refused rows from their texts; what a text does not say, or not how to read it, is refused again."""
    records: list[dict[str, object]] = []
    numbers: list[int] = []
    raws: list[bytes] = []
    bad: list[BadRow] = []
    for row in rows.iter_rows(named=True):
        raw = row["raw_text"].encode()
        for chunk in _read_alone(row, raw, longest_row, others):
            records += cast("RecordRows", chunk.rows).records
            numbers += [row["row_number"]] * len(chunk.rows)
            raws += [raw] * len(chunk.rows)
            bad += [BadRow(row["row_number"], each.reason, raw) for each in chunk.bad]
        if sum(map(len, raws)) >= CHUNK_BYTES or len(raws) + len(bad) >= CHUNK_ROWS:
            yield Chunk(RecordRows(records, numbers, raws), bad, 0, "unknown")
            records, numbers, raws, bad = [], [], [], []
    yield Chunk(RecordRows(records, numbers, raws), bad, 0, "unknown")


def _read_alone(row: dict[str, Any], raw: bytes, longest_row: int, others: frozenset[str]) -> Iterator[Chunk]:
    if row["format"] == "csv" and row["header"] is not None:
        header = row["header"].encode()
        lines = Lines(io.BytesIO(header + b"\n" + raw), longest_row)
        return csv_chunks(lines, longest_row, delimiter_of(header, others))
    if row["format"] == "json" and row["row_number"] is not None:
        return json_row(row["row_number"], raw, longest_row)
    # releases that noted no format kept JSON lines and rows of Parquet alike, and no header of CSV
    is_json = row["format"] in {"jsonl", "parquet"} or (not row["format"] and not row["source"].endswith(".parquet"))
    if is_json and row["row_number"] is not None:
        return jsonl_chunks(Lines(io.BytesIO(raw), longest_row), longest_row)
    nothing = RecordRows([], [], [])
    return iter([Chunk(nothing, [BadRow(row["row_number"], row["reason"], raw)], 0, "unknown")])
