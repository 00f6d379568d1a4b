"""Runs beside the nightly one: a publish as of an instant, and one without what is erased.

The first is built aside, cached, and never made current.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from slowwave.flows.imports.connections import Imported, received_deliveries
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake, suited_engine
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.lifetime.erasure import ErasureTargets, RepeatedRows, begin_erasure, read_unfinished_erasure
from slowwave.flows.lifetime.erasure_steps import ErasurePreview, describe_targets, preview_erasure
from slowwave.flows.nightly.build import build
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, make_plan, nightly, require_texts
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan
from slowwave.flows.publish.publish import publish
from slowwave.flows.publish.run import Progress, no_progress, start_run
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.evidence.tables import DayInputs

_WAIT_SECONDS = 600


def serving_as_of(settings: Settings, as_of: datetime, progress: Progress = no_progress) -> Path:
    """The serving file of a publish as of `as_of`; the same input, params and code are built once.

    Raises UserError when nothing was ever landed, or when another writer keeps the lake for ten minutes.
    """
    lake = Lake(settings.lake_folder)
    if not lake.is_there():
        message = "nothing has been landed yet: run `slowwave land PATH` or `slowwave demo`"
        raise UserError(message)
    lake.check_format()
    cached = _find_cached_file(settings, lake, as_of)
    if cached is not None:
        return cached
    with writer_lock(settings, f"sql --as-of {as_of}", wait_seconds=_WAIT_SECONDS):
        run = start_run(settings, "as_of", progress)
        with suited_engine(run.lake):
            plan = make_plan(run, as_of)
            require_texts(run, plan)
            path = _path(settings, plan)
            built = build(run, plan)
            _, _, row = publish(run, plan, built, path)
        run.lake.write_ledger(DayInputs, run.started_at.date(), path.stem, plan.day_inputs(run.run_id))
        run.record(row)
    return path


def _find_cached_file(settings: Settings, lake: Lake, as_of: datetime) -> Path | None:
    """Found without the lock, so that a cached answer needs no writer; a compaction meanwhile only means a rebuild."""
    try:
        path = _path(settings, BuildPlan(LogAsOf(lake, as_of, settings.params()), lake.ledger(DayInputs)))
        os.utime(path)
    except OSError:
        return None
    return path


def _path(settings: Settings, plan: BuildPlan) -> Path:
    name = digest([plan.log.as_of.isoformat(), plan.input_hash, code_hash()])
    return settings.serving / "as_of" / f"{name}.duckdb"


@dataclass(frozen=True)
class ErasureNight:
    """The night that published without it, and what rows of others repeat: of one that was killed nobody knows that."""

    night: NightlyResult
    repeated: RepeatedRows


def erase(
    settings: Settings,
    targets: ErasureTargets,
    progress: Progress = no_progress,
    note: Callable[[str], None] = lambda _: None,
) -> ErasureNight | ErasurePreview:
    """Erase the targets; return only a preview where nothing of them is here any more.

    The caller holds the writer lock. An erasure that had begun and was killed is ended first, which `note` is given.

    Raises UserError where nothing of it was ever here; AuditFailedError and OSError as a night, and the next ends it.
    """
    run = start_run(settings, "land", progress)
    begun, repeated = read_unfinished_erasure(run.lake), RepeatedRows()
    if begun is not None and begun.targets != targets:
        note(f"first ending the erasure of {describe_targets(begun.targets)}, which had begun")
        _publish_without(settings, progress)
        begun = None
    if begun is None:
        land_paths(run, received_deliveries(settings, note, ends_traces=True))
        found = preview_erasure(settings, run.lake, targets)
        if found.erased_at is not None:
            return found
        begin_erasure(run.lake, found.erasure)
        repeated = found.repeated
    return ErasureNight(_publish_without(settings, progress), repeated)


def _publish_without(settings: Settings, progress: Progress) -> NightlyResult:
    run = start_run(settings, "nightly", progress)
    run.imported = Imported()  # nothing is: what is connected may hold what goes
    return nightly(run, as_of=_read_current_as_of(settings, run.lake) or run.started_at)


def _read_current_as_of(settings: Settings, lake: Lake) -> datetime | None:
    rows = read_run(lake, current_run(settings))
    return None if rows.is_empty() else rows["as_of"].item()
