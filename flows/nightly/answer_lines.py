"""What a publish says that the log can and cannot answer."""

from __future__ import annotations

from pathlib import Path

import duckdb

from slowwave.flows.kernel.terminal import counted

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


def answer_lines(serving: Path) -> list[tuple[str, str]]:
    """Label and text of each line: all questions after a first publish, later those that cannot be answered."""
    with duckdb.connect(serving, read_only=True) as connection:
        found = connection.execute(_ANSWERS).fetchall()
        ((publishes,),) = connection.execute(_PUBLISHES).fetchall()
    told = [row for row in found if publishes <= 1 or not row[1]]
    if not told:
        return [("answers", f"to {counted(len(found), 'question')}: `slowwave sql answerable_questions`")]
    lines: list[tuple[str, str]] = []
    said = set[str]()
    for asked, _, answer, lacks in told:
        once = [] if lacks in said else [lacks]
        lines.append(("" if lines else "answers", " ".join(filter(None, [asked, answer, *once]))))
        said.add(lacks)
    return lines
