"""The first page: how the memory of all projects, or of one, is doing, and the questions people come with."""

from __future__ import annotations

import polars as pl
import streamlit as st

from slowwave.dashboards.app.links import FIRST_PAGE, memory_link, project_view
from slowwave.dashboards.app.questions import archivable, questions
from slowwave.dashboards.app.widgets import (
    Figure,
    asked,
    drawn,
    figures,
    memory_projects,
    notice,
    pattern,
    project_choice,
    said,
    section,
    table,
)
from slowwave.dashboards.charts import charts
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.templates import rendered
from slowwave.dashboards.words import first_of, listed, number_of, sum_of

_MANY = 100_000
_VERDICTS = (
    ("keep", "keep", "in use, pinned or held, or faded in a quiet project"),
    ("unproven", "unproven", "too little is known to judge"),
    ("review", "review", "worth a person's look"),
    ("forget", "forget", "faded, not known to be needed"),
    ("harmful", "harmful", "lower success beyond chance"),
)
_SHOWN_PROJECTS = 50


def overview_page(published: Published) -> None:
    """Draw the overview."""
    st.title("Overview", anchor=False)
    project = project_choice(memory_projects(published))
    with published.answers() as answers:
        _nothing_known(answers)
        _quiet_log(published, answers, project)
        section("Questions to begin with")
        questions(answers, project)
        _answered(answers, project)
        section("How many memories there are")
        _numbers(answers, project)
        _changes(answers, project)
        _alarms(answers, project)
        _state(answers, project)
        _calibration(answers, is_of_one=project is not None)
        _projects(answers)


def _nothing_known(answers: Answers) -> None:
    """What to do where a publish holds nothing."""
    if not answers.count("memories_by_state") and not answers.count("landed_by_day"):
        notice(
            "note",
            "nothing has landed yet, so there is nothing to show",
            "run `slowwave land PATH` for your own logs and then `slowwave nightly`; or, with SLOWWAVE_HOME set to a "
            "new folder, `slowwave demo`",
        )


def _quiet_log(published: Published, answers: Answers, project: str | None) -> None:
    """That the log ended long before the publish, and how to publish it as of its end."""
    if published.as_of is not None:
        newest = answers.rows("freshness", _MANY, project=pattern(project))
        says, line = story.quiet_log(published.as_of, newest)
        if says:
            notice("warning", says, f"run `{line}`" if line else "")


def _answered(answers: Answers, project: str | None) -> None:
    """What the logs can and cannot answer: all that stands below rests on it."""
    of = {"project": pattern(project)}
    answered = story.answered(answers.rows("answerable_questions", _MANY, **of))
    if answered:
        section("What these logs can answer")
        st.html(rendered("answered.html.jinja", answered=answered, label="What these logs can answer"))
        asked("answerable_questions", **of)


def _numbers(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    verdicts = answers.rows("memories_by_verdict", _MANY, **of)
    said(*state_story.memories(verdicts, answers.rows("memories_by_state", _MANY, **of)))
    if verdicts.is_empty():
        return
    active = {"status": "active"}
    per = dict(verdicts.group_by("verdict").agg(pl.col("memories_count").sum()).iter_rows())
    shown = [Figure(f"{sum(per.values()):,}", "active memories", "", project_view("memories", project, **active))]
    shown += [
        Figure(f"{per.get(verdict, 0):,}", label, note, project_view("memories", project, verdict=verdict, **active))
        for verdict, label, note in _VERDICTS
    ]
    waiting = answers.count("review_queue", **of)
    planned = f"{archivable(answers, of):,}"
    shown.append(Figure(planned, "may be archived", "of any state", project_view("review", project)))
    shown.append(Figure(f"{waiting:,}", "wait for a person", "review queue", project_view("review", project)))
    figures(shown, label="How many active memories have which verdict, and what waits for a person")
    asked("memories_by_verdict", **of)
    asked("forgetting_plan", **of)
    asked("review_queue", **of)


def _changes(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    rows = answers.rows("what_changed", _MANY, **of)
    runs = answers.counts("recent_runs", "kind", "status", limit=ALL)
    publishes = sum_of(
        runs.filter((pl.col("kind") == "nightly") & pl.col("status").is_in(["published", "published_incomplete"]))
    )
    section("What is new, and what changed in use", " ".join(story.changes(rows, is_first=publishes <= 1)))
    if rows.height:
        table(
            rows,
            "what_changed",
            caption="Since the publish before: what is new, and which memories' state or use changed",
            columns=["what", "count", "topic", "example_id", "example"],
            links={"example_id": lambda row: memory_link(row["example_id"]) if row["topic"] == "memories" else ""},
        )
    asked("what_changed", **of)


def _alarms(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    rows = answers.rows("alarms", _SHOWN_PROJECTS, **of)
    levels, healths = answers.counts("alarms", "level", **of), answers.counts("project_health", "health", **of)
    if project is None or healths.is_empty():
        section("Alarms", " ".join(story.alarmed(levels, healths)))
    else:
        alarms = number_of(sum_of(levels), "alarm")
        section("Alarms of this project", f"It is {listed(healths['health'].to_list())}, with {alarms}.")
    if rows.height:
        caption = first_of("Alarms, critical ones first", rows.height, sum_of(levels))
        table(rows, "alarms", caption=caption, columns=["alarm", "level", "project", "active_count", "judged_count"])
    asked("alarms", **of)


def _state(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    section("The state of the memories")
    drawn(charts.memories_by_verdict(answers.rows("memories_by_verdict", _MANY, **of)))
    asked("memories_by_verdict", **of)
    drawn(charts.memories_by_state(answers.rows("memories_by_state", _MANY, **of)))
    asked("memories_by_state", **of)
    drawn(charts.reinforcement_over_time(answers.rows("references_by_day", _MANY, **of)))
    asked("references_by_day", **of)
    drawn(charts.decay_forecast(answers.rows("decay_forecast", _MANY, **of)))
    asked("decay_forecast", **of)
    drawn(charts.success_by_week(answers.rows("success_by_week", _MANY, **of)))
    asked("success_by_week", **of)


def _calibration(answers: Answers, *, is_of_one: bool) -> None:
    """Forecasts are graded for all projects together, which is said where one is chosen."""
    graded, weeks = answers.rows("calibration", _MANY), answers.rows("calibration_by_week", _MANY)
    whose = "Of all projects together, as forecasts are not graded for one alone." if is_of_one else ""
    section("Can the forecasts be believed?", " ".join([whose, *story.grade(graded)]))
    drawn(charts.calibration(weeks))
    asked("calibration_by_week")
    need = answers.rows("need_calibration", _MANY)
    said(*state_story.need(need))
    drawn(charts.need_calibration(need))
    asked("need_calibration")


def _projects(answers: Answers) -> None:
    rows, total = answers.rows("project_health", _SHOWN_PROJECTS), answers.count("project_health")
    section(
        "All projects",
        f"The first {rows.height:,} of {total:,}, those with most alarms first." if total > rows.height else "",
    )
    if rows.height:
        table(
            rows,
            "project_health",
            caption="How the memory of each project is doing",
            columns=["project", "health", "alarms_count", "active_count", "candidate_count", "reference_count",
                     "mean_strength", "stale_share", "forget_share"],
            links={"project": lambda row: project_view(FIRST_PAGE, row["project"]),
                   "active_count": lambda row: project_view("memories", row["project"], status="active")},
        )  # fmt: skip
    asked("project_health")
