"""The state of each memory over time, and the pool of memories an interaction could have used."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.transforms.core.hashing import hash_texts
from slowwave.transforms.core.methods.registry import implementation
from slowwave.transforms.core.schema import Carried, Kind, columns
from slowwave.transforms.evidence.echo.echo import Echo
from slowwave.transforms.evidence.params import PoolParams
from slowwave.transforms.evidence.reach import REACH, with_reach
from slowwave.transforms.evidence.scopes import ScopeParams, memory_owner
from slowwave.transforms.landing.tables import Memories

IN_USE = ("candidate", "active")
_UNTAGGED = ScopeParams()


def memory_states(memories: pl.LazyFrame, params: ScopeParams = _UNTAGGED) -> pl.LazyFrame:
    """Per change the full state from then on: memory_id, valid_from, valid_until (NULL: still), state columns, owner.

    With them what belongs to the change alone: changed_at, recorded_at, reason, changed_by.

    `memories` holds winning changes, one per (memory_id, changed_at). A NULL field carries over from the change before;
    '' clears a text, a name in `clears` any other field; defaults fill what was never said. `status` is as stated:
    nothing expires here (see `states_over_time`). `owner`: see `memory_owner`.
    """
    ordered = memories.sort("memory_id", "changed_at").with_row_index("change")

    def carried_column(name: str, kind: Kind, carried: Carried) -> pl.Expr:
        stated = pl.col(name).is_not_null() | pl.col("clears").list.contains(name).fill_null(value=False)
        at = pl.when(stated).then(pl.col("change")).forward_fill().over("memory_id")
        value = pl.col(name).gather(at)
        if kind == "text" and not carried.is_empty_a_value:
            value = pl.when(value != "").then(value)
        return (value if carried.first is None else value.fill_null(carried.first)).alias(name)

    return ordered.select(
        "memory_id",
        pl.col("changed_at").alias("valid_from"),
        pl.col("changed_at").shift(-1).over("memory_id").alias("valid_until"),
        *[carried_column(c.name, c.kind, c.carried) for c in columns(Memories) if c.carried],
        *Memories.of_change,
    ).with_columns(memory_owner(params).alias("owner"))


def states_over_time(states: pl.LazyFrame, as_of: datetime) -> pl.LazyFrame:
    """Return `memory_states` in which memories expire: a row ends at its `expires_at`, and an expired row follows.

    `status` is `expired` where a memory would be active or a candidate at or after its `expires_at`. An expiry is seen
    as a change is: before `as_of`. A later change may move `expires_at`; then the memory is what that change says.
    """
    at, until = pl.col("expires_at"), pl.col("valid_until")
    can_expire = pl.col("status").is_in(IN_USE) & (at < pl.lit(as_of, dtype=pl.Datetime("us")))
    is_split = (can_expire & (pl.col("valid_from") < at) & (until.is_null() | (at < until))).fill_null(value=False)
    is_expired = (can_expire & (at <= pl.col("valid_from"))).fill_null(value=False)
    expired = pl.lit("expired").alias("status")
    until_then = states.with_columns(
        pl.when(is_split).then(at).otherwise(until).alias("valid_until"),
        pl.when(is_expired).then(expired).otherwise("status").alias("status"),
    )
    from_then = states.filter(is_split).with_columns(at.alias("valid_from"), expired)
    return pl.concat([until_then, from_then]).sort("memory_id", "valid_from")


def memory_origins(states: pl.LazyFrame) -> pl.LazyFrame:
    """When each memory began and what was first said of it: memory_id, created_at, confidence (NULL: never said)."""
    return (
        states.sort("memory_id", "valid_from")
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("valid_from").first().alias("created_at"), pl.col("confidence").drop_nulls().first())
    )


def current_memories(states: pl.DataFrame) -> pl.DataFrame:
    """Of `memory_states` what each memory is now: its last."""
    return states.filter(pl.col("valid_until").is_null())


def memory_pool(states: pl.LazyFrame, params: PoolParams) -> pl.LazyFrame:
    """When which memory could be used where, and as what text.

    Columns: memory_id, is_global, project, only_agent, only_user (see `REACH`), content, content_hash, pattern,
    valid_from, valid_until.

    Only active times; a global memory (`scope` global, or of project '' and `params.global_types`) counts in every
    project. `pattern` is the text that `params.echo_method` looks for, NULL: none. Changes that alter none of these do
    not split a row, so that a change of confidence repairs no day.
    """
    echo: Echo = implementation(params.echo_method)
    identity = ("is_active", *REACH, "content")
    pooled = with_reach(states.sort("memory_id", "valid_from"), params).select(
        "memory_id",
        "valid_from",
        "valid_until",
        (pl.col("status") == "active").alias("is_active"),
        *REACH,
        pl.col("content").fill_null(""),
    )
    same = pl.all_horizontal([pl.col(name).eq_missing(pl.col(name).shift().over("memory_id")) for name in identity])
    # the first row of a memory differs from what is not there: is_active is never NULL
    stretch = (~same).cum_sum().alias("stretch")
    return (
        pooled.with_columns(stretch)
        .group_by("stretch", maintain_order=True)
        .agg(pl.col("memory_id", *identity).first(), pl.col("valid_from").first(), pl.col("valid_until").last())
        .filter("is_active")
        .select(
            "memory_id",
            *REACH,
            "content",
            pl.col("content").map_batches(hash_texts, return_dtype=pl.String).alias("content_hash"),
            echo.pattern(pl.col("content"), params).alias("pattern"),
            "valid_from",
            "valid_until",
        )
    )
