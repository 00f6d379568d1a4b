"""Which partitions have to be built, and why: found from file names where possible, from row hashes where not.

A day whose input files are named as in an earlier run, and are cut by `as_of` the same way, has the partitions it had
then; nothing of it is read. Otherwise its keys, times and hashes are read (not its texts) and its partitions named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from itertools import chain
from typing import Any

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.lake import written_columns
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.run_ledger import name_of, unlike
from slowwave.flows.publish.day_reader import replay_inputs
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.replay_inputs import ReplayInputs, together
from slowwave.transforms.core.hashing import digest, rows_digest
from slowwave.transforms.core.schema import Landed, Table, choose_columns, polars_schema
from slowwave.transforms.evidence.nodes import MEMORY_CHANGES, REPLAYED
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, EXPIRING, READ_LANDED
from slowwave.transforms.landing.schema_changes import lacks_only_new_columns
from slowwave.transforms.landing.tables import LANDED


@dataclass(frozen=True)
class DayPlan:
    """One day: its evidence partitions, and which of them must be built, why ('' when all are there). Plain data.

    `names`: by table the name of its partition. `missing`: the tables whose partition must be built.
    """

    day: date
    fingerprint: str
    names: Mapping[str, str]
    missing: tuple[str, ...]
    reason: str


_Row = dict[str, Any]
_Key = tuple[Any, ...]


class BuildPlan:
    """What a publish as of `log.as_of` is computed from, and which days must be built for it first.

    `earlier` holds day_inputs of earlier runs: what they found for a signature holds for that signature.
    `full` builds every day anew.
    """

    @stage_cost("versions")
    def __init__(self, log: LogAsOf, earlier: pl.DataFrame, *, full: bool = False) -> None:
        self.log = log
        self.full = full
        self._evidence_hash = log.params.evidence_hash()
        self._expired = read_horizon(log.lake.root, "evidence")
        self._known: dict[_Key, _Row] = {}
        self._before: dict[tuple[str, date], _Row] = {}
        for row in earlier.sort("run_id").iter_rows(named=True):
            self._known[_cache_key(row)] = row
            self._before[row["landed_table"], row["day"]] = row
        plain = (self._plain_inputs(table) for table in READ_LANDED if table is not REPLAYED.of)
        self.inputs = [*chain(*plain), *self._replay_inputs()]
        self.days = [self._day_plan(row, full=full) for row in self.inputs if row["fingerprint"]]

    @property
    def to_build(self) -> list[DayPlan]:
        """The days that must be built."""
        return [day for day in self.days if day.reason]

    def partitions(self, table: type[Table]) -> dict[date, str]:
        """The partition of each day of an evidence table."""
        return {day.day: day.names[table.name] for day in self.days}

    @cached_property
    def input_hash(self) -> str:
        """Digest of everything that is published from: rows, memories as they stood, params."""
        parts, nothing = [self.log.params.params_hash()], rows_digest(pl.Series(dtype=pl.String))
        for row in self.inputs:
            if row["rows_hash"] != nothing:
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
            "evidence_hash": self._evidence_hash if table is REPLAYED.of else "",
            "evidence_columns": evidence_columns() if table is REPLAYED.of else None,
            "fingerprint": "",
            "partitions": None,
        }

    def _plain_inputs(self, table: type[Landed]) -> Iterator[_Row]:
        rows = [self._row(table, day) for day in sorted(self.log.files(table))]
        known = {row["day"]: self._known.get(_cache_key(row)) for row in rows}
        found = self._rows_hashes(table, [day for day, before in known.items() if before is None])
        for row in rows:
            before = known[row["day"]]
            yield {**row, "rows_hash": before["rows_hash"] if before else found[row["day"]]}

    def _rows_hashes(self, table: type[Landed], days: list[date]) -> dict[date, str]:
        """Digest of the winning rows of each day, some days at a time."""
        found = dict.fromkeys(days, rows_digest(pl.Series(dtype=pl.String)))
        files = self.log.files(table)
        for some in together(days, lambda day: sum(file.size for file in files[day])):
            won = self.log.winners(table, some, ()).select("day", "row_hash").collect()
            for (day,), of_day in won.partition_by("day", as_dict=True).items():
                found[day] = rows_digest(of_day["row_hash"])
        return found

    def _replay_inputs(self) -> Iterator[_Row]:
        memory_days = sorted(self.log.files(MEMORY_CHANGES.of))
        signature, seen = digest([]), 0
        for day in sorted(self.log.files(REPLAYED.of)):
            while seen < len(memory_days) and memory_days[seen] <= day:
                signature = digest([signature, self.log.signature(MEMORY_CHANGES.of, memory_days[seen])])
                seen += 1
            row = self._row(REPLAYED.of, day, signature)
            known = self._known.get(_cache_key(row))
            if known:
                yield row | {name: known[name] for name in ("rows_hash", "fingerprint", "partitions")}
            else:
                found = replay_inputs(self.log, day, keep=True)
                partitions = unlike(found.fingerprint, partition_names(found)) if found.fingerprint else None
                yield {**row, "rows_hash": found.rows_hash, "fingerprint": found.fingerprint, "partitions": partitions}

    def _day_plan(self, row: _Row, *, full: bool) -> DayPlan:
        names = {table.name: name_of(table, row) for table in EVIDENCE}
        tables = EVIDENCE if full else tuple(self._missing(row, names))
        if self._expired and row["day"] < self._expired.before and set(EXPIRING).issuperset(tables):
            tables = ()
        missing = tuple(table.name for table in tables)
        reason = "" if not missing else "full rebuild" if full else self._reason(row, names, tables)
        return DayPlan(row["day"], row["fingerprint"], names, missing, reason)

    def _missing(self, row: _Row, names: Mapping[str, str]) -> Iterator[type[Table]]:
        """The tables whose partition is not there, or does not fit the declaration."""
        lake, day = self.log.lake, row["day"]
        known = self._known.get(_cache_key(row)) or self._before.get((REPLAYED.of.name, row["day"])) or {}
        is_known = all(known.get(name) == row[name] for name in ("fingerprint", "partitions", "evidence_columns"))
        for table in EVIDENCE:
            name = names[table.name]
            is_there = lake.has_evidence(table, day, name)
            # opened once for every change of the declarations
            if not is_there or not (
                is_known or lacks_only_new_columns(table, written_columns(lake.evidence_path(table, day, name)))
            ):
                yield table

    def _reason(self, row: _Row, names: Mapping[str, str], missing: Iterable[type[Table]]) -> str:
        if all(self.log.lake.has_evidence(table, row["day"], names[table.name]) for table in missing):
            return "its columns changed"
        before = self._before.get((REPLAYED.of.name, row["day"]))
        if before is None or not before["fingerprint"]:
            return "new day"
        if all(name_of(table, before) == names[table.name] for table in missing):
            return "its partition is missing"
        if before["evidence_hash"] != row["evidence_hash"]:
            return "params changed"
        return "rows changed" if before["rows_hash"] != row["rows_hash"] else "memories changed"


def partition_names(found: ReplayInputs) -> dict[str, str]:
    """Return by table what its partition of a day is called."""
    return {table.name: found.name(table) for table in EVIDENCE}


@cache
def evidence_columns() -> str:
    """Digest of the declared columns of the evidence tables."""
    told = [f"{table.name} {name} {dtype}" for table in EVIDENCE for name, dtype in polars_schema(table).items()]
    return digest(told)


_CACHE_KEY = choose_columns(DayInputs, "landed_table", "day", "rows_signature", "memories_signature", "evidence_hash")


def _cache_key(row: _Row) -> _Key:
    return tuple(row[name] for name in _CACHE_KEY)
