"""What a publish learned, in the few lines a person acts on; what the log can and cannot answer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import duckdb

from slowwave.flows.kernel.progress import Lines, this_command
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.kernel.times import quiet_log_text
from slowwave.transforms.health.answerable.import_preview import imported_counts
from slowwave.transforms.health.answerable.question_answers import answers
from slowwave.transforms.imports.delivery_lines import RowCounts
from slowwave.transforms.params import Params

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


# What a publish says of memories, in the few lines a person acts on.


_MEMORY_COUNTS = """
SELECT
    count(*) FILTER (status = 'active'),
    count(*) FILTER (status = 'candidate'),
    count(*) FILTER (status IS NULL),
    (SELECT count(*) FROM forgetting_plan WHERE NOT is_shadow),
    (SELECT count(*) FROM forgetting_quotas WHERE NOT is_met),
    count(*) FILTER (fades_at BETWEEN as_of AND as_of + INTERVAL 30 DAY AND status = 'active')
FROM memory_health
"""
_VERDICTS = """
SELECT verdict, count(*)
FROM memory_health
WHERE status = 'active'
GROUP BY verdict
ORDER BY list_position(['harmful', 'forget', 'review', 'unproven', 'keep'], verdict)
"""
_REVIEW = """
SELECT memory_id, verdict, reasons[1]
FROM memory_health
WHERE review_value > 0
ORDER BY review_value DESC, memory_id
LIMIT $limit
"""
_QUEUE = """
SELECT kind, count(*), arg_min(text, rank), min(rank)
FROM review_queue
GROUP BY kind
ORDER BY min(rank)
"""
_ALARMS = """
SELECT project, unnest(alarms)
FROM project_health
WHERE len(alarms) > 0
ORDER BY health, project
LIMIT $limit
"""


def memory_lines(serving: Path) -> list[tuple[str, str]]:
    """Label and text of each line; none where no memory is known."""
    with duckdb.connect(serving, read_only=True) as connection:
        ((active, candidates, unknown, planned, unmet, fading),) = connection.execute(_MEMORY_COUNTS).fetchall()
        verdicts = connection.execute(_VERDICTS).fetchall()
        first = connection.execute(_REVIEW, {"limit": _SHOWN}).fetchall()
        alarms = connection.execute(_ALARMS, {"limit": _SHOWN}).fetchall()
        queue = connection.execute(_QUEUE).fetchall()
    alarm_lines = [("alarm", f"{_short(project) or 'no project'}: {said}") for project, said in alarms]
    if not active + candidates + unknown:
        return [*_queue_line(queue), *alarm_lines]
    said = [
        f"{active:,} active" + (": " if verdicts else "") + ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts)
    ]
    if candidates:
        said.append(f"{format_count(candidates, 'landed candidate waits', 'landed candidates wait')} for a decision")
    if unknown:
        said.append(f"{unknown:,} injected or cited but never landed")
    if fading:
        said.append(f"{format_count(fading, 'fades', 'fade')} within 30 days without a reference")
    lines = [("memories", "; ".join(said))]
    if planned:
        lines.append(("to forget", f"{planned:,}: `slowwave forget plan` shows them, `slowwave forget apply` archives"))
    if unmet:
        lines.append(("quotas", f"{unmet:,} not met: `slowwave forget plan` says why"))
    lines += _queue_line(queue)
    if first and not queue:  # which has an order of its own
        lines.append(("review first", "where a wrong verdict would cost most: `slowwave sql review_order`"))
        lines += [("", f"{_short(memory_id)}, {verdict}: {reason}") for memory_id, verdict, reason in first]
    return [*lines, *alarm_lines]


def waits_for_review(serving: Path) -> bool:
    """Whether the queue of a publish has an item."""
    with duckdb.connect(serving, read_only=True) as connection:
        ((is_waiting,),) = connection.execute("SELECT count(*) > 0 FROM review_queue").fetchall()
    return is_waiting


def _queue_line(queue: list[tuple[str, int, str, int]]) -> list[tuple[str, str]]:
    """How much waits for a person's word, of which kinds, and what comes first."""
    if not queue:
        return []
    kinds = ", ".join(f"{count:,} {kind}" for kind, count, _, _ in queue)
    items = sum(count for _, count, _, _ in queue)
    named = f"{format_count(items, 'item')} ({kinds})"
    return [("to review", f"{named}: `slowwave review list` shows them; first: {_short(queue[0][2])}")]


def _short(text: str) -> str:
    return shorten_to_width(text, _SHOWN_CHARACTERS)


_ANSWERS = """
SELECT asked, is_answered, answer, lacks
FROM answerable_questions
WHERE extent = 'all'
ORDER BY list_position(['given', 'used', 'works', 'help'], question)
"""
_PUBLISHES = """
SELECT count(*)
FROM runs
WHERE kind = 'nightly' AND status IN ('published', 'published_incomplete')
"""
_NEWEST = """
SELECT max(newest_at), max(newest_recorded_at) FROM landed_days WHERE landed_table IN ('interactions', 'outcomes')
"""


def quiet_lines(serving: Path, as_of: datetime) -> Lines:
    """Label and text of each line; none where something happened in the last 30 days."""
    with duckdb.connect(serving, read_only=True) as connection:
        ((newest_at, recorded_at),) = connection.execute(_NEWEST).fetchall()
    says, command = quiet_log_text(as_of, newest_at, recorded_at)
    lines = [("old log", says)] if says else []
    return (
        [*lines, ("", f"to publish it as of its end: {command.replace('slowwave', this_command(), 1)}")]
        if command
        else lines
    )


def answer_lines(serving: Path) -> Lines:
    """Label and text of each line: all questions after a first publish, later those that cannot be answered."""
    with duckdb.connect(serving, read_only=True) as connection:
        found = connection.execute(_ANSWERS).fetchall()
        ((publishes,),) = connection.execute(_PUBLISHES).fetchall()
    told = [row for row in found if publishes <= 1 or not row[1]]
    if not told:
        return [("answers", f"to {format_count(len(found), 'question')}: `slowwave sql answerable_questions`")]
    return _lines((asked, answer, lacks) for asked, _, answer, lacks in told)


def imported_lines(rows: RowCounts, params: Params) -> Lines:
    """What the rows of an import can and cannot answer; nothing of memories alone, which are asked nothing."""
    counts = imported_counts(rows, params.attempts)
    if not counts.interactions and not counts.outcomes:
        return []
    found = answers(counts, params.memory_outcomes.interval_mass)
    return _lines((one.asked, one.answer, one.lacks) for one in found)


def _lines(told: Iterable[tuple[str, str, str | None]]) -> Lines:
    """A line for each question; what several lack is said once."""
    lines: Lines = []
    said = set[str | None]()
    for asked, answer, lacks in told:
        once = None if lacks in said else lacks
        lines.append(("" if lines else "answers", " ".join(filter(None, [asked, answer, once]))))
        said.add(lacks)
    return lines
