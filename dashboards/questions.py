"""The questions people come with, each answered on the overview by one recipe of the cookbook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from slowwave.dashboards import charts, story
from slowwave.dashboards.answers import ALL, Answers
from slowwave.dashboards.html_table import Row
from slowwave.dashboards.links import FIRST_PAGE, memory_link, project_view, view
from slowwave.dashboards.templates import rendered
from slowwave.dashboards.widgets import address, asked, choice, command, drawn, pattern, said, table
from slowwave.dashboards.words import counted, interval, part, quoted

_SHOWN_ROWS = 15
_PARAM = "question"
_DAYS = 7
_MANY = 10_000


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
        columns = ["memory_id", "project", "lift", "lift_low", "lift_high", "lift_basis", "is_harmful", "content"]
        table(
            worst,
            name,
            caption="Lowest lift first: observed minus expected success of the interactions that had it",
            columns=columns,
            links={"memory_id": _memory_row},
        )
    asked(name, **of)


def _worse(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    said(*story.worse(answers.counts("got_worse", "kind", "what", **of), _DAYS))
    rows = answers.rows("got_worse", _SHOWN_ROWS, **of)
    if rows.height:
        table(
            rows,
            "got_worse",
            caption="What got worse in the 7 days before the publish",
            columns=["kind", "id", "what", "day", "project", "text", "detail"],
            links={"id": _worse_row},
        )
    asked("got_worse", **of)


def _forget(answers: Answers, project: str | None) -> None:
    of = {"verdict": "forget", "project": pattern(project)}
    total = answers.count("verdicts", **of, limit=ALL)
    rows = answers.rows("verdicts", _SHOWN_ROWS, **of)
    if not total:
        said("No memory is marked forget: that needs one that has faded and is unlikely to be needed.")
        said("Why any other memory has its verdict stands first on its page: choose it under Memories.")
    else:
        marked = counted(total, "memory is", "memories are")
        said(f"{marked} marked forget. The main reason stands beside each; its page has all of them, with the figures.")
        table(
            rows,
            "verdicts",
            caption="Memories marked forget",
            columns=["memory_id", "project", "status", "main_reason", "content"],
            links={"memory_id": _memory_row},
        )
        first = f"memory_id={rows['memory_id'][0]}"
        command("sql", "why_verdict", param=[first], purpose="All reasons of the first")
    asked("verdicts", **of)


def _strategy(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    kinds = answers.counts("best_strategies", "task_type", **of)["task_type"].to_list()
    task_type = choice("Kind of task", "task_type", sorted(filter(None, kinds)), unchosen="Any kind of task")
    of |= {"task_type": pattern(task_type or None)}
    rows = answers.rows("best_strategies", _SHOWN_ROWS, **of)
    if rows.is_empty():
        said("No strategy was tried yet: that needs outcomes with a strategy.")
    else:
        first = rows.row(0, named=True)
        said(
            f"Highest lower bound among tried strategies: {quoted(first['strategy'])}; estimated success "
            f"{part(first['confidence'])} on the next comparable attempt, 90 % credible interval "
            f"{interval(first['confidence_low'], first['confidence_high'])}, {counted(first['attempts'], 'attempt')}."
        )
        table(
            rows,
            "best_strategies",
            caption="Per project, agent and kind of task, the tried strategy with the highest lower bound",
            links={
                "task_type": lambda row: project_view(
                    "strategies", row["project"], agent=row["agent"], task_type=row["task_type"]
                )
            },
        )
    asked("best_strategies", **of)


def _calibration(answers: Answers, _project: str | None) -> None:
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
