"""`slowwave nightly --plan`: what a night would build and publish anew, and why; it only looks."""

from __future__ import annotations

from slowwave.flows.cli.run import asked_time, tell_unread_params
from slowwave.flows.engines.settings import EngineSettings, engine_settings
from slowwave.flows.imports.connections import connections
from slowwave.flows.kernel.progress import Lines, print_lines
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake, landed_lake
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.nightly.screen import day_lines
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import PUBLISHED, params_behind
from slowwave.transforms.params import Params


def run_plan(settings: Settings, *, as_of: str | None, full: bool, **where: str | int | None) -> None:
    """Print which days a nightly run would build and why, and what params change; nothing is written.

    `where`: engine, address and workers, as far as the command names them.
    """
    from slowwave.flows.publish.build_tasks import large_days
    from slowwave.flows.publish.replay import days_bytes

    moment = asked_time("--as-of", as_of) if as_of else utc_now()
    waiting = len(inbox_deliveries(settings.inbox))
    lake, engine = landed_lake(settings), engine_settings(settings, *where.values())  # type: ignore[arg-type] - in this order
    tell_unread_params(settings)
    plan = BuildPlan(LogAsOf(lake, moment, settings.params()), lake.ledger(DayInputs), full=full)
    lines = day_lines(plan.to_build, "to rebuild", len(plan.days))
    large = large_days(plan.to_build, days_bytes(plan.log, plan.to_build), engine.memory)
    lines += [("", f"{day} is large: {count} buckets") for day, count in large.items()]
    lines += _engine_lines(engine) + _params_lines(settings, lake, plan.log.params)
    sources = format_count(len(connections(settings)), "connected source")
    lines.append(("inbox", f"{format_count(waiting, 'file')} waiting, not looked into" if waiting else "empty"))
    lines += [("imports", f"{sources}, not looked into")] if settings.connections_file.exists() else []
    print_lines(f"plan as of {utc_text(moment)}, of what has landed so far", lines)


def _engine_lines(engine: EngineSettings) -> Lines:
    if engine.name == "local":
        return []
    where = f"at {engine.address}" if engine.address else f"{format_count(engine.workers, 'worker')} started here"
    return [("engine", f"{engine.name}, {where}")]


def _params_lines(settings: Settings, lake: Lake, params: Params) -> Lines:
    """That params are not those of the last publish, which keeps their digest alone; and what those stated decide."""
    rows = read_run(lake, current_run(settings))
    if rows.is_empty() or rows["params_hash"].item() == params.params_hash():
        return []
    lines = [("params", "changed since the last publish: every table is published anew")]
    for name in params.differing():
        tables = [table.name for table in PUBLISHED if _is_behind(name, params_behind(table))]
        lines += [("", f"{name} is not at its default: it decides {', '.join(tables)}")] if tables else []
    return lines


def _is_behind(name: str, behind: frozenset[str]) -> bool:
    return any(f"{name}.".startswith(f"{one}.") for one in behind)
