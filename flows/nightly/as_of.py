"""What a publish at some instant would have shown: built aside, cached, never made current."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake, suited_engine
from slowwave.flows.nightly.build import build
from slowwave.flows.nightly.nightly import make_plan, require_texts
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
