"""Stores that the programs themselves wrote: imported, and imported again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import real_rows
from small_home import SmallHome

STORES = real_rows.FOLDER / "client_logs" / "stores"

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not STORES.is_dir(), reason="the real stores are not beside the checkout"),
]


@pytest.mark.parametrize(
    ("source", "name", "rows", "left_out", "not_read"),
    [
        ("alma", "alma.db", 2, 1, 3),
        ("mem0", "mem0_history.db", 4, 3, 0),
        ("astrocyte", "astro.db", 1, 0, 1),
        ("langgraph", "lg.db", 1, 0, 5),
    ],
)
def test_a_real_store_is_imported_once(
    source: str, name: str, rows: int, left_out: int, not_read: int, tmp_path: Path
) -> None:
    """`not_read`: rows of tables that the importer names and does not read."""
    home, path = SmallHome(tmp_path / "home"), tmp_path / name
    shutil.copy(STORES / name, path)
    for made, unchanged in ((rows, 0), (0, rows)):
        done = home.ask("import", source, str(path), "--format", "json")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["import"]["rows"] == ({"memory": made} if made else {})
        assert sum(one["count"] for one in report["import"]["left_out"].values()) == left_out + not_read + unchanged
        assert report["landing"]["totals"]["accepted"] == made
        assert report["landing"]["totals"]["quarantined"] == 0
        (home.folder / "lake" / "imports" / f"{source}.json").unlink()  # so that it is read again
