"""What a publish says that the log can and cannot answer, and whether it ended long before."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import duckdb

from slowwave.flows.kernel.progress import Lines, this_command
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import quiet_log_text
from slowwave.transforms.health.answerable.import_preview import imported_counts
from slowwave.transforms.health.answerable.question_answers import answers
from slowwave.transforms.imports.delivery_lines import RowCounts
from slowwave.transforms.params import Params

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
