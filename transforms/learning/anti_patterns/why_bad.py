"""The sentence of an anti-pattern: its counts, those of its comparables, and how it stands now."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams


def why_bad(params: AntiPatternParams) -> pl.Expr:
    """Return `why_bad` of a row (see `_rows`): every clause states what a count or an estimate of the row states.

    A closed row says why, and how many of its attempts succeeded since the last day on which it kept failing.
    """
    enough = f"with {params.solved_attempts} attempts or more"
    rate = f"{params.solved_rate * 100:g} % of them"
    is_hard, is_closed = pl.col("kind") == "hard_task", pl.col("state") == "closed"
    changed = pl.col("kind") != pl.col("kind_now")
    nobody, somebody = (
        f"; no strategy {enough} succeeded in over {rate}",
        f"; a strategy {enough} succeeded in over {rate}",
    )
    fails_less = f"; of late it does not surely fail more than {params.failing_rate * 100:g} % of attempts"
    own_did_not_change = pl.col("successes_since") == 0
    reason = (
        pl.when(~is_closed)
        .then(pl.when(is_hard).then(pl.lit(nobody)).otherwise(pl.lit("")))
        .when(pl.col("is_open") & pl.col("is_expected_to_succeed"))
        .then(pl.lit("; with what is known of its relatives it is expected to succeed more often than not"))
        .when(pl.col("is_open"))
        .then(pl.lit("; its share of failures is not above theirs"))
        .when(changed)
        .then(pl.when(is_hard).then(pl.lit(somebody)).otherwise(pl.lit(nobody)))
        .when(own_did_not_change)
        .then(pl.lit("; the record of its comparables changed, not its own"))
        .otherwise(
            pl.when(is_hard).then(pl.lit(fails_less)).otherwise(pl.lit("; of late it is not surely worse than they"))
        )
    )
    not_tried = pl.format("; not tried since {}", pl.col("last_attempt_at").dt.strftime("%Y-%m-%d"))
    since = pl.format(
        "; {} of {} since {} succeeded",
        pl.when(pl.col("successes_since") == 0)
        .then(pl.lit("none"))
        .otherwise(pl.col("successes_since").cast(pl.String)),
        pl.when(pl.col("attempts_since") == 1)
        .then(pl.lit("1 attempt"))
        .otherwise(pl.format("{} attempts", "attempts_since")),
        pl.col("opened_day").cast(pl.Int32).cast(pl.Date).dt.strftime("%Y-%m-%d"),
    )
    now = (
        pl.when(pl.col("state") == "dormant")
        .then(not_tried)
        .when(is_closed)
        .then(pl.when(pl.col("attempts_since") == 0).then(not_tried).otherwise(since))
        .otherwise(pl.lit(""))
    )
    return pl.concat_str(_counts(), reason, now, pl.lit(".")).alias("why_bad")


def _counts() -> pl.Expr:
    """How often the strategy failed, how often with one error, and how often its comparables failed."""
    own = pl.format(
        "Failed {} of {} attempts in {} sessions", pl.col("failures"), pl.col("attempts"), pl.col("sessions")
    )
    error = pl.when(pl.col("error_failures") > 0).then(pl.format(", {} with one error", pl.col("error_failures")))
    others = (
        pl.when(pl.col("other_attempts") == 0)
        .then(pl.lit("nothing comparable was tried"))
        .otherwise(
            pl.format("comparable strategies failed {} of {}", pl.col("other_failures"), pl.col("other_attempts"))
        )
    )
    in_family = pl.format(", {} with errors of one family", pl.col("error_family_failures"))
    family = pl.when(pl.col("error_family_failures") > pl.col("error_failures")).then(in_family)
    return pl.concat_str(own, error.fill_null(""), family.fill_null(""), pl.lit("; "), others)
