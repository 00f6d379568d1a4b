"""The spine on real logs; skipped where they are not there. Run with -s to see the figures."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import real_rows

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, nightly, start_run
from slowwave.transforms.graph import PUBLISHED

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout"),
]
AS_OF = "2024-06-01"
Row = dict[str, Any]


def _deliver(home: Path, name: str, rows: Iterable[Row]) -> None:
    inbox = home / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / name).write_text("\n".join(json.dumps(row) for row in rows))


def _nightly(home: Path) -> NightlyResult:
    settings = Settings(home)
    with writer_lock(settings, "test"):
        return nightly(start_run(settings, "nightly"), as_of=parse_as_of(AS_OF))


def _hashes(home: Path) -> dict[str, str]:
    with duckdb.connect(Settings(home).current, read_only=True) as connection:
        ((run_id,),) = connection.sql("SELECT DISTINCT run_id FROM memory_health").fetchall()
        ((hashes,),) = connection.sql(
            "SELECT table_hashes FROM runs WHERE run_id = $id", params={"id": run_id}
        ).fetchall()
    return dict(text.split("=") for text in hashes)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [*real_rows.memory_rows(), *real_rows.turn_rows(), *real_rows.outcome_rows()]


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> Path:
    home = tmp_path_factory.mktemp("one-file")
    _deliver(home, "all.jsonl", rows)
    result = _nightly(home)
    print(f"\n1 file: {len(result.built)} days built")
    for file in result.landed.files:
        print(
            f"  {file.source}: {file.delivered} delivered = {file.accepted} accepted + {file.duplicate} duplicate "
            f"+ {file.quarantined} quarantined"
        )
    return home


def test_every_delivered_row_is_accounted_for(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    for name, rows in (
        ("locomo-memories", real_rows.memory_rows()),
        ("locomo-turns", real_rows.turn_rows()),
        ("agbenchmark-outcomes", real_rows.outcome_rows()),
    ):
        _deliver(tmp_path, f"{name}.jsonl", rows)
    with writer_lock(settings, "test"):
        report = land_paths(start_run(settings, "land"), path_deliveries([str(tmp_path / "inbox")]))
    for file in report.files:
        print(f"\n{Path(file.source).name}: {file}")
        assert file.delivered == file.accepted + file.duplicate + file.quarantined
    turns = real_rows.turn_rows()
    blank = sum(not (row["prompt"] or "").strip() for row in turns)
    assert report.total("quarantined") == blank
    assert report.total("delivered") == len(turns) + len(real_rows.memory_rows()) + len(real_rows.outcome_rows())


def test_dated_turns_hold_no_literal_echo(one_file: Path) -> None:
    with duckdb.connect(Settings(one_file).current, read_only=True) as connection:
        ((memories, eligible, echoed),) = connection.sql(
            "SELECT count(*), sum(eligible_count), sum(echoed_count) FROM memory_health"
        ).fetchall()
    print(f"\n{memories} memories, eligible {eligible} times, echo references: {echoed}")
    assert memories == len(real_rows.memory_rows())
    assert eligible > 0
    assert echoed == 0


@pytest.mark.parametrize(
    ("delivery", "nights"),
    [
        ("50 shuffled files, 20 % redelivered", 0),
        ("in three nights", 3),
        # minutes: hundreds of nights
        pytest.param("day by day", 10_000, marks=pytest.mark.thorough),
    ],
)
def test_any_delivery_publishes_the_same(
    one_file: Path, rows: list[Row], tmp_path: Path, delivery: str, nights: int
) -> None:
    if nights:
        by_day = itertools.groupby(sorted(rows, key=real_rows.day_of), key=real_rows.day_of)
        of_days = [(day, list(of_day)) for day, of_day in by_day]
        size = -(-len(of_days) // nights)
        for start in range(0, len(of_days), size):
            for day, of_day in of_days[start : start + size]:
                _deliver(tmp_path, f"{day}.jsonl", of_day)
            _nightly(tmp_path)
    else:
        rng = random.Random(5)
        shuffled = [*rows, *rng.sample(rows, len(rows) // 5)]
        rng.shuffle(shuffled)
        for number in range(50):
            _deliver(tmp_path, f"{number:02}.jsonl", shuffled[number::50])
        _nightly(tmp_path)
    expected, found = _hashes(one_file), _hashes(tmp_path)
    print()
    for table in PUBLISHED:
        print(f"  {table.name}: 1 file {expected[table.name]}, {delivery} {found[table.name]}")
    assert found == expected
