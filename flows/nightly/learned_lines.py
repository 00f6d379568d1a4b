"""What a publish learned, in the few lines a person acts on."""

from __future__ import annotations

from pathlib import Path

import duckdb

from slowwave.flows.kernel.terminal import format_count, shorten_to_width

_SHOWN = 3
_SHOWN_CHARACTERS = 60

_COUNTS = """
SELECT
    (SELECT count(*) FROM counted_outcomes),
    (SELECT count(*) FROM counted_outcomes WHERE is_counted),
    (SELECT count(*) FROM counted_outcomes WHERE is_counted AND basis = 'inferred'),
    (SELECT count(*) FROM counted_outcomes WHERE is_attempt AND NOT is_counted),
    (SELECT count(DISTINCT strategy_id) FROM heuristics),
    (SELECT count(*) FROM heuristics),
    (SELECT count(*) FROM heuristics WHERE is_reliable),
    (SELECT count(*) FROM anti_patterns WHERE kind = 'avoid' AND state = 'open'),
    (SELECT count(DISTINCT (project, task_type)) FROM anti_patterns WHERE kind = 'hard_task' AND state = 'open'),
    (SELECT count(*) FROM memory_health WHERE is_harmful)
"""
_FORECASTS = """
SELECT metric, value, value_low, value_high
FROM scorecard
WHERE
    cutoff_at = (SELECT max(cutoff_at) FROM scorecard WHERE metric = 'brier_minus_laplace_to_date')
    AND metric IN ('brier_minus_laplace_to_date', 'calibration_slope_to_date')
    AND horizon_days = (SELECT max(horizon_days) FROM scorecard WHERE metric = 'brier_minus_laplace_to_date')
    AND method NOT IN ('base_rate/1', 'laplace/1', 'records/1')
"""
_OPEN = """
SELECT project, agent, task_type, pattern, why_bad, better_alternative
FROM anti_patterns
WHERE kind = 'avoid' AND state = 'open'
ORDER BY e_value DESC, project, agent, task_type, strategy_id
LIMIT $limit
"""
_HARMFUL = """
SELECT memory_id, lift, lift_low, lift_high
FROM memory_health
WHERE is_harmful
ORDER BY lift, memory_id
LIMIT $limit
"""


def learned_lines(serving: Path) -> list[tuple[str, str]]:
    """Label and text of each line; none where no outcome is known."""
    with duckdb.connect(serving, read_only=True) as connection:
        (counts,) = connection.execute(_COUNTS).fetchall()
        outcomes, attempts, inferred, apart, strategies, places, reliable, failing, hard, harmful = counts
        if not outcomes:
            return []
        graded = {metric: values for metric, *values in connection.execute(_FORECASTS).fetchall()}
        patterns = connection.execute(_OPEN, {"limit": _SHOWN}).fetchall()
        memories = connection.execute(_HARMFUL, {"limit": _SHOWN}).fetchall()
    lines = [
        (
            "learned",
            (
                f"{format_count(attempts, 'attempt')} of "
                f"{format_count(outcomes, 'outcome')}{_describe_inferred(inferred, apart)}; "
                f"{format_count(strategies, 'strategy', 'strategies')} tried in "
                f"{format_count(places, 'combination')} with "
                "project, agent and kind of task, "
                f"{reliable:,} reliable; "
                f"strategies to avoid: {failing:,}; hard tasks: {hard:,}; harmful memories: {harmful:,}"
            ),
        )
    ]
    if "brier_minus_laplace_to_date" in graded:
        lines.append(("forecasts", _forecasts(graded)))
    for project, agent, task_type, pattern, why_bad, better in patterns:
        where = " / ".join(name for name in (project, agent, task_type) if name)
        instead = f" Best so far: “{shorten_to_width(better, _SHOWN_CHARACTERS)}”." if better else ""
        lines.append(("avoid", f"{where}: “{shorten_to_width(pattern, _SHOWN_CHARACTERS)}”. {why_bad}{instead}"))
    if failing > _SHOWN:
        lines.append(("avoid", f"{failing - _SHOWN:,} more: `slowwave sql costliest_anti_patterns` shows all"))
    if hard:
        lines.append(
            (
                "hard tasks",
                f"nobody succeeds at {format_count(hard, 'kind of task', 'kinds of task')}: `slowwave sql hard_tasks`",
            )
        )
    for memory_id, lift, low, high in memories:
        lines.append(("harmful", f"memory {memory_id}: lift {lift:+.2f} ({low:+.2f} to {high:+.2f})"))
    return lines


def _describe_inferred(of_attempts: int, apart: int) -> str:
    """How many were inferred: of the attempts, and beside them."""
    said = f", {of_attempts:,} of them inferred" if of_attempts else ""
    return said + (f", {format_count(apart, 'more attempt')} inferred and not learned from" if apart else "")


def has_strategies(serving: Path) -> bool:
    """Whether a strategy was tried, so that asking for the best one has an answer."""
    with duckdb.connect(serving, read_only=True) as connection:
        ((is_tried,),) = connection.execute("SELECT count(*) > 0 FROM heuristics").fetchall()
    return is_tried


def _forecasts(graded: dict[str, list[float | None]]) -> str:
    difference, low, high = graded["brier_minus_laplace_to_date"]
    said = "not distinguishable from a simple average (Laplace)"
    if low is not None and high is not None and (low > 0 or high < 0):
        said = f"{'better' if high < 0 else 'worse'} than a simple average (Laplace)"
    figures = "" if low is None else f": Brier {difference:+.3f} ({low:+.3f} to {high:+.3f})"
    slope, _, slope_high = graded.get("calibration_slope_to_date", [None, None, None])
    too_sure = f"; too sure of themselves (slope {slope:.2f})" if slope_high is not None and slope_high < 1 else ""
    return f"{said}{figures}{too_sure}; see `calibration`"
