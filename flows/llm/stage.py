"""The stage of a run that asks a language model what the rules have decided alone so far, and lands its answers.

A few questions are asked at once, within a budget; each answer lands as it comes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.llm.client import (
    Endpoint,
    LlmAnswer,
    LlmClient,
    LlmError,
    NotUnderstoodError,
    check_installed,
    endpoint_from_environment,
    unexpected_error,
)
from slowwave.transforms.decisions.effects import decision_rows
from slowwave.transforms.decisions.review.rejected_texts import rejected_texts
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.llm.model_decisions import answer_decision
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt
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


# A model that answers so many questions in a row with what cannot be read is not asked on.
_UNREADABLE_IN_A_ROW = 30


@dataclass(frozen=True)
class Question:
    """A prompt, and the memory's change it is asked for."""

    memory_id: str
    changed_at: datetime
    prompt: Prompt


Land = Callable[[list[tuple[Question, LlmAnswer]]], None]


@dataclass
class Budget:
    """Requests and tokens that are left; what is under way counts as if it cost its estimate."""

    calls: int
    tokens: int

    def reserve(self, prompt: Prompt, params: LlmParams) -> int:
        """Set a request and tokens aside for a question; 0 when there are not enough of them."""
        wanted = prompt.tokens + params.answer_tokens
        if self.calls < 1 or wanted > self.tokens:
            return 0
        self.calls -= 1
        self.tokens -= wanted
        return wanted

    def take_call(self) -> bool:
        """Set another request aside; whether there was one."""
        if self.calls < 1:
            return False
        self.calls -= 1
        return True


@dataclass
class QuestionsReport:
    """What became of one night's questions."""

    open: int = 0
    landed: int = 0
    tokens: int = 0
    calls: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    ended: str = ""

    @property
    def pending(self) -> int:
        """Questions that are still without an answer."""
        return self.open - self.landed


def ask(
    endpoint: Endpoint,
    questions: Iterator[Question],
    budget: Budget,
    params: LlmParams,
    land: Land,
    asked: QuestionsReport,
) -> None:
    """Ask until there are no questions, budget or time left, or the server does not answer; `asked` says how it went.

    `land` writes answers durably before more is asked, so a kill loses those that are under way and no others.
    """
    try:
        asyncio.run(_Night(questions, budget, params, land, asked).ask(endpoint))
    except LlmError as error:  # no client could be made
        asked.ended = str(error)


class _Night:
    def __init__(
        self, questions: Iterator[Question], budget: Budget, params: LlmParams, land: Land, asked: QuestionsReport
    ) -> None:
        self._questions = questions
        self._budget = budget
        self._params = params
        self._land = land
        self._asked = asked
        self._under_way: dict[asyncio.Task[LlmAnswer], tuple[Question, int]] = {}
        self._is_proven = False
        self._failures = 0
        self._unreadable = 0

    async def ask(self, endpoint: Endpoint) -> None:
        deadline = time.monotonic() + self._params.max_seconds
        async with LlmClient(endpoint, self._params) as client:
            try:
                while self._start_more(client):
                    done, _ = await asyncio.wait(
                        self._under_way,
                        timeout=max(0.0, deadline - time.monotonic()),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    if not done:
                        self._asked.ended = f"it took longer than {self._params.max_seconds:g} s"
                        break
                    self._settle(done)
            finally:
                for task in self._under_way:
                    task.cancel()
                await asyncio.gather(*self._under_way, return_exceptions=True)

    def _start_more(self, client: LlmClient) -> bool:
        """Start as many questions as may be under way; whether any is. Until one is answered they go one by one."""
        while not self._asked.ended and len(self._under_way) < (self._params.concurrency if self._is_proven else 1):
            question = next(self._questions, None)
            if question is None:
                break
            reserved = self._budget.reserve(question.prompt, self._params)
            if not reserved:
                self._asked.ended = "the day's budget is spent"
                break
            self._under_way[asyncio.create_task(self._answer(client, question.prompt))] = (question, reserved)
        return bool(self._under_way)

    async def _answer(self, client: LlmClient, prompt: Prompt) -> LlmAnswer:
        attempt = 1
        while True:
            self._asked.calls += 1
            try:
                return await client.answer(prompt)
            except NotUnderstoodError:
                if not client.has_other_dialect or not self._budget.take_call():
                    raise
            except LlmError as error:
                # a server that has never answered is not waited for again
                is_in_vain = error.is_timeout and not self._is_proven
                is_last = attempt >= self._params.attempts or bool(self._asked.ended)
                if not error.is_repeatable or is_in_vain or is_last or not self._budget.take_call():
                    raise
                if error.is_of_endpoint:
                    backoff = 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come back at once
                    await asyncio.sleep(min(self._params.max_wait_seconds, max(backoff, error.retry_after)))
                attempt += 1

    def _settle(self, done: set[asyncio.Task[LlmAnswer]]) -> None:
        answers: list[tuple[Question, LlmAnswer]] = []
        for task in done:
            question, reserved = self._under_way.pop(task)
            error = task.exception()
            if error is None:
                answer = task.result()
                self._budget.tokens += reserved - answer.tokens
                answers.append((question, answer))
            elif isinstance(error, Exception):
                self._fail(error if isinstance(error, LlmError) else unexpected_error(error))
        if answers:
            self._is_proven, self._failures, self._unreadable = True, 0, 0
            self._land(answers)
            self._asked.landed += len(answers)
            self._asked.tokens += sum(answer.tokens for _, answer in answers)

    def _fail(self, error: LlmError) -> None:
        """A failed question keeps its tokens: what it cost is not known."""
        self._asked.failed[str(error)] += 1
        self._failures = self._failures + 1 if error.is_of_endpoint else 0
        self._unreadable += 1
        is_dead = error.ends_asking or (error.is_timeout and not self._is_proven)
        if is_dead or self._failures >= self._params.max_failures or self._unreadable >= _UNREADABLE_IN_A_ROW:
            self._asked.ended = str(error)
