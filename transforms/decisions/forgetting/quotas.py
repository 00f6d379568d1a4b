"""Quotas of active memories, per project and per agent of a project: which go, and whether a quota can be met."""

from __future__ import annotations

from typing import Literal

import polars as pl

from slowwave.transforms.decisions.forgetting.params import ForgettingParams

QuotaKind = Literal["agent", "project"]

GROUPS: dict[QuotaKind, tuple[str, ...]] = {"agent": ("project", "agent"), "project": ("project",)}


def quota_kinds(params: ForgettingParams) -> list[QuotaKind]:
    """The kinds of which there is any quota, in the order in which they are filled."""
    has = {
        "agent": params.agent_quota is not None or params.agent_quotas,
        "project": params.project_quota is not None or params.project_quotas,
    }
    return [kind for kind in GROUPS if has[kind]]


def quota(kind: QuotaKind, params: ForgettingParams) -> pl.Expr:
    """The quota of a row's project or agent; NULL: none. '' is no project and no agent: it has one only if named."""
    general, single = (
        (params.agent_quota, params.agent_quotas) if kind == "agent" else (params.project_quota, params.project_quotas)
    )
    default = pl.when(pl.col(kind) != "").then(pl.lit(general, dtype=pl.Int64))
    for name in sorted(single):
        default = pl.when(pl.col(kind) == pl.lit(name)).then(pl.lit(single[name], dtype=pl.Int64)).otherwise(default)
    return default


def quota_excess(active: pl.DataFrame, kind: QuotaKind, params: ForgettingParams) -> pl.DataFrame:
    """The memories that must go for each quota of a kind to be met exactly, or all that may where too many may not.

    Args:
        active: the memories that count: project, agent, is_plannable, need_30d, strength, last_day, memory_id.
        kind: which quotas.
        params: the quotas.

    Those with the lowest expected need go first (the strength where no need could be known, last where neither could),
    then by strength, by the day they were last touched (or began), by memory_id.

    Columns: those of `active`, and quota, active_count (of the group), place (1 goes first).
    """
    by = list(GROUPS[kind])
    counted = (
        active.with_columns(quota(kind, params).alias("quota"))
        .filter(pl.col("quota").is_not_null())
        .with_columns(pl.len().over(by).cast(pl.Int64).alias("active_count"))
    )
    return (
        counted.filter("is_plannable", pl.col("active_count") > pl.col("quota"))
        .sort(*by, pl.coalesce("need_30d", "strength"), "strength", "last_day", "memory_id", nulls_last=True)
        .with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(by).alias("place"))
        .filter(pl.col("place") <= pl.col("active_count") - pl.col("quota"))
    )


def quota_states(active: pl.DataFrame, params: ForgettingParams) -> pl.DataFrame:
    """Every quota with an active memory: the columns of the table `forgetting_quotas`, sorted by its key.

    `active` holds the memories that count: project, agent, is_plannable, is_planned.
    """
    found = []
    for kind in quota_kinds(params):
        by = GROUPS[kind]
        left = pl.col("active_count") - pl.col("planned_count")
        found.append(
            active.with_columns(quota(kind, params).alias("quota"))
            .filter(pl.col("quota").is_not_null())
            .group_by(*by)
            .agg(
                pl.col("quota").first(),
                pl.len().cast(pl.Int64).alias("active_count"),
                pl.col("is_planned").sum().cast(pl.Int64).alias("planned_count"),
                (~pl.col("is_plannable")).sum().cast(pl.Int64).alias("protected_count"),
            )
            .select(
                pl.lit(kind).alias("quota_kind"),
                "project",
                (pl.col("agent") if "agent" in by else pl.lit("")).alias("agent"),
                "quota",
                "active_count",
                "planned_count",
                "protected_count",
                (left <= pl.col("quota")).alias("is_met"),
                pl.when(left > pl.col("quota"))
                .then(
                    pl.format(
                        "{} of its {} active memories are protected (pinned, held, young, recently used or never"
                        " eligible): {} must stay, the quota is {}",
                        "protected_count",
                        "active_count",
                        left,
                        "quota",
                    )
                )
                .alias("reason"),
            )
        )
    return pl.concat(found).sort("quota_kind", "project", "agent")
