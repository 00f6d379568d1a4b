"""Rows with what their producer left to us: ids, times, and the outcome that an interaction brings along."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.hashing import canonical_row, hash_texts
from slowwave.transforms.core.schema import Landed, choose_columns, columns, producer_columns
from slowwave.transforms.core.times import datetime_in_range
from slowwave.transforms.landing.coerce import coerce_column
from slowwave.transforms.landing.delivered_rows import DeliveredRows
from slowwave.transforms.landing.schema_changes import EXTRA_BEFORE, as_before, hashed_schema, with_extra_before
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes
from slowwave.transforms.landing.versions import with_row_hash

# Of an outcome inside an interaction: its `row_hash` by releases that did not know all it says.
FORMER_HASH = "former_hash"
_LATEST = datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_FROM_INTERACTION = choose_columns(
    Interactions,
    "interaction_id", "created_at", "project", "agent", "session_id", "user_id", "tokens", "cost",
)  # fmt: skip


# What tells an interaction without an id from others.
_IDENTITY = choose_columns(Interactions, "project", "agent", "client", "session_id", "created_at", "prompt", "response")


def _stable_id(frame: pl.DataFrame, id_column: str, of: Sequence[str], prefix: str) -> pl.DataFrame:
    """Fills a missing or blank id with a hash of other columns."""
    schema = dict(frame.schema)
    missing = frame.select(is_blank(pl.col(id_column))).to_series()
    if not missing.any():
        return frame
    text = frame.filter(missing).select(canonical_row({name: schema[name] for name in of}).alias("t"))["t"]
    made = pl.Series(id_column, prefix + hash_texts(text.fill_null("")))
    return frame.with_columns(frame[id_column].scatter(missing.arg_true(), made))


def completed_interactions(frame: pl.DataFrame) -> pl.DataFrame:
    """Interactions with the defaults of what their producer did not state."""
    frame = frame.with_columns(
        pl.col("project").fill_null(""),
        pl.col("agent").fill_null(""),
        pl.col("reinforce").fill_null(value=True),
        pl.col("recorded_at").fill_null(pl.col("created_at")),
    )
    return _without_blank_texts(_stable_id(frame, "interaction_id", _IDENTITY, "i-"), Interactions)


def _without_blank_texts(frame: pl.DataFrame, table: type[Landed]) -> pl.DataFrame:
    """The rows, a blank text as NULL wherever a producer may leave the field out: CSV has no other way to say so."""
    optional = [c.name for c in producer_columns(table) if c.kind == "text" and c.nullable and c.name in frame.columns]
    return frame.with_columns(pl.when(~is_blank(pl.col(name))).then(name).alias(name) for name in optional)


def _known_at() -> pl.Expr:
    """An outcome is known when it ended: `created_at` plus `duration_ms`, at most the last instant there is."""
    left_us = (pl.lit(_LATEST, dtype=pl.Datetime("us")) - pl.col("created_at")).dt.total_microseconds()
    left = left_us.cast(pl.Float64).fill_null(0)  # of a time that is none: the row is refused, however long it took
    taken_us = pl.min_horizontal((pl.col("duration_ms").fill_null(0) * 1000).round(), left)
    return pl.col("created_at") + pl.duration(microseconds=taken_us.cast(pl.Int64))


def completed_outcomes(frame: pl.DataFrame) -> pl.DataFrame:
    """Outcomes of rows of their own, with the defaults of what their producer did not state."""
    frame = frame.with_columns(pl.col("recorded_at").fill_null(_known_at()))
    content = [name for name in hashed_schema(Outcomes, frame) if name != "outcome_id"]
    named = _stable_id(as_before(Outcomes, frame), "outcome_id", content, "o-")
    return _without_blank_texts(frame.with_columns(named["outcome_id"]), Outcomes)


def inline_outcomes(outcomes: pl.DataFrame, interactions: pl.DataFrame, recorded_at: pl.Series) -> pl.DataFrame:
    """The outcomes that interactions bring along, row by row, with `extra_before`, and `former_hash` where it differs.

    `recorded_at` as the producer gave it: the interaction's own default would hide how long the task took.
    """
    shared = interactions.select(_FROM_INTERACTION).with_columns(recorded_at)
    frame = (
        _without_blank_texts(outcomes, Outcomes)
        .hstack(shared)
        .with_columns(pl.col("recorded_at").fill_null(_known_at()), pl.lit(None, dtype=pl.String).alias("extra"))
    )
    frame = _stable_id(frame, "outcome_id", ("interaction_id",), "o-")
    before = with_extra_before(Outcomes, frame)
    is_new = before[EXTRA_BEFORE].is_not_null()
    if is_new.any():
        former = with_row_hash(Outcomes, frame.with_columns(pl.col("extra").alias(EXTRA_BEFORE)))["row_hash"]
        before = before.with_columns(pl.when(is_new).then(former).alias(FORMER_HASH))
    return before


def completed_memories(frame: pl.DataFrame) -> pl.DataFrame:
    """Changes of memories with the defaults of what their producer did not state."""
    return frame.with_columns(pl.col("recorded_at").fill_null(pl.col("changed_at")))


# When a memory expires, as producers say it: in `expires_at`, or under the names that other stores have for it.

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
