"""Which days have to be rebuilt, and why: found from file names where possible, from row hashes where not.

A day whose input files are named as in an earlier run, and are cut by `as_of` the same way, has the fingerprint it had
then; nothing of it is read. Otherwise its keys, times and hashes are read (not its texts) and fingerprinted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache, cached_property
from typing import Any, TypeVar

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.checked_files import FileChecks, left_out_by_people
from slowwave.flows.lake.lake import Lake, LakeFile, microseconds, written_columns
from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.hashing import digest, rows_digest
from slowwave.transforms.core.node import Rows
from slowwave.transforms.core.schema import Landed, polars_schema
from slowwave.transforms.decisions.effects import effective
from slowwave.transforms.evidence.eligibility import memory_eligibility
from slowwave.transforms.evidence.fingerprint import fingerprint
from slowwave.transforms.evidence.nodes import MEMORY_CHANGES, REPLAYED
from slowwave.transforms.evidence.states import memory_pool, memory_states
from slowwave.transforms.evidence.tables import DayInputs, MemoryEligibility
from slowwave.transforms.evidence.used.passages import is_long
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.schema_changes import lacks_only_new_columns
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories, Outcomes
from slowwave.transforms.landing.versions import is_visible, winning_versions
from slowwave.transforms.params import Params


@dataclass(frozen=True)
class DayPlan:
    """One day: its evidence partition, and why that must be built ('' when it is there)."""

    day: date
    fingerprint: str
    reason: str


class LogAsOf:
    """The log as seen at `as_of`: the file list taken once, and the winning versions in it."""

    def __init__(self, lake: Lake, as_of: datetime, params: Params) -> None:
        self.lake = lake
        self.as_of = as_of
        self.params = params
        self._files: dict[str, dict[date, list[LakeFile]]] = {}
        self._moved_away: dict[str, pl.DataFrame] = {}
        self._moved_hashes_of: dict[str, dict[date, list[str]]] = {}
        self._set_aside: dict[str, pl.DataFrame] = {}
        self._set_aside_hashes_of: dict[str, dict[date, list[str]]] = {}
        self.replay_inputs: dict[date, ReplayInputs] = {}
        self.replay_inputs_bytes = 0

    def files(self, table: type[Landed]) -> dict[date, list[LakeFile]]:
        """The files of the days that begin before `as_of`."""
        if table.name not in self._files:
            listed = self.lake.files(table.name)
            self._files[table.name] = {day: files for day, files in listed.items() if day_start(day) < self.as_of}
        return self._files[table.name]

    def signature(self, table: type[Landed], day: date) -> str:
        """Digest of the names of a day's files, of what moved away or is set aside, and of `as_of` where it cuts."""
        files = self.files(table).get(day, [])
        is_cut = any(file.newest_us >= microseconds(self.as_of) for file in files)
        away = self._moved_hashes(table).get(day, ())
        parts = [*(file.path.name for file in files), "", *away, self.as_of.isoformat() if is_cut else ""]
        aside = self._set_aside_hashes(table).get(day)
        return digest([*parts, "set aside", *aside] if aside else parts)

    @cached_property
    def checks(self) -> FileChecks:
        """What the declared checks say of the lake's files."""
        return FileChecks(self.lake)

    @cached_property
    def left_out(self) -> pl.DataFrame:
        """Rows that people left out, at whatever time: landed_table, key, row_hash, check, reason and their times."""
        return left_out_by_people(self.lake)

    def set_aside(self, table: type[Landed]) -> pl.DataFrame:
        """Row versions that count nowhere, one per check they fail: key, row_hash, check, reason and their times."""
        if table.name not in self._set_aside:
            by_decision = self.left_out.filter(pl.col("landed_table") == table.name).drop("landed_table")
            files = [file for of_day in self.files(table).values() for file in of_day]
            failed = self.checks.failed(table, files) if table in LANDED else by_decision.clear()
            self._set_aside[table.name] = pl.concat([failed, by_decision])
        return self._set_aside[table.name]

    def _set_aside_hashes(self, table: type[Landed]) -> dict[date, list[str]]:
        """The hashes of `set_aside` by day, sorted."""
        if table.name not in self._set_aside_hashes_of:
            by_day: dict[date, list[str]] = {}
            rows = self.set_aside(table).select(pl.col("happened_at").dt.date(), "row_hash").unique().sort("row_hash")
            for day, row_hash in rows.iter_rows():
                by_day.setdefault(day, []).append(row_hash)
            self._set_aside_hashes_of[table.name] = by_day
        return self._set_aside_hashes_of[table.name]

    def counted(self, table: type[Landed], rows: pl.LazyFrame) -> pl.LazyFrame:
        """`rows` without those that are set aside."""
        aside = self.set_aside(table)
        return rows.join(aside.lazy().select("row_hash").unique(), on="row_hash", how="anti") if len(aside) else rows

    def moved_away(self, table: type[Landed]) -> pl.DataFrame:
        """(day, row_hash) of visible versions that lose to a version of their key on another day."""
        if table.name not in self._moved_away:
            self._moved_away[table.name] = self._find_moved_away(table)
        return self._moved_away[table.name]

    def _moved_hashes(self, table: type[Landed]) -> dict[date, list[str]]:
        """The hashes of `moved_away` by day, sorted."""
        if table.name not in self._moved_hashes_of:
            by_day: dict[date, list[str]] = {}
            for day, row_hash in self.moved_away(table).sort("day", "row_hash").rows():
                by_day.setdefault(day, []).append(row_hash)
            self._moved_hashes_of[table.name] = by_day
        return self._moved_hashes_of[table.name]

    def _find_moved_away(self, table: type[Landed]) -> pl.DataFrame:
        keys = self.lake.moved_keys(table)
        chosen = [file for day in keys["day"].unique().sort() for file in self.files(table).get(day, [])]
        if not chosen:
            return pl.DataFrame(schema={"day": pl.Date, "row_hash": pl.String})
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash"]))
        rows = (
            self.counted(table, self.lake.scan_rows(table, chosen))
            .join(keys.lazy().select("key_hash").unique(), on="key_hash", how="semi")
            .select(*narrow, pl.col(table.event_time).dt.date().alias("day"))
            .filter(is_visible(table, self.as_of))
        )
        winners = winning_versions(table, rows, self.as_of)
        return rows.join(winners, on="row_hash", how="anti").select("day", "row_hash").collect()

    def winners(
        self, table: type[Landed], days: Iterable[date], names: Iterable[str], of: pl.LazyFrame | None = None
    ) -> pl.LazyFrame:
        """The winning versions on `days`, with the columns `names` (and those that decide who wins), and `day`.

        `of`: keys; no others are looked at.
        """
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash", *names]))
        chosen = [file for day in days for file in self.files(table).get(day, [])]
        rows = self.counted(table, self.lake.scan_rows(table, chosen)).select(narrow)
        if of is not None:
            rows = rows.join(of, on=list(table.key), how="semi")
        rows = rows.with_columns(pl.col(table.event_time).dt.date().alias("day"))
        won = winning_versions(table, rows, self.as_of)
        return won.join(self.moved_away(table).lazy(), on=["day", "row_hash"], how="anti")

    def rows(self, rows: Rows, days: Iterable[date], of: pl.LazyFrame | None = None) -> pl.LazyFrame:
        """The winning rows as far as they are read; of interactions `created_at` is `occurred_at` from here on."""
        renamed = {"created_at": "occurred_at"} if rows.of is Interactions else {}
        return self.winners(rows.of, days, rows.columns, of).rename(renamed)

    @cached_property
    def states(self) -> pl.DataFrame:
        """Memory states visible at `as_of`."""
        return memory_states(self.rows(MEMORY_CHANGES, self.files(Memories))).collect()

    @cached_property
    def decisions(self) -> pl.LazyFrame:
        """Decisions visible at `as_of` that took effect."""
        rows = self.lake.scan_rows(Decisions, [file for files in self.files(Decisions).values() for file in files])
        seen = rows.filter(is_visible(Decisions, self.as_of)).collect()
        return winning_versions(Decisions, effective_decisions(self.lake, seen).lazy(), self.as_of).collect().lazy()

    @cached_property
    def pool(self) -> pl.DataFrame:
        """Memory pool visible at `as_of`."""
        return memory_pool(self.states.lazy(), self.params.evidence).collect()

    @cached_property
    def long_contents(self) -> pl.Series:
        """The hashes of those texts in the pool that have several passages."""
        return self.pool.filter(is_long(pl.col("content")))["content_hash"].unique()

    def forget_pool(self) -> None:
        """Give back what the pool and what is kept of it take: nothing but a replay asks for them."""
        self.__dict__.pop("pool", None)
        self.replay_inputs.clear()
        self.replay_inputs_bytes = 0

    def pool_between(self, times: pl.Series) -> pl.LazyFrame:
        """The pool rows that hold at some of these times, or between them; lazy, for they are most of the pool."""
        if times.is_empty():  # all that was there has moved to other days
            return self.pool.lazy().clear()
        still = pl.col("valid_until").is_null() | (pl.col("valid_until") > times.min())
        return self.pool.lazy().filter(pl.col("valid_from") <= times.max(), still)


def effective_decisions(lake: Lake, decisions: pl.DataFrame) -> pl.DataFrame:
    """Of landed decisions those whose status changes, if they make any, are in the memory log."""
    return effective(decisions, lake.row_hashes(Memories, decisions["decided_at"].dt.date().unique().sort()))


def day_start(day: date) -> datetime:
    """Midnight UTC at the start of a day."""
    return datetime.combine(day, time())


_Row = dict[str, Any]
_Key = tuple[Any, ...]
_KEEP_BYTES = 256 * 2**20
_READ_BYTES = 16 * 2**20


@dataclass(frozen=True)
class ReplayInputs:
    """A day as its evidence sees it: the winning interactions (without texts), the stretches of eligibility."""

    interactions: pl.DataFrame
    eligibility: Frame[MemoryEligibility]
    rows_hash: str
    fingerprint: str

    @property
    def bytes(self) -> int:
        """Memory it takes, about."""
        return int(self.interactions.estimated_size() + self.eligibility.estimated_size())


def replay_inputs(log: LogAsOf, day: date) -> ReplayInputs:
    """Read the keys of one day, join the memories as they stood, and fingerprint both.

    Planning needs them and building needs them again, so the first few hundred megabytes are kept by `log`.
    """
    found = _read_replay_inputs(log, day)
    if log.replay_inputs_bytes + found.bytes <= _KEEP_BYTES:
        log.replay_inputs[day] = found
        log.replay_inputs_bytes += found.bytes
    return found


def taken_replay_inputs(log: LogAsOf, day: date) -> ReplayInputs:
    """The same for building, which asks once: nothing is kept of it."""
    kept = log.replay_inputs.pop(day, None)
    if kept is None:
        return _read_replay_inputs(log, day)
    log.replay_inputs_bytes -= kept.bytes
    return kept


def _read_replay_inputs(log: LogAsOf, day: date) -> ReplayInputs:
    rows = log.rows(REPLAYED, [day]).collect()
    pool = log.pool_between(rows["occurred_at"])
    with stage_cost("eligibility", "memory_eligibility"):
        eligibility = memory_eligibility(rows.lazy(), pool).collect()
    rows_hash = rows_digest(rows["row_hash"])
    is_any_long = bool(len(log.long_contents)) and eligibility["content_hash"].is_in(log.long_contents.implode()).any()
    params_hash = log.params.partition_hash(is_any_long=is_any_long)
    name = fingerprint(rows_hash, eligibility, params_hash) if rows.height else ""
    return ReplayInputs(rows, eligibility, rows_hash, name)


class Plan:
    """What a publish as of `log.as_of` is computed from, and which days must be built for it first.

    `earlier` holds day_inputs of earlier runs: what they found for a signature holds for that signature.
    `full` builds every day anew.
    """

    @stage_cost("versions")
    def __init__(self, log: LogAsOf, earlier: pl.DataFrame, *, full: bool = False) -> None:
        self.log = log
        self.full = full
        self._evidence_hash = log.params.evidence_hash()
        self._known: dict[_Key, _Row] = {}
        self._before: dict[tuple[str, date], _Row] = {}
        for row in earlier.sort("run_id").iter_rows(named=True):
            self._known[_cache_key(row)] = row
            self._before[row["landed_table"], row["day"]] = row
        plain = (Memories, Outcomes, Decisions)
        self.inputs = [*(row for table in plain for row in self._plain_inputs(table)), *self._replay_inputs()]
        self.days = [
            DayPlan(row["day"], row["fingerprint"], self._reason(row, full=full))
            for row in self.inputs
            if row["fingerprint"]
        ]

    @property
    def to_build(self) -> list[DayPlan]:
        """The days that must be built."""
        return [day for day in self.days if day.reason]

    @property
    def partitions(self) -> dict[date, str]:
        """The evidence partition of each day."""
        return {day.day: day.fingerprint for day in self.days}

    @property
    def input_hash(self) -> str:
        """Digest of everything that is published from: rows, memories as they stood, params."""
        parts = [self.log.params.params_hash()]
        for row in self.inputs:
            if row["rows_hash"] != rows_digest(pl.Series(dtype=pl.String)):
                parts += [row["landed_table"], row["day"].isoformat(), row["rows_hash"], row["fingerprint"]]
        for table in LANDED:
            aside = self.log.set_aside(table).select(pl.format("{} {}", "row_hash", "check"))
            parts += aside.to_series().sort().to_list()
        return digest(parts)

    def day_inputs(self, run_id: str) -> pl.DataFrame:
        """The plan's findings as rows of day_inputs, once the `days` to build are built."""
        built = {day.day for day in self.days}
        left = {"evidence_columns": None}  # who builds only some days knows nothing of the others
        rows = [{"run_id": run_id, **row, **({} if row["day"] in built else left)} for row in self.inputs]
        return pl.DataFrame(rows, schema=polars_schema(DayInputs))

    def _row(self, table: type[Landed], day: date, memories_signature: str = "") -> _Row:
        return {
            "landed_table": table.name,
            "day": day,
            "rows_signature": self.log.signature(table, day),
            "memories_signature": memories_signature,
            "evidence_hash": self._evidence_hash if table is Interactions else "",
            "evidence_columns": evidence_columns() if table is Interactions else None,
        }

    def _plain_inputs(self, table: type[Landed]) -> Iterator[_Row]:
        rows = [self._row(table, day) for day in sorted(self.log.files(table))]
        known = {row["day"]: self._known.get(_cache_key(row)) for row in rows}
        found = self._rows_hashes(table, [day for day, before in known.items() if before is None])
        for row in rows:
            before = known[row["day"]]
            yield {**row, "rows_hash": before["rows_hash"] if before else found[row["day"]], "fingerprint": ""}

    def _rows_hashes(self, table: type[Landed], days: list[date]) -> dict[date, str]:
        """Digest of the winning rows of each day, some days at a time."""
        found = dict.fromkeys(days, rows_digest(pl.Series(dtype=pl.String)))
        files = self.log.files(table)
        for some in together(days, lambda day: sum(file.path.stat().st_size for file in files[day])):
            won = self.log.winners(table, some, ()).select("day", "row_hash").collect()
            for (day,), of_day in won.partition_by("day", as_dict=True).items():
                found[day] = rows_digest(of_day["row_hash"])
        return found

    def _replay_inputs(self) -> Iterator[_Row]:
        memory_days = sorted(self.log.files(Memories))
        signature, seen = digest([]), 0
        for day in sorted(self.log.files(Interactions)):
            while seen < len(memory_days) and memory_days[seen] <= day:
                signature = digest([signature, self.log.signature(Memories, memory_days[seen])])
                seen += 1
            row = self._row(Interactions, day, signature)
            known = self._known.get(_cache_key(row))
            if known:
                yield {**row, "rows_hash": known["rows_hash"], "fingerprint": known["fingerprint"]}
            else:
                found = replay_inputs(self.log, day)
                yield {**row, "rows_hash": found.rows_hash, "fingerprint": found.fingerprint}

    def _reason(self, row: _Row, *, full: bool) -> str:
        if full:
            return "full rebuild"
        paths = {table: self.log.lake.evidence_path(table, row["day"], row["fingerprint"]) for table in EVIDENCE}
        before = self._before.get((Interactions.name, row["day"]))
        if all(path.exists() for path in paths.values()):
            known = self._known.get(_cache_key(row)) or before or {}
            if (known.get("fingerprint"), known.get("evidence_columns")) == (row["fingerprint"], evidence_columns()):
                return ""
            # opened once for every change of the declarations
            if all(lacks_only_new_columns(table, written_columns(path)) for table, path in paths.items()):
                return ""
            return "its columns changed"
        if before is None or not before["fingerprint"]:
            return "new day"
        if before["fingerprint"] == row["fingerprint"]:
            return "its partition is missing"
        if before["evidence_hash"] != row["evidence_hash"]:
            return "params changed"
        return "rows changed" if before["rows_hash"] != row["rows_hash"] else "memories changed"


@cache
def evidence_columns() -> str:
    """Digest of the declared columns of the evidence tables."""
    told = [f"{table.name} {name} {dtype}" for table in EVIDENCE for name, dtype in polars_schema(table).items()]
    return digest(told)


_Item = TypeVar("_Item")


def together(
    items: Iterable[_Item], bytes_of: Callable[[_Item], int], most: int = _READ_BYTES
) -> Iterator[list[_Item]]:
    """The items, in order, in groups of at most so many bytes, or of one."""
    group: list[_Item] = []
    held = 0
    for item in items:
        size = bytes_of(item)
        if group and held + size > most:
            yield group
            group, held = [], 0
        group.append(item)
        held += size
    if group:
        yield group


def _cache_key(row: _Row) -> _Key:
    return tuple(row[name] for name in ("landed_table", "day", "rows_signature", "memories_signature", "evidence_hash"))
