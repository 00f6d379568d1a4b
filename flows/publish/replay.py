"""Building day partitions: the graph of the tables that the lake lacks, the texts of a few days at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.pieces import Between, pieces
from slowwave.flows.publish.day_reader import interactions_of, replay_inputs
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import DayPlan
from slowwave.flows.publish.replay_inputs import ReplayInputs, Times, merge_files
from slowwave.flows.publish.runner import Pieces, Runner, Shell, imported_function
from slowwave.flows.publish.text_pass import DayMemories, found_in_texts
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.node import Given, GraphError, LandedInput, Node, source_name
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.eligibility import ELIGIBLE
from slowwave.transforms.evidence.nodes import REPLAYED
from slowwave.transforms.graph import BUCKETED, EVIDENCE, FOUND_IN_TEXTS, NODES, PLANNED, node_of

# Days are matched together up to this much text (uncompressed), and texts are held in slices of this size.
SLICE_BYTES = 192 * 2**20
# The stretches of a memory and its counts on a day take about as much.
_BYTES_PER_MEMORY = 300


def days_bytes(log: LogAsOf, plans: Sequence[DayPlan]) -> dict[date, int]:
    """What the interactions of each day take, decoded, as their files say."""
    sizes = dict.fromkeys((plan.day for plan in plans), 0)
    for piece in pieces([file for plan in plans for file in log.files(REPLAYED.of)[plan.day]]):
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


def write_planned(log: LogAsOf, plan: DayPlan, *, verify: bool) -> None:
    """Write what is missing of what planning a day finds: its buckets are searched by it. Raises as `build_days`."""
    for table in PLANNED:
        if table.name in plan.missing:
            rows = getattr(planned_inputs(log, plan, keep=True), node_of(table).reads)
            log.lake.write_evidence(table, plan.day, plan.names[table.name], rows, verify=verify)


def search_bucket(
    log: LogAsOf, plan: DayPlan, within: Between, times: Times, slice_bytes: int, *, verify: bool
) -> None:
    """Find what is in the texts of a bucket of a day, and keep it for `build_days`, in files that nobody else names.

    Of the day's interactions no others are read; the memories are those that were eligible on the day, which
    `write_planned` wrote, and at its `times`. What is there already is left. Raises as `build_days`.
    """
    missing = {table: bucket_name(plan.names[table.name], within) for table in BUCKETED if table.name in plan.missing}
    if not verify:
        missing = {table: name for table, name in missing.items() if not log.lake.has_evidence(table, plan.day, name)}
    if not missing:
        return
    with stage_cost("versions"):
        wanted = log.rows_within(REPLAYED, plan.day, within).collect()
        (judging,) = PLANNED
        eligible = log.lake.scan_evidence(judging, {plan.day: plan.names[judging.name]}).select(ELIGIBLE).unique()
        days = {plan.day: DayMemories(times, eligible.collect())}
    searched = [table for table in missing if table in FOUND_IN_TEXTS]
    found = found_in_texts(log, days, wanted, searched, slice_bytes, within) if searched else {}
    for table, name in missing.items():
        if table not in found:
            node = node_of(table)
            found[table] = imported_function(node.function)(**dict.fromkeys(node.inputs, wanted.lazy())).collect()
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
        inputs = replay_inputs(log, plan.day, keep=keep)
    if plan.fingerprint != inputs.fingerprint:
        message = f"the files of {plan.day} changed while they were read: run this again"
        raise UserError(message)
    return inputs


class _Building(Shell):
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

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What is found in texts, which are read once; what planning has found; of buckets what was found in them."""
        node = node_of(given)
        if given in self._in_buckets():
            return lambda _: self._merge_buckets(node.tables[0])
        if given in FOUND_IN_TEXTS:
            return lambda _: self._in_texts(node.tables[0])
        if node.of_parts and not self._in_buckets().isdisjoint(node.taken):
            return lambda _: self._of_parts(node)
        if node.reads in ReplayInputs.__dataclass_fields__:
            return lambda _: (getattr(of_day, node.reads) for of_day in self._inputs.values())
        return (lambda _: getattr(self._log, node.reads)) if node.reads else None

    def rows(self, rows: LandedInput, days: Iterable[date] | None, keys: pl.DataFrame | None = None) -> pl.LazyFrame:
        """The winning interactions of these days."""
        if rows is not REPLAYED or keys is not None:
            message = f"of {source_name(rows)} no days are read here"
            raise GraphError(message)
        chosen = [*(self._inputs if days is None else days)]
        stored = [table for table in BUCKETED if node_of(table).taken == (rows,) and self.is_stored(table)]
        if stored and any(self._inputs[day].interactions is None for day in chosen):
            return self.scan_table(stored[0], chosen)
        return pl.concat(interactions_of(self._log, day, self._inputs[day]).lazy() for day in chosen)

    def is_stored(self, table: type[Table]) -> bool:
        """Everything that the lake keeps, once what is missing of it is written."""
        return table in EVIDENCE and table not in self._unwritten

    def partitions(self, table: type[Table]) -> dict[date, str]:
        """Those that are planned."""
        return {day: names[table.name] for day, names in self._names.items()}

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions of these days."""
        names = self.partitions(table)
        return self._log.lake.scan_evidence(table, names if days is None else {day: names[day] for day in days})

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:  # noqa: ARG002 - of all nodes alike
        """Each day alone: it has a partition of its own."""
        return ([day] for day in self._inputs)

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Write the partition of each day."""
        if table in self._in_buckets():
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
                day: DayMemories(of_day.times, of_day.eligibility.select(ELIGIBLE).unique())
                for day, of_day in self._inputs.items()
            }
            self._found = found_in_texts(self._log, days, wanted, self._unwritten, self._slice_bytes)
        rows = self._found.pop(table)
        return (rows.filter(pl.col("occurred_at").dt.date() == day) for day in self._inputs)

    def _in_buckets(self) -> set[type[Table]]:
        """What `search_bucket` has written of what is missing."""
        return set(BUCKETED).intersection(self.missing) if self._buckets else set()

    def _merge_buckets(self, table: type[Table]) -> Pieces:
        """What is in the buckets of the one day: a part at a time, by key."""
        ((day, names),) = self._names.items()
        paths = [
            self._log.lake.evidence_path(table, day, bucket_name(names[table.name], bucket)) for bucket in self._buckets
        ]
        return merge_files(table, [LakeFile(day, path) for path in paths])

    def _of_parts(self, node: Node) -> Pieces:
        """What is computed from the buckets of the one day, one after the other."""
        ((day, names),) = self._names.items()

        def read_input(of: Any) -> Any:  # noqa: ANN401 - a table, and its rows
            if of not in self._in_buckets():
                return self.scan_table(of, [day]).drop("day")
            parts = [bucket_name(names[of.name], bucket) for bucket in self._buckets]
            return (self._log.lake.scan_evidence(of, {day: part}).drop("day") for part in parts)

        inputs = {name: read_input(of) for name, of in node.inputs.items()}
        params = {"params": node.select_params(self._log.params)} if node.params else {}
        yield imported_function(node.of_parts)(**inputs, **params)
