"""The page for questions of one's own: SQL, read-only, with the cookbook to begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Literal

import polars as pl
import streamlit as st

from slowwave.dashboards.app.grid import GridColumn, draw_grid
from slowwave.dashboards.app.sql_answers import (
    MOST_BYTES,
    SqlAnswer,
    SqlQuestion,
    answer_table,
    cached_answer,
    whole_result,
)
from slowwave.dashboards.app.sql_child import SECONDS
from slowwave.dashboards.app.widgets import address, choice, draw_chart, draw_text, notice
from slowwave.dashboards.charts import logs
from slowwave.dashboards.cookbook.cookbook import Recipe, cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import command_line
from slowwave.dashboards.words import number_of
from slowwave.transforms.core.schema import table_comment
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.tables import LANDED

_MOST_IN_ADDRESS = 4_000
_MOST_TYPED = 100_000
_EXAMPLE = "SELECT verdict, count(*) AS memories FROM memory_health GROUP BY ALL"
_PARAM = "with_"
_DOWNLOADS: tuple[tuple[str, Literal["csv", "parquet"], str, str], ...] = (
    ("Download CSV", "csv", "text/csv", "no cell is taken for a formula"),
    ("Download Parquet", "parquet", "application/vnd.apache.parquet", "with their types"),
)
# what may hold a $ that is no param: texts, quoted names, comments
_NO_PARAMS = re.compile(r"\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_DOLLAR = re.compile(r"\$([A-Za-z_]\w*)")


def sql_page(published: Published) -> None:
    """Draw the page."""
    st.title("SQL", anchor=False)
    draw_text(
        "Ask the published tables and the landed rows whatever you like: nothing can be changed, no file or address "
        f"reached. A query may take {SECONDS} seconds and 1 GB; `slowwave sql` in a terminal has no such limits."
    )
    recipes = cookbook()
    name = choice(
        "Begin with a question of the cookbook",
        "recipe",
        list(recipes),
        unchosen="A query of your own",
        shown=lambda each: f"{each}: {recipes[each].question}",
    )
    _forget_other_query(name)
    recipe = recipes.get(name)
    text = _asked_text(recipe)
    values = _form(recipe, text)
    _columns_of(recipe)
    if not text.strip():
        _tables()
        return
    missing = [param for param, value in values.items() if value is None]
    if missing:
        notice("note", f"to ask this, give a value for {', '.join(missing)}", "then press Ask")
        return
    question = SqlQuestion(published.path, text, {param: value or "" for param, value in values.items()})
    _result(question, recipe if recipe is not None and text == _without_header(recipe) else None)
    _tables()


def _forget_other_query(name: str) -> None:
    """Drop the text and the values that were for another question than is chosen now."""
    before = st.session_state.get("sql_recipe", name)
    st.session_state["sql_recipe"] = name
    if before != name:
        st.session_state.pop("sql_text", None)
        for key in [key for key in st.query_params if key == "query" or key.startswith(_PARAM)]:
            st.query_params.pop(key)


def _without_header(recipe: Recipe) -> str:
    lines = recipe.sql.splitlines()
    at = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return "\n".join(lines[at:]).strip()


def _asked_text(recipe: Recipe | None) -> str:
    """What is asked: typed and too long for the address, or what the address says, or the recipe's query."""
    typed = st.session_state.get("sql_text", "")
    return typed or address("query") or (_without_header(recipe) if recipe is not None else "")


def _params_of(text: str) -> list[str]:
    """The `$params` of a query, in their order."""
    return list(dict.fromkeys(_DOLLAR.findall(_NO_PARAMS.sub(" ", text))))


def _form(recipe: Recipe | None, text: str) -> dict[str, str | None]:
    """Draw the query with a field per param. Returns their values; None: must be given, and is not."""
    defaults = recipe.params if recipe is not None else {}
    params = _params_of(text)
    values = {param: st.query_params.get(f"{_PARAM}{param}", defaults.get(param)) for param in params}
    shown = {"sql_query": text, **{f"{_PARAM}{param}": value or "" for param, value in values.items()}}
    if st.session_state.get("sql_shown") != shown or not shown.keys() <= st.session_state.keys():
        # only then: what is being typed would be lost with every redrawing
        st.session_state["sql_shown"] = shown
        for key, value in shown.items():
            st.session_state[key] = value
    with st.form("sql_form"):
        st.text_area(
            "Query",
            key="sql_query",
            height=min(460, 100 + 24 * text.count("\n")),
            max_chars=_MOST_TYPED,
            placeholder=_EXAMPLE,
        )
        if params:
            columns = st.columns(min(4, len(params)))
            for number, param in enumerate(params):
                with columns[number % len(columns)]:
                    st.text_input(f"Value of ${param}", key=f"{_PARAM}{param}")
        st.form_submit_button("Ask", on_click=_to_address, args=(recipe, params), type="primary")
    return values


def _to_address(recipe: Recipe | None, params: list[str]) -> None:
    """Write what was typed into the address, as far as it fits there, and ask anew."""
    st.session_state.pop("sql_answer", None)
    text = st.session_state["sql_query"]
    st.session_state.pop("sql_text", None)
    st.query_params.pop("query", None)
    if recipe is not None and text.strip() == _without_header(recipe):
        pass
    elif len(text) <= _MOST_IN_ADDRESS:
        st.query_params["query"] = text
    else:
        st.session_state["sql_text"] = text
    defaults = recipe.params if recipe is not None else {}
    for param in params:
        value = st.session_state[f"{_PARAM}{param}"]
        if value == defaults.get(param):
            st.query_params.pop(f"{_PARAM}{param}", None)
        else:
            st.query_params[f"{_PARAM}{param}"] = value


def _columns_of(recipe: Recipe | None) -> None:
    if recipe is None:
        return
    with st.expander("What the columns mean"):
        _texts(
            {
                "Column": [each.name for each in recipe.columns],
                "Unit": [each.unit for each in recipe.columns],
                "Meaning": [each.meaning for each in recipe.columns],
            },
            caption="Columns of this answer",
        )


def _result(question: SqlQuestion, recipe: Recipe | None) -> None:
    answer, problem, seconds = cached_answer(question, "sql_answer", "stopped: press Ask to ask again")
    if st.session_state.get("sql_text"):
        notice("note", f"the query is longer than {_MOST_IN_ADDRESS:,} characters: a link to this page will not ask it")
    if answer is None:
        notice("error", problem)
        return
    st.subheader("Result", anchor=False)
    draw_text(_count_words(answer, seconds))
    if answer.count:
        _downloads(question, recipe, answer)
    chart = logs.result_chart(answer.frame()) if answer.count else None
    if chart is None:
        _table(answer, recipe)
        return
    in_table, in_chart = st.tabs(["Table", "Chart"], key="shown", bind="query-params", on_change="rerun")
    with in_table:
        _table(answer, recipe)
    with in_chart:
        draw_chart(chart)


def _count_words(answer: SqlAnswer, seconds: float) -> str:
    many = f"More than {answer.count:,} rows" if answer.is_more else number_of(answer.count, "row").capitalize()
    first = f"; the first {len(answer.cells):,} are shown" if answer.count > len(answer.cells) else ""
    return f"{many}, in {seconds:.1f} s{first}."


def _downloads(question: SqlQuestion, recipe: Recipe | None, answer: SqlAnswer) -> None:
    if answer.is_more:
        draw_text(f"Results of more than {answer.count:,} rows are not downloaded here: ask in a terminal.")
    else:
        with st.container(horizontal=True):
            for label, output, mime, kept in _DOWNLOADS:
                st.download_button(
                    label,
                    partial(whole_result, question, output),
                    file_name=f"result.{output}",
                    mime=mime,
                    on_click="ignore",
                    help=f"All rows, {kept}; at most {MOST_BYTES // 2**20} MB.",
                )
    draw_text("The same in a terminal:")
    st.code(_terminal_line(question, recipe), language=None, wrap_lines=True)


def _terminal_line(question: SqlQuestion, recipe: Recipe | None) -> str:
    defaults: Mapping[str, str | None] = recipe.params if recipe is not None else {}
    given = [f"{param}={value}" for param, value in question.values.items() if defaults.get(param) != value]
    asked = recipe.name if recipe is not None else question.query
    line = command_line("sql", asked, param=given, format="parquet")
    return f"{line} > result.parquet" if line else "slowwave sql - --format parquet < query.sql > result.parquet"


def _table(answer: SqlAnswer, recipe: Recipe | None) -> None:
    answer_table(answer, recipe, caption="Result")


def _tables() -> None:
    with st.expander("Which tables are there?"):
        declared = (*LANDED, *SERVING)
        _texts(
            {"Table": [each.name for each in declared], "What it holds": [table_comment(each) for each in declared]},
            caption="All tables",
        )
        draw_text(
            "`slowwave inspect schema TABLE` says what its columns mean."
            " Interactions, outcomes and memories are landed rows."
        )


def _texts(columns: Mapping[str, list[str]], *, caption: str) -> None:
    draw_grid([GridColumn(name, name, "", pl.Series(name, texts)) for name, texts in columns.items()], caption=caption)
