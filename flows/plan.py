"""Which days have to be rebuilt, and why: found from file names where possible, from row hashes where not.

A day whose input files are named as in an earlier run, and are cut by `as_of` the same way, has the fingerprint it had
then; nothing of it is read. Otherwise its keys, times and hashes are read (not its texts) and fingerprinted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property

import polars as pl

from slowwave.flows.lake import Lake, LakeFile, microseconds
from slowwave.transforms.evidence_tables import EVIDENCE
from slowwave.transforms.fingerprints import fingerprint
from slowwave.transforms.hashing import digest
from slowwave.transforms.landed_tables import Interactions, Memories
from slowwave.transforms.memory_eligibility import memory_eligibility
from slowwave.transforms.memory_states import memory_pool, memory_states
from slowwave.transforms.params import Params
from slowwave.transforms.schema import Landed
from slowwave.transforms.versions import is_visible, winning_versions


@dataclass(frozen=True)
class DayPlan:
    """One day of a plan: its signatures, its partition, and whether and why that must be built."""

    day: date
    rows_signature: str
    memories_signature: str
    fingerprint: str
    is_built: bool
    reason: str


class LogAsOf:
    """The log as seen at `as_of`: the file list taken once, and the winning versions in it."""

    def __init__(self, lake: Lake, as_of: datetime, params: Params) -> None:
        self.lake = lake
        self.as_of = as_of
        self.params = params
        self._files: dict[str, dict[date, list[LakeFile]]] = {}
        self._moved_away: dict[str, pl.DataFrame] = {}

    def files(self, table: type[Landed]) -> dict[date, list[LakeFile]]:
        """The files of the days that begin before `as_of`."""
        if table.name not in self._files:
            listed = self.lake.files(table.name)
            self._files[table.name] = {day: files for day, files in listed.items() if day_start(day) < self.as_of}
        return self._files[table.name]

    def signature(self, table: type[Landed], day: date) -> str:
        """Digest of the names of a day's files, of what moved away, and of `as_of` where it cuts through them."""
        files = self.files(table).get(day, [])
        is_cut = any(file.newest_us >= microseconds(self.as_of) for file in files)
        away = self.moved_away(table).filter(pl.col("day") == day)["row_hash"].sort().to_list()
        return digest([*(file.path.name for file in files), "", *away, self.as_of.isoformat() if is_cut else ""])

    def moved_away(self, table: type[Landed]) -> pl.DataFrame:
        """(day, row_hash) of visible versions that lose to a version of their key on another day."""
        if table.name not in self._moved_away:
            self._moved_away[table.name] = self._find_moved_away(table)
        return self._moved_away[table.name]

    def _find_moved_away(self, table: type[Landed]) -> pl.DataFrame:
        keys = self.lake.moved_keys(table)
        chosen = [file for day in keys["day"].unique().sort() for file in self.files(table).get(day, [])]
        if not chosen:
            return pl.DataFrame(schema={"day": pl.Date, "row_hash": pl.String})
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash"]))
        rows = (
            self.lake.scan_rows(table, chosen)
            .join(keys.lazy().select("key_hash").unique(), on="key_hash", how="semi")
            .select(*narrow, pl.col(table.event_time).dt.date().alias("day"))
            .filter(is_visible(table, self.as_of))
        )
        winners = winning_versions(table, rows, self.as_of)
        return rows.join(winners, on="row_hash", how="anti").select("day", "row_hash").collect()

    def winners(self, table: type[Landed], days: Iterable[date], names: Iterable[str]) -> pl.LazyFrame:
        """The winning versions on `days`, with the columns `names` (and those that decide who wins), and `day`."""
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash", *names]))
        chosen = [file for day in days for file in self.files(table).get(day, [])]
        rows = self.lake.scan_rows(table, chosen).select(narrow)
        rows = rows.with_columns(pl.col(table.event_time).dt.date().alias("day"))
        won = winning_versions(table, rows, self.as_of)
        return won.join(self.moved_away(table).lazy(), on=["day", "row_hash"], how="anti")

    @cached_property
    def states(self) -> pl.DataFrame:
        """Memory states visible at `as_of`."""
        changes = self.winners(Memories, self.files(Memories), (*Memories.state, "clears"))
        return memory_states(changes).collect()

    @cached_property
    def pool(self) -> pl.DataFrame:
        """Memory pool visible at `as_of`."""
        return memory_pool(self.states.lazy(), self.params.evidence).collect()

    def pool_between(self, start: datetime, end: datetime) -> pl.DataFrame:
        """The pool rows that hold at some time from `start` to `end`, both included."""
        still = pl.col("valid_until").is_null() | (pl.col("valid_until") > start)
        return self.pool.filter(pl.col("valid_from") <= end, still)


def day_start(day: date) -> datetime:
    """Midnight UTC at the start of a day."""
    return datetime.combine(day, time())


_REPLAYED = ("interaction_id", "created_at", "project", "agent", "session_id")


@dataclass(frozen=True)
class DayInputs:
    """A day as its evidence sees it: the winning interactions (without texts), the stretches of eligibility."""

    interactions: pl.DataFrame
    eligibility: pl.DataFrame
    fingerprint: str


def day_inputs(log: LogAsOf, day: date) -> DayInputs:
    """Read the keys of one day, join the memories as they stood, and fingerprint both."""
    rows = log.winners(Interactions, [day], _REPLAYED).rename({"created_at": "occurred_at"}).collect()
    times = rows["occurred_at"]
    if rows.is_empty():
        return DayInputs(rows, memory_eligibility(rows.lazy(), log.pool.lazy()).collect(), "")
    pool = log.pool_between(times.min(), times.max())  # type: ignore[arg-type]
    eligibility = memory_eligibility(rows.lazy(), pool.lazy()).collect()
    return DayInputs(rows, eligibility, fingerprint(rows["row_hash"], eligibility, log.params.evidence_hash()))


def day_plans(log: LogAsOf, earlier: pl.DataFrame, *, full: bool = False) -> Iterator[DayPlan]:
    """The plan of every day with interactions before `as_of`, oldest first.

    `earlier` holds day_partitions of earlier runs, the newest last; `full` builds every day anew.
    """
    evidence_hash = log.params.evidence_hash()
    known = {
        (row["day"], row["rows_signature"], row["memories_signature"]): row["fingerprint"]
        for row in earlier.filter(pl.col("evidence_hash") == evidence_hash).iter_rows(named=True)
    }
    before = {row["day"]: row for row in earlier.iter_rows(named=True)}
    memory_days = sorted(log.files(Memories))
    memories_signature, seen = digest([]), 0
    for day in sorted(log.files(Interactions)):
        while seen < len(memory_days) and memory_days[seen] <= day:
            memories_signature = digest([memories_signature, log.signature(Memories, memory_days[seen])])
            seen += 1
        rows_signature = log.signature(Interactions, day)
        found = known.get((day, rows_signature, memories_signature))
        if found is None:
            found = day_inputs(log, day).fingerprint
        reason = _reason(log.lake, day, found, before.get(day), rows_signature, evidence_hash, full=full)
        yield DayPlan(day, rows_signature, memories_signature, found, not reason, reason)


def _reason(  # noqa: PLR0913 - the facts a reason is made of
    lake: Lake, day: date, name: str, before: dict | None, rows_signature: str, evidence_hash: str, *, full: bool
) -> str:
    """Why a day has to be built; '' when it has not."""
    if not name:
        return ""
    is_there = all(lake.evidence_path(table, day, name).exists() for table in EVIDENCE)
    if is_there and not full:
        return ""
    if full:
        return "full rebuild"
    if before is None:
        return "new day"
    if before["fingerprint"] == name:
        return "its partition is missing"
    if before["evidence_hash"] != evidence_hash:
        return "params changed"
    return "rows changed" if before["rows_signature"] != rows_signature else "memories changed"
