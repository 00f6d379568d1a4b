"""Ids are text: large ones stay apart, and those that pandas made floats of are what they were."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from small_home import SmallHome

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.nightly.nightly import land_paths, start_run
from slowwave.transforms.landing.tables import Interactions, Outcomes

LARGE = [2**128 + i for i in range(4)]


def landed(home: SmallHome, *paths: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    with writer_lock(home.settings, "test"):
        land_paths(start_run(home.settings, "land"), path_deliveries([str(path) for path in paths]))
    lake = Lake(home.settings.lake_folder)
    both = [
        pl.concat(pl.read_parquet(file.path) for files in lake.files(table.name).values() for file in files)
        for table in (Interactions, Outcomes)
    ]
    return both[0].sort("interaction_id"), both[1].sort("outcome_id")


def test_large_ids_stay_apart_and_whole_floats_meet_what_they_were(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    rows = [
        {
            "interaction_id": n,
            "session_id": n,
            "memories_used": [n],
            "created_at": "2026-03-01",
            "prompt": "?",
            "own": n,
        }
        for n in [*LARGE, 1000]
    ]
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]))
    document = tmp_path / "b.json"
    document.write_text(json.dumps(rows[3:], indent=1))
    floats = tmp_path / "c.parquet"
    outcomes = {"interaction_id": [1000.0, None], "outcome_id": ["o1", "o2"], "success": [True, False]}
    pl.DataFrame(outcomes).with_columns(created_at=pl.lit("2026-03-01")).write_parquet(floats)
    interactions, ends = landed(home, lines, document, floats)
    names = sorted(map(str, [*LARGE, 1000]))
    assert interactions["interaction_id"].to_list() == interactions["session_id"].to_list() == names
    assert interactions["memories_used"].to_list() == [[name] for name in names]
    assert [str(json.loads(text)["own"]) for text in interactions["extra"]] == names
    assert ends["interaction_id"].to_list() == ["1000", None]


def test_a_rehearsal_does_not_say_that_bytes_are_kept(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n")
    said = [home.ask("land", str(path), *more).stderr for more in (["--dry-run"], [])]
    assert ["refused whole" in text for text in said] == [True, True]
    assert ["kept in the lake" in text for text in said] == [False, True]
