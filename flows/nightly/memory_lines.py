"""What a publish says of memories, in the few lines a person acts on."""

from __future__ import annotations

from pathlib import Path

import duckdb

from slowwave.flows.kernel.terminal import format_count, shorten_to_width

_SHOWN = 3
_SHOWN_CHARACTERS = 60

_COUNTS = """
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
        ((active, candidates, unknown, planned, unmet, fading),) = connection.execute(_COUNTS).fetchall()
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
