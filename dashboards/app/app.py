"""The dashboard, as flows/cli/dashboard_script.py draws it: `slowwave dashboard` starts it.

Every page is a function of the published tables and of its address: what is chosen on a page stands in its query, so
every view can be linked to. Links are ordinary ones, `links.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from importlib import resources
from pathlib import Path

import duckdb
import polars as pl
import streamlit as st

from slowwave import __version__ as VERSION  # noqa: N812 - a constant here
from slowwave.dashboards.app.deciding import draw_deciding
from slowwave.dashboards.app.grid import LEADS_TO
from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.reference import glossary_page, lineage_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.sql import sql_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.app.panel import draw_panel
from slowwave.dashboards.app.widgets import SHOWN_PAGE, carrying, notice, shared_params
from slowwave.dashboards.cookbook.published import Published, file_stamp
from slowwave.dashboards.links import FIRST_PAGE, view
from slowwave.dashboards.overview.window import newest_event
from slowwave.dashboards.report.night_story import describe_scope
from slowwave.dashboards.templates import render_template
from slowwave.flows.ask.connection import error_lines, is_of_another_release, published_file
from slowwave.flows.ask.narrowed import narrowed_by
from slowwave.flows.care.early_warnings import CLOCK_TOLERANCE
from slowwave.flows.care.status import Clock, earlier_instant, later_instant
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings, settings_from_environment
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.kernel.times import in_words, utc_now, utc_text
from slowwave.flows.nightly.nights import ledger, stopped_night

SECONDS_BETWEEN_LOOKS = 5
_SECONDS_TO_REMEMBER = 60
# from which age on `slowwave status` warns, and calls it an error, when it is not told otherwise
WARN_HOURS, ERROR_HOURS = 26.0, 50.0
# by path in the address; the first one is what the bare address shows
PAGES: dict[str, tuple[str, Callable[[Published], None]]] = {
    FIRST_PAGE: ("Overview", overview_page),
    "memories": ("Memories", memories_page),
    "interactions": ("Interactions", interactions_page),
    "strategies": ("Strategies", strategies_page),
    "review": ("Review", review_page),
    "runs": ("Runs", runs_page),
    "sql": ("SQL", sql_page),
    "observations": ("Observations", observations_page),
    "lineage": ("Lineage", lineage_page),
    "glossary": ("Glossary", glossary_page),
    "memory": ("One memory", memory_page),
}
# pages that only other pages lead to
_NOT_IN_MENU = ("memory",)
_STYLES = ("first_screen.css", "app.css")
# the published file (None: there is none), its stamp, and what is the matter with it ('' nothing)
_Current = tuple[Path | None, tuple[int, ...], str]


def _is_as_opened(published: Published) -> bool:
    """Whether a publish is still the file at its path; else close it, for a path can be opened in one way at a time."""
    if published.is_as_opened():
        return True
    published.close()
    return False


@st.cache_resource(max_entries=2, show_spinner=False, on_release=Published.close, validate=_is_as_opened)
def _open_publish(path: str) -> Published:
    return Published(Path(path), narrowed_by())


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _freshness(settings: Settings, shown: _Current, published: Published | None) -> None:
    """Say how fresh the tables are, and draw the page anew once others are published."""
    if _current(settings) != shown:
        st.session_state["was_redrawn"] = True
        st.rerun(scope="app")
    if published is None:
        return
    lines = [*describe_scope(str(published.narrowed)), *_fresh_words(published), f"Run {published.run_id}"]
    st.html(render_template("freshness.html.jinja", lines=lines, is_on_phones_alone=False))
    _warn_of_a_stopped_night(settings)
    _warn_of_age(settings, published)
    if st.session_state.get("was_redrawn"):
        notice("note", "these are new tables: the page was drawn anew when they were published")


def _fresh_words(published: Published) -> list[str]:
    """When the newest interaction or outcome happened, and when the tables were published."""
    newest = newest_event(published.answer("freshness"))
    until = [] if newest is None else [f"Data up to {newest:%Y-%m-%d %H:%M} UTC"]
    if published.finished_at is None:
        return until
    return [
        *until,
        f"Published {in_words(utc_now() - published.finished_at)} ({published.finished_at:%Y-%m-%d %H:%M} UTC)",
    ]


def _warn_of_a_stopped_night(settings: Settings) -> None:
    stopped = _stopped_night(str(settings.home), settings)
    if stopped:
        notice("error", f"the last night has stopped: {stopped}", "run `slowwave nightly`; `slowwave status` says more")


@st.cache_data(ttl=_SECONDS_TO_REMEMBER, max_entries=4, show_spinner=False)
def _stopped_night(home: str, _settings: Settings) -> str:  # noqa: ARG001 - what it is kept by
    """Which night has stopped half-way, in words; '' where none has."""
    try:
        return str(stopped_night(_settings, ledger(_settings.lake_folder)) or "")
    except (duckdb.Error, OSError, ValueError):  # `slowwave doctor` says what is wrong with the ledger
        return ""


def _warn_of_age(settings: Settings, published: Published) -> None:
    clock = Clock(utc_now(), WARN_HOURS, ERROR_HOURS)
    if published.finished_at is None or published.as_of is None:
        notice("warning", "the file does not say when it was published", "run `slowwave doctor`")
    elif published.finished_at > clock.now + CLOCK_TOLERANCE:
        says = f"the clock was, or is, wrong: by it these tables are published {clock.ago(published.finished_at)}"
        notice("warning", says, "set the clock, then run `slowwave nightly`")
    elif ahead := later_instant(settings, published.as_of, clock.now):
        says = f"these tables show what was known before {utc_text(published.as_of)}; {ahead}"
        notice("warning", says, "run `slowwave nightly` to publish what is known now")
    elif published.finished_at - published.as_of >= timedelta(hours=WARN_HOURS):
        why, todo = _earlier_instant(str(settings.home), published.as_of, settings)
        notice("note", f"these tables stop at an earlier time: {why}", todo)
    elif clock.judge_age(published.finished_at) != "ok":
        notice("warning", f"published {clock.ago(published.finished_at)}", "run `slowwave nightly`")


@st.cache_data(ttl=_SECONDS_TO_REMEMBER, max_entries=4, show_spinner=False)
def _earlier_instant(home: str, as_of: datetime, _settings: Settings) -> tuple[str, str]:  # noqa: ARG001 - what it is kept by
    try:
        return earlier_instant(_settings, as_of, utc_now())
    except (duckdb.Error, OSError, UserError, ValueError, pl.exceptions.PolarsError):
        return "as asked for", ""  # `slowwave doctor` says what is wrong with it


def _current(settings: Settings) -> _Current:
    """The published file with its stamp, and what is the matter where there should be one."""
    try:
        found = published_file(settings)
        return found, () if found is None else file_stamp(found), ""
    except (UserError, OSError) as error:
        return None, (), str(error)


def _nothing_published(settings: Settings) -> None:
    st.title("Nothing is published yet", anchor=False)
    notice(
        "note",
        f"there are no published tables in {settings.serving}; this page shows them as soon as there are some",
        "run `slowwave demo` to see sample logs, or `slowwave land PATH` and then `slowwave nightly`",
    )


def _unreadable(problem: str) -> None:
    st.title("The published tables cannot be read", anchor=False)
    notice("error", problem, "run `slowwave doctor`, which says what is wrong, or `slowwave nightly` to publish anew")


def _draw_page(draw: Callable[[Published], None], published: Published) -> None:
    """A page, or what went wrong in a query of it."""
    try:
        draw(published)
    except UserError as error:  # it says what to do
        notice("error", f"this part of the page could not be drawn: {terminal_safe(str(error))}")
    except (duckdb.Error, KeyError, pl.exceptions.ColumnNotFoundError) as error:
        is_lacking = not isinstance(error, duckdb.Error) or is_of_another_release(error)
        told = error_lines(error) if isinstance(error, duckdb.Error) else f"the tables lack {terminal_safe(str(error))}"
        by = f"release {published.version}" if published.version != VERSION else f"an earlier build of {VERSION}"
        notice(
            "error",
            f"this part of the page could not be drawn: {told}",
            f"{by} wrote these tables, and this is {VERSION}: `slowwave nightly` publishes them anew"
            if is_lacking
            else "reload the page; if that does not help, `slowwave nightly --full` makes the tables anew",
        )


def _carry_on(path: str) -> None:
    """Write into the address of another page what was chosen on the one before: the menu's links say nothing."""
    before, chosen = st.session_state.get("carried", (path, {}))
    if before != path and chosen and not shared_params():
        # `st.query_params` would leave the address without them to go back to
        address = view(path, **{**st.query_params, **chosen})
        st.html(render_template("replace_address.html.jinja", address=address), unsafe_allow_javascript=True)
        st.stop()
    st.session_state["carried"] = (path, shared_params())
    st.session_state[SHOWN_PAGE] = path


def app() -> None:
    """Draw the page that the address names."""
    templates = resources.files("slowwave.dashboards").joinpath("templates")
    mark = templates.joinpath("mark.svg").read_text(encoding="utf-8")
    st.set_page_config(page_title="Slowwave", page_icon=mark, layout="wide")
    st.logo(templates.joinpath("logo.svg").read_text(encoding="utf-8"), icon_image=mark, size="large")
    st.html(f"<style>{''.join(templates.joinpath(name).read_text(encoding='utf-8') for name in _STYLES)}</style>")
    settings = settings_from_environment()
    serving, _, problem = current = _current(settings)
    published = None
    if serving is not None:
        try:
            published = _open_publish(str(serving))
        except (duckdb.Error, OSError) as error:
            problem = error_lines(error) if isinstance(error, duckdb.Error) else str(error)
    pages = []
    for path, (title, draw) in PAGES.items():
        if published is not None:
            shown = partial(_draw_page, draw, published)
        else:
            shown = partial(_unreadable, problem) if problem else partial(_nothing_published, settings)
        visibility = "hidden" if path in _NOT_IN_MENU else "visible"
        pages.append(st.Page(shown, title=title, url_path=path, default=path == FIRST_PAGE, visibility=visibility))
    page = st.navigation(pages)  # under headings its lists would be none to screen readers
    address = st.session_state.pop(LEADS_TO, "")
    if address:  # `st.switch_page` would put an address between the two that nobody chose
        st.html(render_template("go_to.html.jinja", address=carrying(address)), unsafe_allow_javascript=True)
        st.stop()
    _carry_on(page.url_path)
    with st.sidebar:
        _freshness(settings, current, published)
    if published is not None:  # phones hide the sidebar
        st.html(render_template("freshness.html.jinja", lines=_fresh_words(published), is_on_phones_alone=True))
    page.run()
    draw_deciding()
    if published is not None:
        _draw_page(draw_panel, published)
