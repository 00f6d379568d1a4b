"""The dashboard over 1,000,000 memories and 10,000,000 references: what the server takes to draw each page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import pytest
from small_home import SmallHome
from streamlit.testing.v1 import AppTest

from slowwave.dashboards.app.pages.interactions import interactions_page
from slowwave.dashboards.app.pages.memories import memories_page
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.app.pages.observations import observations_page
from slowwave.dashboards.app.pages.overview import overview_page
from slowwave.dashboards.app.pages.reference import lineage_page
from slowwave.dashboards.app.pages.review import review_page
from slowwave.dashboards.app.pages.runs import runs_page
from slowwave.dashboards.app.pages.sql import sql_page
from slowwave.dashboards.app.pages.strategies import strategies_page
from slowwave.dashboards.cookbook.published import Published
from slowwave.data.sample import write_sample
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.nightly.nightly import land_paths, start_run

pytestmark = pytest.mark.bench

MEMORIES, RUNS, MOST_CPU_SECONDS = 1_000_000, 24, 2.0
# copies of each memory's rows: about 4,000,000 of the history and 10,000,000 references
COPIED_HISTORY, COPIED_REFERENCES = 900, 1_720
WORDS = (
    "coin",
    "index",
    "review",
    "zebra",
    "deploy 7",
    "mem-0063-",
    "Imani",
    "%",
    "prefers",
    "endpoint",
    "42",
    "the q",
)

ENLARGE = """
CREATE TEMP TABLE few AS FROM memory_health;
DELETE FROM memory_health;
INSERT INTO memory_health
SELECT few.* REPLACE (
    memory_id || '-' || n AS memory_id,
    CASE WHEN project = '' THEN '' ELSE project || '-' || n % 100 END AS project,
    content || ' Case ' || hash(memory_id, n) % 100000 || ', seen in week ' || n % 53 || '.' AS content,
    created_at - to_seconds((n * 37)::BIGINT) AS created_at,
    strength * (1 - (n % 97) / 1000) AS strength,
    need_30d * (1 - (n % 89) / 1000) AS need_30d,
    confidence_low * (1 - (n % 83) / 1000) AS confidence_low,
    review_value * (1 - (n % 79) / 1000) AS review_value
)
FROM few, range(CAST(ceil($memories / (SELECT count(*) FROM few)) AS BIGINT)) AS copies (n)
ORDER BY memory_id
LIMIT $memories;
"""
COPY = """
CREATE TEMP TABLE few_{table} AS FROM {table};
DELETE FROM {table};
INSERT INTO {table}
SELECT few_{table}.* {computed} REPLACE (memory_id || '-' || n AS memory_id)
FROM few_{table}, range({copies}) AS copies (n)
ORDER BY {key};
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """The publish of the sample logs, enlarged."""
    folder = tmp_path_factory.mktemp("bench")
    home = SmallHome(folder / "home")
    write_sample(folder / "logs", seed=7)
    with writer_lock(home.settings, "land"):
        land_paths(start_run(home.settings, "land"), path_deliveries([str(folder / "logs")]))
    home.nightly(parse_as_of("2026-05-16"))
    serving = folder / home.settings.current.resolve().name
    shutil.copy(home.settings.current, serving)
    enlarge(serving)
    found = Published(serving)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SLOWWAVE_HOME", str(home.folder))  # of what has landed
        yield found
    found.close()


def enlarge(serving: Path) -> None:
    with duckdb.connect(serving) as connection:
        connection.execute("SET preserve_insertion_order = true")
        for statement in connection.extract_statements(ENLARGE):
            connection.execute(statement, {"memories": MEMORIES} if "memories" in statement.named_parameters else None)
        for table, copies, key, computed in (
            ("memory_health_history", COPIED_HISTORY, "memory_id, day", "EXCLUDE (verdict)"),  # DuckDB computes it
            ("memory_references", COPIED_REFERENCES, "memory_id, interaction_id", ""),
        ):
            connection.execute(COPY.format(table=table, copies=copies, key=key, computed=computed))


def script(page, published):
    """Streamlit runs this function's text: it knows nothing of this module."""
    from time import perf_counter, process_time

    import streamlit as st

    begun, busy = perf_counter(), process_time()
    page(published)
    # what the harness takes around it, most of a second, is no reader's
    st.session_state["took"] = perf_counter() - begun, process_time() - busy


def seconds(page: Callable[[Published], None], published: Published, chosen: Mapping[str, str]) -> tuple[float, float]:
    """What drawing a page takes for somebody who opens it by its address: by the clock, and of all cores together."""
    session = AppTest.from_function(script, kwargs={"page": page, "published": published}, default_timeout=120)
    session.query_params.update(chosen)
    session.run()
    assert not session.exception
    return session.session_state["took"]


def scopes() -> list[dict[str, str]]:
    """What people choose on any page: all, a project, days, a comparison."""
    days = [{}, {"days": "7"}, {"days": "30"}, {"days": "90"}]
    projects = [{}, {"project": "tidewater-1"}, {"project": "tidewater-2", "compare": "project tidewater-1"}]
    return [days[n % len(days)] | projects[n % len(projects)] for n in range(RUNS)]


VIEWS = {
    "overview": (overview_page, scopes()),
    "memories, first page": (memories_page, [{} for _ in range(RUNS)]),
    "memories, searched": (memories_page, [{"search": WORDS[n % len(WORDS)]} for n in range(RUNS)]),
    "memories, filtered": (
        memories_page,
        [{"project": f"tidewater-{n}", "verdict": ("keep", "review")[n % 2], "status": "active"} for n in range(RUNS)],
    ),
    "memories, sorted": (
        memories_page,
        [{"sort": ("references", "needed", "weakest", "surest", "newest", "last_used")[n % 6]} for n in range(RUNS)],
    ),
    "memories, deep page": (memories_page, [{"page": str(10_000 + 77 * n)} for n in range(RUNS)]),
    "one memory": (memory_page, [{"memory_id": f"mem-{20 + n:04}-{n * 3}"} for n in range(RUNS)]),
    "interactions": (interactions_page, scopes()),
    "strategies": (strategies_page, scopes()),
    "review": (review_page, scopes()),
    "runs": (runs_page, scopes()),
    "observations": (observations_page, scopes()),
    "lineage": (lineage_page, scopes()),
    "sql": (sql_page, [{"recipe": ("verdicts", "memory_explorer", "freshness")[n % 3]} for n in range(RUNS)]),
    "no such memory": (memory_page, [{"memory_id": f"mem-{20 + n:04}x"} for n in range(RUNS)]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_bench_dashboard(published: Published, name: str) -> None:
    page, choices = VIEWS[name]
    took, busy = zip(*(seconds(page, published, chosen) for chosen in choices), strict=True)
    p95 = _part(busy, 0.95)
    print(
        f"  {name}, {MEMORIES:,} memories: "
        f"p50 {_part(took, 0.5):.2f} s, p95 {_part(took, 0.95):.2f} s, first {took[0]:.2f} s; "
        f"CPU p50 {_part(busy, 0.5):.2f} s, p95 {p95:.2f} s, first {busy[0]:.2f} s",
    )
    assert p95 < MOST_CPU_SECONDS


def _part(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]
