"""The page of lineage: what is drawn of all tables and of one, and what its steps cost."""

from __future__ import annotations

import re

import pytest
from drawn_pages import IGNORED, commands, drawn, published_by, words
from shared_homes import plain_home
from small_home import SmallHome
from streamlit.testing.v1 import AppTest

from slowwave.dashboards.app.pages.reference import lineage_page
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.lineage import figure_page
from slowwave.flows.ask.lineage_steps import LineageStep
from slowwave.flows.ask.narrowed import Narrowed
from slowwave.transforms.graph import EVIDENCE, PUBLISHED

pytestmark = pytest.mark.filterwarnings(IGNORED)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return plain_home(tmp_path_factory.mktemp("lineage") / "home")


def named_in_frame(app: AppTest) -> list[str]:
    """The texts of the drawing, which stands in a frame."""
    (frame,) = app.get("iframe")
    return re.findall(r"<text[^>]*>([^<]*)</text>", frame.proto.srcdoc)


def test_every_table_is_drawn_with_what_it_is_made_from(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    published = published_by(home)
    app = drawn(lineage_page, published)
    published.close()
    named = named_in_frame(app)
    assert {table.name for table in (*PUBLISHED, *EVIDENCE)} < set(named)
    assert "slowwave inspect lineage" in commands(app)
    assert re.search(r"judged_health publish memory_health 1 0\.\d", words(app))


def test_one_table_is_drawn_step_by_step(home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    published = published_by(home)
    app = drawn(lineage_page, published, table="project_health")
    published.close()
    assert "slowwave inspect lineage project_health" in commands(app)
    named = named_in_frame(app)
    assert named[-1] == "project_health"
    assert {"memory_health", "memory_states", "memories"} <= set(named)
    made_by = "Made by slowwave.transforms.health.project.project_health:project_health"
    assert f"{made_by} (written whole each night · 1 row · " in words(app)


def test_the_frame_runs_and_loads_nothing_whatever_a_table_is_called() -> None:
    """Names are the code's own today; one that is not stays text all the same."""
    hostile = "</svg><script src='http://x'></script><img src=x onerror=owned()>"
    page, height = figure_page([LineageStep("a", hostile, "published", about=hostile)])
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page
    assert height > 50


def test_to_one_user_it_does_not_say_how_many_rows_others_have(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    published = Published(home.settings.current.resolve(strict=True), Narrowed(user="ada"))
    said = words(drawn(lineage_page, published, table="project_health"))
    published.close()
    assert "project_health:project_health (written whole each night" in said
    assert "1 row" not in said
    assert "What it cost" not in said
