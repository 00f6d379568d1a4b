"""Why a memory has its verdict: short sentences with the figures in them, and no word of its content."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.figures import count_with_noun, decimals, tenths
from slowwave.transforms.health.params import VerdictParams
from slowwave.transforms.lift.lift_sentences import ASSOCIATED, COMPARED

# a trend changes once two looks agree, so a memory that was used again since may still be called stale
_STALE = "{}: when two looks last agreed, it was used less than its past and its project's activity let expect."


def _days_ago(days: pl.Expr) -> pl.Expr:
    return pl.when(days <= 0).then(pl.lit("today")).otherwise(pl.format("{} ago", count_with_noun(days, "day")))


def _strength() -> pl.Expr:
    """The strength, cut off and not rounded: what faded below 0.1 must not read as 0.10, and never as nothing."""
    hundredths = (pl.col("strength") * 100).floor()
    return pl.when(hundredths < 1).then(pl.lit("below 0.01")).otherwise(decimals(hundredths / 100))


def _uses(since: pl.Expr) -> pl.Expr:
    """In how many answers it was quoted, in how many used in other words, and when last."""
    echoed = pl.col("echoed_count")
    in_words = pl.col("reference_count") - echoed
    quoted = pl.format("Quoted in {}", count_with_noun(echoed, "interaction"))
    only = pl.format("{} (in {} of them the prompt said it already)", quoted, pl.col("parroted"))
    quoted = pl.when(pl.col("parroted") > 0).then(only).otherwise(quoted)
    told = (
        pl.when(in_words == 0)
        .then(quoted)
        .when(echoed == 0)
        .then(pl.format("Used in other words in {}", count_with_noun(in_words, "interaction")))
        .otherwise(pl.format("{}, used in other words in {}", quoted, in_words))
    )
    return pl.format("{}, last {}", told, since)


def _how_used() -> pl.Expr:
    """How those of its references used it of which only the number is known."""
    is_quoted, is_reworded = pl.col("echoed_count") > 0, pl.col("reference_count") > pl.col("echoed_count")
    return (
        pl.when(~is_reworded)
        .then(pl.lit("Quoted"))
        .when(is_quoted)
        .then(pl.lit("Quoted or used"))
        .otherwise(pl.lit("Used in other words"))
    )


def _count_expected() -> pl.Expr:
    """How many of its injections are expected to have used it all the same, and how many uses would be found."""
    percent = (pl.col("detectability") * 100).round().cast(pl.Int64)
    said = " ({} expected; about {} % of its uses would be found)"
    return pl.format(said, tenths(pl.col("injected_use_expected")), percent).fill_null("")


def _of_use(today: pl.Expr, params: VerdictParams) -> pl.Expr:
    """The sentence of its use case: never NULL."""
    age = today - pl.col("created_at").dt.epoch("d")
    since = _days_ago(today - pl.col("last_referenced_at").dt.epoch("d"))
    eligible = count_with_noun(pl.col("eligible_count"), "interaction")
    injected = count_with_noun(pl.col("injected_count"), "injection")
    used = _uses(since)
    strength = _strength()
    unused = pl.format("Injected {}, never visibly used", count_with_noun(pl.col("injected_count"), "time"))
    shown = pl.col("use_state").replace_strict(
        {
            "unproven": "; it may be used all the same",
            "not_used": f"; had {params.used_share * 100:.0f} % of them used it, one should have been found",
        },
        default="",
        return_dtype=pl.String,
    )
    undetected = pl.format("{}{}{}.", unused, _count_expected(), shown)
    sentences = {
        "never_landed": pl.format("Never landed: only its id is known, from {}.", injected),
        "candidate": pl.format("Candidate, created {}: needs a decision.", _days_ago(age)),
        "inactive": pl.format("{}: no longer in use.", pl.col("status").str.to_titlecase()),
        "never_eligible": pl.when(pl.col("injected_count") > 0)
        .then(pl.format("Never eligible: no use could be detected in its {}.", injected))
        .otherwise(pl.lit("Never eligible: there was no interaction that could have used it.")),
        "young": pl.format(f"Created {{}}: too young to judge (under {params.grace_days} days).", _days_ago(age)),
        "few_chances": pl.format(
            f"Eligible in only {{}}, not injected: too few to judge (under {params.min_eligible}).", eligible
        ),
        "never_injected": pl.format("Not injected although eligible in {}.", eligible),
        "few_injections": pl.format(
            f"{{}}, eligible in {{}}: too few to judge (under {params.min_injections}).", unused, eligible
        ),
        "few_injections_faded": pl.format(
            "{}, although eligible in {}; faded to strength {}.", unused, eligible, strength
        ),
        "never_used": undetected,
        "never_used_faded": undetected,
        "faded": pl.format("Faded to strength {}. {}.", strength, used),
        "faded_unjudged": pl.format(
            "Faded to strength {}, but eligible in only {}: too few to judge.", strength, eligible
        ),
        "faded_quiet": _faded_quiet(strength),
        "stale": pl.format(_STALE, used),
        "weakening": pl.format("{}: weakening, strength {}.", used, strength),
        "used": pl.format("{}.", used),
    }
    case = pl.col("use_case")
    # strength is NULL only where nothing has faded: then the plainest sentence is left
    told = pl.coalesce(
        *(pl.when(case == name).then(sentence) for name, sentence in sentences.items()),
        pl.when(case == "weakening").then(pl.format("{}: weakening.", used)),
        pl.format("Use: {}.", case),
    )
    return (
        pl.when(~pl.col("is_injection_logged") & (case == "never_injected"))
        .then(
            pl.format(
                "Never visibly used although eligible in {}; no injections are logged{}.", eligible, _count_expected()
            )
        )
        .otherwise(told)
    )


def _faded_quiet(strength: pl.Expr) -> pl.Expr:
    trend = pl.col("trend")
    expected = "Faded to strength {}, but used as often as its project's activity lets expect (trend {})."
    told = pl.format(expected, strength, trend)
    young = "Faded to strength {}, but its project was active on too few days since to judge its use (trend new)."
    return pl.when(trend == "new").then(pl.format(young, strength)).otherwise(told)


def _of_need(params: VerdictParams) -> pl.Expr:
    need, if_active = pl.col("need_30d"), pl.col("need_if_active")
    # never as certainty: 0.00 and 1.00
    said = (
        pl.when(need < 0.005)  # noqa: PLR2004 - as said
        .then(pl.lit("below 0.01"))
        .when(need >= 0.995)  # noqa: PLR2004 - as said
        .then(pl.lit("above 0.99"))
        .otherwise(decimals(need))
    )
    rare = pl.format("Rare if the project stays as quiet as now: need {} in 30 days", said)
    active = pl.format("{}; {} if it is as active as it was.", rare, decimals(if_active))
    return (
        pl.when((need < params.needed_from) & (if_active >= params.needed_from))
        .then(active)
        .when(need < params.needed_from)
        .then(pl.format("{}.", rare))
        .otherwise(pl.format("Estimated need {} in 30 days.", said))
    )


def _of_lift(interval_mass: float) -> pl.Expr:
    is_told = (pl.col("lift_low") > 0) | (pl.col("lift_high") < 0) | pl.col("is_harmful")
    lift = pl.col("lift")
    is_causal = ~pl.col("lift_basis").is_in(ASSOCIATED)
    is_less = lift < 0
    return pl.when(is_told).then(
        pl.format(
            f"{{}} ({{}}{{}}, {interval_mass * 100:.0f} % interval {{}} to {{}}), {{}}.",
            pl.when(is_causal & is_less)
            .then(pl.lit("Success was lower with it"))
            .when(is_causal)
            .then(pl.lit("Success was higher with it"))
            .when(is_less)
            .then(pl.lit("Associated with lower success"))
            .otherwise(pl.lit("Associated with higher success")),
            pl.when(is_less).then(pl.lit("")).otherwise(pl.lit("+")),
            decimals(lift),
            decimals(pl.col("lift_low")),
            decimals(pl.col("lift_high")),
            pl.col("lift_basis").replace_strict(COMPARED, default=None, return_dtype=pl.String),
        )
    )


def reasons(today: pl.Expr, params: VerdictParams, interval_mass: float) -> pl.Expr:
    """The sentences of each memory: its use, then its outcomes, or these first where they decide the verdict.

    Columns: those of `verdicts`, and use_case, use_verdict, is_doubted, is_low, is_injection_logged,
    verdict.
    """
    is_active = pl.col("status") == "active"
    fades_in = pl.col("fades_at").dt.epoch("d") - today
    interval = pl.format(
        f"{interval_mass * 100:.0f} % interval {{}} to {{}}",
        decimals(pl.col("confidence_low")),
        decimals(pl.col("confidence_high")),
    )
    failed = pl.col("contradicted_count")
    of_use = (
        pl.when(is_active & pl.col("pinned")).then(pl.lit("Pinned: kept whatever its use.")),
        pl.when(pl.col("is_held")).then(pl.lit("On hold: not to be forgotten.")),
        pl.when(is_active & (pl.col("use_state") == "undetectable") & (pl.col("eligible_count") > 0)).then(
            pl.lit("Its words are too few or too common for a use to be found in answers: finding none shows nothing.")
        ),
        _of_use(today, params),
        pl.when(pl.col("use_case") == "never_used_faded").then(pl.format("Faded to strength {}.", _strength())),
        pl.when(is_active & (fades_in > 0) & (fades_in <= params.fading_soon_days)).then(
            pl.format("Fades on {} unless it is referenced.", pl.col("fades_at").dt.strftime("%Y-%m-%d"))
        ),
        pl.when(is_active).then(_of_need(params)),
    )
    of_outcomes = (
        _of_lift(interval_mass),
        pl.when(pl.col("is_harmful")).then(
            pl.format("Estimated successes lost over its injections: {}.", tenths(pl.col("lost_successes")))
        ),
        pl.when(failed > 0).then(
            pl.format(
                "{} in {}; {} expected.",
                _how_used(),
                count_with_noun(failed, "failed attempt"),
                tenths(pl.col("contradicted_expected")),
            )
        ),
        pl.when(pl.col("is_doubted") | pl.col("is_low")).then(
            pl.format("Low confidence: {} ({} is no difference).", interval, decimals(pl.lit(params.no_difference)))
        ),
    )
    is_decided = (pl.col("verdict") == "harmful") | (
        (pl.col("verdict") == "review")
        & (pl.col("use_verdict") != "review")
        & (pl.col("is_doubted") | pl.col("is_low"))
    )
    # ten times faster than a list of columns; no sentence holds a line break, as none quotes free text
    use, said = (pl.concat_str(told, separator="\n", ignore_nulls=True) for told in (of_use, of_outcomes))
    outcomes = pl.when(said != "").then(said)
    in_order = (pl.when(is_decided).then(outcomes), use, pl.when(~is_decided).then(outcomes))
    told = pl.concat_str(in_order, separator="\n", ignore_nulls=True)
    return told.str.split("\n")
