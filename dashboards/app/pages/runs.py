"""The page of runs and data quality: what changed, what ran and landed, what was refused, what tables rest on."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.app.scope import PageScope, compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    choice,
    command,
    draw_chart,
    draw_recipe_link,
    draw_rows,
    draw_text,
    notice,
    page_number,
    pattern,
    section,
    table,
)
from slowwave.dashboards.charts import logs
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import opened_by
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.templates import render_template
from slowwave.dashboards.words import number_of, sum_of
from slowwave.flows.kernel.times import utc_text

_MOST = 100_000
_ROWS = 20
_THE_ROW = "the row"


def runs_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Runs", "landed_by_day")
    with published.answers() as answers:
        changed, landed, refused, ran = st.tabs(["What changed", "Landed rows", "Refused rows", "Runs and tables"])
        with changed:
            _draw_changes(answers)
        with landed:
            _draw_landed_rows(answers, bar)
        with refused:
            _draw_quarantine(answers)
        with ran:
            _draw_publish(answers, published.run_id)
            _runs(answers)
            _answerable(answers)


def _draw_changes(answers: Answers) -> None:
    """What is wrong with which project, to which actions lead; what changed since the publish before and this week."""
    levels, healths = answers.counts("alarms", "level"), answers.counts("project_health", "health")
    section("Alarms", story.describe_alarms(levels, healths)[0])
    columns = ["alarm", "level", "project", "active_count", "judged_count"]
    draw_rows(answers, "alarms", "Alarms, critical ones first", columns=columns)
    since = answers.rows("what_changed", 1)["since_at"].drop_nulls()
    section("Changes", "" if since.len() else "No memory is known yet.")
    if since.len():
        draw_rows(
            answers,
            "what_changed",
            f"New since {utc_text(since[0])}",
            columns=["what", "count", "topic", "example", "example_id"],
            opens=lambda row: opened_by({"memory_id": row["example_id"]} if row["topic"] == "memories" else {}),
        )
    section("Worse this week", "" if answers.count("got_worse") else "Nothing got worse in the last 7 days.")
    draw_rows(
        answers,
        "got_worse",
        "Memories and strategies that got worse",
        columns=["id", "text", "what", "day", "detail", "kind", "project", "agent", "task_type"],
        opens=lambda row: opened_by({**row, f"{row['kind']}_id": row["id"]}),
    )


def _answerable(answers: Answers) -> None:
    """What the logs can and cannot answer: all that is published rests on it."""
    answered = story.list_log_answers(answers.rows("answerable_questions", _MOST))
    if answered:
        label = "What these logs can answer"
        section(label)
        st.html(render_template("answered.html.jinja", answered=answered, label=label))
        draw_recipe_link("answerable_questions")


def _draw_publish(answers: Answers, run_id: str) -> None:
    rows = answers.rows("published_run", 1, run_id=run_id)
    if rows.is_empty():
        section("Published", "The published file does not name its run.")
        return
    run = rows.row(0, named=True)
    section("Published", _run_words(run))
    for warning in [line for line in (run["message"] or "").splitlines() if line.strip()]:
        notice("warning", warning)
    draw_recipe_link("published_run", run_id=run_id)
    with st.expander("Tables, methods and hashes"):
        draw_rows(answers, "published_tables", "Published tables", {"run_id": run_id}, most=_MOST)
        methods = pl.DataFrame({"methods": run["methods"] or []}, schema={"methods": pl.String})
        table(methods, "published_run", caption="Methods, with their versions")
        names = ["run_id", "version", "params_hash", "code_hash", "input_hash"]
        table(rows, "published_run", caption="Version of code, settings and input", columns=names)
        command("inspect", "schema", "memory_health", purpose="What the columns of a table mean")


def _run_words(run: dict[str, Any]) -> str:
    warnings = len([line for line in (run["message"] or "").splitlines() if line.strip()])
    audits = (
        f"Audits gave {number_of(warnings, 'warning')}; none stopped the publish."
        if warnings
        else "Audits found nothing."
    )
    finished = "" if run["finished_at"] is None else f", published at {utc_text(run['finished_at'])}"
    return (
        f"Run {run['run_id']} as of {utc_text(run['as_of'])}{finished}: {number_of(run['days_count'], 'day')} with "
        f"evidence. {audits}"
    )


def _draw_quarantine(answers: Answers) -> None:
    reasons = answers.rows("quarantine_reasons", _MOST)
    draw_text(_refused_words(reasons))
    if reasons.height:
        draw_chart(logs.quarantine_reasons(reasons))
    draw_rows(answers, "quarantine_reasons", "Reasons, most rows first")
    if reasons.height:
        _refused_rows(answers, reasons)


def _refused_words(reasons: pl.DataFrame) -> str:
    total = sum_of(reasons, "refused")
    if not total:
        return "No row was ever refused."
    refused = number_of(total, "row was", "rows were")
    return f"{refused} refused, for {number_of(reasons.height, 'reason')}: correct them at their source and land again."


def _refused_rows(answers: Answers, reasons: pl.DataFrame) -> None:
    fields = reasons.group_by("field").agg(pl.col("refused").sum()).sort("refused", "field", descending=[True, False])
    per = {field or _THE_ROW: count for field, count in fields.iter_rows()}
    chosen = choice("Field at fault", "field", list(per), unchosen="All fields")
    of = {"field": pattern(None if not chosen else "" if chosen == _THE_ROW else chosen)}
    number = page_number(per[chosen] if chosen else sum(per.values()), _ROWS)
    page = {"limit": str(_ROWS), "offset": str((number - 1) * _ROWS)}
    rows = answers.rows("quarantined_rows", _ROWS, **of, **page)
    table(rows, "quarantined_rows", caption="Refused rows, newest first")
    draw_recipe_link("quarantined_rows", **of, **page)


def _draw_landed_rows(answers: Answers, bar: PageScope) -> None:
    of = bar.of("landed_by_day")
    days = answers.rows("landed_by_day", _MOST, **of)
    draw_text(state_story.describe_landed_rows(days)[0])
    draw_chart(logs.landed_by_day(days))
    draw_recipe_link("landed_by_day", **of)
    compared_counts(bar, "landed_by_day", "landed_table", "sum(rows_count)::BIGINT")
    draw_rows(answers, "freshness", "Newest row per kind and project")
    draw_rows(answers, "late_rows", "Rows recorded late, newest days first")
    draw_rows(answers, "landed_files", "Files, newest first")


def _runs(answers: Answers) -> None:
    runs = answers.rows("recent_runs", _ROWS)
    section("Last runs", " ".join(state_story.nights(runs)) if runs.height else "No run is known.")
    if runs.height:
        table(runs, "recent_runs", caption="Runs, newest first")
    draw_recipe_link("recent_runs")
    command("status", purpose="The state now")
