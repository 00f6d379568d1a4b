"""Homes for the crash tests, and what can be seen in one: publishes, rows, leftovers."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import COMPACT_FROM_FILES, Lake
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.land.quarantine import refused_rows
from slowwave.flows.nightly.nightly import land_paths, nightly
from slowwave.flows.publish import base
from slowwave.flows.publish.run import start_run
from slowwave.flows.publish.serving import table_hash
from slowwave.transforms.graph import PUBLISHED
from slowwave.transforms.landing.ledger_tables import RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED

base.FEWEST_ROWS = 0  # faults are tried on publishes that take rows over, however small the home

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
AS_OF = START + timedelta(days=9)
_CONTENTS = ("Always run the narrowest test first", "Use tabs for everything", "The release branch is called stable")


def interaction(number: int, day: int, **fields: Any) -> dict[str, Any]:
    """An interaction that repeats a memory, `day` days after the first."""
    return {
        "interaction_id": f"i{number}",
        "created_at": f"{START + timedelta(days=day, minutes=number)}Z",
        "prompt": "Fix it",
        "response": f"Done: {_CONTENTS[number % 3].upper()}.",
        "project": "shop",
        "memories_used": [f"m{number % 3}"],
        **fields,
    }


def memories() -> list[dict[str, Any]]:
    """Three active memories."""
    return [
        {"memory_id": f"m{i}", "changed_at": f"{START}Z", "content": text, "project": "shop", "status": "active"}
        | ({"confidence": 0.5} if i else {})
        for i, text in enumerate(_CONTENTS)
    ]


def lines(*rows: dict[str, Any] | str) -> bytes:
    """Rows as JSON lines; text stands as it is."""
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


def drop(home: Path, name: str, content: bytes) -> None:
    """Put a file into the inbox."""
    inbox = home / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / name).write_bytes(content)


def land(home: Path) -> None:
    """What `slowwave land` does with the inbox, without waiting for another writer."""
    settings = Settings(home)
    with writer_lock(settings, "land"):
        land_paths(start_run(settings, "land"), inbox_deliveries(settings.inbox))


def publish(home: Path, as_of: datetime | None = AS_OF) -> None:
    """What `slowwave nightly --as-of` does, without Prefect and without waiting for another writer."""
    settings = Settings(home)
    with writer_lock(settings, "nightly"):
        nightly(start_run(settings, "nightly"), as_of=as_of)


def prepare_landing(home: Path) -> None:
    """A published home where the next landing adds rows of all kinds, moves a key, refuses rows and compacts."""
    drop(home, "memories.jsonl", lines(*memories()))
    land(home)
    for number in range(COMPACT_FROM_FILES - 1):
        drop(home, "one.jsonl", lines(interaction(number, 0)))
        land(home)
    publish(home)
    drop(
        home,
        "a.jsonl",
        lines(
            interaction(20, 0, success=True),
            interaction(2, 1, recorded_at=f"{START + timedelta(days=2)}Z"),  # was on day 0
            interaction(3, 0),  # is there already
            interaction(21, 0, prompt=" "),
            "{broken",
        ),
    )
    drop(home, "b.csv", b"outcome_id,created_at,success,strategy\no1,2026-03-02T09:00:00Z,true,bisect\n")
    drop(
        home, "c.jsonl.gz", gzip.compress(lines({"memory_id": "m3", "changed_at": "2026-03-01", "content": "New one"}))
    )


def prepare_nightly(home: Path) -> None:
    """A published home with rows landed since, and one more file in the inbox."""
    drop(home, "memories.jsonl", lines(*memories()))
    drop(home, "old.jsonl", lines(interaction(1, 0), interaction(2, 1), "{broken"))
    land(home)
    publish(home)
    drop(home, "new.jsonl", lines(interaction(4, 1), interaction(5, 2), interaction(6, 2, prompt="")))


def prepare_plain(home: Path) -> None:
    """A published home with nothing in the inbox."""
    drop(home, "old.jsonl", lines(*memories(), interaction(1, 0), interaction(2, 1)))
    publish(home)


def look(home: Path) -> dict[str, Any]:
    """All that a test asserts about; every file under a final name is read, so that a half-written one is an error."""
    settings, lake = Settings(home), Lake(home / "lake")
    for path in lake.root.glob("**/*.parquet"):
        if not path.name.startswith("."):
            pl.read_parquet(path)
    runs = {path: published(path) for path in (home / "serving" / "runs").glob("[!.]*.duckdb")}
    current = current_run(settings)
    files = lake.ledger(RunFiles)
    return {
        "current": runs[current] if current else None,
        "current_run": current.stem if current else None,
        "runs": dict(lake.ledger(Runs).select("run_id", "status").iter_rows()),
        "rows": {table.name: _rows(lake, table) for table in LANDED},
        "quarantine": dict(Counter(refused_rows(lake)[0]["quarantine_id"].sort())),
        "files": sorted(files["file_hash"].unique()),
        "unaccounted": files.filter(
            pl.col("delivered") != pl.col("accepted") + pl.col("duplicate") + pl.col("quarantined")
        ).height,
        "inbox": sorted(path.name for path in settings.inbox.iterdir()),
        "leftovers": sorted(str(path.relative_to(home)) for path in home.glob("**/.*") if path.name != ".lock"),
    }


def _rows(lake: Lake, table: Any) -> list[str]:
    files = [file for day in lake.files(table.name).values() for file in day]
    return lake.scan_rows(table, files).select("row_hash").collect()["row_hash"].sort().to_list()


def published(path: Path) -> dict[str, str]:
    """The content hash of each table; if any has rows, they must all be of one run, which `runs` knows."""
    with duckdb.connect(path, read_only=True) as connection:
        names = [table.name for table in PUBLISHED]
        seen = " UNION ".join(f'SELECT run_id FROM "{name}"' for name in names)  # noqa: S608 - names are declared
        ((runs, known),) = connection.sql(
            f"SELECT count(*), count(*) FILTER (run_id IN (SELECT run_id FROM runs)) FROM ({seen})"  # noqa: S608
        ).fetchall()
        assert runs == known <= 1, f"{path.name}: {runs} runs in the tables, {known} of them in runs"
        return {name: table_hash(connection, name) for name in names}
