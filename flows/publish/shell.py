"""What a publish reads for the graph and where it writes: the log and the lake, the history piece by piece, a file.

Where there is a base, an earlier serving file that this one began as a copy of, only days that differ are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from slowwave.flows.kernel.memory import give_back, has_held_much
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.lake import LakeFile, scan_declared
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.publish.base import COMPARED, TAKEN_OVER, Base
from slowwave.flows.publish.plan import BuildPlan, together
from slowwave.flows.publish.replayed import replayed_interactions
from slowwave.flows.publish.run import Run
from slowwave.flows.publish.runner import Pieces, Runner
from slowwave.flows.publish.serving import ServingFile, day_hashes, fetch_frame
from slowwave.flows.publish.states import keep_state, kept_state
from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.frames import conform, empty, framed
from slowwave.transforms.core.node import Given, LandedInput, Node
from slowwave.transforms.core.schema import State, Table
from slowwave.transforms.decisions.nodes import STATEMENT_DAYS
from slowwave.transforms.evidence.nodes import CHUNK_DAYS, MEMORY_STATES, WORD_VECTORS
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryDays, MemoryReferences, PublishedReferences, ReplayedInteractions
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.health.history import memory_health_history
from slowwave.transforms.health.memory_health import COUNTS
from slowwave.transforms.health.nodes import COUNTS_HISTORY, REFERENCE_NAMES, TOUCHES
from slowwave.transforms.health.tables import MemoryHealthHistory
from slowwave.transforms.landing.landed_days import landed_days
from slowwave.transforms.landing.nodes import DAYS_OF, DECISIONS, FAILED_ROWS
from slowwave.transforms.landing.tables import LANDED, Interactions, LandedDays
from slowwave.transforms.learning.nodes import ATTEMPTS
from slowwave.transforms.lift.nodes import ATTEMPTED, ATTEMPTED_INTERACTIONS
from slowwave.transforms.observations.nodes import READY_TEXTS
from slowwave.transforms.observations.pairs.texts import ReadyTexts
from slowwave.transforms.usage.nodes import BOUND_DAYS, BOUND_REACHES, TIMELINES

# Rows of history computed at once: a year of 100,000 memories is tens of millions, and a million takes 500 MB.
PIECE_ROWS = 1_000_000
# Days whose landed rows are read together, and whose evidence: up to this much of files.
_LANDED_BYTES = 64 * 2**20
# What rows of some landed tables state, and landed_days tells.
_STATED = {"basis": pl.String, "tokens": pl.Int64, "cost": pl.Float64}
_EVIDENCE_BYTES = 4 * 2**20
# Those of which no texts are read: what is asked for is looked up once for each time.
_ATTEMPTED_BYTES = 256 * 2**20
# Counts only grow, so a memory was last touched on the first of the days with the most injections and references.
_TOUCHES = """
SELECT
    memory_id,
    eligible_count,
    CASE WHEN touches > 0 THEN last_touch.day END AS touched_day,
    eligible_count - last_touch.eligible_count AS eligible_since_touch
FROM (
    SELECT
        memory_id,
        max(eligible_count) AS eligible_count,
        max(injected_count + reference_count) AS touches,
        arg_max(
            {'day': day - DATE '1970-01-01', 'eligible_count': eligible_count},
            (injected_count + reference_count)::HUGEINT * 10000000 - (day - DATE '1970-01-01')
        ) AS last_touch
    FROM memory_health_history
    GROUP BY memory_id
)
"""
_TOUCHES_SCHEMA = {
    "memory_id": pl.String,
    "eligible_count": pl.Int64,
    "touched_day": pl.Int64,
    "eligible_since_touch": pl.Int64,
}


class PublishShell:
    """The shell of one publish (see `runner.Shell`); `serving` is set before anything is written."""

    def __init__(self, run: Run, plan: BuildPlan) -> None:
        self.serving: ServingFile | None = None
        self.base: Base | None = None
        self._run = run
        self._plan = plan
        self._kept: dict[type[State], pl.DataFrame] = {}  # as it was read, until what follows from it is kept
        log = plan.log
        self._readers: Mapping[Given, Callable[[Runner], Any]] = {
            MEMORY_STATES: lambda _: log.states,
            DECISIONS: lambda _: log.decisions,
            FAILED_ROWS: lambda _: pl.concat([log.set_aside(of).with_columns(table=pl.lit(of.name)) for of in LANDED]),
            WORD_VECTORS: lambda _: word_vectors,
            READY_TEXTS: lambda _: ReadyTexts(),
            STATEMENT_DAYS: lambda _: plan.partitions(ExtractedStatements),
            REFERENCE_NAMES: lambda _: plan.partitions(MemoryReferences),
            LandedDays: lambda _: self._landed_days(),
            ATTEMPTED_INTERACTIONS: lambda runner: self._attempted_interactions(runner.value(ATTEMPTS)),
            COUNTS_HISTORY: self._counts_history,
            TOUCHES: lambda _: fetch_frame(self._file().connection, _TOUCHES, _TOUCHES_SCHEMA),
        }

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What is read here."""
        return self._readers.get(given)

    def rows(self, rows: LandedInput, days: Iterable[date] | None) -> pl.LazyFrame:
        """Winning rows of a landed table, of all days or of these."""
        return self._read_rows(rows, self._plan.log.files(rows.of) if days is None else days)

    def is_stored(self, table: type[Table]) -> bool:
        """What the lake keeps is there: it was built before."""
        return table in EVIDENCE

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions that the plan names, of all days or of these; of a state what serves this publish best."""
        if issubclass(table, State):
            # a full rebuild takes nothing over, nor does one without what is erased
            nothing = self._plan.full or is_erasing(self._run.lake.root)
            if nothing:
                return empty(table).lazy()
            kept = kept_state(self._run.lake, table, self._plan.log.as_of.date()).collect()
            self._kept[table] = kept
            return kept.lazy()
        names = self._plan.partitions(table)
        wanted = names if days is None else {day: names[day] for day in days if day in names}
        if table is ReplayedInteractions:
            return replayed_interactions(self._run.lake, self._plan, wanted)
        return self._run.lake.scan_evidence(table, wanted)

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:
        """All days, or those that differ from the base, so many at a time as are read together."""
        if PublishedReferences in node.outputs:
            yield from self._days_of_references()
            return
        yield ()  # the columns, where there is no day
        files = self._plan.log.files(Interactions)
        if BOUND_DAYS in node.outputs and runner.value(BOUND_REACHES).is_empty():
            return
        for days in together(files, lambda day: _bytes(files[day]), _LANDED_BYTES):
            if CHUNK_DAYS not in node.outputs or _names_chunks([file for day in days for file in files[day]]):
                yield days

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Publish these rows, in place of those that differ from the base, or keep a state; returns how many."""
        if issubclass(table, State):
            rows = pl.concat(pieces)
            plan = self._plan
            kept = self._kept.pop(table, None)
            day = plan.log.as_of.date()
            keep_state(self._run.lake, table, day, self._run.run_id, rows, kept=kept, verify=plan.full)
            return rows.height
        serving, base, rows = self._file(), self.base, 0
        if base is not None and table in COMPARED:
            return self._write_what_differs(base, table, pieces)
        if base is not None:
            for condition, old in base.differing(table):
                serving.remove(table, condition, old)
        for piece in pieces:
            serving.extend(table, self._add_run_columns(piece.lazy()))
            rows += piece.height
            if table in TAKEN_OVER:
                give_back()
        if base is not None and table in TAKEN_OVER:
            serving.stamp(table, self._run.run_id, self._plan.log.as_of)
        return rows

    def _write_what_differs(self, base: Base, table: type[Table], pieces: Pieces) -> int:
        """Publish these rows in place of those of the base, but for the days that are the same; returns how many."""
        serving, dated = self._file(), COMPARED[table]
        rows = conform(table, pl.concat(pieces).lazy()).collect()
        was, is_now = base.hashes[table], day_hashes(serving.connection, table, dated, rows)
        same = [day for day in is_now if was.get(day) == is_now[day]]
        # of what is damaged a time may be on no day at all
        serving.remove(
            table, f'list_contains(CAST($same AS DATE[]), CAST("{dated}" AS DATE)) IS NOT TRUE', {"same": same}
        )
        differing = rows.lazy().filter(~pl.col(dated).dt.date().is_in(same))
        serving.extend(table, self._add_run_columns(differing))
        serving.stamp(table, self._run.run_id, self._plan.log.as_of)
        return rows.height

    def release_memory(self) -> None:
        """Give back what a node left behind: the next one needs the room."""
        if self.serving is not None and has_held_much():
            self.serving.release_memory()
        give_back()

    def _file(self) -> ServingFile:
        if self.serving is None:
            message = "nothing can be written, or asked of what was written, before there is a file"
            raise ValueError(message)
        return self.serving

    def _add_run_columns(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        as_of = pl.lit(self._plan.log.as_of, dtype=pl.Datetime("us"))
        return rows.with_columns(pl.lit(self._run.run_id).alias("run_id"), as_of.alias("as_of"))

    def _days_of_references(self) -> Iterator[Sequence[date]]:
        """They are the most rows that a night publishes."""
        names = self._plan.partitions(MemoryReferences)
        days = names if self.base is None else [day for day in self.base.evidence_days if day in names]
        paths = {day: self._run.lake.evidence_path(MemoryReferences, day, names[day]) for day in days}
        return together(sorted(paths), lambda day: storage_of(paths[day]).size(paths[day]), _EVIDENCE_BYTES)

    def _read_rows(self, rows: LandedInput, days: Iterable[date], of: pl.LazyFrame | None = None) -> pl.LazyFrame:
        """The winning rows, and no more of them than is asked for: hashes take longer to read than most else."""
        names = ["occurred_at" if rows.of is Interactions and name == "created_at" else name for name in rows.columns]
        return self._plan.log.rows(rows, days, of).select(names)

    def _landed_days(self) -> Pieces:
        """What landed, by landed table, of all days or of those whose rows differ."""
        log = self._plan.log
        of_base = None if self.base is None else self.base.landed_days
        days = [(of, day) for of in LANDED for day in (log.files(of) if of_base is None else of_base[of.name])]
        size = lambda of_day: _bytes(log.files(of_day[0]).get(of_day[1], ()))  # noqa: E731 - needs no name of its own
        for group in together(days, size, _LANDED_BYTES):
            rows = [
                log.winners(of, [day for one, day in group if one is of], DAYS_OF[of].columns).select(
                    pl.lit(of.name).alias("landed_table"),
                    "project",
                    "agent",
                    pl.col(of.event_time).alias("occurred_at"),
                    "recorded_at",
                    *(
                        (pl.col(name) if name in DAYS_OF[of].columns else pl.lit(None, dtype)).alias(name)
                        for name, dtype in _STATED.items()
                    ),
                )
                for of in dict.fromkeys(of for of, _ in group)
            ]
            # relaxed: a later release may widen the type of a landed column
            yield landed_days(pl.concat(rows, how="vertical_relaxed")).collect()

    def _attempted_interactions(self, attempts: pl.DataFrame) -> pl.DataFrame:
        """Numbered. Some days at a time: what was offered in all takes several times as much to find as to hold."""
        log = self._plan.log
        of = attempts.filter(pl.col("interaction_id").is_not_null()).select("interaction_id").unique().lazy()
        files = log.files(Interactions)
        days = [day.day for day in self._plan.days] if attempts.height else []
        found = [
            self._read_rows(ATTEMPTED, some, of).with_columns(pl.col("project").fill_null("")).collect()
            for some in [(), *together(days, lambda day: _bytes(files[day]), _ATTEMPTED_BYTES)]
        ]
        return pl.concat(found).with_row_index("interaction")

    def _counts_history(self, runner: Runner) -> Pieces:
        """Counts and states by day, memory by memory in order of memory_id, from the first day on that differs."""
        log, base = self._plan.log, self.base
        first_day = date.min if base is None else base.first_day
        before = None if base is None else self._counts_before(first_day)
        numbers = runner.value(TIMELINES).memories.select("memory", "memory_id")
        later = [day.day for day in self._plan.days if day.day >= first_day]
        days = (
            self.scan_table(MemoryDays, later)
            .select("memory_id", "day", pl.col(COUNTS).cast(pl.UInt32))
            .join(numbers.lazy(), on="memory_id")
            .drop("memory_id")
            .collect()
        )
        count = max(1, -(-(days.height + log.states.height) // PIECE_ROWS))
        size = max(1, -(-numbers.height // count))
        for start in range(0, numbers.height, size):
            chosen = numbers.slice(start, size)
            of_piece = days.filter(pl.col("memory").is_between(start, start + size - 1))
            counts = of_piece.join(chosen, on="memory").drop("memory").with_columns(pl.col(COUNTS).cast(pl.Int64))
            yield memory_health_history(
                log.states.lazy().join(chosen.lazy(), on="memory_id", how="semi"),
                framed(MemoryDays, counts.lazy(), partial=True),
                self._run.params,
                None if before is None else before.join(chosen, on="memory_id", how="semi").lazy(),
                first_day,
            ).collect()

    def _counts_before(self, first_day: date) -> pl.DataFrame:
        """Counts of each memory up to a day, as published; they only grow."""
        counts = ", ".join(f"max({name}) AS {name}" for name in COUNTS)
        return fetch_frame(
            self._file().connection,
            f"SELECT memory_id, {counts} FROM {MemoryHealthHistory.name} WHERE day < $first_day GROUP BY memory_id",  # noqa: S608 - declared names
            {"memory_id": pl.String, **dict.fromkeys(COUNTS, pl.Int64)},
            {"first_day": first_day},
        )


def _bytes(files: Iterable[LakeFile]) -> int:
    return sum(file.size for file in files)


def _names_chunks(files: Iterable[LakeFile]) -> bool:
    """Whether an interaction in these files says which chunks it used."""
    is_named = pl.col("chunks_used").list.len() > 0
    return scan_declared(Interactions, [file.path for file in files]).select(is_named.any()).collect().item()
