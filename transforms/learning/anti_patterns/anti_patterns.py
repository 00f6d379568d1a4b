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
    MILLION,
    Arms,
    arms,
    arms_at,
    cells,
    in_cells,
    latest_totals,
    recent_sessions,
    sessions,
)
from slowwave.transforms.learning.anti_patterns.flags import count_tested, flagged_since, log_beta, log_e_values, looks
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
from slowwave.transforms.learning.tables import AntiPatterns, CountedOutcomes

# Whether a flagged strategy still keeps failing: a posterior on its recent sessions, at every look.

_TERMS = 12  # pairs of terms: an error below 1e-9 for the Beta parameters the params allow
_HALF = 0.5
_PRIOR_MEANS = (0.01, 0.99)  # what failure rates of 0 and 1 count for in the prior


def _continued_fraction(a: pl.Expr, b: pl.Expr, x: pl.Expr) -> pl.Expr:
    """Regularised incomplete beta function for x < (a + 1) / (a + b + 2) (DLMF 8.17.22, evaluated backwards)."""
    tail = pl.lit(1.0)
    for m in range(_TERMS, -1, -1):
        if m < _TERMS:
            even = (m + 1) * (b - (m + 1)) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
            tail = 1 + even / tail
        tail = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / tail
    return (a * x.log() + b * (1 - x).log() - log_beta(a, b)).exp() / (a * tail)


def probability_above(rates: pl.DataFrame) -> pl.Series:
    """P(rate > threshold) per row of (a, b, threshold), for a rate distributed as Beta(a, b) and 0 < threshold < 1."""
    a, b, x = pl.col("a"), pl.col("b"), pl.col("threshold")
    converges = x < (a + 1) / (a + b + 2)
    swapped = rates.select(
        converges.alias("converges"),
        pl.when(converges).then(a).otherwise(b).alias("a"),
        pl.when(converges).then(b).otherwise(a).alias("b"),
        pl.when(converges).then(x).otherwise(1 - x).alias("threshold"),
    )
    found = swapped.select("converges", _continued_fraction(a, b, x).alias("below"))  # once: it is long to read
    below = pl.col("below")
    return found.select(pl.when("converges").then(1 - below).otherwise(below).alias("probability")).to_series()


def baselines(looks: pl.DataFrame, arms: Arms, params: AntiPatternParams) -> pl.DataFrame:
    """Per look, in their order: baseline, the comparables' present failure rate; NULL without comparables.

    It is that of their sessions of the last `baseline_days`, or of all if there were none lately.
    """
    window = looks.select("cell", "agent_task", "task", pl.col("day") - params.baseline_days)
    before = arms_at(window, arms).select(pl.col("n_others", "x_others").name.suffix("_before"))
    now = arms_at(looks.select("cell", "agent_task", "task", "day"), arms)
    lately = {name: pl.col(name) - pl.col(f"{name}_before") for name in ("n_others", "x_others")}
    n, x = (pl.when(lately["n_others"] > 0).then(since).otherwise(pl.col(name)) for name, since in lately.items())
    return now.hstack(before).select(pl.when(n > 0).then(x / (n * MILLION)).alias("baseline"))


def keeps_failing(looks: pl.DataFrame, arms: Arms, params: AntiPatternParams) -> pl.DataFrame:
    """The looks with `kind`, what the strategy would be, and `probability`, P(keeps failing); sorted by cell and day.

    It would be hard_task where no strategy succeeds (see `succeeding`), else avoid. The failure rate of its next
    session has a Beta posterior: its own sessions, weighted by age, on a prior at its comparables' present rate (one
    half without any). To keep failing is to be above that rate by the margin (avoid); to be above the failing rate
    where they fail half the time or more.
    """
    expected = pl.col("baseline").fill_null(_HALF).clip(*_PRIOR_MEANS)
    others_succeed = (pl.col("baseline") < _HALF).fill_null(value=False)
    beyond = pl.col("baseline") + params.margin
    at = looks.hstack(baselines(looks, arms, params))
    solvers = arms.succeeding["succeeding"].gather(latest_totals(looks, arms.succeeding, "task"))
    is_avoid = pl.col("succeeding") > 0
    threshold = pl.when(others_succeed).then(beyond).otherwise(params.failing_rate)
    threshold = pl.when(is_avoid).then(pl.max_horizontal(threshold, beyond)).otherwise(params.failing_rate)
    at = at.with_columns(solvers.fill_null(0)).with_columns(
        pl.when(is_avoid).then(pl.lit("avoid")).otherwise(pl.lit("hard_task")).alias("kind")
    )
    # nothing fails more than what always fails, nor than comparables that there are not
    can_be_above = (threshold < 1) & ~(is_avoid & pl.col("baseline").is_null())
    rates = at.select(
        (params.prior_sessions * expected + pl.col("recent")).alias("a"),
        (params.prior_sessions * (1 - expected) + pl.col("recent_weight") - pl.col("recent")).alias("b"),
        pl.when(can_be_above).then(threshold).otherwise(_HALF).alias("threshold"),
        can_be_above.alias("can_be_above"),
    )
    probability = pl.when(rates["can_be_above"]).then(probability_above(rates)).otherwise(0.0).alias("probability")
    return at.select("cell", "agent_task", "task", "first_day", "day", "kind", probability)


def open_states(keeps_failing: pl.DataFrame, flagged_since: pl.DataFrame, params: AntiPatternParams) -> pl.DataFrame:
    """The strategies that were ever open, per kind: cell, kind, is_open (now), opened_day (the last time).

    A flagged strategy opens when it keeps failing with P >= `opens_at`, closes when P falls below `closes_below` or it
    would be of the other kind, and so on; between the two it stays as it was.
    """
    stands_until = pl.col("day").shift(-1).over("cell")
    holds = pl.when(pl.col("kind") == pl.col("kind_flagged")).then("probability").otherwise(0.0)
    opens, closes = holds >= params.opens_at, holds < params.closes_below
    return (
        keeps_failing.with_columns(stands_until.alias("until"))
        .join(flagged_since.rename({"kind": "kind_flagged"}), on="cell")
        .filter(pl.col("until").is_null() | (pl.col("until") > pl.col("flagged_day")))
        .sort("cell", "kind_flagged", "day")
        .with_columns(pl.when(opens).then(statement=True).when(closes).then(statement=False).alias("is_open"))
        .group_by("cell", pl.col("kind_flagged").alias("kind"), maintain_order=True)
        .agg(pl.col("is_open").drop_nulls().last(), pl.col("day").filter(opens).last().alias("opened_day"))
    )


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
