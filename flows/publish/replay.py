"""Building day partitions: the graph of the tables that the lake lacks, the texts of a few days at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.memory import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.let_go.kept import scan_kept
from slowwave.flows.lake.pieces import Between, gathered_pieces, pieces
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import DayPlan
from slowwave.flows.publish.replay_inputs import ReplayInputs
from slowwave.flows.publish.runner import Pieces, Runner
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.node import Given, GraphError, Node, Rows, named
from slowwave.transforms.core.schema import Table, polars_schema
from slowwave.transforms.evidence.buckets import ORDER, of_bucket
from slowwave.transforms.evidence.eligibility import eligible_pool
from slowwave.transforms.evidence.kept.kept import echoed_before, found_before, used_before
from slowwave.transforms.evidence.kept.tables import KeptReferences, KeptStatements
from slowwave.transforms.evidence.nodes import MEMORY_POOL, REPLAYED, TEXTS, USED_MEMORIES
from slowwave.transforms.evidence.reach import REACH, within_reach
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryEligibility, MemoryReferences
from slowwave.transforms.evidence.used.memories import USED, used_memories_by_day
from slowwave.transforms.graph import BUCKETED, EVIDENCE, NODES, node_of
from slowwave.transforms.landing.erased.let_go import is_let_go
from slowwave.transforms.landing.tables import Interactions

# Days are matched together up to this much text (uncompressed), and texts are held in slices of this size.
SLICE_BYTES = 192 * 2**20
# The stretches of a memory and its counts on a day take about as much.
_BYTES_PER_MEMORY = 300

# Memories of days that are compared together.
_POOL_ROWS = 500_000
# What `echo/1` asks of the pool.
_ECHOED = ("memory_id", *REACH, "pattern", "valid_from", "valid_until")


def days_bytes(log: LogAsOf, plans: Sequence[DayPlan]) -> dict[date, int]:
    """What the interactions of each day take, decoded, as their files say."""
    sizes = dict.fromkeys((plan.day for plan in plans), 0)
    for piece in pieces([file for plan in plans for file in log.files(Interactions)[plan.day]]):
        sizes[piece.file.day] += piece.bytes
    return sizes


def batches_of_days(
    log: LogAsOf, plans: Sequence[DayPlan], bytes_of: Mapping[date, int], most: int, parts: int = 1
) -> list[list[DayPlan]]:
    """Days to build, in order, grouped so that a group holds at most about `most` bytes of text and eligible memories.

    The days of a group lack the same tables. There are so many `parts` at least, if there are as many days: as few as
    that allows, and as alike as days can be dealt, so that no worker waits for another's.
    """
    sizes = {plan.day: bytes_of[plan.day] + log.pool.height * _BYTES_PER_MEMORY for plan in plans}
    wanted = max(len(_filled(plans, sizes, most)), min(parts, len(plans)))
    low, high = 0, most
    while low < high:  # the least room with which so many are enough
        room = (low + high) // 2
        low, high = (low, room) if len(_filled(plans, sizes, room)) <= wanted else (room + 1, high)
    return _filled(plans, sizes, high)


def _filled(plans: Sequence[DayPlan], sizes: Mapping[date, int], room: int) -> list[list[DayPlan]]:
    """Days in order, in groups of which each takes what it has room for, and one day at least."""
    groups: list[list[DayPlan]] = []
    left = 0
    for plan in plans:
        if not groups or sizes[plan.day] > left or groups[-1][-1].missing != plan.missing:
            groups.append([])
            left = room
        groups[-1].append(plan)
        left -= sizes[plan.day]
    return groups


def build_days(
    log: LogAsOf, plans: Sequence[DayPlan], verify: bool = False, slice_bytes: int = SLICE_BYTES, buckets: int = 1
) -> int:
    """Build and write what is missing of the days of `plans`, the same tables of each; returns the number of days.

    A partition that is there already is left, or with `verify` compared with what was computed. Of a day in several
    `buckets`, what `search_bucket` found is put together.

    Raises OSError when the lake cannot be written, UserError when a verified partition differs.
    """
    shell = _Building(
        log, plans, _inputs(log, plans, keep=False), verify=verify, slice_bytes=slice_bytes, buckets=buckets
    )
    Runner(NODES, shell.missing, shell, log.params, log.as_of).run(lambda _done, _total: None)
    return len(plans)


def search_bucket(log: LogAsOf, plan: DayPlan, bucket: int, buckets: int, slice_bytes: int, *, verify: bool) -> None:
    """Find what is in the texts of a bucket of a day, and keep it for `build_days`, in files that nobody else names.

    What is there already is left. Raises as `build_days`.
    """
    missing = {table: bucket_name(plan.names[table.name], bucket, buckets) for table in _bucketed(plan)}
    if not verify:
        missing = {table: name for table, name in missing.items() if not log.lake.has_evidence(table, plan.day, name)}
    if not missing:
        return
    inputs = _inputs(log, [plan], keep=True)
    wanted = of_bucket(inputs[plan.day].interactions, bucket, buckets)
    ends = (wanted.select(ORDER).row(at) for at in (0, -1))
    within = Between(ORDER, *ends) if wanted.height else None
    for table, rows in found_in_texts(log, inputs, wanted, missing, slice_bytes, within).items():
        log.lake.write_evidence(table, plan.day, missing[table], rows.sort(table.key), verify=verify)


def bucket_name(name: str, bucket: int, buckets: int) -> str:
    """What a bucket of a partition is called until they are put together: the next prune takes it away.

    Buckets that a release divided otherwise had other names.
    """
    return f"{name}.{bucket + 1}-of-{buckets}-by-project"


def _bucketed(plan: DayPlan) -> list[type[Table]]:
    """Those of the missing tables that are found bucket by bucket."""
    return [table for table in BUCKETED if table.name in plan.missing]


def _inputs(log: LogAsOf, plans: Sequence[DayPlan], *, keep: bool) -> dict[date, ReplayInputs]:
    """What the days are built from. Raises UserError when it is no longer what it was planned to be."""
    with stage_cost("versions"):
        inputs = {plan.day: log.replay_inputs(plan.day, keep=keep) for plan in plans}
    for plan in plans:
        if plan.fingerprint not in {inputs[plan.day].fingerprint, inputs[plan.day].former_name}:
            message = f"the files of {plan.day} changed while they were read: run this again"
            raise UserError(message)
    return inputs


class _Building:
    """The shell of the days that are built together (see `runner.Shell`); what is written is read from the lake."""

    def __init__(
        self,
        log: LogAsOf,
        plans: Sequence[DayPlan],
        inputs: dict[date, ReplayInputs],
        *,
        verify: bool,
        slice_bytes: int,
        buckets: int,
    ) -> None:
        self.missing = [table for table in EVIDENCE if table.name in plans[0].missing]
        self._log = log
        self._names = {plan.day: plan.names for plan in plans}
        self._inputs = inputs
        self._verify = verify
        self._slice_bytes = slice_bytes
        self._buckets = buckets
        self._unwritten = set(self.missing)
        self._found: dict[type[Table], pl.DataFrame] = {}
        self._readers: dict[Given, Callable[[Runner], Any]] = {
            MEMORY_POOL: lambda _: log.pool,
            MemoryEligibility: lambda _: (of_day.eligibility for of_day in inputs.values()),
            **{table: lambda _, table=table: self._in_texts(table) for table in BUCKETED},
        }

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What is found in texts, which are read once; what planning has found."""
        return self._readers.get(given)

    def rows(self, rows: Rows, days: Iterable[date] | None) -> pl.LazyFrame:
        """The winning interactions of these days."""
        if rows is not REPLAYED:
            message = f"of {named(rows)} no days are read here"
            raise GraphError(message)
        return pl.concat(self._inputs[day].interactions.lazy() for day in (self._inputs if days is None else days))

    def is_stored(self, table: type[Table]) -> bool:
        """Everything that the lake keeps, once what is missing of it is written."""
        return table in EVIDENCE and table not in self._unwritten

    def stored(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions of these days."""
        names = {day: self._names[day][table.name] for day in (self._names if days is None else days)}
        return self._log.lake.scan_evidence(table, names)

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:  # noqa: ARG002 - of all nodes alike
        """Each day alone: it has a partition of its own."""
        return ([day] for day in self._inputs)

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Write the partition of each day."""
        rows = 0
        for day, piece in zip(self._inputs, pieces, strict=True):
            name = self._names[day][table.name]
            self._log.lake.write_evidence(table, day, name, piece.sort(table.key), verify=self._verify)
            rows += piece.height
        self._unwritten.discard(table)
        return rows

    def rest(self) -> None:
        """Give back what a node left behind."""
        give_back()

    def _in_texts(self, table: type[Table]) -> Pieces:
        if self._buckets > 1:
            return self._put_together(table)
        if not self._found:
            wanted = pl.concat([day.interactions for day in self._inputs.values()])
            self._found = found_in_texts(self._log, self._inputs, wanted, self._unwritten, self._slice_bytes)
        rows = self._found.pop(table)
        return (rows.filter(pl.col("occurred_at").dt.date() == day) for day in self._inputs)

    def _put_together(self, table: type[Table]) -> Pieces:
        for day, names in self._names.items():
            parts = [bucket_name(names[table.name], bucket, self._buckets) for bucket in range(self._buckets)]
            yield pl.concat([self._log.lake.scan_evidence(table, {day: part}) for part in parts]).drop("day").collect()


def found_in_texts(
    log: LogAsOf,
    inputs: Mapping[date, ReplayInputs],
    wanted: pl.DataFrame,
    tables: Iterable[type[Table]],
    slice_bytes: int,
    within: Between | None = None,
) -> dict[type[Table], pl.DataFrame]:
    """Of memory_references and extracted_statements those in `tables`.

    `inputs`: of whole days, for each is judged by all memories eligible on it; `wanted`: their interactions, or some,
    which lie `within`.
    """
    files = [file for day in inputs for file in log.files(Interactions)[day]]
    found = {table: [] for table in (MemoryReferences, ExtractedStatements) if table in tables}
    first = node_of(next(iter(found)))
    slices = _slices(files, wanted, slice_bytes, within)
    while True:
        with stage_cost(first.stage, first.name):
            rows = next(slices, None)
        if rows is None:
            return {table: pl.concat(frames) for table, frames in found.items()}
        if MemoryReferences in found:
            found[MemoryReferences].append(_references(log, rows, inputs, wanted["occurred_at"]))
        if ExtractedStatements in found:
            params = node_of(ExtractedStatements).sliced(log.params)
            with stage_cost("statements and pairs", "extracted_statements"):
                found[ExtractedStatements].append(extracted_statements(rows, params))
            found[ExtractedStatements].append(_statements_before(log, rows))


def _slices(
    files: Sequence[LakeFile], wanted: pl.DataFrame, slice_bytes: int, within: Between | None
) -> Iterator[pl.DataFrame]:
    """The wanted rows with their texts, about so many bytes at a time, also where few are wanted here and there."""
    held: list[pl.DataFrame] = []
    seen = set[str]()
    for together in gathered_pieces(files, slice_bytes, within):
        scans = [
            scan_declared(Interactions, [piece.file.path])
            .slice(piece.offset, piece.rows)
            .select("row_hash", *TEXTS.columns)
            for piece in together
        ]
        held.append(_wanted_rows(pl.concat(scans).collect(), wanted, seen))
        if sum(rows.estimated_size() for rows in held) >= slice_bytes // 2:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _references(
    log: LogAsOf, rows: pl.DataFrame, inputs: Mapping[date, ReplayInputs], times: pl.Series
) -> pl.DataFrame:
    """memory_references of interactions with their texts."""
    is_gone = rows.select(is_let_go()).to_series()
    with stage_cost("used", "used_memories_by_day"):
        give_back()
        used = _used(log, rows.filter(~is_gone), inputs)
    with stage_cost("echo", "memory_references"):
        give_back()
        pool = log.pool_between(times).select(_ECHOED).collect()
        params, echoed = node_of(MemoryReferences).sliced(log.params), None
        if is_gone.any():
            gone = rows.filter(is_gone)
            kept = scan_kept(log.lake, KeptReferences, _days_of(gone))
            before = found_before(kept, gone, pool.lazy())
            used, echoed = pl.concat([used, used_before(before)]), echoed_before(before)
        return memory_references(rows, pool, used, params, echoed)


def _statements_before(log: LogAsOf, rows: pl.DataFrame) -> pl.DataFrame:
    """What was extracted from texts that have gone since."""
    gone = rows.filter(is_let_go())
    if gone.is_empty():
        return pl.DataFrame(schema=polars_schema(ExtractedStatements))
    kept = scan_kept(log.lake, KeptStatements, _days_of(gone)).unique(KeptStatements.key)
    return kept.join(gone.lazy().select("row_hash"), on="row_hash", how="semi").drop("row_hash").collect()


def _days_of(rows: pl.DataFrame) -> list[date]:
    return rows["occurred_at"].dt.date().unique().sort().to_list()


def _used(log: LogAsOf, rows: pl.DataFrame, inputs: Mapping[date, ReplayInputs]) -> pl.DataFrame:
    """The pairs that `used/2` finds: each day is judged by the memories eligible on it."""
    with stage_cost("used"):
        day = pl.col("occurred_at").dt.date().alias("day")
        asked = rows.filter("reinforce").with_columns(day)
        found = [pl.DataFrame(schema=USED)]
        together: list[date] = []
        days = asked["day"].unique().sort().to_list()
        for of_day in days:
            together.append(of_day)
            # several days together: what is made of their texts and memories is made once
            if of_day == days[-1] or sum(inputs[one].eligibility.height for one in together) >= _POOL_ROWS:
                pool = pl.concat([_pool_of_day(log, one, inputs[one]) for one in together])
                of_days = asked.filter(pl.col("day").is_in(together))
                used = used_memories_by_day(of_days, pool, word_vectors, node_of(USED_MEMORIES).sliced(log.params))
                found.append(within_reach(used, of_days, pool))
                together = []
        return pl.concat(found)


def _pool_of_day(log: LogAsOf, day: date, of_day: ReplayInputs) -> pl.LazyFrame:
    """The pool rows of the memories that were eligible on a day, with `day`."""
    pool = log.pool_between(of_day.interactions["occurred_at"])
    return eligible_pool(pool, of_day.eligibility.lazy()).with_columns(pl.lit(day).alias("day"))


def _wanted_rows(texts: pl.DataFrame, wanted: pl.DataFrame, seen: set[str]) -> pl.DataFrame:
    """`texts` that are wanted, with what is known of them; a row in two files (a killed compaction) comes once.

    Joins only the narrow columns: the texts themselves are copied no more than needed.
    """
    about = texts.select("row_hash").join(wanted, on="row_hash", how="left", maintain_order="left")
    fresh = about["interaction_id"].is_not_null() & about["row_hash"].is_first_distinct()
    if seen:
        fresh &= ~about["row_hash"].is_in(pl.Series(list(seen), dtype=pl.String).implode())
    seen.update(about.filter(fresh)["row_hash"])
    rows = texts.hstack(about.drop("row_hash"))
    return rows if fresh.all() else rows.filter(fresh)
