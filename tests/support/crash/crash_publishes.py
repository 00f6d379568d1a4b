"""A writer that publishes many times, and readers that watch, each in a process of its own.

Usage: crash_publishes.py write HOME PUBLISHES EVERY | hold HOME | dashboard HOME | reopen HOME | sql HOME. Readers read
until `HOME/stop` is there and print what they saw as JSON. They read all the time, and the writer lets each of them
begin and end a read after every EVERY publishes: however slow the machine is, they see each (1), or so many of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import crash_home
import duckdb

from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.connection import published_file
from slowwave.flows.ask.sql import answer_query
from slowwave.flows.kernel.settings import Settings

# One statement sees one snapshot whatever happens, so each table is asked in a statement of its own.
TABLES = ("memory_health", "memory_health_history", "memory_references")
# Readers leave the writer a share of a small machine.
_PAUSE_SECONDS = 0.03
HOLDING = ("hold", "dashboard")  # one connection all the time: DuckDB's own, the dashboard's
OPENING = ("reopen", "sql")  # one for each read: DuckDB's own, that of `slowwave sql`
READERS = (*HOLDING, *OPENING)
_EVER = datetime.max  # noqa: DTZ901 - times are naive and hold UTC everywhere

Ask = Callable[[str], list[tuple[Any, ...]]]


def noted(home: Path, role: str, reads: int) -> None:
    """Tell the writer how many reads have ended."""
    note = home / f"{role}.reads"
    note.with_suffix(".tmp").write_text(str(reads))
    note.with_suffix(".tmp").rename(note)


def wait_for_readers(home: Path) -> None:
    """Wait until each reader has ended a read that began after now, which is the second from here."""
    deadline = time.monotonic() + 500
    for role in READERS:
        enough = _reads(home, role) + 2
        while _reads(home, role) < enough:
            assert time.monotonic() < deadline, f"{role} reads no more"
            time.sleep(0.005)


def _reads(home: Path, role: str) -> int:
    note = home / f"{role}.reads"
    return int(note.read_text()) if note.exists() else 0


def write(home: Path, publishes: int, every: int) -> dict[str, Any]:
    """Publish as of one instant after another, every tenth time with one more row; each ends with a prune."""
    for number in range(publishes):
        if not number % every:
            wait_for_readers(home)
        if number % 10 == 5:
            crash_home.drop(home, f"{number}.jsonl", crash_home.lines(crash_home.interaction(1000 + number, 2)))
        crash_home.publish(home, crash_home.AS_OF + timedelta(seconds=number + 1))
    wait_for_readers(home)
    return {"runs": len(list(Settings(home).serving.glob("runs/*.duckdb")))}


def read(ask: Ask) -> tuple[str, str]:
    """The one run that every table shows, and its `as_of`; AssertionError when they differ."""
    shown = set()
    for table in TABLES:
        shown.update(ask(f"SELECT DISTINCT run_id, CAST(as_of AS VARCHAR) FROM {table}"))  # noqa: S608 - a table of ours
    assert len(shown) == 1, f"one read shows {sorted(shown)}"
    ((run_id, as_of),) = shown
    rows = ask(f"SELECT status FROM runs WHERE run_id = '{run_id}'")  # noqa: S608 - as published
    assert rows == [("published",)], f"{run_id} is {rows} in runs"
    time.sleep(_PAUSE_SECONDS)
    return run_id, as_of


def hold(home: Path) -> dict[str, Any]:
    """Read again and again over one connection: it must show one run for ever."""
    with duckdb.connect(Settings(home).current, read_only=True) as connection:
        return _seen(home, "hold", lambda: read(lambda query: connection.sql(query).fetchall()))


def dashboard(home: Path) -> dict[str, Any]:
    """The same over what the dashboard holds open, a cursor for each read."""
    path = published_file(Settings(home))
    assert path is not None
    published = Published(path)

    def once() -> tuple[str, str]:
        with published.cursor() as cursor:
            return read(lambda query: cursor.execute(query).fetchall())

    try:
        return _seen(home, "dashboard", once)
    finally:
        published.close()


def reopen(home: Path) -> dict[str, Any]:
    """Open current for each read."""

    def once() -> tuple[str, str]:
        with duckdb.connect(Settings(home).current, read_only=True) as connection:
            return read(lambda query: connection.sql(query).fetchall())

    return _seen(home, "reopen", once)


def sql(home: Path) -> dict[str, Any]:
    """Open current for each read, as `slowwave sql` does: all questions are asked of the file that was current then."""
    settings = Settings(home)

    def once() -> tuple[str, str]:
        serving = published_file(settings)

        def ask(query: str) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]] = []
            answer_query(
                settings, query, {}, serving=serving, cut=_EVER,
                write=lambda connection, statement, params: found.extend(
                    connection.execute(statement, dict(params)).fetchall()
                ),
            )  # fmt: skip
            return found

        return read(ask)

    return _seen(home, "sql", once)


def _seen(home: Path, role: str, once: Callable[[], tuple[str, str]]) -> dict[str, Any]:
    """Read until told to stop: how often, and each run in order of its first read."""
    shown, reads = dict[tuple[str, str], None](), 0
    while not (home / "stop").exists():
        shown[once()] = None
        reads += 1
        noted(home, role, reads)
    return {"reads": reads, "shown": list(shown)}


if __name__ == "__main__":
    role, folder, *count = sys.argv[1:]
    home = Path(folder)
    roles = {"hold": hold, "dashboard": dashboard, "reopen": reopen, "sql": sql}
    print(json.dumps(write(home, *map(int, count)) if role == "write" else roles[role](home)))
