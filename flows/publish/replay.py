"""Building day partitions: the graph of the tables that the lake lacks, the texts of a few days at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.memory import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import scan_declared
from slowwave.flows.lake.lifetime.expired_texts import scan_retained
from slowwave.flows.lake.pieces import Between, gathered_pieces, pieces
from slowwave.flows.publish.large_days import first_and_last, interactions_of, merge_files
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import DayPlan
from slowwave.flows.publish.replay_inputs import ReplayInputs, Times
from slowwave.flows.publish.runner import Pieces, Runner
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.node import Given, GraphError, LandedInput, Node, source_name
from slowwave.transforms.core.schema import Table, polars_schema
from slowwave.transforms.evidence.eligibility import ELIGIBLE, eligible_pool
from slowwave.transforms.evidence.memory_days import memory_days_of_parts, replayed_interactions
from slowwave.transforms.evidence.nodes import MEMORY_POOL, REPLAYED, TEXTS, USED_MEMORIES
from slowwave.transforms.evidence.reach import REACH, within_reach
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.retained_evidence import (
    KeptReferences,
    KeptStatements,
    find_retained,
    select_quoted,
    select_used,
)
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import (
    MemoryDays,
    MemoryEligibility,
    MemoryReferences,
    ReplayedInteractions,
)
from slowwave.transforms.evidence.used.memories import USED, used_memories_by_day
from slowwave.transforms.graph import BUCKETED, EVIDENCE, NODES, node_of
from slowwave.transforms.landing.lifetime.expired_texts import is_text_expired
from slowwave.transforms.landing.tables import Interactions

# Days are matched together up to this much text (uncompressed), and texts are held in slices of this size.
SLICE_BYTES = 192 * 2**20
# The stretches of a memory and its counts on a day take about as much.
_BYTES_PER_MEMORY = 300

# What buckets hold of a day until they are put together.
_PARTED: tuple[type[Table], ...] = (ReplayedInteractions, *BUCKETED)
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
    wanted = max(len(_group_days(plans, sizes, most)), min(parts, len(plans)))
    low, high = 0, most
    while low < high:  # the least room with which so many are enough
        room = (low + high) // 2
        low, high = (low, room) if len(_group_days(plans, sizes, room)) <= wanted else (room + 1, high)
    return _group_days(plans, sizes, high)


def _group_days(plans: Sequence[DayPlan], sizes: Mapping[date, int], room: int) -> list[list[DayPlan]]:
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
    log: LogAsOf,
    plans: Sequence[DayPlan],
    verify: bool = False,
    slice_bytes: int = SLICE_BYTES,
    buckets: Sequence[Between] = (),
) -> int:
    """Build and write what is missing of the days of `plans`, the same tables of each; returns the number of days.

    A partition that is there already is left, or with `verify` compared with what was computed. Of a day in several
    `buckets`, what `search_bucket` found is put together.

    Raises OSError when the lake cannot be written, UserError when a verified partition differs.
    """
    inputs = {plan.day: planned_inputs(log, plan, keep=False) for plan in plans}
    shell = _Building(log, plans, inputs, verify=verify, slice_bytes=slice_bytes, buckets=buckets)
    Runner(NODES, shell.missing, shell, log.params, log.as_of).run(lambda _done, _total: None)
    return len(plans)


def write_eligibility(log: LogAsOf, plan: DayPlan, *, verify: bool) -> None:
    """Write what all buckets of a day are searched by, if it is missing. Raises as `build_days`."""
    if MemoryEligibility.name in plan.missing:
        rows = planned_inputs(log, plan, keep=True).eligibility
        name = plan.names[MemoryEligibility.name]
        log.lake.write_evidence(MemoryEligibility, plan.day, name, rows, verify=verify)


def search_bucket(
    log: LogAsOf, plan: DayPlan, within: Between, times: Times, slice_bytes: int, *, verify: bool
) -> None:
    """Find what is in the texts of a bucket of a day, and keep it for `build_days`, in files that nobody else names.

    Of the day's interactions no others are read; the memories are those that were eligible on the day, which
    `write_eligibility` wrote, and at its `times`. What is there already is left. Raises as `build_days`.
    """
    missing = {table: bucket_name(plan.names[table.name], within) for table in _PARTED if table.name in plan.missing}
    if not verify:
        missing = {table: name for table, name in missing.items() if not log.lake.has_evidence(table, plan.day, name)}
    if not missing:
        return
    with stage_cost("versions"):
        wanted = log.rows_within(REPLAYED, plan.day, within).collect()
        names = {plan.day: plan.names[MemoryEligibility.name]}
        eligible = log.lake.scan_evidence(MemoryEligibility, names).select(ELIGIBLE).unique().collect()
    found: dict[type[Table], pl.DataFrame] = {ReplayedInteractions: replayed_interactions(wanted.lazy()).collect()}
    if any(table in BUCKETED for table in missing):
        days = {plan.day: _Day(times, eligible)}
        found |= found_in_texts(log, days, wanted, missing, slice_bytes, within)
    for table, name in missing.items():
        log.lake.write_evidence(table, plan.day, name, found[table].sort(table.key), verify=verify)


def bucket_name(name: str, within: Between) -> str:
    """What a bucket of a partition is called until they are put together: the next prune takes it away.

    Where it begins and ends is told, for files that were merged since may be divided otherwise.
    """
    ends = [*within.first, "", *(within.end or ())]
    return f"{name}.{digest(ends)[:16]}"


def planned_inputs(log: LogAsOf, plan: DayPlan, *, keep: bool) -> ReplayInputs:
    """What a day is built from. Raises UserError when it is no longer what it was planned to be."""
    with stage_cost("versions"):
        inputs = log.replay_inputs(plan.day, keep=keep)
    if plan.fingerprint not in {inputs.fingerprint, inputs.former_name}:
        message = f"the files of {plan.day} changed while they were read: run this again"
        raise UserError(message)
    return inputs


class _Day(NamedTuple):
    """By which memories a day is judged: those that were eligible on it (`ELIGIBLE`), as they stood at its times."""

    times: Times
    eligible: pl.DataFrame


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
        buckets: Sequence[Between],
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
        if buckets:
            self._readers |= {table: lambda _, table=table: self._merge_buckets(table) for table in self._in_buckets()}
        if buckets and MemoryReferences in self.missing:
            self._readers[MemoryDays] = lambda _: self._days_of_buckets()

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What is found in texts, which are read once; what planning has found."""
        return self._readers.get(given)

    def rows(self, rows: LandedInput, days: Iterable[date] | None) -> pl.LazyFrame:
        """The winning interactions of these days."""
        if rows is not REPLAYED:
            message = f"of {source_name(rows)} no days are read here"
            raise GraphError(message)
        chosen = [*(self._inputs if days is None else days)]
        if self.is_stored(ReplayedInteractions) and any(self._inputs[day].interactions is None for day in chosen):
            return self.scan_table(ReplayedInteractions, chosen)
        return pl.concat(interactions_of(self._log, day, self._inputs[day]).lazy() for day in chosen)

    def is_stored(self, table: type[Table]) -> bool:
        """Everything that the lake keeps, once what is missing of it is written."""
        return table in EVIDENCE and table not in self._unwritten

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions of these days."""
        names = {day: self._names[day][table.name] for day in (self._names if days is None else days)}
        return self._log.lake.scan_evidence(table, names)

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:  # noqa: ARG002 - of all nodes alike
        """Each day alone: it has a partition of its own."""
        return ([day] for day in self._inputs)

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Write the partition of each day."""
        if self._buckets and table in self._in_buckets():
            (day,) = self._inputs
            self._log.lake.write_evidence_parts(table, day, self._names[day][table.name], pieces, verify=self._verify)
        else:
            for day, piece in zip(self._inputs, pieces, strict=True):
                name = self._names[day][table.name]
                self._log.lake.write_evidence(table, day, name, piece.sort(table.key), verify=self._verify)
        self._unwritten.discard(table)
        return 0  # of days nobody counts them

    def release_memory(self) -> None:
        """Give back what a node left behind."""
        give_back()

    def _in_texts(self, table: type[Table]) -> Pieces:
        if not self._found:
            wanted = pl.concat([interactions_of(self._log, day, of_day) for day, of_day in self._inputs.items()])
            days = {
                day: _Day(of_day.times, of_day.eligibility.select(ELIGIBLE).unique())
                for day, of_day in self._inputs.items()
            }
            self._found = found_in_texts(self._log, days, wanted, self._unwritten, self._slice_bytes)
        rows = self._found.pop(table)
        return (rows.filter(pl.col("occurred_at").dt.date() == day) for day in self._inputs)

    def _in_buckets(self) -> list[type[Table]]:
        """What `search_bucket` has written of what is missing."""
        return [table for table in _PARTED if table in self.missing]

    def _merge_buckets(self, table: type[Table]) -> Pieces:
        """What is in the buckets of the one day: a part at a time, by key."""
        ((day, names),) = self._names.items()
        paths = [
            self._log.lake.evidence_path(table, day, bucket_name(names[table.name], bucket)) for bucket in self._buckets
        ]
        return merge_files(table, [LakeFile(day, path) for path in paths])

    def _days_of_buckets(self) -> Pieces:
        ((day, names),) = self._names.items()
        parts = [bucket_name(names[MemoryReferences.name], bucket) for bucket in self._buckets]
        references = (self._log.lake.scan_evidence(MemoryReferences, {day: part}).drop("day") for part in parts)
        eligibility = self.scan_table(MemoryEligibility, [day]).drop("day")
        params = node_of(MemoryDays).select_params(self._log.params)
        yield memory_days_of_parts(eligibility, references, params)  # pyright: ignore[reportArgumentType] - their rows


def found_in_texts(
    log: LogAsOf,
    judged: Mapping[date, _Day],
    wanted: pl.DataFrame,
    tables: Iterable[type[Table]],
    slice_bytes: int,
    within: Between | None = None,
) -> dict[type[Table], pl.DataFrame]:
    """Of memory_references and extracted_statements those in `tables`.

    `judged`: days, each by all memories eligible on it; `wanted`: their interactions, or some, which lie `within`.
    """
    files = [file for day in judged for file in log.files(Interactions)[day]]
    found = {table: [] for table in (MemoryReferences, ExtractedStatements) if table in tables}
    first = node_of(next(iter(found)))
    slices = _slices(files, wanted, slice_bytes, within)
    while True:
        with stage_cost(first.stage, first.name):
            rows = next(slices, None)
        if rows is None:
            return {table: pl.concat(frames) for table, frames in found.items()}
        if MemoryReferences in found:
            found[MemoryReferences].append(_references(log, rows, judged, first_and_last(wanted["occurred_at"])))
        if ExtractedStatements in found:
            params = node_of(ExtractedStatements).select_params(log.params)
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
            scan_declared(Interactions, [piece.path]).slice(piece.offset, piece.rows).select("row_hash", *TEXTS.columns)
            for piece in together
        ]
        held.append(_wanted_rows(pl.concat(scans).collect(), wanted, seen))
        if sum(rows.estimated_size() for rows in held) >= slice_bytes // 2:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _references(log: LogAsOf, rows: pl.DataFrame, judged: Mapping[date, _Day], times: Times) -> pl.DataFrame:
    """memory_references of interactions with their texts."""
    is_gone = rows.select(is_text_expired()).to_series()
    with stage_cost("used", "used_memories_by_day"):
        give_back()
        used = _used(log, rows.filter(~is_gone), judged)
    with stage_cost("echo", "memory_references"):
        give_back()
        pool = log.pool_between(times).select(_ECHOED).collect()
        params, echoed = node_of(MemoryReferences).select_params(log.params), None
        if is_gone.any():
            gone = rows.filter(is_gone)
            kept = scan_retained(log.lake, KeptReferences, _days_of(gone))
            before = find_retained(kept, gone, pool.lazy())
            used, echoed = pl.concat([used, select_used(before)]), select_quoted(before)
        return memory_references(rows, pool, used, params, echoed)


def _statements_before(log: LogAsOf, rows: pl.DataFrame) -> pl.DataFrame:
    """What was extracted from texts that have gone since."""
    gone = rows.filter(is_text_expired())
    if gone.is_empty():
        return pl.DataFrame(schema=polars_schema(ExtractedStatements))
    kept = scan_retained(log.lake, KeptStatements, _days_of(gone)).unique(KeptStatements.key)
    return kept.join(gone.lazy().select("row_hash"), on="row_hash", how="semi").drop("row_hash").collect()


def _days_of(rows: pl.DataFrame) -> list[date]:
    return rows["occurred_at"].dt.date().unique().sort().to_list()


def _used(log: LogAsOf, rows: pl.DataFrame, judged: Mapping[date, _Day]) -> pl.DataFrame:
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
            if of_day == days[-1] or sum(judged[one].eligible.height for one in together) >= _POOL_ROWS:
                pool = pl.concat([_pool_of_day(log, one, judged[one]) for one in together])
                of_days = asked.filter(pl.col("day").is_in(together))
                used = used_memories_by_day(
                    of_days, pool, word_vectors, node_of(USED_MEMORIES).select_params(log.params)
                )
                found.append(within_reach(used, of_days, pool))
                together = []
        return pl.concat(found)


def _pool_of_day(log: LogAsOf, day: date, judged: _Day) -> pl.LazyFrame:
    """The pool rows of the memories that were eligible on a day, with `day`."""
    pool = log.pool_between(judged.times)
    eligibility = framed(MemoryEligibility, judged.eligible.lazy(), partial=True)
    return eligible_pool(pool, eligibility).with_columns(pl.lit(day).alias("day"))


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
