"""One publish: from evidence partitions and memory states to an audited serving file, as the graph declares it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.stage_costs import StageCosts, heard_by, stage_cost
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.run_ledger import read_other_runs, with_run
from slowwave.flows.land.quarantine import landing_ledger
from slowwave.flows.publish.base import base_of
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.run import Run
from slowwave.flows.publish.runner import Runner
from slowwave.flows.publish.serving import Finding, ServingFile
from slowwave.flows.publish.shell import PublishShell
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.graph import NODES, PUBLISHED
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
