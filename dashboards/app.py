"""The dashboard, as Streamlit runs it: `slowwave dashboard` starts it.

Every page is a function of the published tables and of its address: what is chosen on a page stands in its query, so
every view can be linked to. Links are ordinary ones, `links.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

import duckdb
import streamlit as st

from slowwave.dashboards.pages.memories import memories_page
from slowwave.dashboards.pages.memory import memory_page
from slowwave.dashboards.pages.observations import observations_page
from slowwave.dashboards.pages.overview import overview_page
from slowwave.dashboards.pages.review import review_page
from slowwave.dashboards.pages.runs import runs_page
from slowwave.dashboards.pages.sql import sql_page
from slowwave.dashboards.pages.strategies import strategies_page
from slowwave.dashboards.published import Published
from slowwave.flows.query_connection import published_file
from slowwave.flows.run_ids import utc_now
from slowwave.flows.settings import Settings, settings_from_environment

SECONDS_BETWEEN_LOOKS = 5
# by path in the address; the first one is what the bare address shows
PAGES: dict[str, tuple[str, Callable[[Published], None]]] = {
    "overview": ("Overview", overview_page),
    "memories": ("Memories", memories_page),
    "memory": ("One memory", memory_page),
    "strategies": ("Strategies", strategies_page),
    "observations": ("Observations", observations_page),
    "review": ("Review queue", review_page),
    "runs": ("Runs and data quality", runs_page),
    "sql": ("SQL", sql_page),
}


@st.cache_resource(max_entries=2, show_spinner=False, on_release=Published.close)
def _published(path: str) -> Published:
    return Published(Path(path))


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _freshness(settings: Settings, shown: Path | None) -> None:
    """Say how fresh the tables are, and draw the page anew once others are published."""
    if published_file(settings) != shown:
        st.rerun(scope="app")


def app() -> None:
    """Draw the page that the address names."""
    st.set_page_config(page_title="Slowwave", layout="wide")
    st.html(f"<style>{resources.files('slowwave.dashboards').joinpath('templates/table.css').read_text()}</style>")
    settings = settings_from_environment()
    serving = published_file(settings)
    with st.sidebar:
        _freshness(settings, serving)
    if serving is None:
        st.title("Nothing is published yet")
        return
    try:
        published = _published(str(serving))
    except duckdb.Error as error:
        st.error(str(error))
        return
    pages = [
        st.Page(partial(draw, published), title=title, url_path=path, default=path == next(iter(PAGES)))
        for path, (title, draw) in PAGES.items()
    ]
    st.navigation(pages).run()


app()
