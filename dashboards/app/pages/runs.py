"""The page of runs and data quality: what changed, what ran and landed, what was refused, what tables rest on."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.app.widgets import (
    asked,
    choice,
    command,
    drawn,
    notice,
    page_number,
    pattern,
    said,
    section,
    table,
)
from slowwave.dashboards.charts import charts
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.html_table import Row
from slowwave.dashboards.links import memory_link, view
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.templates import rendered
from slowwave.dashboards.words import first_of, number_of, sum_of
from slowwave.flows.kernel.times import utc_text

_MOST = 100_000
_ROWS = 20
_SHOWN = 100
_DAYS = 7
_THE_ROW = "the row"


def runs_page(published: Published) -> None:
    """Draw the page."""
    st.title("Runs and data quality", anchor=False)
    with published.answers() as answers:
        _changed(answers)
        _answerable(answers)
        _published(answers, published.run_id)
        _refused(answers)
        _landed(answers)
        _runs(answers)


def _changed(answers: Answers) -> None:
    """What changed since the publish before, what got worse this week, and what is wrong with which project."""
    rows = answers.rows("what_changed", _MOST)
    runs = answers.counts("recent_runs", "kind", "status", limit=ALL)
    publishes = sum_of(
        runs.filter((pl.col("kind") == "nightly") & pl.col("status").is_in(["published", "published_incomplete"]))
    )
    section("What changed", " ".join(story.changes(rows, is_first=publishes <= 1)))
    if rows.height:
        table(
            rows,
            "what_changed",
            caption="Since the publish before",
            columns=["what", "count", "topic", "example_id", "example"],
            links={"example_id": lambda row: memory_link(row["example_id"]) if row["topic"] == "memories" else ""},
        )
    asked("what_changed")
    worse = answers.rows("got_worse", _SHOWN)
    section("What got worse this week", " ".join(story.worse(answers.counts("got_worse", "kind", "what"), _DAYS)))
    if worse.height:
        table(
            worse,
            "got_worse",
            caption=first_of(
                "Memories by their use, strategies by their attempts", worse.height, answers.count("got_worse")
            ),
            columns=["id", "what", "kind", "day", "detail", "project", "agent", "task_type", "text"],
            links={"id": _worse_row},
        )
    asked("got_worse")
    alarms = answers.rows("alarms", _SHOWN)
    levels, healths = answers.counts("alarms", "level"), answers.counts("project_health", "health")
    section("Alarms", " ".join(story.alarmed(levels, healths)))
    if alarms.height:
        caption = first_of("Alarms, critical ones first", alarms.height, sum_of(levels))
        table(alarms, "alarms", caption=caption, columns=["alarm", "level", "project", "active_count", "judged_count"])
    asked("alarms")


def _worse_row(row: Row) -> str:
    return memory_link(row["id"]) if row["kind"] == "memory" else view("strategies", strategy=row["id"])


def _answerable(answers: Answers) -> None:
    """What the logs can and cannot answer: all that is published rests on it."""
    answered = story.answered(answers.rows("answerable_questions", _MOST))
    if answered:
        label = "What these logs can answer"
        section(label)
        st.html(rendered("answered.html.jinja", answered=answered, label=label))
        asked("answerable_questions")


def _published(answers: Answers, run_id: str) -> None:
    rows = answers.rows("published_run", 1, run_id=run_id)
    if rows.is_empty():
        section("What is published", "The published file does not name its run.")
        return
    run = rows.row(0, named=True)
    section("What is published", _run_words(run))
    for warning in [line for line in (run["message"] or "").splitlines() if line.strip()]:
        notice("warning", warning)
    asked("published_run", run_id=run_id)
    tables = answers.rows("published_tables", _MOST, run_id=run_id)
    with st.expander("Tables, methods and hashes"):
        table(tables, "published_tables", caption="Published tables")
        asked("published_tables", run_id=run_id)
        methods = pl.DataFrame({"methods": run["methods"] or []}, schema={"methods": pl.String})
        table(methods, "published_run", caption="Methods used, with their versions")
        names = ["run_id", "version", "params_hash", "code_hash", "input_hash"]
        table(rows, "published_run", caption="What the tables were computed by and from", columns=names)
        command("schema", "memory_health", purpose="What the columns of a table mean")


def _run_words(run: dict[str, Any]) -> str:
    warnings = len([line for line in (run["message"] or "").splitlines() if line.strip()])
    audits = (
        f"Audits gave {number_of(warnings, 'warning')}; none stopped the publish."
        if warnings
        else "Audits found nothing."
    )
    finished = "" if run["finished_at"] is None else f", published at {utc_text(run['finished_at'])}"
    return (
        f"Run {run['run_id']} shows what was known before {utc_text(run['as_of'])}{finished}, from "
        f"{number_of(run['days_count'], 'day')} with evidence. {audits}"
    )


def _refused(answers: Answers) -> None:
    reasons = answers.rows("quarantine_reasons", _MOST)
    section("Which rows were refused, and why", " ".join(state_story.refused(reasons)))
    if reasons.height:
        drawn(charts.quarantine_reasons(reasons))
        shown = reasons.head(_SHOWN)
        caption = first_of("Reasons, those with most rows first", shown.height, reasons.height)
        table(shown, "quarantine_reasons", caption=caption)
        asked("quarantine_reasons")
        _refused_rows(answers, reasons)
        said("A refused row is kept: mend it where it came from and land it again.")
    else:
        asked("quarantine_reasons")


def _refused_rows(answers: Answers, reasons: pl.DataFrame) -> None:
    fields = reasons.group_by("field").agg(pl.col("refused").sum()).sort("refused", "field", descending=[True, False])
    per = {field or _THE_ROW: count for field, count in fields.iter_rows()}
    chosen = choice("Field at fault", "field", list(per), unchosen="All fields")
    of = {"field": pattern(None if not chosen else "" if chosen == _THE_ROW else chosen)}
    number = page_number(per[chosen] if chosen else sum(per.values()), _ROWS)
    page = {"limit": str(_ROWS), "offset": str((number - 1) * _ROWS)}
    rows = answers.rows("quarantined_rows", _ROWS, **of, **page)
    table(rows, "quarantined_rows", caption="Refused rows, the newest first")
    asked("quarantined_rows", **of, **page)


def _landed(answers: Answers) -> None:
    days = answers.rows("landed_by_day", _MOST)
    fresh = answers.rows("freshness", _MOST)
    section("What landed, and how late", " ".join([*state_story.landed(days), *state_story.freshness(fresh)]))
    drawn(charts.landed_by_day(days))
    asked("landed_by_day")
    if fresh.height:
        shown = fresh.head(_SHOWN)
        caption = first_of("The newest row of each kind and project", shown.height, fresh.height)
        table(shown, "freshness", caption=caption)
        asked("freshness")
    late = answers.rows("late_rows", _SHOWN)
    if late.height:
        caption = "Rows recorded long after they happened, the newest days first"
        table(late, "late_rows", caption=first_of(caption, late.height, answers.count("late_rows")))
    asked("late_rows")
    files = answers.rows("landed_files", _SHOWN)
    if files.height:
        total = answers.count("landed_files", limit=ALL)
        caption = first_of("What became of the files landed last", files.height, total)
        table(files, "landed_files", caption=caption)
    asked("landed_files")


def _runs(answers: Answers) -> None:
    runs = answers.rows("recent_runs", _ROWS)
    section("What the last runs did", " ".join(state_story.nights(runs)) if runs.height else "No run is known.")
    if runs.height:
        table(runs, "recent_runs", caption="Runs known to this publish, the newest first")
    asked("recent_runs")
    command("status", purpose="How things are now, runs after this publish too")
