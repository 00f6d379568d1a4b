"""What the released methods answer to the questions that people come with; every word.

The files in tests/golden are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

import polars as pl
from golden_tables import assert_golden
from log_counts import CASES

from slowwave.transforms.health.answerable.question_answers import answers


def test_what_was_answered_is_answered() -> None:
    rows = [
        {
            "log": name,
            "question": one.question,
            "asked": one.asked,
            "is_answered": one.is_answered,
            "rests_on_count": one.rests_on,
            "answer": one.answer,
            "lacks": one.lacks,
        }
        for name, counts in CASES.items()
        for one in answers(counts, 0.9)
    ]
    assert_golden(pl.DataFrame(rows), "answers-1/answerable_questions")
