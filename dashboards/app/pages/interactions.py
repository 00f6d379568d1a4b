"""The interactions that have landed: by project, agent, client, session and time, a page at a time."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import streamlit as st

from slowwave.dashboards.app.scope import PageScope, compared_counts, scope_bar
from slowwave.dashboards.app.sql_answers import SqlAnswer, SqlQuestion, answer_table, cached_answer
from slowwave.dashboards.app.widgets import (
    ANY,
    PAGE_ROWS,
    address,
    draw_recipe_link,
    draw_text,
    draw_text_field,
    notice,
    page_asked,
    page_number,
)
from slowwave.dashboards.cookbook.cookbook import cookbook, exactly
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import project_view, view
from slowwave.dashboards.words import number_of
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_iso
from slowwave.transforms.core.times import time_from_text

_RECIPE = "landed_interactions"
_TIME = "2026-03-10, or 2026-03-10T08:00:00.000001Z"
_OF_ALL_PAGES = "interactions_count"  # stands above the table
_COLUMNS = (
    *("created_at", "prompt", "session_id", "response", "project", "agent", "client", "user_id", "memories_count"),
    *("cited_count", "interaction_id", "recorded_at"),
)
_OWN = ("client", "session", "from", "before")


def interactions_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Interactions", _RECIPE)
    chosen = _recipe_params(bar)
    if chosen is None:
        return
    draw_text("Interactions landed until now, newest first; times are UTC.")
    if not any(map(address, (*_OWN, "user"))):  # which the counts by day do not know
        compared_counts(bar, "landed_by_day", "landed_table", "sum(rows_count)::BIGINT")
    answer = _page(published, chosen, (page_asked() - 1) * PAGE_ROWS)
    if answer is not None and not answer.cells and page_asked() > 1:  # the address asks for a page behind the last
        st.query_params.pop("page", None)
        st.rerun()
    if answer is None:
        return
    if not answer.cells:
        is_filtered = any(value not in ("", ANY) for value in chosen.values())
        fits_none = "No interaction fits: remove a filter, or write it as in the log."
        draw_text(fits_none if is_filtered else "No interaction is known.")
        draw_recipe_link(_RECIPE, **chosen)
        return
    count = int(answer.cells[0][answer.names.index(_OF_ALL_PAGES)] or 0)
    first = (page_number(count) - 1) * PAGE_ROWS
    shown = f"{first + 1:,} to {first + len(answer.cells):,} of {number_of(count, 'interaction')}"
    links = {
        "session_id": lambda session: view("interactions", session=session),
        "project": lambda project: project_view("interactions", project, **{name: address(name) for name in _OWN}),
    }
    answer_table(answer, cookbook()[_RECIPE], caption=shown, columns=_COLUMNS, links=links)
    draw_recipe_link(_RECIPE, **chosen, limit=str(PAGE_ROWS), offset=str(first))


def _recipe_params(bar: PageScope) -> dict[str, str] | None:
    """What is chosen, as the recipe takes it; None where it cannot be asked, which the page then says."""
    of, days = bar.of(_RECIPE), bar.shown.days
    with bar.row:
        session = draw_text_field("Session", "session", most=2_000)
        with st.popover("More"):
            client = draw_text_field("Client", "client", most=2_000)
            since = draw_text_field("From, exact (UTC)", "from")
            until = draw_text_field("Until, exact (UTC)", "before")
    if days:
        since, until = since or f"{days.first}", until or f"{days.last + timedelta(days=1)}"
    times = {"since": _exact_time(since), "until": _exact_time(until)}
    for name, given in (("since", since), ("until", until)):
        if times[name] is None:
            notice("warning", f"{shorten_to_width(terminal_safe(given), 60)} is no time", f"write it as {_TIME}")
            return None
    return {
        **of,
        "client": exactly(client) or ANY,
        "session_id": exactly(session) or ANY,
        **{name: time or "" for name, time in times.items()},
    }


def _exact_time(text: str) -> str | None:
    """A time as the recipe takes it, to the microsecond; '' for none, None for what is no time."""
    if not text.strip():
        return ""
    time = pl.select(time_from_text(pl.lit(text.strip()))).item()
    return None if time is None else utc_iso(time)


def _page(published: Published, chosen: dict[str, str], first: int) -> SqlAnswer | None:
    """A page of rows; None where they could not be had, which the page then says."""
    recipe = cookbook()[_RECIPE]
    values = {name: value or "" for name, value in recipe.params.items()} | chosen
    values |= {"limit": str(PAGE_ROWS), "offset": str(first)}
    question = SqlQuestion(published.path, recipe.sql, values)
    answer, problem, _ = cached_answer(question, "interactions_answer", "stopped: choose something to ask again")
    if answer is None:
        notice("error", problem)
    return answer
