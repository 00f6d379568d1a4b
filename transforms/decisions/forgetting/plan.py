"""Which memories may be archived, by which rule or quota and why; which never are, whatever a rule says."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import polars as pl

from slowwave.transforms.core.figures import count_with_noun
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.hashing import hash_texts
from slowwave.transforms.core.schema import choose_columns, computed_schema
from slowwave.transforms.decisions.effects import archivings, flag_holds
from slowwave.transforms.decisions.forgetting.tables import ForgettingPlan, ForgettingQuotas
from slowwave.transforms.decisions.params import ForgettingParams
from slowwave.transforms.health.tables import MemoryHealth

HEALTH = choose_columns(
    MemoryHealth,
    "memory_id", "project", "agent", "status", "created_at", "eligible_count", "injected_count", "reference_count",
    "last_referenced_at", "confirmed_count", "contradicted_count", "confidence_high", "strength", "need_30d",
    "need_if_active", "verdict", "expires_at",
)  # fmt: skip
_HASH_RANGE = 2**32


def forgetting_plan(
    health: Frame[MemoryHealth], evidence: pl.DataFrame, today: int, params: ForgettingParams
) -> Frame[ForgettingPlan]:
    """The memories that may be archived, one row each: the columns of the table `forgetting_plan`, sorted by memory_id.

    Args:
        health: rows of memory_health; a NULL strength, need_30d, verdict or confidence_high lets no rule say anything.
        evidence: what else must be known of them (see `forgetting_evidence`).
        today: UTC day of `as_of`, counted from 1970-01-01.
        params: rules, protections and quotas.

    The first rule that holds is named: superseded, invalid, low_confidence, faded, untouched, then the quotas of agents
    and of projects. A share of the plan, chosen by a hash of the memory's id, is to stay active when the plan is
    applied (`is_shadow`); a memory does that once.
    """
    return framed(ForgettingPlan, _plan_memories(_memories(health, evidence, today, params), params))


def forgetting_quotas(
    health: Frame[MemoryHealth], evidence: pl.DataFrame, today: int, params: ForgettingParams
) -> Frame[ForgettingQuotas]:
    """How full each quota is once the plan is applied: the columns of the table `forgetting_quotas`, sorted by its key.

    Takes the arguments of `forgetting_plan`.
    """
    if not quota_kinds(params):
        return framed(ForgettingQuotas, computed_schema(ForgettingQuotas).to_frame())
    memories = _memories(health, evidence, today, params)
    planned = _plan_memories(memories, params).select("memory_id", is_planned=True)
    counting = memories.filter("counts").join(planned, on="memory_id", how="left")
    states = quota_states(counting.with_columns(pl.col("is_planned").fill_null(value=False)), params)
    return framed(ForgettingQuotas, states)


def _memories(health: pl.DataFrame, evidence: pl.DataFrame, today: int, params: ForgettingParams) -> pl.DataFrame:
    """The landed memories with is_plannable, counts (towards quotas), last_day and the first rule that holds."""
    touched = pl.max_horizontal("touched_day", _epoch_day("last_referenced_at"))
    known = (
        health.lazy()
        .select(HEALTH)
        .join(evidence.lazy(), on="memory_id")
        .sort("memory_id")
        .with_columns(touched.alias("touched_day"), _epoch_day("created_at").alias("created_day"))
        .with_columns(
            (today - pl.coalesce("touched_day", "created_day")).alias("idle_days"),
            pl.when(pl.col("touched_day").is_null() & pl.col("created_day").is_not_null())
            .then("eligible_count")
            .otherwise("eligible_since_touch")
            .alias("eligible_since_touch"),
        )
    )
    in_shadow = (today - pl.col("shadowed_day") < params.regret_days).fill_null(value=False)
    rules = _rules(today, params)
    first_rule = pl.coalesce([pl.when(holds).then(pl.lit(rule)) for rule, holds, _ in rules])
    first_reason = pl.coalesce([pl.when(holds).then(reason) for _, holds, reason in rules])
    return known.with_columns(
        (_may_go(today, params) & ~in_shadow).alias("is_plannable"),
        ((pl.col("status") == "active") & ~in_shadow).fill_null(value=False).alias("counts"),
        pl.coalesce("touched_day", "created_day").alias("last_day"),
        first_rule.alias("rule"),
        first_reason.alias("reason"),
    ).collect()


def _may_go(today: int, params: ForgettingParams) -> pl.Expr:
    """No protection holds: neither pinned nor held, neither young nor used lately, in a state that ends.

    What is in use must have had a chance; what has a date to expire at is left to it. What is unknown protects.
    """
    born = pl.max_horizontal("created_day", "restored_day")
    # what is replaced needs no chance to prove itself: that it landed so says enough
    is_judged_by_use = pl.col("status") == "active"
    return pl.all_horizontal(
        pl.col("status").is_in(["active", "superseded", "invalid"]).fill_null(value=False),
        ~pl.col("pinned").fill_null(value=True),
        ~pl.col("is_held").fill_null(value=True),
        ((pl.col("eligible_count") > 0) | ~is_judged_by_use).fill_null(value=False),
        pl.col("expires_at").is_null() | (pl.col("status") != "active"),
        (today - born >= params.grace_days).fill_null(value=False),
        (pl.col("idle_days") >= params.recent_days).fill_null(value=True),
    )


def _rules(today: int, params: ForgettingParams) -> list[tuple[str, pl.Expr, pl.Expr]]:
    """Name, condition and reason of each rule, in the order in which they are asked."""
    since_days = today - _epoch_day("status_since")
    judged = pl.col("confirmed_count") + pl.col("contradicted_count")
    is_active = pl.col("status") == "active"
    need = _percent("need_30d", "no predicted need known")
    replaced = [
        (
            status,
            (pl.col("status") == status) & (since_days >= params.replaced_after_days),
            pl.format(
                f"{status} since {{}}, {{}} ago (at least {params.replaced_after_days})",
                pl.col("status_since").dt.strftime("%Y-%m-%d"),
                count_with_noun(since_days, "day"),
            ),
        )
        for status in ("superseded", "invalid")
    ]
    return [
        *replaced,
        (
            "low_confidence",
            is_active
            & (pl.col("confidence_high") < params.low_confidence)
            & (judged >= params.low_confidence_min_judged),
            pl.format(
                f"confidence at most {{}} (upper end of its interval, below {params.low_confidence}) from {{}}"
                " with a known outcome",
                pl.col("confidence_high").round(3),
                count_with_noun(judged, "reference"),
            ),
        ),
        (
            "faded",
            is_active & (pl.col("verdict") == "forget"),
            pl.format(
                "verdict forget: strength {}, {}, {}",
                pl.col("strength").round(3).cast(pl.String).fill_null("unknown"),
                need,
                pl.when(pl.col("touched_day").is_null())
                .then(
                    pl.format(
                        "no detected reference or injection in {}",
                        count_with_noun(pl.col("eligible_count"), "interaction"),
                    )
                )
                .otherwise(
                    pl.format("last referenced or injected {} ago", count_with_noun(pl.col("idle_days"), "day"))
                ),
            ),
        ),
        (
            "untouched",
            is_active
            & pl.col("verdict").is_in(["review", "forget"])  # nothing is planned that is said to be kept or unproven
            & (pl.col("idle_days") >= params.archive_after_days)
            & (pl.col("eligible_since_touch") >= params.untouched_min_eligible)
            & (pl.max_horizontal("need_30d", "need_if_active") <= params.untouched_max_need).fill_null(value=True),
            pl.format(
                f"{{}} {{}} ago (at least {params.archive_after_days}); eligible in {{}}"
                " since, no detected use in them; {}",
                pl.when(pl.col("touched_day").is_null())
                .then(pl.lit("never referenced or injected, created"))
                .otherwise(pl.lit("last referenced or injected")),
                count_with_noun(pl.col("idle_days"), "day"),
                count_with_noun(pl.col("eligible_since_touch"), "interaction"),
                need,
            ),
        ),
    ]


def _plan_memories(memories: pl.DataFrame, params: ForgettingParams) -> pl.DataFrame:
    found = [memories.filter(pl.col("is_plannable"), pl.col("rule").is_not_null())]
    active = memories.filter("counts").join(found[0].select("memory_id"), on="memory_id", how="anti")
    for kind in quota_kinds(params):
        excess = quota_excess(active, kind, params)
        active = active.join(excess.select("memory_id"), on="memory_id", how="anti")
        reason = pl.format(
            f"the {kind} has {{}} active {{}}{' in this project' if kind == 'agent' else ''} besides those that"
            " other rules plan, its quota is {}; in order of expected need this is number {} from below ({})",
            "active_count",
            pl.when(pl.col("active_count") == 1).then(pl.lit("memory")).otherwise(pl.lit("memories")),
            "quota",
            "place",
            _percent("need_30d", "no predicted need known"),
        )
        found.append(
            excess.with_columns(pl.lit(f"{kind}_quota").alias("rule"), reason.alias("reason")).select(memories.columns)
        )
    planned = pl.concat(found).sort("memory_id")
    share = hash_texts(planned["memory_id"]).str.slice(0, 8).str.to_integer(base=16, dtype=pl.Int64)
    is_chosen = pl.Series("chosen", share) < int(params.shadow_share * _HASH_RANGE)
    is_shadow = pl.lit(is_chosen) & (pl.col("status") == "active") & pl.col("shadowed_day").is_null()
    return planned.with_columns(is_shadow.alias("is_shadow")).select(computed_schema(ForgettingPlan).names())


def _percent(name: str, unknown: str) -> pl.Expr:
    figure = (pl.col(name) * 100).round(1).cast(pl.String)
    return (
        pl.when(pl.col(name).is_null())
        .then(pl.lit(unknown))
        .otherwise(pl.format("predicted need within 30 days {} %", figure))
    )


def _epoch_day(name: str) -> pl.Expr:
    return pl.col(name).dt.epoch("d").cast(pl.Int32)


def forgetting_evidence(
    states: pl.LazyFrame, touches: pl.LazyFrame, decisions: pl.LazyFrame, as_of: datetime
) -> pl.DataFrame:
    """One row per memory that ever landed, sorted by memory_id.

    Args:
        states: the memory states visible at `as_of` (see `memory_states`).
        touches: memory_id, touched_day (NULL: never referenced or injected), eligible_since_touch; see below.
        decisions: all versions of the landed decisions.
        as_of: only decisions before it count.

    Columns: memory_id, pinned, is_held (it or its project), status_since (when its last change of status took effect),
    touched_day (UTC day since 1970 of its last reference or injection; NULL: none), eligible_since_touch (interactions
    on later days in which it was eligible; NULL: never touched), shadowed_day (day of its last shadow archiving not
    undone; NULL: none), restored_day (day of its last restore; NULL: none).
    """
    ordered = states.sort("memory_id", "valid_from")
    is_new_status = pl.col("status").ne_missing(pl.col("status").shift().over("memory_id"))
    current = (
        ordered.with_columns(pl.when(is_new_status).then("valid_from").alias("status_since"))
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("project", "pinned").last(), pl.col("status_since").max())
    )
    done = archivings(decisions, as_of).lazy()
    shadowed = done.filter(pl.col("is_shadow"), pl.col("restored_at").is_null())
    return (
        current.join(flag_holds(decisions, current, as_of), on="memory_id", how="left")
        .join(_select_touches(touches), on="memory_id", how="left")
        .join(_last_day(shadowed, "decided_at", "shadowed_day"), on="memory_id", how="left")
        .join(_last_day(done, "restored_at", "restored_day"), on="memory_id", how="left")
        .drop("project")
        .sort("memory_id")
        .collect()
    )


def _select_touches(touches: pl.LazyFrame) -> pl.LazyFrame:
    return touches.select("memory_id", "touched_day", "eligible_since_touch").drop_nulls("touched_day")


def _last_day(done: pl.LazyFrame, time: str, name: str) -> pl.LazyFrame:
    return done.group_by("memory_id").agg(_epoch_day(time).max().alias(name)).filter(pl.col(name).is_not_null())


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
