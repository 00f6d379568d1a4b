"""What to do about each memory: keep, review, forget, harmful, unproven, or nothing: it is inactive.

Two layers. How a memory was used (`use_verdict`) follows from its counts, strength, trend, age and pin alone, and can
be computed for any day of the past. On top come its text, holds, forecast need, and how the work ended that used it.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.vocabularies import FADING_STATES, HOLDING_TRENDS
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.health.verdict_reasons import reasons

# What there is to say of a memory's use, and the verdict it leads to.
USE_VERDICTS = {
    "never_landed": "unproven",
    "candidate": "review",
    "inactive": "inactive",
    "never_eligible": "unproven",
    "young": "unproven",
    "few_chances": "unproven",
    "never_injected": "review",
    "few_injections": "unproven",
    "few_injections_faded": "review",
    "never_used": "review",
    "never_used_faded": "forget",
    "faded": "forget",
    "faded_unjudged": "unproven",
    "faded_quiet": "keep",
    "stale": "review",
    "weakening": "review",
    "used": "keep",
}


def use_case(today: pl.Expr, params: VerdictParams) -> pl.Expr:
    """Which of the cases in `USE_VERDICTS` a memory is, the first that holds.

    Columns: status, created_at, eligible_count, injected_count, reference_count, last_referenced_at, strength_state,
    trend; `today` is the UTC day since 1970 it is asked for.

    An active memory without a detected use is judged by the chances it had: never eligible, young, hardly eligible,
    never injected, hardly injected, or injected often enough without use. Only where it is eligible can a use be found,
    so injections elsewhere are no chance. One with uses has faded when its strength is forgettable, none is recent, and
    its trend does not say that it is used as often as the project's activity allows. One that was
    hardly injected where it could often have been used is reviewed once its strength is forgettable.
    """
    eligible, injected = pl.col("eligible_count"), pl.col("injected_count")
    is_forgettable = (pl.col("strength_state") == "forgettable").fill_null(value=False)
    is_recent = today - pl.col("last_referenced_at").dt.epoch("d") <= params.recent_days
    is_tried = pl.min_horizontal(eligible, injected) >= params.min_injections
    is_holding = pl.col("trend").is_in(HOLDING_TRENDS).fill_null(value=False)
    unused = (
        pl.when(eligible == 0)
        .then(pl.lit("never_eligible"))
        .when(today - pl.col("created_at").dt.epoch("d") < params.grace_days)
        .then(pl.lit("young"))
        .when((injected == 0) & (eligible < params.min_eligible))
        .then(pl.lit("few_chances"))
        .when(injected == 0)
        .then(pl.lit("never_injected"))
        .when(~is_tried & is_forgettable & (eligible >= params.min_eligible))
        .then(pl.lit("few_injections_faded"))
        .when(~is_tried)
        .then(pl.lit("few_injections"))
        .when(is_forgettable)
        .then(pl.lit("never_used_faded"))
        .otherwise(pl.lit("never_used"))
    )
    used = (
        pl.when(is_forgettable & ~is_recent & ~is_tried & (eligible < params.min_eligible))
        .then(pl.lit("faded_unjudged"))
        .when(is_forgettable & ~is_recent & is_holding)
        .then(pl.lit("faded_quiet"))
        .when(is_forgettable & ~is_recent)
        .then(pl.lit("faded"))
        .when(pl.col("trend") == "stale")
        .then(pl.lit("stale"))
        .when((pl.col("trend") == "weakening") & pl.col("strength_state").is_in(FADING_STATES))
        .then(pl.lit("weakening"))
        .otherwise(pl.lit("used"))
    )
    return (
        pl.when(pl.col("status").is_null())
        .then(pl.lit("never_landed"))
        .when(pl.col("status") == "candidate")
        .then(pl.lit("candidate"))
        .when(pl.col("status") != "active")
        .then(pl.lit("inactive"))
        .when(pl.col("reference_count") == 0)
        .then(unused)
        .otherwise(used)
    )


def use_verdict(today: pl.Expr, params: VerdictParams) -> pl.Expr:
    """The verdict that use alone leads to: what is active and pinned is kept. Columns: as `use_case`, and pinned."""
    told = use_case(today, params).replace_strict(USE_VERDICTS, return_dtype=pl.String)
    return pl.when((pl.col("status") == "active") & pl.col("pinned")).then(pl.lit("keep")).otherwise(told)


def _is_doubted(params: VerdictParams) -> pl.Expr:
    """Clearly more of its uses failed than were expected to, over enough sessions.

    Failures of n independent uses have at most the variance e (1 - e / n) when e are expected (Hoeffding 1956).
    """
    failed, expected = pl.col("contradicted_count"), pl.col("contradicted_expected")
    variance = expected * (1 - expected / (pl.col("confirmed_count") + failed))
    # never less than 1: a use or two cannot be clearly more
    excess = (failed - expected) / pl.max_horizontal(variance, pl.lit(1.0)).sqrt()
    is_excess = (failed > 0) & (excess >= params.excess_deviations)
    return (is_excess & (pl.col("confidence_high") < params.no_difference)).fill_null(value=False)


def _verdict(params: VerdictParams) -> pl.Expr:
    is_open = pl.col("status").is_in(["active", "candidate"]) | pl.col("status").is_null()
    is_doubtful = (pl.col("status") == "active") & (pl.col("is_doubted") | pl.col("is_low"))
    is_forget = pl.col("use_verdict") == "forget"
    case, state = pl.col("use_case"), pl.col("use_state")
    is_silent = (
        (case.is_in(["never_used", "never_used_faded"]) & (state != "not_used"))
        | (case.is_in(["never_injected", "few_injections_faded"]) & (state == "undetectable"))
        | (~pl.col("is_injection_logged") & (case == "never_injected"))
    )
    is_needed = pl.max_horizontal("need_30d", "need_if_active") >= params.needed_from
    return (
        pl.when(is_open & pl.col("is_harmful"))
        .then(pl.lit("harmful"))
        .when(is_doubtful & (~is_forget | pl.col("is_held")))
        .then(pl.lit("review"))
        .when(is_silent & ~pl.col("pinned"))
        .then(pl.lit("unproven"))
        .when(is_forget & pl.col("is_held"))
        .then(pl.lit("keep"))
        .when(is_forget & is_needed)
        .then(pl.lit("review"))
        .otherwise("use_verdict")
    )


def verdicts(health: pl.LazyFrame, today: int, params: VerdictParams, *, interval_mass: float = 0.9) -> pl.LazyFrame:
    """memory_id, verdict, reasons: one row per memory, sorted by memory_id; never without a reason.

    Args:
        health: one row per memory: memory_id, status, pinned, is_held, created_at; the counts of use (echoed_count, and
            parroted: of those, or NULL), injected_use_expected, detectability, use_state; the counts of outcomes;
            last_referenced_at, confidence_low, confidence_high, lift with its bounds and basis, is_harmful,
            lost_successes, strength, strength_state, need_30d, need_if_active, fades_at, trend.
        today: the UTC day since 1970 of the publish.
        params: thresholds.
        interval_mass: mass of the intervals in `health` (a param of memory outcomes).

    - inactive: superseded, invalid, archived or graduated.
    - harmful: lift below 0 beyond chance, where retrieval was randomised or cut off; whatever pins and holds say.
    - review: also where clearly more uses failed than expected, or the upper bound of confidence is low.
    - unproven: also what would be reviewed or forgotten for want of a use, and is not surely `not_used`.
    - A lake may not log injections: then no use is no evidence.
    - forget becomes keep on a hold, and review where the memory may well be needed.
    """
    return (
        health.sort("memory_id")
        .with_columns(
            use_case(pl.lit(today), params).alias("use_case"),
            use_verdict(pl.lit(today), params).alias("use_verdict"),
            _is_doubted(params).alias("is_doubted"),
            (pl.col("confidence_high") < params.low_confidence).fill_null(value=False).alias("is_low"),
            (pl.col("injected_count").sum() > 0).alias("is_injection_logged"),
        )
        .with_columns(_verdict(params).alias("verdict"))
        .select("memory_id", "verdict", reasons(pl.lit(today), params, interval_mass).alias("reasons"))
    )
