"""When a memory expires, as producers say it: in `expires_at`, or under the names that other stores have for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from slowwave.transforms.core.schema import columns
from slowwave.transforms.core.times import datetime_in_range
from slowwave.transforms.landing.coerce import coerce_column
from slowwave.transforms.landing.delivered_rows import DeliveredRows
from slowwave.transforms.landing.tables import Memories, Outcomes

EXPIRES_AT = next(c for c in columns(Memories) if c.name == "expires_at")
_SECONDS = next(c for c in columns(Outcomes) if c.name == "duration_ms")  # a number, not below 0
_LIFETIME = "ttl_seconds"
# Of a row that has several, the first that says something counts.
SYNONYMS = ("valid_until", "expiration_date", _LIFETIME)


class StatedExpiry(NamedTuple):
    """`expires_at` of each row; the rows that clear it; by name, the rows whose value there was not read."""

    expires_at: pl.Series
    cleared: list[int]
    unread: dict[str, list[int]]


def stated_expiry(rows: DeliveredRows, changed_at: pl.Series) -> StatedExpiry:
    """Return when the memories of delivered changes expire, NULL: the change does not say.

    `ttl_seconds` count from `changed_at`. '' clears unless another name says one.
    """
    found = pl.Series("expires_at", [None] * len(rows), dtype=EXPIRES_AT.dtype)
    empty: set[int] = set()
    unread: dict[str, list[int]] = {}
    for name in (EXPIRES_AT.name, *SYNONYMS):
        if name not in rows.fields:
            continue
        values = rows.values(name)
        times = _after(changed_at, values) if name == _LIFETIME else coerce_column(EXPIRES_AT, values)[0]
        listed = values.to_list() if isinstance(values, pl.Series) else values
        is_read = found.is_null() & times.is_not_null()
        empty |= {i for i, value in enumerate(listed) if value == ""}
        unread[name] = [i for i, value in enumerate(listed) if value is not None and value != "" and not is_read[i]]
        found = found.zip_with(~is_read, times.alias(found.name))
    return StatedExpiry(found, sorted(i for i in empty if found[i] is None), unread)


def _after(changed_at: pl.Series, seconds: pl.Series | Sequence[Any]) -> pl.Series:
    """The times so many seconds after the changes; NULL where they are no number, below 0, or beyond all times."""
    lasting_us = (coerce_column(_SECONDS, seconds)[0] * 1_000_000).round().cast(pl.Int64, strict=False)
    at = changed_at.dt.timestamp("us").cast(pl.Int128) + lasting_us
    return pl.select(datetime_in_range(pl.lit(at).cast(pl.Int64, strict=False))).to_series()
