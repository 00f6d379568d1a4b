"""One publish: from evidence partitions and memory states to an audited serving file, as the graph declares it.

Where there is a base, an earlier serving file that this one began as a copy of, only days that differ are written. How
a table is read and reused, its node declares.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.processes import give_back, has_held_much
from slowwave.flows.kernel.stage_costs import StageCosts, heard_by, stage_cost
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lake.run_ledger import read_other_runs, with_run
from slowwave.flows.land.quarantine import landing_ledger
from slowwave.flows.publish.base import Base, base_of
from slowwave.flows.publish.day_reader import DayReader
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.run import Run
from slowwave.flows.publish.runner import Pieces, Runner, Shell
from slowwave.flows.publish.serving import Finding, ServingFile, day_hashes, fetch_frame
from slowwave.flows.publish.states import keep_state, kept_state
from slowwave.transforms.core.frames import conform, empty
from slowwave.transforms.core.node import Given, LandedInput, Node, Resumed
from slowwave.transforms.core.schema import State, Table, polars_schema
from slowwave.transforms.graph import BY_DAY, BY_DIFFERENCE, EVIDENCE, NODES, PUBLISHED, node_of
from slowwave.transforms.landing.ledger_tables import Runs, RunSteps
from slowwave.transforms.landing.set_aside import LEFT_OUT

_FAILED = """
SELECT count(DISTINCT row_hash), first("table" || ':' || key || ': ' || reason ORDER BY "table", key, row_hash, "check")
FROM set_aside
WHERE "check" != $left_out
"""

_ANEW = "all tables were written anew: taking over unchanged rows of {run} failed ({error})"


def publish(
    run: Run, plan: BuildPlan, built: Sequence[DayPlan], path: Path
) -> tuple[Path, list[Finding], dict[str, Any]]:
    """Write and audit a serving file; returns its path, what the audits warned of, and its row of `runs`.

    Raises AuditFailedError when an audit failed, OSError when the disk cannot be written.
    """
    known = {
        "as_of": plan.log.as_of,
        "days_count": len(plan.days),
        "days_built_count": len(built),
        "input_hash": plan.input_hash,
    }
    with heard_by(run.costs) as costs, stage_cost("publish"):
        shell, runner = _begin_publish(plan, run.run_id)
        base, anew = base_of(current_run(run.settings), plan, runner.value), ""
        while True:
            try:
                with ServingFile(path, base.path if base else None) as serving, _without_cycles():
                    shell.serving, shell.base = serving, base
                    runner.run(partial(run.progress, "publish"))
                    steps = _run_steps(run.run_id, runner.rows, costs)
                    row, findings = _finish_publish(run, serving, known, steps, base.new_days if base else None, anew)
            except duckdb.Error as error:  # what it begins with is damaged where that was not looked at
                if base is None:
                    raise
                anew = _ANEW.format(run=base.path.stem, error=str(error).partition("\n")[0])
                (shell, runner), base = _begin_publish(plan, run.run_id), None
            else:
                return path, findings, row


def _begin_publish(plan: BuildPlan, run_id: str) -> tuple[PublishShell, Runner]:
    shell = PublishShell(plan, run_id)
    return shell, Runner(NODES, PUBLISHED, shell, plan.log.params, plan.log.as_of)


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Do not look for cycles: what statements say is held in many small objects, and looking takes a third longer."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _finish_publish(
    run: Run,
    serving: ServingFile,
    known: dict[str, Any],
    steps: pl.LazyFrame,
    new_days: Sequence[date] | None,
    anew: str,
) -> tuple[dict[str, Any], list[Finding]]:
    """Write what is known of the run and of rows, audit all, make it durable."""
    set_aside = _set_aside_said(serving)
    published = "published_incomplete" if set_aside else "published"
    status = published if run.kind == "nightly" else "built"
    row = run.ledger_row(status, table_hashes=serving.hashes(PUBLISHED), **known)
    others = read_other_runs(run.lake, run.run_id)  # there it has only started

    def write_runs() -> None:
        serving.replace(Runs, [with_run(others, row)])

    write_runs()
    serving.replace(RunSteps, [steps])
    for table, parts in landing_ledger(run.lake):
        serving.replace(table, parts)
    with stage_cost("audits"):
        findings = serving.audit(new_days)
    told = [*set_aside, *filter(None, [anew]), *map(str, findings)]
    if told:
        row["message"] = "\n".join(told)
        write_runs()
    serving.finish()
    return row, findings


def _set_aside_said(serving: ServingFile) -> list[str]:
    """What is said of the rows that fail a check; nothing where none does."""
    count, first = serving.connection.execute(_FAILED, {"left_out": LEFT_OUT}).fetchall()[0]
    if not count:
        return []
    return [f"set aside, counted nowhere: {count} row{'s' * (count != 1)}, such as {first} (see the table set_aside)"]


def _run_steps(run_id: str, rows: dict[str, int], costs: StageCosts) -> pl.LazyFrame:
    """What each step of the graph took that was computed by this run."""
    found = [
        {
            "run_id": run_id,
            "step": node.name,
            "tables": [table.name for table in node.tables],
            "stage": node.stage,
            "rows_count": sum(rows.get(table.name, 0) for table in node.tables),
            "cpu_seconds": costs.of_steps[node.name],
        }
        for node in NODES
        if node.name in costs.of_steps
    ]
    return pl.LazyFrame(found, schema=polars_schema(RunSteps))


class PublishShell(Shell):
    """The shell of one publish (see `runner.Shell`); `serving` is set before anything is written."""

    def __init__(self, plan: BuildPlan, run_id: str) -> None:
        self.serving: ServingFile | None = None
        self.base: Base | None = None
        self._lake = plan.log.lake
        self._plan = plan
        self._as_of = plan.log.as_of
        self._run_id = run_id
        self._days = DayReader(plan.log, plan.partitions)
        self._kept: dict[type[State], pl.DataFrame] = {}  # as it was read, until what follows from it is kept

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What is read here."""
        node = node_of(given)
        if (query := node.query) is not None:
            return lambda _: fetch_frame(self._file().connection, query.sql, query.columns)
        return (lambda _: self._days.read(node.reads)) if node.reads else None

    def rows(self, rows: LandedInput, days: Iterable[date] | None, keys: pl.DataFrame | None = None) -> pl.LazyFrame:
        """Winning rows of a landed table, of all days or of these."""
        return self._days.rows(rows, days, keys)

    def is_stored(self, table: type[Table]) -> bool:
        """What the lake keeps is there: it was built before."""
        return table in EVIDENCE

    def partitions(self, table: type[Table]) -> dict[date, str]:
        """The partitions that the plan names."""
        return self._plan.partitions(table)

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """The partitions that the plan names, of all days or of these; of a state what serves this publish best."""
        if not issubclass(table, State):
            return self._days.scan(table, days)
        # a full rebuild takes nothing over, nor does one without what is erased
        if self._plan.full or is_erasing(self._lake.root):
            return empty(table).lazy()
        kept = kept_state(self._lake, table, self._as_of.date()).collect()
        self._kept[table] = kept
        return kept.lazy()

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:
        """All days, or those that changed since the base, so many at a time as are read together."""
        if not node.tables:
            yield ()  # the columns, where there is no day
        if node.unless_empty and runner.value(node.inputs[node.unless_empty]).is_empty():  # type: ignore[arg-type] - what is handed
            return
        changed = None if self.base is None else self.base.changed_days.get(node.tables[0]) if node.tables else None
        yield from self._days.groups(node, changed)

    def resume(self, resumed: Resumed) -> tuple[date, pl.DataFrame | None]:
        """The first day of a published table that is computed, and the highest counts of the days before."""
        if self.base is None:
            return date.min, None
        of, first_day = resumed.of, self.base.first_day(resumed.of)
        counts = ", ".join(f"max({name}) AS {name}" for name in resumed.counts)
        found = fetch_frame(
            self._file().connection,
            f"SELECT {resumed.by}, {counts} FROM {of.name} WHERE {BY_DAY[of].dated} < $first_day GROUP BY {resumed.by}",  # noqa: S608 - declared names
            pl.Schema({name: polars_schema(of)[name] for name in (resumed.by, *resumed.counts)}),
            {"first_day": first_day},
        )
        return first_day, found

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Publish these rows, in place of those that differ from the base, or keep a state; returns how many."""
        if issubclass(table, State):
            rows, day = pl.concat(pieces), self._as_of.date()
            kept = self._kept.pop(table, None)
            keep_state(self._lake, table, day, self._run_id, rows, kept=kept, verify=self._plan.full)
            return rows.height
        serving, base, written = self._file(), self.base, 0
        if base is not None and table in BY_DIFFERENCE:
            return self._write_what_differs(base, table, pieces)
        if base is not None:
            serving.remove(table, *base.select_changed(table))
        for piece in pieces:
            serving.extend(table, self._add_run_columns(piece.lazy()))
            written += piece.height
            if table in BY_DAY:
                give_back()
        if base is not None and table in BY_DAY:
            serving.stamp(table, self._run_id, self._as_of)
        return written

    def _write_what_differs(self, base: Base, table: type[Table], pieces: Pieces) -> int:
        """Publish these rows in place of those of the base, but for the days that are the same; returns how many."""
        serving, dated = self._file(), BY_DIFFERENCE[table].dated
        rows = conform(table, pl.concat(pieces).lazy()).collect()
        was, is_now = base.hashes[table], day_hashes(serving.connection, table, dated, rows)
        same = [day for day in is_now if was.get(day) == is_now[day]]
        # of what is damaged a time may be on no day at all
        serving.remove(
            table, f'list_contains(CAST($same AS DATE[]), CAST("{dated}" AS DATE)) IS NOT TRUE', {"same": same}
        )
        differing = rows.lazy().filter(~pl.col(dated).dt.date().is_in(same))
        serving.extend(table, self._add_run_columns(differing))
        serving.stamp(table, self._run_id, self._as_of)
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
        as_of = pl.lit(self._as_of, dtype=pl.Datetime("us"))
        return rows.with_columns(pl.lit(self._run_id).alias("run_id"), as_of.alias("as_of"))
