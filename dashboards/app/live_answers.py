"""What the SQL page and the page of interactions share: a query that is answered beside the page, and its rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import polars as pl
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from slowwave.dashboards.app.grid import GridColumn, column_label, draw_grid
from slowwave.dashboards.app.sql_answers import SqlAnswer, SqlQuestion, first_rows
from slowwave.dashboards.app.widgets import notice
from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.links import opened_by
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import terminal_safe

# An answer or None, what went wrong ('' nothing), and the seconds it took.
Answered = tuple[SqlAnswer | None, str, float]

_LONGEST_LINKED = 200


def cached_answer(question: SqlQuestion, key: str, stopped: str) -> Answered:
    """The answer to a question, asked once for as long as a session goes on with it, under `key`.

    `stopped` is what to say where a person stopped it.
    """
    known = st.session_state.get(key)
    if known is None or known[0] != question:
        known = (question, *_run_query(question, key, stopped))
        st.session_state[key] = known
    return known[1:]


def _run_query(question: SqlQuestion, key: str, stopped: str) -> Answered:
    waiting = st.empty()
    with waiting.container():
        notice("note", "the query is running")
        st.button("Stop", on_click=_stop, args=(question, key, stopped))
        clock = st.empty()
    begun = time.monotonic()

    def tick(seconds: float) -> None:
        clock.text(f"{seconds:.0f} s")  # what a person did meanwhile, such as pressing Stop, ends the page here
        if not _is_read():
            st.stop()

    try:
        return first_rows(question, tick), "", time.monotonic() - begun
    except UserError as error:
        return None, str(error), time.monotonic() - begun
    finally:
        waiting.empty()


def _is_read() -> bool:
    """Whether somebody still has the page open: Streamlit draws on for a reader who may come back."""
    context = get_script_run_ctx()
    return context is None or not runtime.exists() or runtime.get_instance().is_active_session(context.session_id)


def _stop(question: SqlQuestion, key: str, stopped: str) -> None:
    st.session_state[key] = (question, None, stopped, 0.0)


def answer_table(
    answer: SqlAnswer,
    recipe: Recipe | None,
    *,
    caption: str,
    columns: Sequence[str] = (),
    links: Mapping[str, Callable[[str], str]] | None = None,
) -> None:
    """Draw rows of an answer as a grid, cells as exact as they came; `links`: by column, from a text to an address."""
    known = {column.name: column for column in recipe.columns} if recipe is not None else {}
    rows = [
        {name: text for name, text in zip(answer.names, row, strict=True) if _is_whole(text)} for row in answer.cells
    ]
    shown: list[GridColumn] = []
    addresses: dict[str, list[str]] = {}
    for at in map(answer.names.index, columns) if columns else range(len(answer.names)):
        name, texts = answer.names[at], [row[at] for row in answer.cells]
        unique = f"{at} {name}"
        shown.append(
            GridColumn(
                unique,
                column_label(name) if recipe is not None else terminal_safe(name),
                known[name].meaning if name in known else answer.types[at],
                pl.Series(unique, texts, dtype=pl.String),
                is_number=answer.is_number(at),
            )
        )
        if links and name in links:
            addresses[unique] = [links[name](text) if _is_whole(text) else "" for text in texts]
    named = [opened_by(row) for row in rows]
    draw_grid(shown, caption=caption, addresses=addresses, opens=named, missing="NULL", is_fitted=recipe is not None)


def _is_whole(text: str | None) -> TypeGuard[str]:
    """Whether a text is shown as it is, so that it can be asked for."""
    return text is not None and 0 < len(text) < _LONGEST_LINKED and "\\" not in text
