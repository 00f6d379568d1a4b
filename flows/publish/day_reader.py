"""Reads what nodes take by day, as they declare it: landed rows that count, and partitions of the lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import LakeFile, scan_declared, written_columns
from slowwave.flows.lake.pieces import Between
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.replay_inputs import ReplayInputs, Times, parts_of_day, together
from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.hashing import RowsDigest, rows_digest
from slowwave.transforms.core.node import LandedInput, Node
from slowwave.transforms.core.schema import Landed, Table
from slowwave.transforms.evidence.eligibility import memory_eligibility, memory_eligibility_of_parts
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.graph import EVIDENCE, node_of

# Days whose landed rows are read together, and whose evidence: up to this much of files.
_LANDED_BYTES = 64 * 2**20
_EVIDENCE_BYTES = 4 * 2**20
# Those of which few rows are read, by their keys: what is asked for is looked up once for each time.
_KEYS_BYTES = 256 * 2**20


class DayReader:
    """Reads landed rows as a log has them, and of tables in the lake the `partitions` of each day."""

    def __init__(self, log: LogAsOf, partitions: Callable[[type[Table]], Mapping[date, str]]) -> None:
        self._log = log
        self._partitions = partitions
        self._lacking: dict[type[Table], set[date]] = {}

    def read(self, name: str) -> Any:  # noqa: ANN401 - a frame, or what is installed
        """What is there already: the log has it, or it is installed with Slowwave."""
        if name != "word_vectors":
            return getattr(self._log, name)
        from slowwave.flows.publish.word_vectors import word_vectors  # slow to load, and not read where nothing is new

        return word_vectors

    def rows(self, rows: LandedInput, days: Iterable[date] | None, keys: pl.DataFrame | None = None) -> pl.LazyFrame:
        """Winning rows of a landed table, of all days or of these, and no more of them than is asked for.

        `keys`: only those. Some days are read at a time: a list in all rows takes several times as much to find as to
        hold.
        """
        days = list(self._log.files(rows.of) if days is None else days)
        if keys is None:
            return self._narrow(rows, days, None)
        files, of = self._log.files(rows.of), keys.select(rows.of.key).drop_nulls().unique()
        groups = together(days if of.height else [], lambda day: _bytes(files.get(day, ())), _KEYS_BYTES)
        return pl.concat(self._narrow(rows, some, of.lazy()).collect() for some in [[], *groups]).lazy()

    def _narrow(self, rows: LandedInput, days: Iterable[date], of: pl.LazyFrame | None) -> pl.LazyFrame:
        """Hashes take longer to read than most else."""
        names = rows.renames
        return self._log.rows(rows, days, of).select([names.get(name, name) for name in rows.columns])

    def scan(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions of all days or of these.

        Columns that a partition lacks because an earlier release built it are looked up in the log.
        """
        names, lake = self._partitions(table), self._log.lake
        wanted = names if days is None else {day: names[day] for day in days if day in names}
        columns = node_of(table).looked_up
        lacking = {day: name for day, name in wanted.items() if columns and day in self._days_lacking(table, columns)}
        if not lacking:
            return lake.scan_evidence(table, wanted)
        whole = lake.scan_evidence(table, {day: name for day, name in wanted.items() if day not in lacking})
        (landed,) = {rows.of for rows in node_of(table).landed}
        found = self._log.winners(landed, lacking, columns).select(*landed.key, *columns)
        looked_up = lake.scan_evidence(table, lacking).drop(columns).join(found, on=landed.key, how="left")
        return framed(table, pl.concat([whole, looked_up.select(whole.collect_schema().names())]))

    def _days_lacking(self, table: type[Table], columns: Collection[str]) -> set[date]:
        """The days whose partition lacks one of these columns."""
        if table not in self._lacking:
            of_day = self._partitions(table).items()
            written = {day: written_columns(self._log.lake.evidence_path(table, day, name)) for day, name in of_day}
            self._lacking[table] = {day for day, there in written.items() if not there.keys() >= set(columns)}
        return self._lacking[table]

    def groups(self, node: Node, changed: Sequence[date] | None) -> Iterator[Sequence[date]]:
        """The days that a node takes something of, or those that changed, so many as are read together."""
        if node.landed:
            files = [self._log.files(rows.of) for rows in node.landed]
            days = sorted({day for of in files for day in of}) if changed is None else changed
            groups = together(days, lambda day: sum(_bytes(of.get(day, ())) for of in files), _LANDED_BYTES)
            yield from (some for some in groups if self._is_any_listed(node.landed, some))
            return
        sizes = Counter[date]()
        for table in (table for table in EVIDENCE if table in node.taken):
            names = self._partitions(table)
            for day in names if changed is None else names.keys() & changed:
                path = self._log.lake.evidence_path(table, day, names[day])
                sizes[day] += storage_of(path).size(path)
        yield from together(sorted(sizes), sizes.__getitem__, _EVIDENCE_BYTES)

    def _is_any_listed(self, inputs: Iterable[LandedInput], days: Sequence[date]) -> bool:
        """Whether a row of these days lists something, of those that must."""
        listings = [rows for rows in inputs if rows.listing]
        return all(self._lists(rows.of, rows.listing, days) for rows in listings)

    def _lists(self, table: type[Landed], column: str, days: Iterable[date]) -> bool:
        files = self._log.files(table)
        paths = [file.path for day in days for file in files.get(day, ())]
        return scan_declared(table, paths).select((pl.col(column).list.len() > 0).any()).collect().item()


def _bytes(files: Iterable[LakeFile]) -> int:
    return sum(file.size for file in files)


def replay_inputs(log: LogAsOf, day: date, *, keep: bool) -> ReplayInputs:
    """Read the keys of one day, and join the memories as they stood.

    Planning needs them (`keep`) and building needs them again, once.
    """
    found = log.kept_inputs.take(day) or _read_replay_inputs(log, day)
    if keep:
        log.kept_inputs.keep(day, found)
    return found


def _read_replay_inputs(log: LogAsOf, day: date) -> ReplayInputs:
    """Of a day in several parts the interactions themselves are not held: they are read once."""
    parts = parts_of_day(REPLAYED.of, log.files(REPLAYED.of)[day])
    held: list[pl.DataFrame] = []
    digest_of_parts, ends = RowsDigest(), list[pl.Series]()

    def read_part(part: Between) -> pl.LazyFrame:
        with stage_cost("versions"):
            if len(parts) > 1:
                rows = log.rows_within(REPLAYED, day, part).collect()
                digest_of_parts.add(rows["row_hash"])
            else:
                rows = log.rows(REPLAYED, [day]).collect()
                held.append(rows)
        ends.append(pl.concat([rows["occurred_at"].bottom_k(1), rows["occurred_at"].top_k(1)]))
        return rows.lazy()

    with stage_cost("eligibility", "memory_eligibility"):
        if len(parts) > 1:
            whole_day = (datetime.combine(day, time.min), datetime.combine(day, time.max))
            eligibility = memory_eligibility_of_parts(map(read_part, parts), log.pool_between(whole_day))
        else:
            rows = read_part(parts[0])
            eligibility = memory_eligibility(rows, log.pool_between(first_and_last(ends[0]))).collect()
    return ReplayInputs(
        rows_hash=rows_digest(held[0]["row_hash"]) if held else digest_of_parts.digest(),
        times=first_and_last(pl.concat(ends)),
        interactions=held[0] if held else None,
        eligibility=eligibility,
        params=log.params,
    )


def interactions_of(log: LogAsOf, day: date, inputs: ReplayInputs) -> pl.DataFrame:
    """The interactions of a day that count, without their texts: held, or read again."""
    if inputs.interactions is not None:
        return inputs.interactions
    parts = parts_of_day(REPLAYED.of, log.files(REPLAYED.of)[day])
    return pl.concat([log.rows_within(REPLAYED, day, part).collect() for part in parts])


def first_and_last(times: pl.Series) -> Times:
    """When the first and the last were; None of none."""
    return None if times.is_empty() else (times.min(), times.max())  # type: ignore[return-value] - of times
