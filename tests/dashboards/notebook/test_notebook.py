"""The notebook runs from its first cell to its last over a published home, and shows what is published there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from small_home import SmallHome, interaction, memory

NOTEBOOK = Path(__file__).parents[3] / "dashboards" / "notebook" / "memories.py"
CHARTS = ("verdicts_chart", "first_use_chart", "use_by_week_chart")
# Runs it in a process of its own, as marimo does, and prints its frames and charts.
RUN = """
import importlib.util, json, sys
found = importlib.util.spec_from_file_location("notebook", sys.argv[1])
notebook = importlib.util.module_from_spec(found)
found.loader.exec_module(notebook)
_, names = notebook.app.run()
print(json.dumps({
    "charts": {name: names[name].to_dict() for name in sys.argv[2:]},
    "first_use": names["first_use"].sort("memory_id").select("memory_id", "days_to_first_use").rows(),
    "use_by_week": [[str(value) for value in row] for row in names["use_by_week"].rows()],
    "as_of": str(names["as_of"]),
}))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("notebook") / "home")
    made.land(
        memory("m1"),
        memory("m2", status="candidate", project=""),
        memory("m3", content="</script><b>&", project="<b>shop"),
        interaction("i1", memories_used=["m1"], response=f"{memory('m1')['content']} So there."),
        interaction("i2", created_at="2026-03-10T09:00:00Z", memories_used=["m1", "m3"]),
    )
    made.nightly(datetime(2026, 3, 12))  # noqa: DTZ001 - naive times hold UTC
    return made


def ran(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "SLOWWAVE_HOME": str(home), "MARIMO_SKIP_UPDATE_CHECK": "1"}
    return subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, check=False)


def test_every_cell_runs_and_its_charts_show_what_is_published(home: SmallHome) -> None:
    before = home.contents()
    done = ran(home.folder, "-c", RUN, str(NOTEBOOK), *CHARTS)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["as_of"] == "2026-03-12 00:00:00"
    assert found["first_use"] == [["m1", pytest.approx(25 / 24)], ["m2", None], ["m3", None]]
    assert found["use_by_week"] == [
        ["2026-02-23", "injected_count", "0"],
        ["2026-03-02", "injected_count", "1"],
        ["2026-03-09", "injected_count", "2"],
        ["2026-02-23", "reference_count", "0"],
        ["2026-03-02", "reference_count", "1"],
        ["2026-03-09", "reference_count", "0"],
    ]
    rows = {name: next(iter(chart["datasets"].values())) for name, chart in found["charts"].items()}
    with duckdb.connect(home.settings.current, read_only=True) as published:
        verdicts = published.sql("SELECT verdict, count(*) FROM memory_health GROUP BY ALL").fetchall()
    for verdict, count in verdicts:
        assert sum(row["memories"] for row in rows["verdicts_chart"] if row["verdict"] == verdict) == count
    assert {row["project"] for row in rows["verdicts_chart"]} == {"shop", "(no project)", "<b>shop"}
    assert [row["memory_id"] for row in rows["first_use_chart"]] == ["m1"]
    assert len(rows["use_by_week_chart"]) == 6
    assert home.contents() == before


def test_it_runs_as_a_script_and_where_nothing_is_published_it_says_so(home: SmallHome, tmp_path: Path) -> None:
    done = ran(home.folder, str(NOTEBOOK))
    assert (done.returncode, done.stderr) == (0, "")
    done = ran(tmp_path, str(NOTEBOOK))
    assert done.returncode != 0
    assert "current.duckdb" in done.stderr


def test_marimo_finds_nothing_wrong_with_it() -> None:
    done = ran(Path(), "-m", "marimo", "check", "--strict", str(NOTEBOOK))
    assert done.returncode == 0, done.stdout + done.stderr
