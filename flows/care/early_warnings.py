"""What `slowwave status` warns of before it goes wrong: silent producers, memories that never count, clock and disk.

Each is read from few files, by DuckDB: who asks how things are does not wait.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from math import ceil
from pathlib import Path

from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import nearest_folder
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, size_shown
from slowwave.flows.kernel.times import in_words, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.files import LakeFile, files_by_day
from slowwave.flows.lake.sql import Record, lake_rows
from slowwave.transforms.core.vocabularies import LANDED_TABLES

# A producer's rhythm is what it did in these days of the log; one that was there on fewer has none yet.
_RHYTHM_DAYS, _LEAST_DAYS = 60, 8
# Nine in ten of its gaps between days with an interaction are at most so long; twice that is silence.
_USUAL, _SILENT = 0.9, 2
_SHOWN, _SHOWN_NAME = 3, 60
CLOCK_TOLERANCE = timedelta(minutes=1)
_GROWTH_DAYS, _WARN_DAYS = 14, 30

_DELIVERIES = """
SELECT coalesce(agent, '') AS agent, coalesce(client, '') AS client,
    list_sort(list_distinct(list(CAST(created_at AS DATE)))) AS days
FROM {files}
WHERE created_at <= $now
GROUP BY ALL
ORDER BY ALL
"""
_WITHOUT_STATUS = """
SELECT count(*) AS memories, count(*) FILTER (NOT has_status) AS without, min(memory_id) FILTER (NOT has_status) AS one
FROM (SELECT memory_id, bool_or(status IS NOT NULL) AS has_status FROM {files} GROUP BY memory_id)
"""


def producers(lake: Path, now: datetime) -> CheckLine:
    """Agents and clients that used to deliver and fell silent, by their own rhythm, while others went on.

    Silence is counted to the newest day of the log, not to today: that nothing arrives at all is checked elsewhere.
    """
    days = {day: files for day, files in files_by_day(lake, "interactions").items() if day <= now.date()}
    if not days:
        return CheckLine("producers", "ok", "none yet")
    newest = max(days)
    recent = [file for day, files in days.items() if (newest - day).days < _RHYTHM_DAYS for file in files]
    found = lake_rows(_DELIVERIES, recent, now=now)
    silent = [(row, gap) for row in found if (gap := _silence(row["days"], newest)) is not None]
    if not silent:
        return CheckLine(
            "producers", "ok", f"{format_count(len(found), 'producer')} in {_RHYTHM_DAYS} days, none fell silent"
        )
    said = [
        f"{_name(row)} has delivered nothing for {format_count((newest - row['days'][-1]).days, 'day')}; at most "
        f"{format_count(gap, 'day')} went by before"
        for row, gap in silent[:_SHOWN]
    ]
    said += [f"and {len(silent) - _SHOWN:,} more"] if len(silent) > _SHOWN else []
    todo = "see whether they still run, and write to this home's inbox"
    return CheckLine("producers", "warn", "\n".join(said), todo, {"silent": len(silent)})


def _silence(days: Sequence[date], newest: date) -> int | None:
    """The usual longest gap of a producer that is silent for more than twice that, in days; None: it is not."""
    if len(days) < _LEAST_DAYS:
        return None
    gaps = sorted((later - earlier).days for earlier, later in pairwise(days))
    usual = gaps[ceil(_USUAL * len(gaps)) - 1]
    return usual if (newest - days[-1]).days > _SILENT * usual else None


def _name(row: Record) -> str:
    agent, client = (shorten_to_width(row[name], _SHOWN_NAME) for name in ("agent", "client"))
    return (
        " of ".join(part for part in (agent and f"agent {agent}", client and f"client {client}") if part)
        or "who names nobody"
    )


def memory_states(files: Sequence[LakeFile]) -> CheckLine:
    """Memories none of whose changes states a status: candidates, which are never eligible."""
    row: Record = lake_rows(_WITHOUT_STATUS, files)[0] if files else {"without": 0}
    if not row["without"]:
        return CheckLine("memory states", "ok", "every memory has a status" if files else "no memories yet")
    says = f"{row['without']:,} of {format_count(row['memories'], 'memory', 'memories')} never state a status, such as "
    says += f"{shorten_to_width(row['one'], _SHOWN_NAME)}: they are candidates, which nothing is counted for"
    todo = "have their producer state `status`, or see `slowwave review list`"
    return CheckLine("memory states", "warn", says, todo, {"without_status": row["without"]})


def clock(runs: Sequence[Record], now: datetime) -> CheckLine:
    """Whether a run was noted at a time that has not come yet."""
    noted = [row[name] for row in runs for name in ("started_at", "finished_at") if row[name] is not None]
    newest = max(noted, default=now)
    if newest - now <= CLOCK_TOLERANCE:
        return CheckLine("clock", "ok", "has not gone back")
    says = f"it is {utc_text(now)} here, and a run was noted at {utc_text(newest)}, {in_words(now - newest)}"
    return CheckLine("clock", "warn", says, "set the clock: runs are put in order by it")


def growth_days(days: Collection[date], longest: int) -> int:
    """Over how many days up to the newest growth is told: a younger log has not grown for as long as is looked back."""
    return min(longest, (max(days) - min(days)).days + 1)


def growth(settings: Settings, now: datetime) -> CheckLine:
    """For how long the disk of the lake will do: by what the last days of the log take, landed and derived."""
    lake = settings.lake_folder
    tables = [f"evidence/{name}" for name in storage_of(lake).folders(lake / "evidence")]
    by_table = [files_by_day(lake, table) for table in (*LANDED_TABLES, *tables)]
    seen = {day for days in by_table for day in days if day <= now.date()}
    free = shutil.disk_usage(nearest_folder(lake)).free
    current = current_run(settings)
    spare = max(0, free - 2 * (current.stat().st_size if current else 0))
    if not seen:
        return CheckLine("disk", "ok", f"{free / 1e9:,.1f} GB free", "", {"free_bytes": free})
    newest = max(seen)
    number = growth_days(seen, _GROWTH_DAYS)
    recent = [
        file.size
        for days in by_table
        for day, files in days.items()
        if 0 <= (newest - day).days < number
        for file in files
    ]
    a_day = sum(recent) / number
    left = int(spare / a_day) if a_day else None
    facts = {"free_bytes": free, "bytes_a_day": round(a_day), "days_left": left}
    says = f"{free / 1e9:,.1f} GB free; the lake grows by {size_shown(a_day)} a day"
    if left is None or left >= _WARN_DAYS:
        return CheckLine("disk", "ok", says, "", facts)
    todo = "make room, or put the lake on a larger disk (SLOWWAVE_LAKE)"
    if not left:  # nor may there be room to note a night that fails for it
        return CheckLine("disk", "error", f"{says}: not enough for the next night", todo, facts)
    return CheckLine("disk", "warn", f"{says}: enough for {format_count(left, 'day')}", todo, facts)
