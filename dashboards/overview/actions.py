"""What to do now: at most five actions, the one that is worth most first, each with its command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slowwave.dashboards.commands import command_line
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.links import view
from slowwave.dashboards.overview.tiles import Named
from slowwave.dashboards.words import number_of, sum_of

_MOST = 5


def actions(answers: Answers, of: Mapping[str, str]) -> list[Named]:
    """Return the actions of a project, or of all: harm first, then failures, alarms, questions, and what only costs.

    `of`: the params of the recipes, for instance a pattern of projects.
    """
    return [action for action in _all(answers, of) if action is not None][:_MOST]


def _all(answers: Answers, of: Mapping[str, str]) -> Iterator[Named | None]:
    flags = answers.counts("helping_and_hurting_memories", "is_harmful", **of)
    harmful = sum_of(flags.filter(pl.col("is_harmful").fill_null(value=False)))
    yield _action(
        harmful,
        number_of(harmful, "harmful memory", "harmful memories"),
        "Archive",
        command_line("review", "list", kind="harmful"),
        view("review", kind="harmful"),
    )
    failing = answers.count("costliest_anti_patterns", **of)
    yield _action(
        failing,
        number_of(failing, "failing strategy", "failing strategies"),
        "Replace",
        command_line("sql", "costliest_anti_patterns"),
        view("strategies"),
    )
    alarms = answers.counts("alarms", "level", **of)
    yield _action(
        sum_of(alarms), number_of(sum_of(alarms), "alarm"), "Look at", command_line("sql", "alarms"), view("runs")
    )
    ignored = answers.count("ignored_instructions", **of)
    yield _action(
        ignored,
        number_of(ignored, "ignored instruction"),
        "Check",
        command_line("sql", "ignored_instructions"),
        view("memories", list="ignored"),
    )
    waiting = answers.count("review_queue", **of)
    yield _action(waiting, number_of(waiting, "review item"), "Decide", command_line("review", "list"), view("review"))
    rules = answers.counts("forgetting_plan", "is_shadow", **of)
    planned = sum_of(rules.filter(~pl.col("is_shadow")))
    yield _action(
        planned,
        number_of(planned, "faded memory", "faded memories"),
        "Archive",
        command_line("forget", "plan"),
        view("review"),
    )


def _action(count: int, what: str, do: str, command: str, link: str) -> Named | None:
    return Named(f"{do} {what}", "", link, command) if count else None
