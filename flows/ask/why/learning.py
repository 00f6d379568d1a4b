"""`slowwave why` of a strategy, an error or an outcome: the attempts behind each count, and what was not counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slowwave.flows.ask.why.layout import align_columns, format_lines, more, wrap_text
from slowwave.flows.ask.why.text import basis_words
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width
from slowwave.flows.kernel.times import utc_text
from slowwave.transforms.core.vocabularies import STRATEGY_KEY, UNANIMOUS_ATTEMPTS

Record = dict[str, Any]
Records = Callable[..., list[Record]]

_HALF = 0.5
_SHOWN = 400
_SHOWN_NAME = 120

_STRATEGY_IDS = """
SELECT DISTINCT strategy_id
FROM strategy_variants
WHERE strategy_id = $id OR strategy = $id
ORDER BY strategy_id <> $id, strategy_id
"""

_WORDINGS = """
SELECT project, strategy, reason
FROM strategy_variants
WHERE strategy_id = $id
ORDER BY project, strategy
"""

_HEURISTICS = """
SELECT * EXCLUDE (run_id, as_of)
FROM heuristics
WHERE strategy_id = $id
ORDER BY project, agent, task_type
"""

_TELLS_OF_UNTRIED = """
SELECT table_name
FROM duckdb_tables()
WHERE table_name = 'untried_strategies'
"""

_UNTRIED = """
SELECT * EXCLUDE (run_id, as_of)
FROM untried_strategies
WHERE strategy_id = $id
ORDER BY project, agent, task_type
"""

_ANTI_PATTERNS = """
SELECT * EXCLUDE (run_id, as_of)
FROM anti_patterns
WHERE strategy_id = $id
ORDER BY project, agent, task_type, error_id
"""

# with the beginning of its error's text
_OUTCOMES = """
SELECT o.* EXCLUDE (run_id, as_of), left(e.error_template, 200) AS error
FROM counted_outcomes AS o
LEFT JOIN error_templates AS e USING (project, error_id)
WHERE o.{column} = $id
ORDER BY o.created_at DESC, o.outcome_id
"""

_FITS = """
SELECT * EXCLUDE (run_id, as_of)
FROM forecast_fits
WHERE list_contains($projects, project)
ORDER BY project
"""

_ERRORS = """
SELECT * EXCLUDE (run_id, as_of)
FROM error_templates
WHERE error_id = $id
ORDER BY project
"""

_TELLS_OF_FAMILIES = """
SELECT column_name
FROM duckdb_columns()
WHERE table_name = 'error_templates' AND column_name = 'error_family'
"""

_FAMILY = """
SELECT * EXCLUDE (run_id, as_of)
FROM error_templates
WHERE error_family = $id
ORDER BY project, error_id
"""

_OUTCOMES_OF_FAMILY = """
SELECT o.* EXCLUDE (run_id, as_of), left(e.error_template, 200) AS error
FROM counted_outcomes AS o
JOIN error_templates AS e USING (project, error_id)
WHERE e.error_family = $id
ORDER BY o.created_at DESC, o.outcome_id
"""


def strategies_named(records: Records, given: str) -> list[str]:
    """Ids of the strategies with this id or wording, that with the id first."""
    return [row["strategy_id"] for row in records(_STRATEGY_IDS, id=given)]


def strategy_about(records: Records, given: str) -> Record | None:
    """What is known of a strategy (by id or wording, the first of `strategies_named`); None: it is none.

    `uses` hold the row of each project, agent and kind of task (a case) with exactly its `attempts` outcomes and its
    anti-patterns: cases with an open anti-pattern first, then those with most attempts. Apart from them are the
    outcomes that were not learned from.
    """
    found = strategies_named(records, given)
    return _strategy(records, found[0]) if found else None


def error_about(records: Records, given: str) -> Record | None:
    """What is known of an error and the outcomes that ended with it; None: there is none with this id."""
    errors = records(_ERRORS, id=given)
    outcomes = records(_OUTCOMES.format(column="error_id"), id=given) if errors else []
    return {"error_id": given, "errors": errors, "outcomes": outcomes} if errors else None


def family_about(records: Records, given: str) -> Record | None:
    """What is known of a family's errors and their outcomes; None: no family of several errors has this id."""
    errors = records(_FAMILY, id=given) if records(_TELLS_OF_FAMILIES) else []
    if all(row["error_id"] == given for row in errors):
        return None
    return {"error_family": given, "errors": errors, "outcomes": records(_OUTCOMES_OF_FAMILY, id=given)}


def outcome_about(records: Records, given: str) -> Record | None:
    """What is known of an outcome, and as what it counts; None: there is none with this id."""
    outcomes = records(_OUTCOMES.format(column="outcome_id"), id=given)
    return {"outcome_id": given, "outcome": outcomes[0]} if outcomes else None


def _strategy(records: Records, strategy_id: str) -> Record:
    outcomes = records(_OUTCOMES.format(column="strategy_id"), id=strategy_id)
    failing = records(_ANTI_PATTERNS, id=strategy_id)
    uses = records(_HEURISTICS, id=strategy_id)
    fits = {row["project"]: row for row in records(_FITS, projects=[use["project"] for use in uses])}
    cases = [
        {
            **use,
            "fit": fits.get(use["project"]),
            "anti_patterns": [row for row in failing if _cell(row) == _cell(use)],
            "outcomes": [row for row in outcomes if row["is_learned"] and _cell(row) == _cell(use)],
        }
        for use in uses
    ]
    return {
        "strategy_id": strategy_id,
        "wordings": records(_WORDINGS, id=strategy_id),
        "uses": sorted(cases, key=_first_look),
        # a file that an earlier release published does not have the table
        "not_tried": records(_UNTRIED, id=strategy_id) if records(_TELLS_OF_UNTRIED) else [],
        "not_learned": [row for row in outcomes if not row["is_learned"]],
    }


def _first_look(case: Record) -> tuple[bool, int]:
    return all(row["state"] != "open" for row in case["anti_patterns"]), -case["attempts"]


def with_case_first(found: Record, asked: Mapping[str, str]) -> Record:
    """Return a strategy with those cases first that have the `asked` project, agent or task type.

    Raises UserError where there is no such case, or it is no strategy.
    """
    if found["kind"] != "strategy":
        message = (
            f"--project, --agent and --task-type choose where a strategy was tried, and this is of a {found['kind']}"
        )
        raise UserError(message)
    cases = found["uses"]
    fitting = [case for case in cases if all(case[name] == value for name, value in asked.items())]
    if not fitting:
        of = ", ".join(f"{name.replace('_', ' ')} {quote_shortened(value)}" for name, value in asked.items())
        message = f"strategy {found['strategy_id']} was not tried with {of}: leave these out to see where it was"
        raise UserError(message)
    return {**found, "uses": [*fitting, *(case for case in cases if case not in fitting)]}


def _cell(row: Record) -> tuple[str, ...]:
    return tuple(row[name] for name in STRATEGY_KEY)


def learned_text(found: Record, limit: int) -> str:
    """The same for people, the newest `limit` outcomes of each count."""
    if "uses" in found:
        return format_lines(_strategy_lines(found, limit))
    if "errors" in found:
        return format_lines(_error_lines(found, limit))
    first, *others = outcome_lines(found["outcome"])
    return format_lines([f"outcome {found['outcome_id']}: {first}", *others])


def _strategy_lines(found: Record, limit: int) -> list[str]:
    lines = [f"strategy {found['strategy_id']}, {format_count(len(found['wordings']), 'wording')}:"]
    lines += align_columns(
        [["", _short(row["project"]), _short(row["strategy"]), "", row["reason"]] for row in found["wordings"][:limit]]
    )
    lines += more(len(found["wordings"]), limit)
    for use in found["uses"]:
        lines += ["", f"{case_words(use)}:"]
        attempts, sessions = format_count(use["attempts"], "attempt"), format_count(use["sessions"], "session")
        lines.append(f"  {attempts} in {sessions}, {use['successes']:,} successful")
        lines.append(
            f"  estimated success on the next comparable attempt {use['confidence']:.2f}; trend {use['trend']}"
        )
        lines.append(
            "  90 % credible interval for its share of successes in the next seven days "
            f"{use['confidence_low']:.2f} to {use['confidence_high']:.2f}"
        )
        lines += wrap_text(
            f"about {1 - use['prior_share']:.0%} of the estimate comes from its own attempts, which count now as much "
            f"as {use['effective_sessions']:.1f} independent ones"
        )
        lines += wrap_text(f"the rest comes from its relatives ({use['prior_mean']:.2f}){_drawn_to(use['fit'])}")
        lines += wrap_text(_fading(use["fit"]))
        lines += wrap_text(_correction(use["fit"]))
        is_unanimous = use["attempts"] >= UNANIMOUS_ATTEMPTS and use["successes"] in {0, use["attempts"]}
        if is_unanimous and use["confidence"] == _HALF:
            lines += wrap_text("its attempts all ended alike, so relatives and time carry it to 0.50, not past it")
        for row in use["anti_patterns"]:
            lines += wrap_text(f"{row['state']} anti-pattern ({row['kind']}): {row['why_bad']}")
        lines += _outcomes(use["outcomes"], limit)
    lines += _not_tried(found["not_tried"], limit)
    lines += ["", f"not learned from: {len(found['not_learned'])}", *_outcomes(found["not_learned"], limit)]
    return lines


def case_words(row: Record) -> str:
    """Return the project, agent and kind of task of a row."""
    agent, task_type = _short(row["agent"]) or "(no agent)", _short(row["task_type"]) or "(none)"
    return f"{_short(row['project']) or '(no project)'}, {agent}, task type {task_type}"


def _days(length: float) -> str:
    return f"{length:g} day{'' if length == 1 else 's'}"


def _not_tried(rows: list[Record], limit: int) -> list[str]:
    if not rows:
        return []
    shown = [
        [
            _short(row["project"]) or "(no project)",
            _short(row["agent"]) or "(no agent)",
            _short(row["task_type"]) or "(none)",
            f"{row['confidence']:.2f} ({row['confidence_low']:.2f} to {row['confidence_high']:.2f})",
            f"the best tried there: {row['best_tried_confidence']:.2f}",
            # an earlier release published none
            f"the kind of task alone: {row['task_estimate']:.2f}" if row.get("task_estimate") is not None else "",
        ]
        for row in rows[:limit]
    ]
    return [
        "",
        f"not tried here: {len(rows)}, estimated from relatives:",
        *align_columns(shown),
        *more(len(rows), limit),
    ]


def _fading(fit: Record) -> str:
    said = f"its attempts count half after {_days(fit['half_life_days'])}"
    if fit.get("fading_half_life_days") is not None:
        return (
            f"{said}, beside its whole record, which is worth {fit['record_strength']:g} attempts; without a new one, "
            f"half of what is known of it is left after {_days(fit['fading_half_life_days'])}"
        )
    if fit["recent_half_life_days"] is None:
        return said
    return f"{said}; those of the last days, with a half-life of {fit['recent_half_life_days']:g}, weigh extra"


def _correction(fit: Record) -> str:
    said = []
    if fit.get("records_share"):
        said.append(f"{fit['records_share']:.0%} of it is the plain sum of the records of strategy and task type")
    if fit.get("shift"):
        found = "low" if fit["shift"] > 0 else "high"
        said.append(f"the project's late estimates were too {found}, so all move by {fit['shift']:+g} in log-odds")
    return "; ".join(said)


def _drawn_to(fit: Record) -> str:
    moves = fit.get("fading_half_life_days") is not None
    return " and, the longer it is not tried, by what any strategy is expected to do there" if moves else ""


def _short(text: str) -> str:
    return shorten_to_width(text, _SHOWN_NAME)


def _error_lines(found: Record, limit: int) -> list[str]:
    lines = [f"error {found['error_id']}" if "error_id" in found else f"family of errors {found['error_family']}"]
    for row in found["errors"]:
        lines += ["", f"project {_short(row['project']) or '(none)'}, {row['messages']} distinct messages:"]
        lines += wrap_text(shorten_to_width(row["error_template"], _SHOWN))
        if row.get("error_family"):  # an earlier release published no families
            lines += wrap_text(shorten_to_width(f"of the family: {row['error_family_template']}", _SHOWN))
        lines += wrap_text(shorten_to_width(f"for example: {row['example']}", _SHOWN))
    return [*lines, "", f"outcomes {len(found['outcomes'])}:", *_outcomes(found["outcomes"], limit)]


def outcome_lines(row: Record) -> list[str]:
    """Return how an outcome ended and how that is known, then as what it counts, a line each."""
    counts = row.get("is_counted", row["is_attempt"])  # an earlier release published no basis
    counted = "counts as an attempt" if counts else "does not count as an attempt"
    known = f", {basis_words(row)}" if row.get("basis") else ""
    about = ", ".join(f"{name} {_short(row[name]) or '(none)'}" for name in (*STRATEGY_KEY[:3], "block"))
    inferred = " (kind of task inferred from its words)" if row["is_task_type_inferred"] else ""
    lines = [
        f"{'succeeded' if row['success'] else 'failed'}{known}, {counted}",
        f"{utc_text(row['created_at'])}, known from {utc_text(row['known_at'])}",
        f"{about}{inferred}",
        f"strategy {row['strategy_id'] or '(none)'}, error {row['error_id'] or '(none)'}",
    ]
    if row["interaction_id"]:
        decides = "and decides how it ended" if row["is_deciding"] else "but does not decide how it ended"
        lines.append(f"belongs to interaction {row['interaction_id']} {decides}")
    return lines + ([f"reason: {row['reason']}"] if row["reason"] else ["learned from"])


def _outcomes(rows: list[Record], limit: int) -> list[str]:
    shown = [
        [
            utc_text(row["created_at"]),
            _short(row["project"]),
            _short(row["agent"]),
            _short(row["block"]),
            _short(row["outcome_id"]),
            "succeeded" if row["success"] else "failed",
            basis_words(row),
            row["reason"] or "",
        ]
        for row in rows[:limit]
    ]
    return align_columns(shown) + more(len(rows), limit)
