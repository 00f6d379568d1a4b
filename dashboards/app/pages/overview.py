"""The first page: six answers about the memories of all projects, or of one, and how their use went on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from slowwave.dashboards.app.decision_commands import decided_since
from slowwave.dashboards.app.scope import PageScope, comparing, scope_bar
from slowwave.dashboards.app.widgets import carrying, draw_chart, draw_recipe_link, draw_rows, draw_text, notice
from slowwave.dashboards.charts import learning, memories
from slowwave.dashboards.charts.parts import is_blank
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import FIRST_PAGE, project_view
from slowwave.dashboards.overview.six_answers import Scope, six_answers
from slowwave.dashboards.overview.tiles import Tile
from slowwave.dashboards.overview.window import DEFAULT_DAYS, LATEST
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.templates import render_template

_MANY = 100_000
_SHOWN_PROJECTS = 20
_RECIPES = ("activity_by_day", "references_by_day")
_ALL_DAYS = "Single memories, failing strategies and actions are of all days."
_ALL_AGENTS = f"{_ALL_DAYS[:-1]}, and but for strategies of all agents."


def overview_page(published: Published) -> None:
    """Draw the overview."""
    with published.answers() as answers:
        if _nothing_known(answers):
            return
        chosen = scope_bar(published, "Overview", *_RECIPES, days=DEFAULT_DAYS)
        quiet, line = story.quiet_log(published.as_of or LATEST, chosen.newest)
        if quiet:
            notice("warning", quiet, f"run `{line}`" if line else "")
        decided = decided_since(published.as_of or LATEST)
        tiles = [_carrying(tile) for tile in _tiles(answers, chosen, decided)]
        st.html(render_template("first_screen.html.jinja", tiles=tiles, is_linked=True))
        _over_time(answers, chosen)
        _projects(answers)


def _tiles(answers: Answers, chosen: PageScope, decided: Mapping[str, str]) -> list[Tile]:
    if chosen.other is not None:
        with comparing(chosen), chosen.other.published.answers() as other:
            return six_answers(
                answers,
                chosen.window,
                chosen.shown.scope,
                other=(chosen.other.days or chosen.window.shown, chosen.other.scope),
                other_is=chosen.other_is,
                other_answers=other,
                decided=decided,
            )
    return six_answers(answers, chosen.window, chosen.shown.scope, other=None, decided=decided)


def _carrying(tile: Tile) -> Tile:
    named = [replace(each, link=carrying(each.link)) for each in tile.named]
    return replace(tile, link=carrying(tile.link), named=named)


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


def _over_time(answers: Answers, chosen: PageScope) -> None:
    of = chosen.of("references_by_day")
    use = memories.reinforcement_over_time(answers.rows("references_by_day", _MANY, **of))
    if not is_blank(use):
        draw_chart(use)
        draw_recipe_link("references_by_day", **of)
    of = chosen.of("success_by_week")
    success = learning.success_by_week(answers.rows("success_by_week", _MANY, **of))
    if not is_blank(success):
        with st.expander("Success by week"):
            draw_chart(success)
            draw_recipe_link("success_by_week", **of)
    draw_text(chosen.words(), _ALL_DAYS if chosen.shown.scope == Scope() else _ALL_AGENTS)


def _projects(answers: Answers) -> None:
    if answers.count("project_health") < 2:  # noqa: PLR2004 - one project needs no list of projects
        return
    with st.expander("Projects, the worst first"):
        draw_rows(
            answers,
            "project_health",
            "How the memories of each project are doing",
            most=_SHOWN_PROJECTS,
            columns=["project", "health", "alarms_count", "active_count", "reference_count", "stale_share"],
            links={
                "project": lambda row: project_view(FIRST_PAGE, row["project"]),
                "active_count": lambda row: project_view("memories", row["project"], status="active"),
            },
        )
