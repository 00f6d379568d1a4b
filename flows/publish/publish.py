"""One publish: from evidence partitions and memory states to an audited serving file, as the graph declares it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.stage_costs import StageCosts, heard_by, stage_cost
from slowwave.flows.lake.current import current_run
from slowwave.flows.land.quarantine import refused_rows, shown_text, with_texts
from slowwave.flows.publish.base import Base, base_of
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.run import Run, one_row
from slowwave.flows.publish.runner import Runner
from slowwave.flows.publish.serving import Finding, ServingFile
from slowwave.flows.publish.shell import PublishShell
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.graph import NODES, PUBLISHED
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles, Runs, RunSteps
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
    with heard_by(run.costs) as costs, stage_cost("publish"):
        begun, anew = _begin_publish(plan, run.run_id), ""
        base = base_of(current_run(run.settings), plan, begun[1].value)
        if base is not None:
            try:
                return _write_serving_file(run, plan, built, path, begun, base, costs)
            except duckdb.Error as error:  # what it begins with is damaged where that was not looked at
                begun, anew = (
                    _begin_publish(plan, run.run_id),
                    _ANEW.format(run=base.path.stem, error=str(error).partition("\n")[0]),
                )
        return _write_serving_file(run, plan, built, path, begun, None, costs, anew)


def _begin_publish(plan: BuildPlan, run_id: str) -> tuple[PublishShell, Runner]:
    shell = PublishShell(plan, run_id)
    return shell, Runner(NODES, PUBLISHED, shell, plan.log.params, plan.log.as_of)


def _write_serving_file(
    run: Run,
    plan: BuildPlan,
    built: Sequence[DayPlan],
    path: Path,
    begun: tuple[PublishShell, Runner],
    base: Base | None,
    costs: StageCosts,
    anew: str = "",
) -> tuple[Path, list[Finding], dict[str, Any]]:
    """As `publish`, with what is taken over from `base` if given; `anew` says why it is begun for a second time."""
    shell, runner = begun
    with ServingFile(path, base.path if base else None) as serving, _without_cycles():
        shell.serving, shell.base = serving, base
        runner.run(lambda done, total: run.progress("publish", done, total))
        audited = partial(serving.audit, base.new_days if base else None)
        row, findings = _finish_publish(run, plan, built, serving, runner.rows, costs, audited, anew)
    return path, findings, row


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
    plan: BuildPlan,
    built: Sequence[DayPlan],
    serving: ServingFile,
    rows: dict[str, int],
    costs: StageCosts,
    audited: Callable[[], list[Finding]],
    anew: str,
) -> tuple[dict[str, Any], list[Finding]]:
    """Write what is known of the run and of rows, audit all, make it durable."""
    set_aside = _set_aside_said(serving)
    published = "published_incomplete" if set_aside else "published"
    row = run.ledger_row(
        published if run.kind == "nightly" else "built",
        as_of=plan.log.as_of,
        days_count=len(plan.days),
        days_built_count=len(built),
        input_hash=plan.input_hash,
        table_hashes=serving.hashes(PUBLISHED),
    )
    others = run.lake.ledger(Runs).lazy().filter(pl.col("run_id") != run.run_id)  # there it has only started
    serving.replace(Runs, [pl.concat([others, one_row(Runs, row).lazy()])])
    serving.replace(RunFiles, [run.lake.ledger(RunFiles).lazy()])
    serving.replace(RunSteps, [_run_steps(run, rows, costs).lazy()])
    for table, refused in zip((Quarantine, QuarantineResolved), refused_rows(run.lake), strict=True):
        serving.replace(
            table, (rows.lazy().with_columns(shown_text()) for rows in with_texts(run.lake, table, refused))
        )
    with stage_cost("audits"):
        findings = audited()
    told = [*set_aside, *filter(None, [anew]), *map(str, findings)]
    if told:
        row["message"] = "\n".join(told)
        serving.replace(Runs, [pl.concat([others, one_row(Runs, row).lazy()])])
    serving.finish()
    return row, findings


def _set_aside_said(serving: ServingFile) -> list[str]:
    """What is said of the rows that fail a check; nothing where none does."""
    count, first = serving.connection.execute(_FAILED, {"left_out": LEFT_OUT}).fetchall()[0]
    if not count:
        return []
    return [f"set aside, counted nowhere: {count} row{'s' * (count != 1)}, such as {first} (see the table set_aside)"]


def _run_steps(run: Run, rows: dict[str, int], costs: StageCosts) -> pl.DataFrame:
    """What each step of the graph took that was computed by this run."""
    found = [
        {
            "run_id": run.run_id,
            "step": node.name,
            "tables": [table.name for table in node.tables],
            "stage": node.stage,
            "rows_count": sum(rows.get(table.name, 0) for table in node.tables),
            "cpu_seconds": costs.of_steps[node.name],
        }
        for node in NODES
        if node.name in costs.of_steps
    ]
    return pl.DataFrame(found, schema=polars_schema(RunSteps))
