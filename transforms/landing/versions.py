"""What tells versions of rows apart, their hashes, which version wins as of a time, and which days changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.transforms.core.frames import Lazy, conform, selected
from slowwave.transforms.core.hashing import DIGEST_BYTES, as_bytes, canonical_row, hash_texts
from slowwave.transforms.core.schema import Landed, polars_schema
from slowwave.transforms.landing.schema_changes import as_before, hashed_schema
from slowwave.transforms.landing.tables import LandedDays, Memories


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


# What may be said of a memory; a NULL field stays as it is, those in `clears` lose what was said of them.
_SAID = ("memory_id", *Memories.state, "clears")
CHANGE = pl.Struct({name: dtype for name, dtype in polars_schema(Memories).items() if name in _SAID})
_VALUES = pl.Struct({"changes": pl.List(CHANGE)})


def stated_changes(decisions: pl.DataFrame, commands: Sequence[str]) -> pl.DataFrame:
    """The rows that decisions of these commands make, with decision_id, in place of hashes and `extra`.

    They follow from the decisions alone.
    """
    ours = decisions.filter(pl.col("command").is_in(list(commands))).select(
        "decision_id", pl.col("decided_at").alias("changed_at"), "recorded_at", "values", "reason", "changed_by"
    )
    told = ours.with_columns(pl.col("values").str.json_decode(_VALUES).struct.field("changes")).explode("changes")
    return (
        told.drop("values")
        .drop_nulls("changes")
        .sort("decision_id", maintain_order=True)
        .unnest("changes")
    )  # fmt: skip


def changes_of(values: str) -> list[dict[str, Any]]:
    """The changes of memories that a decision's values hold, with their times as times."""
    return [
        _with_times(change) | ({"before": _with_times(change["before"])} if change.get("before") else {})
        for change in json.loads(values)["changes"]
    ]


def _with_times(said: Mapping[str, Any]) -> dict[str, Any]:
    at = said.get("expires_at")
    return {**said, **({"expires_at": datetime.fromisoformat(at)} if at else {})}


LATE_AFTER = timedelta(hours=24)
_A_MILLIONTH = 1e-6
_HOURS_A_MICROSECOND = 1 / 3_600_000_000  # a product: Polars divides one row otherwise than many, in the last bit


def landed_days(rows: pl.LazyFrame) -> Lazy[LandedDays]:
    """One row per landed table, project, agent and UTC day with a row, sorted by them; run_id and as_of apart.

    `rows`: landed_table, project and agent (NULL: not said), occurred_at, recorded_at, basis (of outcomes, else NULL),
    tokens, cost (NULL: not said), of the winning versions.

    A row is late when it was recorded more than 24 hours after it happened. Producers say when they recorded it; who
    does not say is not known to be late.
    """
    delay = pl.col("recorded_at") - pl.col("occurred_at")
    is_late = delay > LATE_AFTER
    millionths = (pl.col("cost") * 1e6).round().cast(pl.Int64, strict=False)  # a sum of floats depends on their order
    counted = rows.group_by(
        "landed_table",
        pl.col("project").fill_null(""),
        pl.col("agent").fill_null(""),
        pl.col("occurred_at").dt.date().alias("day"),
    ).agg(
        pl.len().alias("rows_count"),
        (pl.col("basis") == "inferred").sum().alias("inferred_count"),
        is_late.sum().alias("late_count"),
        (delay.filter(is_late).max().dt.total_microseconds() * _HOURS_A_MICROSECOND).alias("late_hours_max"),
        pl.when(pl.col("tokens").is_not_null().any()).then(pl.col("tokens").sum()).alias("stated_tokens"),
        pl.when(pl.col("cost").is_not_null().any()).then(millionths.sum() * _A_MILLIONTH).alias("stated_cost"),
        pl.col("occurred_at").max().alias("newest_at"),
        pl.col("recorded_at").max().alias("newest_recorded_at"),
    )
    return selected(LandedDays, conform(LandedDays, counted)).sort(LandedDays.key)
