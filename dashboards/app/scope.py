"""What a page is about: project, agent and days, and with what it compares them; all of it stands in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
import streamlit as st

from slowwave.dashboards.app.widgets import (
    address,
    choice,
    day_choice,
    label_of,
    memory_projects,
    notice,
    pattern,
    project_choice,
)
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.overview.six_answers import BEFORE, Scope
from slowwave.dashboards.overview.window import ALL_DAYS, DAYS, DEFAULT_DAYS, LATEST, Days, Window, window_of

CUSTOM = "custom"
"""Stands for days that are chosen by the day."""
_NOTHING = "nothing"
_PROJECT, _AGENT = "project ", "agent "
_MANY = 100_000
_MOST_AGENTS = 200
_RANGES = {f"{days}": f"Last {days} days" for days in DAYS} | {f"{ALL_DAYS}": "All days", CUSTOM: "Other days…"}
# what pages hand on to each other
_CARRIED = ("project", "no_project", "agent", "days", "since", "until")


@dataclass(frozen=True)
class Chosen:
    """What a page is about. `project`: None is all. `other`: what it is compared with, in a word and in words."""

    project: str | None
    scope: Scope
    window: Window
    newest: pl.DataFrame
    other: tuple[Days, Scope] | None = None
    other_is: str = BEFORE
    other_words: str = ""

    def words(self) -> str:
        """Return in words what is shown and with what it is compared."""
        compared = f", compared with {self.other_words}" if self.other else ""
        whole = "Effects, ignored instructions, failing strategies and actions are of all days"
        agents = "" if self.scope.agent == Scope().agent else ", and but for strategies of all agents"
        return f"{self.window.words()}{compared}. UTC days. {whole}{agents}."


def carried() -> dict[str, str]:
    """What the address says of project, agent and days, for the addresses that a page leads to."""
    return {name: address(name) for name in _CARRIED if address(name)}


def days_params(published: Published) -> dict[str, str]:
    """Draw the choice of days of a page that shows all of them unless others are chosen, and return recipe params."""
    with st.columns(3)[0]:
        chosen = range_choice(ALL_DAYS)
    if chosen == f"{ALL_DAYS}":
        return {}
    return chosen_window(published, published.answer("freshness"), chosen).shown.params()


def range_choice(unchosen: int, *, is_bare: bool = False) -> str:
    """Draw the choice of how many days are shown, `unchosen` if the address says nothing; CUSTOM is which ones."""
    chosen = choice(
        "Days", "days", [*_RANGES], unchosen=_RANGES[f"{unchosen}"], shown=_RANGES.__getitem__, is_bare=is_bare
    )
    return chosen or f"{unchosen}"


def chosen_window(published: Published, newest: pl.DataFrame, chosen: str) -> Window:
    """Return the days of a range, of which the first and the last are chosen here if it is CUSTOM.

    `newest`: rows of `freshness`.
    """
    as_of = published.as_of or LATEST  # a file that does not name its run
    if chosen != CUSTOM:
        return window_of(newest, as_of, int(chosen))
    usual = window_of(newest, as_of, DEFAULT_DAYS).shown
    first, last, _ = st.columns([1, 1, 2])
    with first:
        since = day_choice("From", "since", usual.first)
    with last:
        until = day_choice("To, included", "until", usual.last)
    if since > until:
        notice("warning", f"the days end ({until}) before they begin ({since})", "choose a later end")
        since = until
    return window_of(newest, as_of, Days(since, until))


def scope_choice(published: Published, answers: Answers, title: str) -> Chosen:
    """Draw title and choices of a page in one row, and return what is chosen."""
    agents = answers.rows("agents", _MOST_AGENTS)["agent"].to_list()
    heading, of_project, of_agent, of_days, of_comparison = st.columns([3, 4, 3, 3, 4], vertical_alignment="center")
    with heading:
        st.title(title, anchor=False)
    projects = memory_projects(published)
    with of_project:
        project = project_choice(projects, is_bare=True)
    agent = ""
    if len(agents) > 1:
        with of_agent:
            agent = choice(
                "Agent", "agent", [*filter(None, agents)], unchosen="All agents", shown=label_of, is_bare=True
            )
    newest = answers.rows("freshness", _MANY, project=pattern(project))
    with of_days:
        days = range_choice(DEFAULT_DAYS, is_bare=True)
    window = chosen_window(published, newest, days)
    scope = Scope(pattern(project), pattern(agent or None))
    chosen = Chosen(project, scope, window, newest)
    with of_comparison:
        return _compared(chosen, [each for each in projects if each and each != project], [*filter(None, agents)])


def _compared(chosen: Chosen, projects: Sequence[str], agents: Sequence[str]) -> Chosen:
    """With the days before, unless the address says: with nothing, or with another project or agent."""
    others = [f"{_PROJECT}{name}" for name in projects[:_MOST_AGENTS]]
    others += [f"{_AGENT}{name}" for name in agents if pattern(name) != chosen.scope.agent]
    said = choice(
        "Compared with",
        "compare",
        [_NOTHING, *others],
        unchosen="vs. days before",
        shown=lambda name: f"vs. {label_of(name)}",
        is_bare=True,
    )
    window, scope = chosen.window, chosen.scope
    if said.startswith(_PROJECT):
        scope = replace(scope, project=pattern(said.removeprefix(_PROJECT)))
    elif said.startswith(_AGENT):
        scope = replace(scope, agent=pattern(said.removeprefix(_AGENT)))
    elif said == _NOTHING or window.before is None:
        return chosen
    else:
        return replace(chosen, other=(window.before, scope), other_words=window.before.words())
    return replace(chosen, other=(window.shown, scope), other_is=label_of(said), other_words=label_of(said))
