"""The night shift: land the inbox, rebuild the days that changed, publish. Plain functions; Prefect only wraps them.

`stage(name, function, *arguments)` calls one stage; the flows pass one that runs it as a Prefect task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from slowwave.flows.imports.connections import Imported, received_deliveries
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.current import current_run, run_path
from slowwave.flows.lake.lake import Lake, suited_engine
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lake.misfits import explain_read_error
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.land.inbox import inbox_deliveries, inbox_otlp, passed_over
from slowwave.flows.land.land import Delivery, Landing, LandingReport, compact_landed
from slowwave.flows.land.readings import home_readings
from slowwave.flows.nightly.build import build
from slowwave.flows.nightly.room import room_to_land, room_to_publish
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan, DayPlan
from slowwave.flows.publish.run import Progress, Run, no_progress, start_run
from slowwave.flows.publish.serving import Finding, is_readable, swap_in
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import RunFiles
from slowwave.transforms.landing.tables import LANDED

if TYPE_CHECKING:
    from slowwave.flows.lifetime.erasure_steps import CompletedErasure
    from slowwave.flows.lifetime.retention import RetentionRules

__all__ = [
    "NightlyResult",
    "Progress",
    "Run",
    "backfill",
    "land_inbox",
    "land_paths",
    "nightly",
    "no_progress",
    "retry_quarantine",
    "start_run",
]


@dataclass(frozen=True)
class NightlyResult:
    """What a run did, for the screen."""

    run_id: str
    status: Literal["published", "published_incomplete", "skipped", "built"]
    message: str
    as_of: datetime
    imported: Imported | None
    landed: LandingReport
    plan: BuildPlan
    built: list[DayPlan]
    findings: list[Finding]
    serving: Path | None
    asked: str = ""
    report: str = ""  # where it is, or why it is not
    erased: CompletedErasure | None = None  # by an erasure that had begun, and is ended
    expired: str = ""  # what went by age
    engine: str = "local"  # what built the days

    @property
    def is_incomplete(self) -> bool:
        """Whether rows that failed a check were set aside."""
        return self.status == "published_incomplete"

    @property
    def is_published(self) -> bool:
        """Whether there is a new current."""
        return self.status == "published" or self.is_incomplete


def land(run: Run, deliveries: Sequence[Delivery], **options: Any) -> LandingReport:  # noqa: ANN401 - of Landing
    """Land deliveries and compact the days they touched."""
    readings = options.pop("readings", None) or home_readings(run.settings)
    deliveries, unclear = readings.to_land(deliveries)
    deliveries, too_large = room_to_land(run.lake.root, deliveries)
    not_imported = run.landed.unreadable
    landing = _landing(run, readings=readings, **options)
    landing.land(deliveries)
    run.landed.unreadable += not_imported + unclear + too_large
    compact_landed(run.lake, run.landed, run.started_at)
    return run.landed


def _landing(run: Run, **options: Any) -> Landing:  # noqa: ANN401 - of Landing
    landing = Landing(run.lake, run.run_id, progress=run.progress, longest_row=run.settings.longest_row, **options)
    run.landed = landing.report
    return landing


def import_sources(run: Run) -> None:
    """Import the connected sources into the inbox. It is slow to load, which a home without any does not need."""
    from slowwave.flows.imports.connected_sources import import_connected

    run.imported = import_connected(run.settings, run.lake, run.progress, partial(run.begin, "import"))


def land_inbox(run: Run) -> LandingReport:
    """Land what producers have dropped, and name what cannot be landed."""
    land(run, received_deliveries(run.settings, run.landed.unreadable.append))
    run.landed.passed_over = passed_over(run.settings.inbox)
    return run.landed


def retry_quarantine(run: Run, **options: Any) -> LandingReport:  # noqa: ANN401 - of Landing
    """Try again what is in quarantine, as a run of its own."""
    options.setdefault("readings", home_readings(run.settings))
    landing = _landing(run, **options)

    def retry() -> None:
        landing.retry()
        compact_landed(run.lake, run.landed, run.started_at)

    return _land_as_run(run, retry)


def land_paths(run: Run, deliveries: Sequence[Delivery], **options: Any) -> LandingReport:  # noqa: ANN401 - of Landing
    """Land deliveries as a run of its own; nothing delivered leaves no run in the ledger."""
    if not deliveries:
        return run.landed
    return _land_as_run(run, partial(land, run, deliveries, **options))


def _land_as_run(run: Run, work: Callable[[], object]) -> LandingReport:
    run.begin("land")
    try:
        work()
    except Exception as error:
        _record_failure(run, None, error)
        raise
    if run.landed.files:
        run.record(run.ledger_row("landed"))
    else:
        run.forget()
    return run.landed


def nightly(run: Run, *, as_of: datetime | None = None, full: bool = False) -> NightlyResult:
    """Import what is connected, land the inbox, ask the language model if there is one, rebuild what changed, publish.

    An explicit `as_of` asks nothing; else answers that land are seen, for `as_of` is then the end of the asking, and
    what was seen in a store is, for it is then the end of the landing.

    With nothing new and the same UTC day of `as_of`, current stays and a skipped run is recorded. An explicit `as_of`
    is always published, unless current has that very one, from the same input, params and code.

    Raises AuditFailedError when an audit failed (current stays), OSError when a disk cannot be written, UserError where
    `[retention]` cannot be used (nothing was done).
    """
    explicit = as_of is not None
    as_of = as_of or run.started_at
    asked = ""
    try:
        rules = _read_rules(run)  # a mistake in them is said before a night is made, not after
        if run.imported is None and run.settings.connections_file.exists():
            run.stage("import", import_sources, run)
        run.begin("land")
        erasing = is_erasing(run.lake.root)
        removed = run.stage("erase", _continue_erasure, run) if erasing else None
        run.stage("land", land_inbox, run)
        as_of = utc_now() if run.imported and run.imported.rows and not explicit else as_of
        if run.params.llm.model and not explicit:
            from slowwave.flows.llm.stage import asked_line, asked_of_model

            answers = run.stage("ask", asked_of_model, run)
            asked = asked_line(answers) if answers else ""
            as_of = utc_now() if answers and answers.landed else as_of
        with suited_engine(run.lake):
            plan = run.stage("plan", make_plan, run, as_of, full)
            if explicit and not erasing:  # what is erased goes, even where a clock was set back
                require_texts(run, plan)
            run.lake.add_checked_files(plan.log.checks.new(), run.started_at.date(), run.run_id)
            skip = "" if full or erasing else _nothing_new(run, plan, explicit=explicit)
            if skip:
                return _record_skipped(run, plan, skip, asked)
            room_to_publish(run.settings, plan)
            # loads what computes, which a run with nothing new does not need
            from slowwave.flows.publish.publish import publish

            built = build(run, plan, verify=full)
            path, findings, row = run.stage("publish", publish, run, plan, built, run_path(run.settings, run.run_id))
            run.lake.write_ledger(DayInputs, run.started_at.date(), run.run_id, plan.day_inputs(run.run_id))
        run.stage("swap", swap_in, run.settings, run.run_id)
        run.record(row)
    except Exception as error:
        told = explain_read_error(error, run.lake.root)
        _record_failure(run, as_of, told)
        if told is error:
            raise
        raise told from error
    from slowwave.flows.nightly.prune import prune

    erased = run.stage("erase", _complete_erasure, run, removed) if removed is not None else None
    run.stage("prune", prune, run.settings, run.lake)
    expired = _apply_retention(run, rules) if rules is not None else ""
    return NightlyResult(
        run.run_id,
        row["status"],
        "",
        as_of,
        run.imported,
        run.landed,
        plan,
        built,
        findings,
        path,
        asked,
        erased=erased,
        expired=expired,
        engine=run.engine.name,
    )


def require_texts(run: Run, plan: BuildPlan) -> None:
    """Raises UserError where a publish of the past would need texts that have expired."""
    if read_horizon(run.lake.root, "texts"):
        from slowwave.flows.lifetime import retention

        retention.require_texts(run.lake.root, plan)


def _read_rules(run: Run) -> RetentionRules | None:
    """Return the rules of `[retention]`; None where nothing goes by age. Raises UserError where they cannot be used."""
    if not run.settings.settings_file.exists():
        return None
    from slowwave.flows.lifetime.retention import read_retention_rules

    rules = read_retention_rules(run.settings)
    return rules if rules.is_any else None


def _apply_retention(run: Run, rules: RetentionRules) -> str:
    """Delete what is that old; return what went, in words."""
    from slowwave.flows.lifetime.retention import apply_retention, describe_expired

    return describe_expired(run.stage("retain", apply_retention, run.settings, run.lake, rules))


def _continue_erasure(run: Run) -> Counter[str]:
    """Take from the lake what an erasure takes that has begun. It is slow to load, which other nights do not need."""
    from slowwave.flows.lifetime.erasure_steps import continue_erasure

    return continue_erasure(run)


def _complete_erasure(run: Run, removed: Counter[str]) -> CompletedErasure | None:
    from slowwave.flows.lifetime.erasure_steps import complete_erasure

    return complete_erasure(run, removed)


def quick_night(run: Run) -> NightlyResult | None:
    """Import what is connected, and make the night where it then finds nothing new; None where there may be more to do.

    Raises OSError when a disk cannot be written.
    """
    try:
        if run.settings.connections_file.exists():
            import_sources(run)
    except Exception as error:
        _record_failure(run, run.started_at, error)
        raise
    result = _skipped_quickly(run)
    if result is None and run.reached:
        run.forget()  # it goes on as a flow, which is a run of its own
    return result


def _skipped_quickly(run: Run) -> NightlyResult | None:
    """What `nightly` makes of a run that finds nothing new, for little; None where there may be something to do.

    Whether rows have landed since the publish is inferred from the times of files first: planning reads what is new.
    """
    current = current_run(run.settings)
    is_waiting = inbox_deliveries(run.settings.inbox) or inbox_otlp(run.settings.inbox)
    if current is None or run.params.llm.model or is_waiting or is_erasing(run.lake.root):
        return None
    rows = read_run(run.lake, current)
    if rows.is_empty() or not _published_today(run, rows.row(0, named=True)):
        return None
    if _newest_change(run.lake) > rows["finished_at"].item():
        return None
    run.landed.passed_over = passed_over(run.settings.inbox)
    try:
        run.begin("plan")
        plan = make_plan(run, run.started_at)
        skip = _nothing_new(run, plan, explicit=False)
        if skip:
            return _record_skipped(run, plan, skip, "")
    except Exception as error:
        _record_failure(run, run.started_at, error)
        raise
    return None


def _published_today(run: Run, row: dict[str, Any]) -> bool:
    same = (row["params_hash"], row["code_hash"]) == (run.params.params_hash(), code_hash())
    return same and row["as_of"].date() == run.started_at.date()


def _newest_change(lake: Lake) -> datetime:
    """When the newest file of landed rows was written, by the machine's clock."""
    files = [file for table in (*LANDED, Decisions) for of_day in lake.files(table.name).values() for file in of_day]
    newest = max((file.changed_at for file in files), default=0.0)
    return datetime.fromtimestamp(newest, UTC).replace(tzinfo=None)


def _record_skipped(run: Run, plan: BuildPlan, why: str, asked: str) -> NightlyResult:
    as_of = plan.log.as_of
    run.record(run.ledger_row("skipped", as_of=as_of, message=why, input_hash=plan.input_hash))
    current = current_run(run.settings)
    return NightlyResult(run.run_id, "skipped", why, as_of, run.imported, run.landed, plan, [], [], current, asked)


def backfill(run: Run, first: date, last: date) -> NightlyResult:
    """Build the partitions of the days from `first` to `last`; current stays."""
    as_of = run.started_at
    try:
        run.begin("plan")
        plan = run.stage("plan", make_plan, run, as_of, False)
        plan.days = [day for day in plan.days if first <= day.day <= last]
        built = build(run, plan)
        run.lake.write_ledger(DayInputs, run.started_at.date(), run.run_id, plan.day_inputs(run.run_id))
        counts = {"days_count": len(plan.days), "days_built_count": len(built)}
        run.record(run.ledger_row("built", as_of=as_of, **counts))
    except Exception as error:
        _record_failure(run, as_of, error)
        raise
    return NightlyResult(
        run.run_id, "built", "", as_of, None, run.landed, plan, built, [], None, engine=run.engine.name
    )


def make_plan(run: Run, as_of: datetime, full: bool = False) -> BuildPlan:
    """What a publish as of `as_of` needs."""
    run.progress("plan", 0, 0)
    log = LogAsOf(run.lake, as_of, run.params)
    return BuildPlan(log, run.lake.ledger(DayInputs), full=full)


def _has_refused_since(lake: Lake, run_id: str) -> bool:
    """Whether rows came into the quarantine or left it after a run: `sql` shows them once they are published."""
    since = lake.ledger(RunFiles).filter((pl.col("run_id") > run_id) & (pl.col("quarantined") != 0))
    return not since.is_empty()


def _nothing_new(run: Run, plan: BuildPlan, *, explicit: bool) -> str:
    """Why current can stay; '' when it cannot."""
    current = current_run(run.settings)
    rows = read_run(run.lake, current)
    if current is None or rows.is_empty() or not is_readable(current):
        return ""
    row = rows.row(0, named=True)
    same = (row["input_hash"], row["code_hash"]) == (plan.input_hash, code_hash())
    as_of = plan.log.as_of
    if explicit:
        is_shown = same and row["as_of"] == as_of
        return f"current already shows {as_of:%Y-%m-%d %H:%M:%S}Z: same input, params and code" if is_shown else ""
    if same and row["as_of"].date() == as_of.date() and not _has_refused_since(run.lake, current.stem):
        return f"nothing new since the publish as of {row['as_of']:%Y-%m-%d %H:%M:%S}Z"
    return ""


def _record_failure(run: Run, as_of: datetime | None, error: Exception) -> None:
    """Note a failed run; on a disk that cannot be written the note is lost with the rest, and the error goes on.

    A run that failed after its swap did publish: the next run enters it from its serving file.
    """
    try:
        current = current_run(run.settings)
        if current is None or current.stem != run.run_id:
            run.record(run.ledger_row("failed", as_of=as_of, message=str(error)))
    except OSError:
        return
