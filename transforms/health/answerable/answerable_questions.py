"""What the log answers to the questions that people come with, of everything and project by project."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Protocol

import polars as pl

from slowwave.transforms.core.frames import Frame, Lazy, framed
from slowwave.transforms.core.schema import computed_schema
from slowwave.transforms.evidence.tables import ProjectDays
from slowwave.transforms.health.answerable.answer_counts import Lifts, LogCounts
from slowwave.transforms.health.answerable.log_counts import log_counts
from slowwave.transforms.health.answerable.params import AnswerParams
from slowwave.transforms.health.answerable.question_answers import answers
from slowwave.transforms.health.answerable.tables import AnswerableQuestions, InteractionsWithMemories
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.learning.tables import CountedOutcomes
from slowwave.transforms.lift.params import MemoryOutcomeParams

_LIFTS = ("fair", "associated")


class AnsweringParams(Protocol):
    """Which method answers, and the mass of the intervals of lifts."""

    answers: AnswerParams
    memory_outcomes: MemoryOutcomeParams


def answerable_questions(
    days: Lazy[ProjectDays],
    had: Frame[InteractionsWithMemories],
    outcomes: Frame[CountedOutcomes],
    ended: pl.DataFrame,
    memories: pl.DataFrame,
    health: Frame[MemoryHealth],
    params: AnsweringParams,
) -> Frame[AnswerableQuestions]:
    """Four rows of everything that landed, and four of each project, sorted by key; run_id and as_of apart.

    Args:
        days: project_days of all days, stacked.
        had: interactions_with_memories.
        outcomes: counted_outcomes.
        ended: how many interactions ended, by project, of `ended_with_memories`.
        memories: which memories they had, of `ended_with_memories`.
        health: memory_id, project, scope, content, eligible_count, lift_basis, lift_low, lift_high of every memory.
        params: the mass of the intervals of lifts.

    A memory of no project, or of all, may be of the interactions of any; the lifts of a project are those of the
    memories that its interactions had.
    """
    counts = log_counts(days, had, outcomes, ended, memories, health)
    rows = [
        (row["extent"], row["project"], one.question, one.asked, one.is_answered, one.rests_on, one.answer, one.lacks)
        for row in counts.iter_rows(named=True)
        for one in answers(_counts(row), params.memory_outcomes.interval_mass)
    ]
    table = AnswerableQuestions
    return framed(table, pl.DataFrame(rows, schema=computed_schema(table), orient="row")).sort(table.key)


def _counts(row: dict[str, Any]) -> LogCounts:
    lifts = {kind: Lifts(**{one.name: row[f"{kind}_{one.name}"] for one in fields(Lifts)}) for kind in _LIFTS}
    return LogCounts(**lifts, **{one.name: row[one.name] for one in fields(LogCounts) if one.name in row})
