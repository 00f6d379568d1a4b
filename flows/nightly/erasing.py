"""`slowwave lake erase`: what would go; then the inbox lands, what goes is noted, a night publishes without it.

The night as of which it publishes is that of current: nothing differs but what was erased.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from slowwave.flows.imports.connections import Imported, received_deliveries
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.lake.erased.hashes import erased_keys
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.published import current_run
from slowwave.flows.life.erasure import Erasure, Repeated, begin, plan_erasure, read_unfinished_erasure
from slowwave.flows.life.from_home import before_files
from slowwave.flows.life.from_lake import take_from_lake
from slowwave.flows.life.imported import take_from_imports
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, nightly
from slowwave.flows.publish.run import Progress, no_progress, start_run
from slowwave.transforms.landing.ledger_tables import Runs

# Kind (user, session, interaction or memory) and id.
Asked = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ErasurePreview:
    """What would go: rows by landed table in `erasure`, all else by place in `gone`; and what rows of others repeat.

    `erased_at`: when all of it was erased before, if nothing of it is there.
    """

    erasure: Erasure
    repeated: Repeated
    gone: Counter[str]
    erased_at: datetime | None = None


@dataclass(frozen=True)
class Erasing:
    """The night that published without it, and what rows of others repeat: of one that was killed nobody knows that."""

    night: NightlyResult
    repeated: Repeated


def preview(settings: Settings, lake: Lake, asked: Asked) -> ErasurePreview:
    """What would go. Raises UserError where nothing of it was ever here."""
    erasure, repeated = plan_erasure(lake, asked)
    gone = take_from_lake(lake, erasure, rehearses=True)
    gone["imports"] += take_from_imports(lake, erasure.sought, rehearses=True)
    gone = +gone
    if not gone and not erasure.rows:
        at = _erased_at(lake, asked)
        if at is None:
            message = (
                f"nothing of {describe_targets(asked)} has landed (nothing was changed): name an id as rows state it"
            )
            raise UserError(message)
        if not _is_older(settings, at):
            return ErasurePreview(erasure, repeated, gone, at)
        # another home over the lake erased it, and what this one published may still hold it
    return ErasurePreview(
        erasure, repeated, gone + Counter(sort for sort, path in before_files(settings) if not path.is_symlink())
    )


def erase(
    settings: Settings,
    asked: Asked,
    progress: Progress = no_progress,
    note: Callable[[str], None] = lambda _: None,
) -> Erasing | ErasurePreview:
    """Erase it; what was found where nothing of it is here any more. The caller holds the writer lock.

    An erasure that had begun and was killed is ended first; `note` is told.

    Raises UserError where nothing of it was ever here; AuditFailedError and OSError as a night, and the next ends it.
    """
    run = start_run(settings, "land", progress)
    before, repeated = read_unfinished_erasure(run.lake), Repeated()
    if before is not None and before.asked != asked:
        note(f"first ending the erasure of {describe_targets(before.asked)}, which had begun")
        _night(settings, progress)
        before = None
    if before is None:
        land_paths(run, received_deliveries(settings, note, ends_traces=True))
        found = preview(settings, run.lake, asked)
        if found.erased_at is not None:
            return found
        begin(run.lake, found.erasure)
        repeated = found.repeated
    return Erasing(_night(settings, progress), repeated)


def _is_older(settings: Settings, at: datetime) -> bool:
    """Whether anything that this home published, or made of it, is from before an instant."""
    current = current_run(settings)
    paths = [path for _, path in before_files(settings)] + ([current] if current else [])
    return any(path.lstat().st_mtime < at.replace(tzinfo=UTC).timestamp() for path in paths)


def _night(settings: Settings, progress: Progress) -> NightlyResult:
    run = start_run(settings, "nightly", progress)
    run.imported = Imported()  # nothing is: what is connected may hold what goes
    return nightly(run, as_of=_as_of_current(settings, run.lake) or run.started_at)


def _as_of_current(settings: Settings, lake: Lake) -> datetime | None:
    current = current_run(settings)
    rows = lake.ledger(Runs).filter(pl.col("run_id") == (current.stem if current else ""))
    return None if rows.is_empty() else rows["as_of"].item()


def _erased_at(lake: Lake, asked: Asked) -> datetime | None:
    keys = erased_keys(lake.root)
    times = [keys.erased_at(kind, name) if keys else None for kind, name in asked]
    found = [time for time in times if time is not None]
    return max(found) if len(found) == len(times) else None


def describe_targets(asked: Sequence[tuple[str, str]]) -> str:
    """What was named, in words."""
    return ", ".join(f"{kind} {quote_shortened(name)}" for kind, name in asked)
