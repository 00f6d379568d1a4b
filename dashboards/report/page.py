"""The morning report: one page of one publish that needs no network, no server and no script.

It is made from the serving file alone, no clock is read, and every order is the cookbook's: the same run gives the same
bytes. Content of logs is text in it, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources
from typing import Any

import duckdb
import polars as pl
from markupsafe import Markup

from slowwave.dashboards.charts.theme import skip_chart_checks
from slowwave.dashboards.cookbook.answers import Answers, query_frame
from slowwave.dashboards.overview.six_answers import Scope, six_answers
from slowwave.dashboards.overview.tiles import Tile
from slowwave.dashboards.overview.window import DEFAULT_DAYS, window_of
from slowwave.dashboards.report import details
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report.parts import ReportSection
from slowwave.dashboards.templates import render_template
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.transforms.core.schema import columns
from slowwave.transforms.landing.ledger_tables import Runs

Parts = Mapping[str, tuple[str, Callable[[Answers], ReportSection]]]


@dataclass(frozen=True)
class SectionGroup:
    """Sections that belong together."""

    anchor: str
    title: str
    sections: list[ReportSection]


_LONGEST_WARNING = 400
# By address and title of a group, each section's address, title (for when it is not known) and what makes it.
_GROUPS: Mapping[tuple[str, str], Parts] = {
    ("night", "What changed"): {
        "changed": ("What changed", details.changes_section),
        "worse": ("What got worse this week", details.worse),
        "use": ("Use over time", details.uses),
        "success": ("Success by week", details.success),
    },
    ("act", "What to act on"): {
        "harmful": ("Harmful memories", details.harmful),
        "failing": ("Strategies that keep failing", details.failing),
        "alarms": ("Alarms", details.alarms),
        "review": ("Review", details.review),
        "forget": ("Forget", details.forget),
    },
    ("data", "The data"): {
        "refused": ("Refused rows", details.quarantine_section),
        "landed": ("What landed", details.landed_rows_section),
    },
}
_NOT_TOLD = "This publish does not hold what this section needs; another version of Slowwave made it."


def report_html(connection: duckdb.DuckDBPyConnection, run_id: str, about: str = "") -> str:
    """The report of the run whose serving file `connection` has open; `about`: whose memories it sees, '' is all.

    A section whose tables the file lacks says so.

    Raises ValueError when the file does not hold the run, duckdb.Error when it cannot be read at all.
    """
    answers = Answers(connection)
    run = run_row(connection, run_id)
    warnings, count = story.warnings(run["message"])
    with skip_chart_checks():
        groups = [
            SectionGroup(*named, [_section(answers, anchor, *part) for anchor, part in parts.items()])
            for named, parts in _GROUPS.items()
        ]
    newest = _newest(answers)
    page = render_template(
        "report.html.jinja",
        styles=Markup(_styles()),  # noqa: S704 - our own files
        day=f"{run['as_of']:%Y-%m-%d}",
        quiet_log=("", "") if newest is None else story.quiet_log(run["as_of"], newest),
        tiles=_tiles(answers, run["as_of"], newest),
        not_told=_NOT_TOLD,
        about=story.describe_scope(about),
        freshness=story.freshness(run, newest),
        published=story.describe_run(run),
        warnings=[shorten_to_width(terminal_safe(warning), _LONGEST_WARNING) for warning in warnings],
        warnings_said=story.describe_warnings(count, len(warnings)),
        groups=groups,
        facts=_facts(run),
    )
    return f"{page}\n"


def first_screen(connection: duckdb.DuckDBPyConnection, run_id: str) -> tuple[date, list[Tile]]:
    """Return the day of a run and its six answers; no answer where another release made the publish.

    Raises ValueError when the file does not hold the run.
    """
    run, answers = run_row(connection, run_id), Answers(connection)
    return run["as_of"].date(), _tiles(answers, run["as_of"], _newest(answers))


def _tiles(answers: Answers, as_of: datetime, newest: pl.DataFrame | None) -> list[Tile]:
    """The first screen; nothing where another release made the publish."""
    if newest is None:
        return []
    window, scope = window_of(newest, as_of, DEFAULT_DAYS), Scope()
    try:
        return six_answers(answers, window, scope, other=None if window.before is None else (window.before, scope))
    except (duckdb.CatalogException, duckdb.BinderException):
        return []


def _facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the numbers of a run depend on: name and value."""
    return [
        ("run", run["run_id"]),
        ("version", run["version"]),
        ("methods", ", ".join(run["methods"])),
        ("input", run["input_hash"] or "none"),
        ("params", run["params_hash"]),
        ("code", run["code_hash"]),
    ]


def run_row(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, Any]:
    """Return the row of a run in `runs`; raises ValueError when the file does not hold it."""
    # by name: of a file that another version made, DuckDB then says what is missing
    names = ", ".join(column.name for column in columns(Runs))
    rows = query_frame(connection, f"SELECT {names} FROM runs WHERE run_id = $run_id", {"run_id": run_id})  # noqa: S608 - declared names
    if rows.is_empty():
        message = f"the file does not hold run {run_id}"
        raise ValueError(message)
    return rows.row(0, named=True)


def _section(answers: Answers, anchor: str, title: str, made: Callable[[Answers], ReportSection]) -> ReportSection:
    try:
        return made(answers)
    except (duckdb.CatalogException, duckdb.BinderException):
        return ReportSection(anchor, title, [_NOT_TOLD])


def _newest(answers: Answers) -> pl.DataFrame | None:
    try:
        return answers.rows("freshness", 100_000)
    except (duckdb.CatalogException, duckdb.BinderException):
        return None


def _styles() -> str:
    folder = resources.files("slowwave.dashboards").joinpath("templates")
    return "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("table.css", "first_screen.css", "report.css")
    )
