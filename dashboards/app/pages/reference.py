"""The pages that explain: what each word means, and what is made from what, at what cost."""

from __future__ import annotations

import streamlit as st

from slowwave.dashboards.app.widgets import address, choice, command, draw_rows, draw_text, section
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.templates import render_template
from slowwave.flows.ask.lineage import facts, figure_page, params_shown
from slowwave.flows.ask.lineage_steps import LastRun, LineageStep, lineage
from slowwave.flows.ask.narrowed import EVERYTHING
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.transforms.core.glossary import GLOSSARY
from slowwave.transforms.graph import NODES

_TABLES = sorted({table.name for node in NODES for table in node.tables})
_MOST = 1_000


def lineage_page(published: Published) -> None:
    """Draw the page."""
    st.title("Lineage", anchor=False)
    name = choice("Table", "table", _TABLES, unchosen="Every table")
    is_narrowed = published.narrowed != EVERYTHING
    steps = lineage(
        name or None, params_shown(settings_from_environment()), LastRun() if is_narrowed else _last(published)
    )
    if name:
        last = steps[-1]
        section(name, f"{last.about} {_describe_origin(last)}")
    else:
        draw_text("Every table with the tables it is made from: choose one to see its steps.")
    # in a frame: the sanitiser of `st.html` takes every SVG out
    page, height = figure_page(steps)
    st.iframe(page, height=height, alt="What is made from what, drawn")
    command("inspect", "lineage", *([name] if name else []), purpose="As text, with columns and methods")
    if is_narrowed:
        return
    section("What it cost")
    with published.answers() as answers:
        draw_rows(answers, "run_steps", "Steps of the last publish, most expensive first", most=_MOST)


def _last(published: Published) -> LastRun:
    """Rows and costs; to who sees one user's memories alone, how much there is of others is not said."""
    with published.answers() as answers:
        rows = answers.rows("published_tables", _MOST, run_id=published.run_id)
        costs = answers.rows("run_steps", _MOST)
    return LastRun(
        dict(rows.select("table_name", "rows_count").iter_rows()), dict(costs.select("step", "cpu_seconds").iter_rows())
    )


def _describe_origin(step: LineageStep) -> str:
    told = facts(step)
    return f"Made by {step.made_by}{f' ({told})' if told else ''}." if step.made_by else "It is read, not computed."


def glossary_page(published: Published) -> None:  # noqa: ARG001 - as all pages
    """Draw the page."""
    st.title("Glossary", anchor=False)
    word = address("word")
    if word in GLOSSARY:
        section(word, GLOSSARY[word])
        section("All words")
    st.html(render_template("facts.html.jinja", facts=list(GLOSSARY.items())))
