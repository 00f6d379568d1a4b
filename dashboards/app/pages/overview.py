"""The first page: six answers about the memories of all projects, or of one, and how their use went on."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.app.widgets import (
    address,
    asked,
    choice,
    drawn,
    memory_projects,
    notice,
    pattern,
    project_choice,
    said,
    section,
    table,
)
from slowwave.dashboards.charts import charts
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import FIRST_PAGE, project_view
from slowwave.dashboards.overview.six_answers import six_answers
from slowwave.dashboards.overview.window import ALL_DAYS, DAYS, DEFAULT_DAYS, LATEST, Window, window_of
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.templates import rendered

_MANY = 100_000
_SHOWN_PROJECTS = 20
_RANGES = {f"{days}": f"Last {days} days" for days in DAYS} | {f"{ALL_DAYS}": "All days"}
_NOTHING = "nothing"


def overview_page(published: Published) -> None:
    """Draw the overview."""
    with published.answers() as answers:
        if _nothing_known(answers):
            return
        project, window = _choices(published, answers)
        st.html(
            rendered("first_screen.html.jinja", tiles=six_answers(answers, window, pattern(project)), is_linked=True)
        )
        _over_time(answers, project, window)
        _projects(answers)


def _nothing_known(answers: Answers) -> bool:
    """Say what to do where a publish holds nothing."""
    if answers.count("memories_by_state") or answers.count("landed_by_day"):
        return False
    st.title("Overview", anchor=False)
    notice(
        "note",
        "nothing has landed yet, so there is nothing to show",
        "run `slowwave land PATH` for your own logs and then `slowwave nightly`; or, with SLOWWAVE_HOME set to a "
        "new folder, `slowwave demo`",
    )
    return True


def _choices(published: Published, answers: Answers) -> tuple[str | None, Window]:
    """Which project, which days, and with what they are compared: all of it stands in the address."""
    heading, of_project, of_days, of_comparison = st.columns([4, 5, 3, 4], vertical_alignment="center")
    with heading:
        st.title("Overview", anchor=False)
    with of_project:
        project = project_choice(memory_projects(published), is_bare=True)
    with of_days:
        days = choice(
            "Days", "days", [*_RANGES], unchosen=_RANGES[f"{DEFAULT_DAYS}"], shown=_RANGES.__getitem__, is_bare=True
        )
    with of_comparison:
        choice("Compared with", "compare", [_NOTHING], unchosen="vs. days before", is_bare=True)
    newest = answers.rows("freshness", _MANY, project=pattern(project))
    as_of = published.as_of or LATEST  # a file that does not name its run
    window = window_of(newest, as_of, int(days or DEFAULT_DAYS), is_compared=address("compare") != _NOTHING)
    quiet, line = story.quiet_log(as_of, newest)
    if quiet:
        notice("warning", quiet, f"run `{line}`" if line else "")
    return project, window


def _over_time(answers: Answers, project: str | None, window: Window) -> None:
    of = {"project": pattern(project)}
    said(window.words())
    left, right = st.columns(2)
    with left:
        drawn(charts.reinforcement_over_time(answers.rows("references_by_day", _MANY, **of)))
        asked("references_by_day", **of)
    with right:
        drawn(charts.success_by_week(answers.rows("success_by_week", _MANY, **of)))
        asked("success_by_week", **of)


def _projects(answers: Answers) -> None:
    rows, total = answers.rows("project_health", _SHOWN_PROJECTS), answers.count("project_health")
    if rows.height < 2:  # noqa: PLR2004 - one project needs no list of projects
        return
    section("Projects", f"The first {rows.height:,} of {total:,}." if total > rows.height else "")
    table(
        rows,
        "project_health",
        caption="How the memories of each project are doing",
        columns=["project", "health", "alarms_count", "active_count", "reference_count", "stale_share"],
        links={
            "project": lambda row: project_view(FIRST_PAGE, row["project"]),
            "active_count": lambda row: project_view("memories", row["project"], status="active"),
        },
    )
    asked("project_health")
