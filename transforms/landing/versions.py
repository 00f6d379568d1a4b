"""What tells versions of rows apart, their hashes, and which version wins as of a time."""

from __future__ import annotations

import hashlib
from datetime import datetime

import polars as pl

from slowwave.transforms.core.hashing import DIGEST_BYTES, as_bytes, canonical_row, hash_texts
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.landing.schema_changes import as_before, hashed_schema


def with_row_hash(table: type[Landed], frame: pl.DataFrame) -> pl.DataFrame:
    """Adds `row_hash` and `key_hash` to rows of a landed table: they do not change with its declaration."""
    before = as_before(table, frame)
    given = hashed_schema(table, before)
    texts = before.select(row=canonical_row(given), key=canonical_row({name: given[name] for name in table.key}))
    blake2b, big = hashlib.blake2b, "big"
    digests = (blake2b(value, digest_size=DIGEST_BYTES).digest() for value in as_bytes(texts["key"]))
    keys = [int.from_bytes(value[:8], big) >> 1 for value in digests]
    return frame.with_columns(hash_texts(texts["row"]).alias("row_hash"), pl.Series("key_hash", keys, dtype=pl.Int64))


def is_visible(table: type[Landed], as_of: datetime) -> pl.Expr:
    """Whether a row version counts at `as_of`: it happened before, and was written before."""
    return (pl.col(table.event_time) < as_of) & (pl.col("recorded_at") < as_of)


def winning_versions(table: type[Landed], rows: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """One row per key of `table`: of the versions visible at `as_of` the latest `recorded_at`, ties by `row_hash`.

    Needs only the key, the event time, `recorded_at` and `row_hash`; other columns pass through. Order is not kept.
    """
    latest = ["recorded_at", "row_hash"]
    return (
        rows.filter(is_visible(table, as_of))
        .sort(latest, descending=True)
        .unique(subset=list(table.key), keep="first", maintain_order=True)
    )
