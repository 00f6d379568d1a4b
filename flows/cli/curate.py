"""`slowwave review curate`: ask a language model what the rules alone decided so far, or show what would be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.times import utc_iso

if TYPE_CHECKING:
    from slowwave.flows.llm.stage import Question
    from slowwave.transforms.llm.params import LlmParams

_WAIT_SECONDS = 600


def run_curate(settings: Settings, *, dry_run: bool, limit: int | None, output: str) -> None:
    """Ask now, and land the answers: the next publish shows them. With `dry_run` print the prompts, ask nothing.

    Raises UserError when no model or endpoint is set or nothing was landed, typer.Exit with code 1 when there were
    questions and none was answered.
    """
    if not storage_of(settings.lake_folder).is_folder(settings.lake_folder):
        message = f"nothing has been landed in {settings.home} yet: run `slowwave land PATH` first"
        raise UserError(message)
    if dry_run:
        _rehearse(settings, limit, output)
    else:
        _ask(settings, limit, output)


def _ask(settings: Settings, limit: int | None, output: str) -> None:
    from slowwave.flows.kernel.lock import writer_lock
    from slowwave.flows.kernel.progress import Screen, print_lines
    from slowwave.flows.llm.client import check_installed, endpoint_from_environment
    from slowwave.flows.llm.stage import ask_open, asked_line
    from slowwave.flows.publish.run import start_run

    endpoint = endpoint_from_environment()
    model = settings.params().llm.model
    if endpoint is None or not model:
        known = {"SLOWWAVE_LLM_URL (such as http://localhost:8080/v1)": endpoint, "SLOWWAVE_LLM_MODEL": model}
        missing = " and ".join(name for name, value in known.items() if not value)
        message = (
            f"no language model: set {missing} and, where the server wants one, SLOWWAVE_LLM_KEY; "
            "`slowwave review curate --dry-run` shows what would be asked"
        )
        raise UserError(message)
    check_installed()
    with Screen() as screen, writer_lock(settings, "curate", wait_seconds=_WAIT_SECONDS, waiting=screen.note):
        run = start_run(settings, "backfill", screen.progress)
        asked = ask_open(run, endpoint, limit)
    if output == "json":
        facts = {"open": asked.open, "answered": asked.landed, "pending": asked.pending, "requests": asked.calls}
        _print_json({**facts, "tokens": asked.tokens, "failed": dict(asked.failed), "ended": asked.ended})
    elif asked.open:
        seen = [("seen", "from the next nightly on")] if asked.landed else []
        print_lines("", [("asked", f"{endpoint.host}: {asked_line(asked)}"), *seen])
    else:
        typer.echo("nothing to ask: every question has its answer")
    if asked.open and not asked.landed and limit != 0:
        raise typer.Exit(1)


def _rehearse(settings: Settings, limit: int | None, output: str) -> None:
    from slowwave.flows.kernel.times import utc_now
    from slowwave.flows.lake.lake import Lake
    from slowwave.flows.llm.stage import budget_left, build_questions, open_questions
    from slowwave.flows.publish.log_as_of import LogAsOf

    lake = Lake(settings.lake_folder)
    lake.check_format()
    params = settings.params()
    log = LogAsOf(lake, utc_now(), params)
    changes, wanted = open_questions(log)
    budget = budget_left(log)
    most = budget.calls if limit is None else min(limit, budget.calls)
    affordable = 0
    while affordable < min(most, wanted.height) and budget.tokens >= 0:
        budget.tokens -= wanted["tokens"][affordable] + params.llm.answer_tokens
        affordable += budget.tokens >= 0
    chosen = wanted.head(affordable)
    facts = {
        "model": params.llm.model,
        "open": wanted.height,
        "requests": chosen.height,
        "prompt_tokens": int(chosen["tokens"].sum()),
        "answer_tokens_at_most": chosen.height * params.llm.answer_tokens,
    }
    asked = build_questions(chosen, changes, log)
    if output == "json":
        _print_json({**facts, "prompts": [_as_json(question) for question in asked]})
    else:
        _print_prompts(asked, facts, params.llm)


def _print_prompts(asked: Iterator[Question], facts: dict[str, Any], params: LlmParams) -> None:
    from slowwave.flows.kernel.terminal import format_count, terminal_safe

    systems: set[str] = set()
    for question in asked:
        prompt = question.prompt
        typer.echo(f"--- {prompt.task} {terminal_safe(question.memory_id)} of {utc_iso(question.changed_at)}")
        if prompt.task not in systems:
            systems.add(prompt.task)
            typer.echo(prompt.system)
        for line in prompt.user.splitlines():
            typer.echo(terminal_safe(line))
    typer.echo(
        f"{format_count(facts['open'], 'question')} open; within today's budget "
        f"{format_count(facts['requests'], 'request')}: "
        f"about {facts['prompt_tokens']:,} tokens of prompts and at most {facts['answer_tokens_at_most']:,} of answers"
    )
    typer.echo(
        f"nothing was sent (--dry-run); model: {terminal_safe(params.model) or 'none is set (SLOWWAVE_LLM_MODEL)'}"
    )


def _as_json(question: Question) -> dict[str, Any]:
    prompt = question.prompt
    return {
        "task": prompt.task,
        "memory_id": question.memory_id,
        "changed_at": question.changed_at,
        "decision_id": prompt.decision_id,
        "tokens": prompt.tokens,
        "system": prompt.system,
        "user": prompt.user,
    }


def _print_json(value: object) -> None:
    from slowwave.flows.ask.cells import json_bytes

    typer.echo(json_bytes(value).decode())
