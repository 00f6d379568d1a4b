"""`slowwave lake disk`: every file of a home counts once, under its kind, and none is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome

# By name what each file weighs; none of them is what its name says.
FILES = {
    "lake/interactions/day=2026-03-01/a.parquet": 1_000,
    "lake/interactions/day=2026-03-05/b.parquet": 500,
    "lake/memories/day=2026-03-05/c.parquet": 70,
    "lake/evidence/memory_days/day=2026-03-05/d.parquet": 40,
    "lake/kept_references/day=2026-03-01/x.parquet": 6,
    "lake/kept_references/day=2026-03-05/y.parquet": 4,
    "lake/quarantine/day=2026-03-05/e.parquet": 30,
    "lake/quarantine/files/0f": 2_000,
    "lake/runs/day=2026-03-05/f.parquet": 20,
    "lake/imports/pi.json": 10,
    "lake/FORMAT": 2,
    "serving/runs/1.duckdb": 300,
    "reports/1.html": 80,
    "inbox/rows.jsonl": 60,
    "prefect/prefect.db": 50,
    "params.toml": 5,
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    for name in ("SLOWWAVE_LAKE", "PREFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, size in FILES.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0" * size)
    (tmp_path / "home" / "serving" / "current.duckdb").symlink_to("runs/1.duckdb")
    return SmallHome(tmp_path / "home")


def said(home: SmallHome) -> dict[str, Any]:
    done = home.ask("lake", "disk", "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_file_counts_once_under_its_kind(home: SmallHome) -> None:
    found = said(home)
    assert found["bytes"] == sum(FILES.values()) == sum(found["kinds"].values())
    assert found["files"] == len(FILES)
    assert found["kinds"] == {
        "landed": 1_570, "evidence": 50, "quarantine": 2_030, "ledger": 22, "imports": 10, "serving": 300,
        "reports": 80, "inbox": 60, "prefect": 50, "other": 5,
    }  # fmt: skip
    (interactions,) = (table for table in found["tables"] if table["table"] == "interactions")
    days = {"first_day": "2026-03-01", "last_day": "2026-03-05"}
    assert interactions == {"table": "interactions", "kind": "landed", "files": 2, "bytes": 1_500, **days}
    (kept,) = (table for table in found["tables"] if table["table"].startswith("kept_references"))
    assert kept == {"table": "kept_references", "kind": "evidence", "files": 2, "bytes": 10, **days}


def test_growth_is_what_each_day_of_the_log_takes(home: SmallHome) -> None:
    found = said(home)
    by_day = {one["day"]: one["bytes"] for one in found["growth"]}
    assert list(by_day) == [f"2026-03-0{day}" for day in range(1, 6)]  # no day before it began
    assert (by_day["2026-03-01"], by_day["2026-03-04"], by_day["2026-03-05"]) == (1_006, 0, 614)
    assert found["bytes_a_day"] == round(1_620 / 5)


def test_growth_is_that_of_the_last_thirty_days(home: SmallHome) -> None:
    old = home.folder / "lake" / "interactions" / "day=2026-01-01" / "a.parquet"
    old.parent.mkdir()
    old.write_bytes(b"\0" * 9_000)
    found = said(home)
    assert (len(found["growth"]), found["bytes_a_day"]) == (30, round(1_620 / 30))


def test_what_could_go_leaves_what_is_current(home: SmallHome) -> None:
    found = said(home)["retention"]
    assert found["texts"]["30"] == 1_500
    assert found["runs"]["30"] == 0


def test_a_lake_elsewhere_and_the_text_say_the_same(
    home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = said(home)
    (home.folder / "lake").rename(tmp_path / "lake")
    monkeypatch.setenv("SLOWWAVE_LAKE", str(tmp_path / "lake"))
    assert {**said(home), "lake": before["lake"]} == before
    done = home.ask("lake", "disk")
    assert "interactions" in done.stdout
    assert "2026-03-01 to 2026-03-05" in done.stdout
    assert "retain --dry-run" in done.stdout


def test_where_there_is_no_home_it_says_what_to_do(tmp_path: Path) -> None:
    done = SmallHome(tmp_path / "none").ask("lake", "disk")
    assert done.returncode == 1
    assert "slowwave land" in done.stderr
