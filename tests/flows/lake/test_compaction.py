"""Compaction merges small files into one, and takes no more at once than a landing writes, however well texts pack."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from small_home import SmallHome, interaction

from slowwave.flows.kernel.store import row_groups_count
from slowwave.flows.lake import lake as lake_module
from slowwave.flows.lake.lake import COMPACT_FROM_FILES, Lake
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles
from slowwave.transforms.landing.tables import Interactions

DAY = date(2026, 3, 2)
MEGABYTE = 2**20


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


def row_ids(lake: Lake) -> list[str]:
    return sorted(lake.scan_rows(Interactions, lake.files("interactions")[DAY]).collect()["interaction_id"])


def test_small_files_become_one(home: SmallHome):
    for number in range(COMPACT_FROM_FILES - 1):
        home.land(interaction(f"i{number:02}"), json.dumps({"prompt": " ", "created_at": "2026-03-02"}))
    lake = Lake(Path(home.settings.lake))
    before = row_ids(lake), lake.ledger(RunFiles), lake.ledger(Quarantine)
    home.land(interaction("last"))
    assert len(lake.files("interactions")[DAY]) == 1
    assert row_ids(lake) == [*before[0], "last"]
    assert lake.ledger(RunFiles).height == before[1].height + 1
    assert lake.ledger(Quarantine).equals(before[2])


@pytest.mark.slow
def test_files_that_hold_much_when_decoded_are_not_merged_at_once(home: SmallHome, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lake_module, "COMPACT_FROM_FILES", 1_000)
    for number in range(20):
        home.land(interaction(f"i{number:02}", response=f"{number} " + "word " * (MEGABYTE // 5)))
    lake = Lake(Path(home.settings.lake))
    assert sum(file.path.stat().st_size for file in lake.files("interactions")[DAY]) < MEGABYTE
    monkeypatch.setattr(lake_module, "COMPACT_FROM_FILES", 16)
    monkeypatch.setattr(lake_module, "_MERGED_BYTES", 4 * MEGABYTE)
    taken = []
    write_rows = Lake.write_rows
    monkeypatch.setattr(
        Lake, "write_rows", lambda *given: taken.append(given[-1].estimated_size()) or write_rows(*given)
    )
    before = row_ids(lake)
    assert lake.compact(Interactions, DAY) == 20
    assert len(taken) == 5
    assert max(taken) < 5 * MEGABYTE
    assert row_ids(lake) == before


def test_a_file_of_many_row_groups_is_left_as_it_is(home: SmallHome, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("slowwave.flows.kernel.store._BYTES_PER_GROUP", 1_000)
    home.land(*(interaction(f"i{number:02}") for number in range(20)))
    monkeypatch.setattr("slowwave.flows.kernel.store._BYTES_PER_GROUP", 32 * MEGABYTE)
    lake = Lake(Path(home.settings.lake))
    (large,) = (file.path for file in lake.files("interactions")[DAY])
    assert row_groups_count(large) > 2
    for number in range(COMPACT_FROM_FILES - 1):
        home.land(interaction(f"j{number:02}"))
    assert len(lake.files("interactions")[DAY]) == 2
    assert large.exists()
    assert len(row_ids(lake)) == 20 + COMPACT_FROM_FILES - 1
