"""The questions people come with, each answered on the overview by one recipe of the cookbook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
import streamlit as st

from slowwave.dashboards.app.links import FIRST_PAGE, memory_link, project_view, view
from slowwave.dashboards.app.widgets import address, asked, choice, command, drawn, limit_of, pattern, said, table
from slowwave.dashboards.charts import charts
from slowwave.dashboards.cookbook.answers import ALL, Answers, with_interval
from slowwave.dashboards.html_table import Row
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.templates import rendered
from slowwave.dashboards.words import (
    attempts_words,
    first_of,
    interval,
    named,
    not_tried_lately,
    number_of,
    part,
    quoted,
)

_SHOWN_ROWS = 15
_PARAM = "question"
_DAYS = 7
_MANY = 10_000
_BEST_COLUMNS = (
    *("strategy", "confidence", "is_reliable", "strategies_tried", "attempts", "trend"),
    *("project", "agent", "task_type"),
)


@dataclass(frozen=True)
class Question:
    """What is asked, and what draws the answer for a project (None: all)."""

    words: str
    answer: Callable[[Answers, str | None], None]


@dataclass(frozen=True)
class _Asked:
    words: str
    link: str
    is_asked: bool


def questions(answers: Answers, project: str | None) -> None:
    """The questions as links, and under them the answer to the one that the address asks."""
    chosen = address(_PARAM)
    of_project = "this project" if project is not None else "each project"
    listed = [
        _Asked(
            question.words.format(project=of_project), project_view(FIRST_PAGE, project, question=name), name == chosen
        )
        for name, question in QUESTIONS.items()
    ]
    st.html(rendered("questions.html.jinja", questions=listed))
    if chosen in QUESTIONS:
        with st.container(border=True):
            st.subheader(QUESTIONS[chosen].words.format(project=of_project), anchor=False)
            QUESTIONS[chosen].answer(answers, project)


def _memory_row(row: Row) -> str:
    return memory_link(row["memory_id"])


def _worse_row(row: Row) -> str:
    return memory_link(row["id"]) if row["kind"] == "memory" else view("strategies", strategy=row["id"])


def _hurting(answers: Answers, project: str | None) -> None:
    name, of = "helping_and_hurting_memories", {"project": pattern(project)}
    worst = answers.rows(name, _SHOWN_ROWS, **of)
    said(*story.harms(answers.counts(name, "is_harmful", **of), answers.counts(name, "lift_basis", **of)))
    if worst.height:
        by_sign = dict(answers.counts(name, "lift_high < 0", **of).iter_rows())
        said(_surely_below(by_sign.get(True, 0)))
        caption = "Lowest lift first: observed minus expected success of the interactions that had it"
        table(
            with_interval(worst, "lift"),
            name,
            caption=first_of(caption, worst.height, sum(by_sign.values())),
            columns=["memory_id", "lift", "is_harmful", "lift_basis", "project", "content"],
            labels={"lift": "lift (90 % interval)"},
            links={"memory_id": _memory_row},
        )
    asked(name, **of)


def _surely_below(count: int) -> str:
    if not count:
        return "Of no memory the whole 90 % interval of the lift lies below 0: what stands lowest may be chance."
    return f"Of {number_of(count, 'memory', 'memories')} the whole 90 % interval of the lift lies below 0."


def _worse(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    said(*story.worse(answers.counts("got_worse", "kind", "what", **of), _DAYS))
    rows = answers.rows("got_worse", _SHOWN_ROWS, **of)
    if rows.height:
        table(
            rows,
            "got_worse",
            caption=first_of(
                "What got worse in the last 7 days: memories in their use, strategies in their attempts",
                rows.height,
                answers.count("got_worse", **of),
            ),
            columns=["id", "what", "kind", "day", "detail", "project", "agent", "task_type", "text"],
            links={"id": _worse_row},
        )
    asked("got_worse", **of)


def _forget(answers: Answers, project: str | None) -> None:
    of = {"verdict": "forget", "project": pattern(project)}
    total = answers.count("verdicts", **of, limit=ALL)
    rows = answers.rows("verdicts", _SHOWN_ROWS, **of)
    if not total:
        said("No memory is marked forget: that needs one that has faded and is not known to be needed.")
        said("Why any other memory has its verdict stands first on its page: choose it under Memories.")
    else:
        marked = number_of(total, "memory is", "memories are")
        said(f"{marked} marked forget. The main reason stands beside each; its page has all of them, with the figures.")
        table(
            rows,
            "verdicts",
            caption=first_of("Memories marked forget", rows.height, total),
            columns=["memory_id", "main_reason", "status", "project", "content"],
            links={"memory_id": _memory_row},
        )
        first = f"memory_id={rows['memory_id'][0]}"
        command("sql", "why_verdict", param=[first], purpose="All reasons of the first")
    asked("verdicts", **of, **limit_of("verdicts", total))
    _planned(answers, project)


def _planned(answers: Answers, project: str | None) -> None:
    """What the forgetting plan has, whatever the verdicts: its rules ask for more than use."""
    of = {"project": pattern(project)}
    planned = archivable(answers, of)
    said(
        f"The forgetting plan, by rules of its own, would archive {number_of(planned, 'memory', 'memories')}:"
        if planned
        else "The forgetting plan, by rules of its own, would archive no memory."
    )
    if planned:
        link = project_view("review", project)
        st.html(rendered("links.html.jinja", links=[("The plan, with reasons", link)], label="What may be archived"))
    asked("forgetting_plan", **of)


def archivable(answers: Answers, of: dict[str, str]) -> int:
    """How many memories the forgetting plan would archive."""
    return dict(answers.counts("forgetting_plan", "is_shadow", **of).iter_rows()).get(False, 0)


def _strategy(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    kinds = answers.counts("best_strategies", "task_type", **of)["task_type"].to_list()
    task_type = choice("Kind of task", "task_type", sorted(filter(None, kinds)), unchosen="Any kind of task")
    of |= {"task_type": pattern(task_type or None)}
    rows, total = answers.rows("best_strategies", _SHOWN_ROWS, **of), answers.count("best_strategies", **of)
    said(strategy_to_use(rows, total, task_type))
    best_strategies_table(rows, total)
    asked("best_strategies", **of)


def strategy_to_use(best: pl.DataFrame, total: int, task_type: str) -> str:
    """Which strategy to use and whose answer that is. `best`: first of `total` rows of the recipe `best_strategies`.

    Without a `task_type` no strategy is named where there are several answers: one is as good as any.
    """
    if best.is_empty():
        return (
            "No strategy was tried yet: that needs outcomes with a strategy. Or the tried one with the highest lower "
            "bound is one to avoid, and none is named."
        )
    if total > 1 and not task_type:
        return (
            f"There are {total:,} answers, one for each project, agent and kind of task: choose a kind of task, and a "
            "project where there are several."
        )
    first = best.row(0, named=True)
    where = " / ".join(named(first[name]) for name in ("project", "agent", "task_type") if first[name])
    alone = " It is the only one tried there, which is no choice." if first["strategies_tried"] == 1 else ""
    sure = "Reliable." if first["is_reliable"] else "Not reliable yet: too few attempts, or a lower end not above .50."
    others = f" The highest of {total:,} answers: choose a project, and an agent, for the others." if total > 1 else ""
    attempts = attempts_words(first["attempts"], first["inferred"])
    tried = number_of(first["strategies_tried"], "tried strategy", "tried strategies")
    return (
        f"Highest lower bound among {tried}: {quoted(first['strategy'])} ({where or 'no project'}). Estimated success "
        f"{part(first['confidence'])} on the next comparable attempt; 90 % credible interval "
        f"{interval(first['confidence_low'], first['confidence_high'])}; {attempts}. "
        f"{sure}{alone}{not_tried_lately(first['trend'])}{others}"
    )


def best_strategies_table(rows: pl.DataFrame, total: int) -> None:
    """The first rows of `total` of the recipe `best_strategies`, with links to all that was tried."""
    if rows.is_empty():
        return
    caption = "Per project, agent and kind of task, the tried strategy with the highest lower bound"
    table(
        with_interval(rows, "confidence"),
        "best_strategies",
        caption=first_of(caption, rows.height, total),
        columns=_BEST_COLUMNS,
        labels={"confidence": "estimate (90 % interval)"},
        links={
            "task_type": lambda row: project_view(
                "strategies", row["project"], agent=row["agent"], task_type=row["task_type"]
            )
        },
    )


def _calibration(answers: Answers, project: str | None) -> None:
    if project is not None:
        said("Of all projects together, as forecasts are not graded for one alone.")
    said(*story.grade(answers.rows("calibration", _MANY)))
    drawn(charts.calibration_error(answers.rows("calibration", _MANY)))
    asked("calibration")
    said("How sure the numbers of one memory are stands on its page; how well need was forecast stands below.")


QUESTIONS: dict[str, Question] = {
    "hurting": Question("Which memories hurt {project}?", _hurting),
    "worse": Question("What got worse this week?", _worse),
    "forget": Question("Why is this one marked forget?", _forget),
    "strategy": Question("Which strategy should the agent use for a task?", _strategy),
    "calibration": Question("Can I believe the confidence?", _calibration),
}
