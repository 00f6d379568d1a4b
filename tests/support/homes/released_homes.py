"""Homes as earlier releases left them, unpacked, and what is in them."""

from __future__ import annotations

import hashlib
import tarfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from small_home import SmallHome

from slowwave.flows.lake.current import current_run
from slowwave.transforms.landing.tables import LANDED

HOMES = Path(__file__).resolve().parents[2] / "fixtures" / "homes"
RELEASES = sorted(path.name for path in HOMES.iterdir() if path.is_dir())
# What every release counts alike: which answers use a memory in other words is found by other methods since.
COUNTS = "SELECT memory_id, eligible_count, injected_count, echoed_count FROM memory_health ORDER BY memory_id"


def released_home(version: str, folder: Path, *, left: timedelta = timedelta()) -> SmallHome:
    """The home a release left, unpacked as if it had been left so long ago: what a night removes goes by age."""
    home, written = SmallHome(folder / "home"), time.time() - left.total_seconds()
    with tarfile.open(HOMES / version / "home.tar.xz") as packed:
        members = packed.getmembers()
        for member in members:
            member.mtime = written
        filtered: Any = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}  # since 3.11.4
        packed.extractall(home.folder, members, **filtered)  # noqa: S202 - an archive of our own
    return home


def published(home: SmallHome, query: str) -> list[tuple[Any, ...]]:
    current = current_run(home.settings)
    assert current is not None
    with duckdb.connect(current, read_only=True) as connection:
        return connection.execute(query).fetchall()


def landed_files(home: SmallHome) -> dict[str, str]:
    """Every landed file with the hash of its bytes."""
    lake = Path(home.settings.lake)
    return {
        str(path.relative_to(lake)): hashlib.sha256(path.read_bytes()).hexdigest()
        for table in (*(table.name for table in LANDED), "decisions", "moved_keys")
        for path in (lake / table).rglob("*.parquet")
    }


def evidence_files(home: SmallHome) -> dict[str, int]:
    lake = Path(home.settings.lake)
    return {str(path): path.stat().st_mtime_ns for path in (lake / "evidence").rglob("*.parquet")}


def last_as_of(home: SmallHome) -> datetime:
    ((as_of,),) = published(home, "SELECT DISTINCT as_of FROM memory_health")
    return as_of
