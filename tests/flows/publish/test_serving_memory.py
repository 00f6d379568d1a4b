"""A table may hold more text than the database of a serving file may hold in memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slowwave.flows.kernel.times import utc_now
from slowwave.flows.publish import serving
from slowwave.flows.publish.serving import ServingFile
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.landing.ledger_tables import Quarantine

MEGABYTE = 2**20


def refused(count: int) -> pl.LazyFrame:
    known = {"source": "", "file_hash": "", "field": "", "reason": "", "run_id": "", "landed_at": utc_now()}
    rows = [{"quarantine_id": f"{at}", "raw_text": f"{at}{'x' * MEGABYTE}", **known} for at in range(count)]
    return pl.LazyFrame(rows, schema=polars_schema(Quarantine))


@pytest.mark.slow
def test_more_text_than_the_database_may_hold_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_MEMORY_MB", 48)
    with ServingFile(tmp_path / "run.duckdb") as file:
        file.replace(Quarantine, [refused(100)])
        file.replace(Quarantine, [refused(90)])
        told = file.connection.execute("SELECT count(*), sum(length(raw_text)) FROM quarantine").fetchone()
    assert told == (90, 10 + 2 * 80 + 90 * MEGABYTE)


def test_a_disk_without_room_for_what_memory_does_not_hold_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_MEMORY_MB", 48)
    path = tmp_path / "run.duckdb"
    with pytest.raises(OSError, match=r"run\.duckdb cannot be written: the disk of .* has no room for what memory"):
        _sort_much(path)
    assert not list(tmp_path.iterdir())


def _sort_much(path: Path) -> None:
    with ServingFile(path) as file:
        file.connection.execute("SET max_temp_directory_size = '1MB'")  # as DuckDB does itself, to what is free
        file.connection.execute(
            "CREATE TEMP TABLE t AS SELECT md5(i::VARCHAR) FROM range(1_500_000) AS r(i) ORDER BY 1"
        )
