"""The night of `slowwave lake erase`: the inbox lands, what goes is written down, and it publishes without that.

It publishes as of when current does: nothing differs but what was erased.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from slowwave.flows.imports.connections import Imported, received_deliveries
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.run_ledger import read_run
from slowwave.flows.lifetime.erasure import ErasureTargets, RepeatedRows, begin_erasure, read_unfinished_erasure
from slowwave.flows.lifetime.erasure_steps import ErasurePreview, describe_targets, preview_erasure
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, nightly
from slowwave.flows.publish.run import Progress, no_progress, start_run


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
