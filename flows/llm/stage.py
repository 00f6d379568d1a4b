"""The stage of a run that asks a language model what the rules have decided alone so far, and lands its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.run_ids import utc_now
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.llm.asking import Budget, Question, QuestionsReport, ask
from slowwave.flows.llm.client import LlmAnswer, check_installed
from slowwave.flows.llm.endpoint import Endpoint, endpoint_from_environment
from slowwave.transforms.decisions.effects import decision_rows
from slowwave.transforms.decisions.review.rejected_texts import rejected_texts
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.llm.model_decisions import answer_decision
from slowwave.transforms.llm.questions import count_usage, prompts, questions, unanswered_questions, without_rejected

if TYPE_CHECKING:
    from slowwave.flows.lake.lake import Lake
    from slowwave.flows.publish.log_as_of import LogAsOf
    from slowwave.flows.publish.run import Run
    from slowwave.transforms.llm.params import LlmParams

_PROMPTS_AT_ONCE = 256


def asked_of_model(run: Run) -> QuestionsReport | None:
    """Ask what is open, newest first; None without a model or an endpoint.

    What is wrong with the endpoint is reported, not raised: the rules' answers are shown then, and it is asked again
    next night.
    """
    params = run.params.llm
    try:
        endpoint = endpoint_from_environment()
        if not params.model or endpoint is None:
            return None
        check_installed()
    except UserError as error:
        return QuestionsReport(ended=f"the model cannot be asked: {error}")
    return ask_open(run, endpoint)


def ask_open(run: Run, endpoint: Endpoint, limit: int | None = None) -> QuestionsReport:
    """Ask at most `limit` of the open questions, newest first, within what is left of the day's budget."""
    from slowwave.flows.publish.log_as_of import LogAsOf

    log = LogAsOf(run.lake, utc_now(), run.params)
    changes, wanted = open_questions(log)
    asked = QuestionsReport(open=wanted.height)
    if not wanted.is_empty():
        chosen = wanted.head(wanted.height if limit is None else limit)

        def land(answers: Sequence[tuple[Question, LlmAnswer]]) -> None:
            land_answers(run.lake, answers, run.params.llm)
            run.progress("ask", asked.landed + len(answers), chosen.height)

        run.progress("ask", 0, chosen.height)
        ask(endpoint, build_questions(chosen, changes, log), budget_left(log), run.params.llm, land, asked)
    return asked


def open_questions(log: LogAsOf) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rules' curation_decisions, and the open questions about them: unanswered, and of no rejected text."""
    from slowwave.flows.publish.word_vectors import word_vectors
    from slowwave.transforms.observations.curation_decisions import curation_decisions

    changes = curation_decisions(log.states, word_vectors, log.params.observations)
    asked = questions(changes, log.states, log.params.llm)
    now = log.states.filter(pl.col("valid_until").is_null())
    rejected = rejected_texts(log.decisions, now, log.as_of)
    asked = without_rejected(asked, changes, log.states, rejected, log.params.llm)
    return changes, unanswered_questions(asked, log.decisions)


def build_questions(chosen: pl.DataFrame, changes: pl.DataFrame, log: LogAsOf) -> Iterator[Question]:
    """The questions with their prompts, in order, some at a time: texts take more memory than ids."""
    for slice_ in chosen.iter_slices(_PROMPTS_AT_ONCE):
        of_slice = changes.join(slice_, on=["memory_id", "changed_at"], how="semi")
        made = prompts(of_slice, log.states, log.params.llm)
        for memory_id, changed_at, decision_id in slice_.select("memory_id", "changed_at", "decision_id").iter_rows():
            yield Question(memory_id, changed_at, made[decision_id])


def budget_left(log: LogAsOf) -> Budget:
    """The day's budget without what answers that landed today have cost; runs of one UTC day share it."""
    today = log.decisions.filter(pl.col("decided_at").dt.date() == log.as_of.date())
    calls, tokens = count_usage(today, log.params.llm)
    params = log.params.llm
    return Budget(params.calls_per_day - calls, params.tokens_per_day - tokens)


def land_answers(lake: Lake, answers: Sequence[tuple[Question, LlmAnswer]], params: LlmParams) -> None:
    """Write answers durably as decisions of now."""
    now = utc_now()
    rows = [
        answer_decision(asked.prompt, asked.memory_id, asked.changed_at, got.values, got.tokens, now, params)
        for asked, got in answers
    ]
    lake.write_rows(Decisions, now.date(), decision_rows(rows))
    lake.compact(Decisions, now.date())


def asked_line(asked: QuestionsReport) -> str:
    """What became of the questions, in a line."""
    if not asked.open and asked.ended:
        return asked.ended
    parts = [f"{asked.landed:,} answered with {format_count(asked.calls, 'request')} and {asked.tokens:,} tokens"]
    if asked.failed:
        worst, count = asked.failed.most_common(1)[0]
        parts.append(f"{asked.failed.total():,} without an answer ({worst}" + (f" × {count:,})" if count > 1 else ")"))
    if asked.pending:
        parts.append(f"{asked.pending:,} pending: the rules' answer is shown, asked again next night")
    if asked.ended and asked.ended not in asked.failed:
        parts.append(f"asking ended: {asked.ended}")
    return "; ".join(parts)
