"""Interactions that were given a memory of another user, agent or tag scope."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, framed, selected
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.evidence.scopes import ScopeParams, tag_value
from slowwave.transforms.evidence.tables import MemoryReferences, ReplayedInteractions
from slowwave.transforms.health.tables import ScopeLeaks


def scope_leaks(
    references: Lazy[MemoryReferences],
    states: pl.LazyFrame,
    interactions: Lazy[ReplayedInteractions],
    params: ScopeParams,
) -> Frame[ScopeLeaks]:
    """One row per interaction and memory of another scope that was put into it, sorted by key.

    Args:
        references: memory_references of all days.
        states: the memory states visible (see `memory_states`).
        interactions: replayed_interactions of all days.
        params: the tags that tell scopes apart.

    What was never said crosses nothing: an interaction without a user, a memory of no user. An interaction states no
    tags: where it was given memories of two tenants, each of them stands beside the other's.
    """
    tags = sorted(set(params.tags))
    bound = {
        "user": pl.col("user_id"),
        "agent": pl.when(pl.col("scope") == "agent", pl.col("agent") != "").then("agent"),
        **{tag: tag_value(tag) for tag in tags},
    }
    stated = states.select("memory_id", "valid_from", *(value.alias(f"of {name}") for name, value in bound.items()))
    is_bound = pl.any_horizontal(pl.col(f"of {name}").is_not_null() for name in bound)
    # most memories are everybody's: of these no injection is looked at
    concerned = stated.filter(is_bound.any().over("memory_id")).sort("valid_from").collect().lazy()
    ids = concerned.select("memory_id").unique()
    injected = references.filter("is_injected").join(ids, on="memory_id", how="semi").collect()
    if injected.is_empty():  # and no interaction is looked up
        return framed(ScopeLeaks, computed_schema(ScopeLeaks).to_frame())
    users = interactions.select("interaction_id", "user_id").join(injected.lazy(), on="interaction_id", how="semi")
    given = injected.lazy().join(users, on="interaction_id", how="left")
    found = given.sort("occurred_at").join_asof(
        concerned,
        left_on="occurred_at",
        right_on="valid_from",
        by="memory_id",
        strategy="backward",
        check_sortedness=False,
    )
    had = {
        "user": pl.when(pl.col("user_id") != "").then("user_id"),
        "agent": pl.when(pl.col("agent") != "").then("agent"),
        **{tag: _beside(tag) for tag in tags},
    }
    told = found.with_columns(value.alias(f"had {name}") for name, value in had.items())
    is_crossed = {name: (pl.col(f"of {name}") != pl.col(f"had {name}")).fill_null(value=False) for name in bound}
    scopes = {
        side: [
            pl.when(crossed).then(pl.format(f"{name}={{}}", f"{side} {name}")) for name, crossed in is_crossed.items()
        ]
        for side in ("of", "had")
    }
    rows = told.filter(pl.any_horizontal(is_crossed.values())).with_columns(
        pl.concat_list(pl.when(crossed).then(pl.lit(name)) for name, crossed in is_crossed.items())
        .list.drop_nulls()
        .alias("crossed"),
        pl.concat_str(scopes["of"], separator=", ", ignore_nulls=True).alias("memory_scope"),
        pl.concat_str(scopes["had"], separator=", ", ignore_nulls=True).alias("interaction_scope"),
    )
    return selected(ScopeLeaks, rows.sort(ScopeLeaks.key).collect())


def _beside(tag: str) -> pl.Expr:
    """The values of a tag that the other memories of an interaction had; NULL: none but its own."""
    own = pl.col(f"of {tag}")
    values = own.drop_nulls().unique().sort().implode().over("interaction_id", mapping_strategy="join")
    others = values.list.set_difference(pl.concat_list(own))
    return pl.when(others.list.len() > 0).then(others.list.sort().list.join("|"))
