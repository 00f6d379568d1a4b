"""Whose interactions a memory is eligible in: everybody's, its project's, or of these one agent's or user's alone."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.evidence.params import ReachParams
from slowwave.transforms.evidence.tables import MemoryEligibility

# `is_global`: in every project, else in `project`; `only_agent`, `only_user`: of these the interactions of that agent
# and user, NULL: of all.
REACH = choose_columns(MemoryEligibility, "is_global", "project", "only_agent", "only_user")
BOUND = ("only_agent", "only_user")


def with_reach(memories: pl.LazyFrame, params: ReachParams) -> pl.LazyFrame:
    """Memories with their `REACH`; project is '' where they reach every one.

    `memories`: memory_type, project, and from `eligible/2` on scope, agent, user_id (NULL: not said).
    """
    of_all, agent, user = is_global(params), pl.lit(None, dtype=pl.String), pl.lit(None, dtype=pl.String)
    if params.eligible_method != "eligible/1":
        agent = pl.when(pl.col("scope") == "agent").then(pl.col("agent").fill_null(""))
        user = pl.col("user_id")
    return memories.with_columns(
        of_all.alias("is_global"),
        pl.when(of_all).then(pl.lit("")).otherwise("project").alias("project"),
        agent.alias("only_agent"),
        user.alias("only_user"),
    )


def knows_expiry(params: ReachParams) -> bool:
    """Whether a memory is eligible no more once it has expired: only those before `eligible/3` do not know it."""
    return params.eligible_method not in {"eligible/1", "eligible/2"}


def is_global(params: ReachParams) -> pl.Expr:
    """Memories that are eligible in every project: by scope, or of no project and of a global type."""
    by_type = (pl.col("project") == "") & pl.col("memory_type").is_in(list(params.global_types))
    if params.eligible_method == "eligible/1":
        return by_type.fill_null(value=False)
    return (pl.col("scope") == "global").fill_null(value=False) | by_type.fill_null(value=False)


def is_bound() -> pl.Expr:
    """Memories that are eligible in the interactions of one agent or user only."""
    return pl.any_horizontal(pl.col(BOUND).is_not_null())


def is_reached() -> pl.Expr:
    """Pairs in which the interaction's agent and user_id are those that the memory is bound to, if it is."""
    agent, user = pl.col("only_agent"), pl.col("only_user")
    of_agent = agent.is_null() | agent.eq_missing(pl.col("agent"))
    return of_agent & (user.is_null() | user.eq_missing(pl.col("user_id")))


def within_reach(found: pl.DataFrame, interactions: pl.DataFrame, pool: pl.LazyFrame) -> pl.DataFrame:
    """`found` without the pairs whose memory is bound to another agent or user than its interaction's; order is kept.

    Args:
        found: interaction_id, memory_id and whatever else; the memory is of the interaction's project, or global.
        interactions: interaction_id, occurred_at, agent, user_id.
        pool: memory_id, only_agent, only_user, valid_from, valid_until.
    """
    bound = pool.filter(is_bound()).select("memory_id", *BOUND, "valid_from", "valid_until").unique()
    pairs = found.lazy().select("interaction_id", "memory_id")
    about = interactions.lazy().select("interaction_id", "occurred_at", "agent", "user_id")
    at = pl.col("occurred_at")
    beyond = (
        pairs.join(bound, on="memory_id")
        .join(about, on="interaction_id")
        .filter(pl.col("valid_from") <= at, pl.col("valid_until").is_null() | (at < pl.col("valid_until")))
        .filter(~is_reached())
        .select("interaction_id", "memory_id")
    )
    return found.lazy().join(beyond, on=["interaction_id", "memory_id"], how="anti", maintain_order="left").collect()


def kinds(reaches: pl.DataFrame) -> list[tuple[dict[str, str], pl.DataFrame]]:
    """`reaches` (with the columns `REACH`) apart by kind: which column of an interaction has to be which of theirs."""
    told = reaches.with_columns(
        (~pl.col("is_global")).alias("project?"),
        pl.col("only_agent").is_not_null().alias("agent?"),
        pl.col("only_user").is_not_null().alias("user_id?"),
    )
    columns = {"project": "project", "agent": "only_agent", "user_id": "only_user"}
    return [
        ({ours: theirs for (ours, theirs), is_bound in zip(columns.items(), kind, strict=True) if is_bound}, alike)
        for kind, alike in told.partition_by("project?", "agent?", "user_id?", as_dict=True, include_key=False).items()
    ]


def bound_reaches(states: pl.LazyFrame, params: ReachParams) -> pl.DataFrame:
    """The distinct `REACH` of memories that are or were bound to an agent or user, sorted."""
    return with_reach(states, params).filter(is_bound()).select(REACH).unique().sort(REACH, nulls_last=True).collect()


def memory_owners(states: pl.LazyFrame, params: ReachParams) -> pl.LazyFrame:
    """memory_id, only_user of the memories that are now eligible in one user's interactions only."""
    last = states.sort("memory_id", "valid_from").unique("memory_id", keep="last", maintain_order=True)
    return with_reach(last, params).filter(pl.col("only_user").is_not_null()).select("memory_id", "only_user")


def bound_days(interactions: pl.LazyFrame, reaches: pl.DataFrame) -> pl.DataFrame:
    """How active those were on each day who could have used bound memories: what the use of these is held against.

    Args:
        interactions: occurred_at, project, agent, user_id, session_id (NULL: a session of its own), of whole days.
        reaches: of `bound_reaches`.

    Returns the columns of `reaches`, day, interactions_count, sessions_count; sorted by them.
    """
    of_day = (
        interactions.with_columns(pl.col("occurred_at").dt.date().alias("day"))
        .group_by("day", "project", "agent", "user_id", "session_id")
        .agg(pl.len().cast(pl.Int64).alias("interactions_count"))
        .with_columns(
            pl.when(pl.col("session_id").is_null()).then("interactions_count").otherwise(0).alias("alone"),
            pl.when(pl.col("session_id").is_not_null()).then(pl.struct("project", "session_id")).alias("session"),
        )
    )
    found = [
        of_day.drop([] if "project" in on else ["project"])
        .join(alike.lazy(), left_on=list(on), right_on=list(on.values()), coalesce=False)
        .group_by(*REACH, "day")
        .agg(
            pl.col("interactions_count").sum(),
            (pl.col("session").drop_nulls().n_unique() + pl.col("alone").sum()).cast(pl.Int64).alias("sessions_count"),
        )
        for on, alike in kinds(reaches)
    ]
    schema = {**reaches.schema, "day": pl.Date, "interactions_count": pl.Int64, "sessions_count": pl.Int64}
    none = pl.LazyFrame(schema=schema)
    return pl.concat([none, *found]).sort(*REACH, "day", nulls_last=True).collect()
