"""The scope bar: of what a page is, and with what it compares that. All of it stands in the address.

A page names its recipes, and has the controls that these have params for: project, agent, user, tag and days. What else
the address says of them is kept for the pages that it leads to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from slowwave.dashboards.app.grid import draw_grid, recipe_columns
from slowwave.dashboards.app.widgets import (
    ANY,
    address,
    choice,
    day_choice,
    draw_text,
    label_of,
    notice,
    pattern,
    said_day,
    said_project,
    text_choice,
)
from slowwave.dashboards.cookbook.answers import ALL
from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.overview.six_answers import BEFORE, Scope
from slowwave.dashboards.overview.window import ALL_DAYS, DAYS, DEFAULT_DAYS, LATEST, Days, Window, window_of
from slowwave.flows.ask.cells import cell_text
from slowwave.flows.ask.diff import DiffOptions as DiffOf
from slowwave.flows.ask.diff import PublishDiff, publish_diff
from slowwave.flows.ask.narrowed import Narrowed
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.times import utc_text

CUSTOM = "custom"
"""Stands for days that are chosen by the day."""
_NOTHING = "nothing"
_PROJECT, _AGENT, _PUBLISH = "project ", "agent ", "publish "
_MOST_OTHERS, _DIFFERENCES = 200, 20
_PUBLISHED = ("published", "published_incomplete")
_RANGES = {f"{days}": f"Last {days} days" for days in DAYS} | {f"{ALL_DAYS}": "All days", CUSTOM: "Other days…"}
# by name in the address: the recipes that list what there is
_NAMES = {"project": ("memory_use_by_project", "freshness"), "agent": ("agents",), "user": ("users",), "tag": ("tags",)}
# by recipe: the published table whose rows it lists
_TABLES = {
    "memory_explorer_count": "memory_health",
    "strategies": "heuristics",
    "review_queue": "review_queue",
    "observations": "observations",
}


@dataclass(frozen=True)
class ComparisonSide:
    """One of the two that are compared: a publish, and params of recipes. `days`: None is all."""

    published: Published
    values: Mapping[str, str]
    days: Days | None = None

    def of(self, recipe: str) -> dict[str, str]:
        """Return the params of a recipe, as far as it has them."""
        return {name: value for name, value in self.values.items() if name in cookbook()[recipe].params}

    @property
    def scope(self) -> Scope:
        """Its project and agent."""
        return Scope(self.values.get("project", ANY), self.values.get("agent", ANY))


@dataclass(frozen=True)
class PageScope:
    """What a page is about. `project`: None is all. `other`: what it is compared with, in a word and in words.

    `row`: where the page's own filters stand. `newest`: rows of `freshness`.
    """

    row: DeltaGenerator
    project: str | None
    shown: ComparisonSide
    window: Window
    newest: pl.DataFrame
    other: ComparisonSide | None = None
    other_is: str = BEFORE
    other_words: str = ""

    def of(self, recipe: str) -> dict[str, str]:
        """Return what is chosen as the params of a recipe, as far as it has them."""
        return self.shown.of(recipe)

    def words(self) -> str:
        """Return in words which days are shown, and with what they are compared."""
        compared = f", compared with {self.other_words}" if self.other else ""
        return f"{self.window.words()}{compared}. UTC days."


def scope_bar(
    published: Published, title: str, *recipes: str, days: int = ALL_DAYS, is_compared: bool = True
) -> PageScope:
    """Draw title and scope of a page in one row, and return what is chosen.

    `recipes`: those of the page, whose params are its controls. `days`: how many are shown where the address is silent.
    `is_compared`: the page shows differences from something else.
    """
    params = {param for recipe in recipes for param in cookbook()[recipe].params}
    as_of = published.as_of or LATEST  # a file that does not name its run
    newest = published.answer("freshness", project=pattern(said_project()))
    usual = window_of(newest, as_of, DEFAULT_DAYS).shown
    custom = _corrected_days(usual) if _said_range(days) == CUSTOM and "since" in params else None
    with st.container(horizontal=True, key="scope", vertical_alignment="center"):
        st.title(title, anchor=False, width="content")
        st.html('<details class="sw-filters"><summary>Filters</summary></details>', width="content")
        row = st.container(horizontal=True, key="scope_filters", vertical_alignment="center")
    names: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    shown = None
    window = window_of(newest, as_of, ALL_DAYS)
    with row:
        for name in [name for name in _NAMES if name in params]:
            names[name] = _names(str(published.path), str(published.narrowed), name, published)
            if name == "project" or address(name) or len(names[name]) > (name == "agent"):
                values[name] = pattern(text_choice(name, names[name]))
        if "since" in params:
            said_range = _said_range(days)
            unchosen = _RANGES[said_range]
            choice("Days", "days", [*_RANGES], unchosen=unchosen, shown=_RANGES.__getitem__, is_bare=True)
            if custom is not None:
                first = day_choice("From", "since", custom.first)
                custom = Days(first, day_choice("To, included", "until", custom.last))
            window = window_of(newest, as_of, custom or int(said_range))
            shown = window.shown if said_range != f"{ALL_DAYS}" else None
        side = ComparisonSide(published, values | (shown.params() if shown else {}), shown)
        chosen = PageScope(row, said_project(), side, window, newest)
        return _choose_comparison(chosen, names) if is_compared else chosen


@st.cache_data(max_entries=16, show_spinner=False)
def _names(path: str, narrowed: str, name: str, _published: Published) -> list[str]:  # noqa: ARG001 - what it is kept by
    found = dict.fromkeys(text for recipe in _NAMES[name] for text in _published.answer(recipe)[name])
    return [text for text in found if text or name == "project"]


def _said_range(unchosen: int) -> str:
    """Return which days the address asks for: a length, or CUSTOM."""
    if address("days") in _RANGES:
        return address("days")
    return CUSTOM if address("since") or address("until") else f"{unchosen}"


def _corrected_days(usual: Days) -> Days:
    """Return the days of the address, which is corrected where it says what can be no days."""
    since, until = said_day("since", usual.first), said_day("until", usual.last)
    if since > until:
        told = f"the days end ({until}) before they begin ({since})"
        notice("warning", told, f"they now end on {since}: choose a later day")
        until = since
    for name, day in (("since", since), ("until", until)):
        if address(name) and address(name) != f"{day}":
            st.query_params[name] = f"{day}"
    return Days(since, until)


def _choose_comparison(chosen: PageScope, names: Mapping[str, Sequence[str]]) -> PageScope:
    """With the days before, unless the address says: with nothing, or with another project, agent or publish."""
    of, before = chosen.shown.values, chosen.window.before
    others = [f"{_PROJECT}{name}" for name in names.get("project", []) if name and pattern(name) != of.get("project")]
    others += [f"{_AGENT}{name}" for name in names.get("agent", []) if pattern(name) != of.get("agent")]
    publishes = {f"{_PUBLISH}{run_id}": as_of for run_id, as_of in earlier_publishes(chosen.shown.published)}
    labels = {name: f"vs. publish of {utc_text(as_of)} ({name[-4:]})" for name, as_of in publishes.items()}
    other = choice(
        "Compared with",
        "compare",
        [_NOTHING, *others[:_MOST_OTHERS], *publishes],
        unchosen="vs. days before" if before else "vs. nothing",
        shown=lambda name: labels.get(name, f"vs. {label_of(name)}"),
        is_bare=True,
    )
    if other in publishes:
        return _with_publish(chosen, other.removeprefix(_PUBLISH))
    for prefix, name in ((_PROJECT, "project"), (_AGENT, "agent")):
        if other.startswith(prefix):
            values = {**of, name: pattern(other.removeprefix(prefix))}
            side = replace(chosen.shown, values=values)
            return replace(chosen, other=side, other_is=label_of(other), other_words=label_of(other))
    if other == _NOTHING or before is None:
        return chosen
    side = ComparisonSide(chosen.shown.published, {**of, **before.params()}, before)
    return replace(chosen, other=side, other_words=before.words())


def earlier_publishes(published: Published) -> list[tuple[str, datetime]]:
    """Return the other publishes whose file can still be read, the newest first: run and as of when."""
    runs = published.answer("recent_runs", limit=ALL).filter(
        pl.col("status").is_in(_PUBLISHED), pl.col("run_id") != published.run_id
    )
    return [row for row in runs.select("run_id", "as_of").iter_rows() if _file_of(published, row[0]).is_file()]


def _file_of(published: Published, run_id: str) -> Path:
    return published.path.with_name(f"{run_id}.duckdb")


@st.cache_resource(max_entries=2, show_spinner=False, on_release=Published.close)
def _open_publish(path: str, _narrowed: Narrowed) -> Published:
    return Published(Path(path), _narrowed)


def _with_publish(chosen: PageScope, run_id: str) -> PageScope:
    """Compare with another publish: with the days that its own range is."""
    here = chosen.shown
    days = here.days
    try:
        published = _open_publish(str(_file_of(here.published, run_id)), here.published.narrowed)
        as_of = published.as_of or LATEST
        if days and address("days") in map(str, DAYS):
            newest = published.answer("freshness", project=here.values.get("project", ANY))
            days = window_of(newest, as_of, int(address("days"))).shown
    except (duckdb.Error, OSError, UserError):  # a UserError: of a release that cannot be narrowed
        told = f"publish {run_id} cannot be compared with: its file is damaged, or another release wrote it"
        notice("warning", told, "choose another publish")
        return chosen
    values = {**here.values, **(days.params() if days else {})}
    words = f"the publish of {utc_text(as_of)}"
    return replace(chosen, other=ComparisonSide(published, values, days), other_is=words, other_words=words)


@contextmanager
def comparing(chosen: PageScope) -> Iterator[None]:
    """Say so where the other publish lacks what is compared."""
    try:
        yield
    except (duckdb.Error, UserError):
        if chosen.other is None or chosen.other.published is chosen.shown.published:
            raise
        other = chosen.other.published
        told = f"publish {other.run_id} of release {other.version} lacks what this page compares"
        notice("warning", told, "choose a later publish")


def compared_counts(chosen: PageScope, recipe: str, column: str, counted: str = "count(*)", **own: str) -> None:
    """Draw how many rows of an answer have which value, beside those of what the page is compared with.

    What differs most comes first. `counted`: the SQL of what is counted. `own`: more params of the recipe.
    """
    if chosen.other is None:
        return
    draw_text(chosen.words())
    with comparing(chosen):
        now, other = (
            side.published.value_counts(recipe, column, counted=counted, **side.of(recipe), **own)
            for side in (chosen.shown, chosen.other)
        )
        rows = now.join(other, on=column, how="full", coalesce=True, nulls_equal=True, suffix="_other").with_columns(
            pl.col("rows", "rows_other").fill_null(0)
        )
        difference = pl.col("rows") - pl.col("rows_other")
        rows = rows.sort(difference.abs(), "rows", column, descending=[True, True, False]).with_columns(
            difference.map_elements(lambda count: f"{count:+,}", pl.String).alias("difference")
        )
        columns = recipe_columns(rows, cookbook()[recipe], (), {"rows": "Now", "rows_other": "Compared with"})
        draw_grid(columns, caption=f"Compared with {chosen.other_words}, largest differences first")
    _differences(chosen, recipe)


def _differences(chosen: PageScope, recipe: str) -> None:
    """Draw the rows that differ between two publishes, where the page is compared with another one."""
    here, other = chosen.shown, chosen.other
    if other is None or other.published is here.published or here.published.narrowed or recipe not in _TABLES:
        return
    with comparing(chosen):
        where = {name: here.values[name] for name in _NAMES if here.values.get(name, ANY) != ANY}
        found = _difference(str(other.published.path), str(here.published.path), _TABLES[recipe], tuple(where.items()))
        caption = ", ".join(f"{getattr(found.tables[0], kind):,} {kind}" for kind in ("added", "removed", "changed"))
        rows = [
            {
                "change": row["change"],
                **{name: cell_text(value) for name, value in row["key"].items()},
                "what": "; ".join(
                    f"{name} {cell_text(value)} → {cell_text(row['after'][name])}"
                    for name, value in (row["before"] if row["change"] == "changed" else {}).items()
                ),
            }
            for changes in found.rows
            for row in changes.rows
        ]
        if rows:
            columns = recipe_columns(pl.DataFrame(rows), cookbook()[recipe], (), {"what": "Before → now"})
            draw_grid(columns, caption=f"Differences from {chosen.other_words}: {caption}")


@st.cache_data(max_entries=16, show_spinner=False)
def _difference(before: str, after: str, table: str, where: tuple[tuple[str, str], ...]) -> PublishDiff:
    return publish_diff(Path(before), Path(after), DiffOf((table,), rows=_DIFFERENCES, where=dict(where)))
