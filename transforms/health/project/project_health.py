"""How each project's memory is doing as a whole."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.figures import count_with_noun
from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.vocabularies import FADING_STATES, HOLDING_TRENDS, SETTLED_STATUSES, VERDICTS
from slowwave.transforms.evidence.echo.echo import normalise_text
from slowwave.transforms.evidence.used.memories import STEPS
from slowwave.transforms.health.project.params import Alarm, ProjectHealthParams
from slowwave.transforms.health.project.tables import ProjectHealth
from slowwave.transforms.health.tables import MemoryHealth, ScopeLeaks

_FIXED_POINT = 1 << 30
# How each share is spoken of: what it is, and of what.
_SHARES = {
    "junk": ("are junk", "active, candidate or invalid memories"),
    "duplicate": ("have a text that another one has too", "active memories with a text"),
    "stale": ("are stale or have faded", "active memories with a reference"),
    "never_eligible": ("could be used in no interaction", "active memories"),
    "never_injected": ("were never injected", "active memories with enough chances"),
    "injected_never_used": ("are not used", "active memories with enough injections to say so"),
    "pinned": ("are pinned", "active memories"),
    "forget": ("would be forgotten", "active memories"),
}
LEVELS = ("critical", "warning")


def share_low(part: pl.Expr, whole: pl.Expr, deviations: float) -> pl.Expr:
    """Lower bound of a share (Wilson 1927); NULL without anything."""
    share, squared = part / whole, deviations**2
    middle = share + squared / (2 * whole)
    spread = deviations * (share * (1 - share) / whole + squared / (4 * whole * whole)).sqrt()
    # never below 0: the difference of two equal numbers
    return pl.when(whole > 0).then(pl.max_horizontal((middle - spread) / (1 + squared / whole), pl.lit(0.0)))


def _marks(params: ProjectHealthParams) -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Per share which memories it counts, and of which."""
    status, trend = pl.col("status"), pl.col("trend")
    is_active = status == "active"
    length = normalise_text(pl.col("content")).str.len_chars().fill_null(0)
    has_text = length >= params.min_code_points
    is_open = status.is_in(["active", "candidate", "invalid"])
    is_holding = trend.is_in(HOLDING_TRENDS).fill_null(value=False)
    is_weak = pl.col("strength_state").is_in(FADING_STATES)
    # a use can be found only where the memory is eligible, and its words tell it
    is_known = pl.col("use_state").is_in(["used", "not_used"])
    is_chosen = (pl.min_horizontal("injected_count", "eligible_count") >= params.min_injections) & is_known
    has_interactions = (pl.col("eligible_count").sum() > 0).over("project")
    has_injections = (pl.col("injected_count").sum() > 0).over("project")
    had_chances = (pl.col("eligible_count") >= params.min_eligible) & has_injections
    return {
        "junk": ((status == "invalid") | (pl.col("verdict") == "forget") | ~has_text, is_open),
        "duplicate": (pl.col("copies") > 1, is_active & (length > 0)),
        "stale": ((trend == "stale") | (is_weak & ~is_holding), is_active & (pl.col("reference_count") > 0)),
        "never_eligible": (pl.col("eligible_count") == 0, is_active & has_interactions),
        "never_injected": (pl.col("injected_count") == 0, is_active & had_chances),
        "injected_never_used": (pl.col("use_state") == "not_used", is_active & is_chosen),
        "pinned": (pl.col("pinned"), is_active),
        "forget": (pl.col("verdict") == "forget", is_active),
    }


def _counts(today: int, params: ProjectHealthParams) -> list[pl.Expr]:
    status = pl.col("status")
    is_active = status == "active"
    is_judged = (
        (pl.col("reference_count") > 0)
        | (pl.min_horizontal("injected_count", "eligible_count") >= params.min_injections)
        | (pl.col("eligible_count") >= params.min_eligible)
    )
    is_late = pl.col("created_at").dt.epoch("d") >= today - params.growth_days
    # of an undetectable memory, no detected use tells nothing
    is_detectable = pl.col("use_state") != "undetectable"
    is_grown = is_active & is_late & is_detectable & (pl.col("eligible_count") >= params.min_eligible)
    is_exposed = pl.col("last_stale_injected_at").dt.epoch("d") >= today - params.stale_days
    # a fixed-point sum: the order of rows cannot change its last digits
    strength = (pl.col("strength").filter(is_active) * _FIXED_POINT).round().cast(pl.Int64)
    return [
        status.is_not_null().sum().alias("memories_count"),
        is_active.sum().alias("active_count"),
        (status == "candidate").sum().alias("candidate_count"),
        status.is_in(SETTLED_STATUSES).sum().alias("inactive_count"),
        status.is_null().sum().alias("unknown_count"),
        (is_active & pl.col("pinned")).sum().alias("pinned_count"),
        pl.col("is_held").sum().alias("held_count"),
        (is_active & is_judged).sum().alias("judged_count"),
        pl.col("injected_count", "stale_injected_count", "scope_leak_count", "reference_count").sum(),
        ((pl.col("used_expected") * STEPS).round().cast(pl.Int64).sum() / STEPS).alias("used_expected"),
        is_exposed.sum().alias("exposed"),
        pl.col("last_stale_injected_at").max().alias("last_exposed_at"),
        pl.col("late_leaks").sum(),
        pl.col("last_leaked_at").max(),
        *((pl.col("verdict") == name).sum().alias(f"{name}_count") for name in VERDICTS if name != "inactive"),
        is_grown.sum().alias("grown"),
        (is_grown & (pl.col("reference_count") > 0)).sum().alias("grown_used"),
        (strength.sum() / _FIXED_POINT / strength.count()).alias("mean_strength"),
    ]


def _share_alarm(name: str, alarm: Alarm, level: str, params: ProjectHealthParams) -> pl.Expr:
    part, whole = pl.col(f"{name}_part"), pl.col(f"{name}_whole")
    low = share_low(part, whole, params.deviations)
    threshold = getattr(alarm, level)
    is_on = low > threshold
    if level == "warning":
        is_on &= ~(low > alarm.critical)
    said, of = _SHARES[name]
    percent = (part * 100 / whole).round().cast(pl.Int64, strict=False)
    text = f"{level}: {{}} % of {{}} {of} {said} (alarm above {threshold * 100:.0f} %)."
    return pl.when(is_on).then(pl.format(text, percent, whole))


def _alarms(level: str, params: ProjectHealthParams) -> list[pl.Expr]:
    """The sentence of every alarm of a level, NULL where it is silent."""
    harmful = pl.col("harmful_count")
    from_count = params.harmful_critical if level == "critical" else params.harmful_warning
    is_harmful = harmful >= from_count
    if level == "warning":
        is_harmful &= harmful < params.harmful_critical
    said = "{} of its memories have the verdict harmful: success was lower with them than without"
    found = [pl.when(is_harmful).then(pl.format(f"{level}: {said} (alarm from {from_count}).", harmful))]
    found += [_share_alarm(name, getattr(params, name), level, params) for name in _SHARES]
    if level == "critical":
        text = (
            f"{level}: given to interactions of another user, agent or tag scope in the last {params.leak_days} days:"
            " {} (scope_leaks), last on {}."
        )
        last = pl.col("last_leaked_at").dt.strftime("%Y-%m-%d")
        found.append(
            pl.when(pl.col("late_leaks") > 0).then(
                pl.format(text, count_with_noun(pl.col("late_leaks"), "injection"), last)
            )
        )
    if level == "warning":
        text = (
            f"{level}: injected in the last {params.stale_days} days though superseded, invalid or expired by then:"
            " {} of its memories, last on {}."
        )
        last = pl.col("last_exposed_at").dt.strftime("%Y-%m-%d")
        found.append(pl.when(pl.col("exposed") > 0).then(pl.format(text, "exposed", last)))
        is_growing = (pl.col("grown") >= params.growth_memories) & (pl.col("grown_used") == 0)
        text = f"{level}: {{}} memories of the last {params.growth_days} days had enough chances, none a detected use."
        found.append(pl.when(is_growing).then(pl.format(text, pl.col("grown"))))
    return found


def _leak_counts(leaks: pl.LazyFrame, today: int, params: ProjectHealthParams) -> pl.LazyFrame:
    """memory_id, scope_leak_count, late_leaks (of the last days) and last_leaked_at."""
    is_late = pl.col("occurred_at").dt.epoch("d") >= today - params.leak_days
    return leaks.group_by("memory_id").agg(
        pl.len().cast(pl.Int64).alias("scope_leak_count"),
        is_late.sum().cast(pl.Int64).alias("late_leaks"),
        pl.col("occurred_at").max().alias("last_leaked_at"),
    )


def project_health(
    health: Frame[MemoryHealth],
    memories: pl.DataFrame,
    leaks: Lazy[ScopeLeaks],
    today: int,
    params: ProjectHealthParams,
) -> Frame[ProjectHealth]:
    """One row per project, sorted; columns as `ProjectHealth` without run_id and as_of.

    Args:
        health: one row per memory: project, status, content, pinned, is_held, created_at, eligible_count,
            injected_count, stale_injected_count, last_stale_injected_at, reference_count, used_expected, use_state,
            strength, strength_state, trend, verdict. Memories that never landed have project NULL and count under ''.
        memories: of `current_memories`: memory_id, owner. Of the same text are those of one owner alone.
        leaks: of `scope_leaks`.
        today: the UTC day since 1970 of the publish.
        params: thresholds.

    A share is NULL where nothing could be counted in it, and alarms only when even its lower bound is beyond the
    threshold. A project without enough memories that had a chance is unknown unless something alarms all the same.
    """
    text = normalise_text(pl.col("content"))
    rows = (
        health.lazy()
        .join(memories.lazy().select("memory_id", "owner"), on="memory_id", how="left")
        .join(_leak_counts(leaks, today, params), on="memory_id", how="left")
        .with_columns(
            pl.col("project").fill_null(""),
            pl.col("scope_leak_count", "late_leaks").fill_null(0),
            text.alias("text"),
        )
        .with_columns(pl.len().over("project", "status", "text", "owner").alias("copies"))
        .with_columns(
            flag.alias(name)
            for share, (part, whole) in _marks(params).items()
            for name, flag in ((f"{share}_part", part & whole), (f"{share}_whole", whole))
        )
    )
    counted = [pl.col(f"{share}_{side}").sum().cast(pl.Int64) for share in _SHARES for side in ("part", "whole")]
    totals = rows.group_by("project").agg(*_counts(today, params), *counted).sort("project")
    alarms = {level: pl.concat_list(_alarms(level, params)).list.drop_nulls() for level in LEVELS}
    shares = [
        pl.when(pl.col(f"{name}_whole") > 0)
        .then(pl.col(f"{name}_part") / pl.col(f"{name}_whole"))
        .alias(f"{name}_share")
        for name in _SHARES
    ]
    worst = (
        pl.when(pl.col("critical").list.len() > 0)
        .then(pl.lit("critical"))
        .when(pl.col("warning").list.len() > 0)
        .then(pl.lit("warning"))
        .when(pl.col("judged_count") < params.min_judged)
        .then(pl.lit("unknown"))
        .otherwise(pl.lit("healthy"))
    )
    known = (
        totals.with_columns(*(found.alias(level) for level, found in alarms.items()), *shares)
        .select(
            "project",
            worst.alias("health"),
            pl.concat_list("critical", "warning").alias("alarms"),
            pl.col("^.*_count$").cast(pl.Int64),
            "used_expected",
            pl.col("mean_strength").fill_nan(None),
            pl.col("^.*_share$"),
        )
        .collect()
    )
    return framed(ProjectHealth, known)
