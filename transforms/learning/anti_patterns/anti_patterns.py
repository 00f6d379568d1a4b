"""Strategies that fail more than their comparables (avoid), and those at tasks where nobody succeeds (hard_task)."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl

from slowwave.transforms.core.schema import choose_columns, polars_schema
from slowwave.transforms.core.times import epoch_day
from slowwave.transforms.core.vocabularies import ANTI_PATTERN_KINDS
from slowwave.transforms.landing.tables import Outcomes
from slowwave.transforms.learning.anti_patterns.arms import (
    KEY,
    arms,
    arms_at,
    cells,
    in_cells,
    recent_sessions,
    sessions,
)
from slowwave.transforms.learning.anti_patterns.flags import count_tested, flagged_since, log_e_values, looks
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.anti_patterns.rows import (
    ERROR_TEXTS,
    better_alternatives,
    counts,
    errors,
    failure_costs,
    q_values,
    why_bad,
)
from slowwave.transforms.learning.anti_patterns.states import keeps_failing, open_states
from slowwave.transforms.learning.tables import AntiPatterns, CountedOutcomes

_READ = (
    *choose_columns(CountedOutcomes, *KEY, "block", "created_at", "known_at", "success", "error_id"),
    *choose_columns(Outcomes, "strategy", "cost", "cost_unit", "duration_ms", "tokens"),
    *("cell", *ERROR_TEXTS),
)
_MAX_LOG_E = 690.0  # e-values beyond 1e299 are not distinguished
# what is expected to succeed more often than not is none to avoid, nor hopeless: no row is open above it
_MOST_CONFIDENCE = 0.5
# In the order in which golden tables have them; published, they stand as declared.
_IN_ORDER = choose_columns(
    AntiPatterns,
    *(*KEY, "error_id", "kind", "pattern", "why_bad", *ERROR_TEXTS),
    *("failures", "attempts", "error_failures", "error_family_failures"),
    *("failure_rate", "baseline_rate", "e_value", "q_value", "cost"),
    *("cost_unit", "better_alternative", "better_alternative_strategy_id", "first_seen_at", "last_seen_at"),
    *("sessions", "state"),
)
SCHEMA = pl.Schema({name: polars_schema(AntiPatterns)[name] for name in _IN_ORDER})


def _kinds(states: pl.DataFrame) -> pl.DataFrame:
    """One row per strategy: the open kind, of which there is at most one, else the one that was open last."""
    latest = ["cell", "is_open", "opened_day", "kind"]
    return states.sort(latest, descending=[False, True, True, False]).unique("cell", keep="first", maintain_order=True)


def _of_kind(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A frame with one column per kind as rows: cell, kind, and the value as `name`."""
    return frame.unpivot(on=ANTI_PATTERN_KINDS, index="cell", variable_name="kind", value_name=name)


def anti_patterns(
    attempts: pl.DataFrame,
    heuristics: pl.DataFrame,
    as_of: datetime,
    params: AntiPatternParams,
    shown: pl.DataFrame | None = None,
    templates: pl.DataFrame | None = None,
    of_cells: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """One row per strategy that keeps failing or did, sorted by project, agent, task_type, strategy_id, error_id.

    Args:
        attempts: outcomes of real attempts, with error_id; those known before `as_of` count, those without a strategy
            do not.
        heuristics: per strategy its text, its confidence and the 90 % credible interval of its success.
        as_of: the last look.
        params: see there.
        shown: project, strategy_id and the text `strategy` to show; None: that of attempts.
        templates: project, error_id, `ERROR_TEXTS`; None: those of attempts, if they have any.
        of_cells: of `attempt_cells`, where attempts have the number of their cell instead of its names.

    A row needs two grounds at one look: on its recent sessions the strategy keeps failing, and on all of them e-BH
    finds it worse than its comparables (avoid), or that it or all together fail more often than not (hard_task). It is
    hard_task where no strategy with enough attempts succeeds more often than `solved_rate`, else avoid. State: open;
    closed when it no longer keeps failing, became the other kind, is expected to succeed more often than not, or is
    avoid and failed no more often than its comparables; dormant when it is open but was not tried lately. One strategy
    has one row, whatever its errors: the error is an explanation, named if it is behind at least half of the failures,
    else ''. Only avoid has an alternative.

    error_failures counts the failures with the error named, 0 if none is; error_family_failures those of the family
    that is behind at least half of the failures. baseline_rate is the share of the
    comparables' attempts that failed, NULL without any. e_value is tonight's (at most 1e299), q_value the
    Benjamini-Hochberg figure of an ordinary test. cost is what the failures beyond those expected at the baseline cost,
    in `cost_unit`; NULL where either is unknown.
    """
    known = attempts.select([name for name in attempts.columns if name in _READ])
    has_strategy = pl.col("strategy_id").is_not_null() if of_cells is None else pl.lit(value=True)
    counts_now = known.select((pl.col("known_at") < as_of) & has_strategy).to_series()
    if not counts_now.all():  # else they would all be copied
        known = known.filter(counts_now)
    numbered = cells(known if of_cells is None else of_cells)
    known = in_cells(known, numbered).drop(KEY, strict=False)
    all_sessions = sessions(known)
    failing = all_sessions.filter(pl.col("failures") > 0).group_by("cell").len("failed")
    candidates = failing.filter(pl.col("failed") >= params.min_failed_sessions)["cell"].sort()
    if candidates.is_empty():
        return SCHEMA.to_frame()
    last_day = epoch_day(as_of - timedelta(microseconds=1))
    own = recent_sessions(all_sessions.filter(pl.col("cell").is_in(candidates.implode())), params)
    totals = arms(all_sessions, own, params)
    at = looks(own, last_day)
    tests = count_tested(all_sessions, numbered, params)
    failing_at = keeps_failing(at, totals, params)
    suspects = failing_at.filter(pl.col("probability") >= params.opens_at)
    if suspects.is_empty():
        return SCHEMA.to_frame()
    flagged = flagged_since(failing_at, totals, tests, numbered, last_day, params)
    if flagged.is_empty():
        return SCHEMA.to_frame()
    kinds = _kinds(open_states(failing_at, flagged, params))
    tonight = at.unique("cell", keep="last", maintain_order=True)
    of_rows = tonight.filter(pl.col("cell").is_in(kinds["cell"].implode()))
    arms_now = arms_at(tonight.select("cell", "agent_task", "task", "day"), totals)
    evidence = (
        kinds.join(_of_kind(log_e_values(of_rows, totals, params), "log_e"), on=["cell", "kind"])
        .join(_of_kind(q_values(arms_now.join(numbered, on="cell"), tests, params), "q_value"), on=["cell", "kind"])
        .join(numbered, on="cell")
        .join(failing_at.group_by("cell").agg(pl.col("kind").last().alias("kind_now")), on="cell")
    )
    own = known.filter(pl.col("cell").is_in(evidence["cell"].implode())).join(
        numbered.select("cell", *KEY), on="cell", how="left", maintain_order="left"
    )
    if shown is not None:
        own = own.drop("strategy").join(shown, on=["project", "strategy_id"], how="left")
    if templates is not None:
        own = own.join(templates, on=["project", "error_id"], how="left")
    return _rows(known, own, evidence, heuristics, totals.of_agent, as_of, params)


def _rows(
    attempts: pl.DataFrame,
    own: pl.DataFrame,
    evidence: pl.DataFrame,
    heuristics: pl.DataFrame,
    of_agent: pl.Series,
    as_of: datetime,
    params: AntiPatternParams,
) -> pl.DataFrame:
    """The table: `evidence` (cells, kind, is_open, opened_day, log_e, q_value) with all that is known of each strategy.

    `own`: their attempts, with the texts to show.
    """
    own = own.with_columns(pl.lit(None, pl.String).alias(name) for name in ERROR_TEXTS if name not in own.columns)
    failed = own.filter(~pl.col("success"))
    is_dormant = pl.col("last_attempt_at") < as_of - timedelta(days=params.dormant_days)
    baseline = pl.col("other_failures") / pl.col("other_attempts")
    excess = pl.col("failures") - pl.col("attempts") * pl.col("baseline_rate")
    is_expected_to_succeed = (pl.col("confidence") > _MOST_CONFIDENCE).fill_null(value=False)
    # NULL without comparables: then it is no avoid
    is_above_others = (pl.col("kind") == "hard_task") | (pl.col("failure_rate") > pl.col("baseline_rate"))
    return (
        counts(attempts, own, evidence, of_agent)
        .join(errors(failed, params), on=KEY, how="left")
        .join(failure_costs(failed, params), on=KEY, how="left")
        .join(better_alternatives(evidence, heuristics), on=KEY, how="left")
        .join(heuristics.select(*KEY, "confidence"), on=KEY, how="left")
        .with_columns(
            pl.col("error_id").fill_null(""),
            pl.col("error_failures", "error_family_failures").fill_null(0),
            (pl.col("failures") / pl.col("attempts")).alias("failure_rate"),
            pl.when(pl.col("other_attempts") > 0).then(baseline).alias("baseline_rate"),
            pl.col("log_e").clip(upper_bound=_MAX_LOG_E).exp().alias("e_value"),
            is_expected_to_succeed.alias("is_expected_to_succeed"),
        )
        .with_columns(is_above_others.fill_null(value=False).alias("is_above_others"))
        .with_columns(
            pl.when(~pl.col("is_open") | pl.col("is_expected_to_succeed") | ~pl.col("is_above_others"))
            .then(pl.lit("closed"))
            .when(is_dormant)
            .then(pl.lit("dormant"))
            .otherwise(pl.lit("open"))
            .alias("state"),
        )
        .with_columns(
            why_bad(params),
            (excess.clip(lower_bound=0.0) * pl.col("failure_cost")).alias("cost"),
        )
        .with_columns(pl.when(pl.col("cost").is_not_null()).then(pl.col("cost_unit")))
        .select(SCHEMA.names())
        .match_to_schema(SCHEMA)
        .sort(*KEY, "error_id")
    )
