"""Hashes of landed rows and of their keys."""

from __future__ import annotations

import hashlib

import polars as pl

from slowwave.transforms.core.hashing import DIGEST_BYTES, as_bytes, canonical_row, hashed
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
    return frame.with_columns(hashed(texts["row"]).alias("row_hash"), pl.Series("key_hash", keys, dtype=pl.Int64))
