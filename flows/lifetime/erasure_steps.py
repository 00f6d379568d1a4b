"""The steps of an erasure: previewed, taken from the lake, and, once a night has published without it, completed.

One that was killed in the midst is continued by the next night, or by the same command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import ensure_hash_key, read_tombstones
from slowwave.flows.lifetime.erasure import (
    Erasure,
    ErasureTargets,
    RepeatedRows,
    end_erasure,
    make_tombstones,
    plan_erasure,
    read_unfinished_erasure,
)
from slowwave.flows.lifetime.home_erasure import HomeErasure, erase_from_home, find_superseded_files
from slowwave.flows.lifetime.lake_erasure import erase_from_lake
from slowwave.flows.publish.run import Run
from slowwave.transforms.decisions.effects import decision_rows
from slowwave.transforms.landing.decisions_table import Decisions


@dataclass(frozen=True)
class ErasurePreview:
    """What would go: rows by landed table in `erasure`, all else by place in `removed`; and what rows of others repeat.

    `erased_at`: when all of it was erased before, if nothing of it is there.
    """

    erasure: Erasure
    repeated: RepeatedRows
    removed: Counter[str]
    erased_at: datetime | None = None


@dataclass(frozen=True)
class CompletedErasure:
    """What came of an erasure: rows removed from each table of the lake, and what came of the rest of the home."""

    erasure: Erasure
    removed: Counter[str]
    home: HomeErasure


def preview_erasure(settings: Settings, lake: Lake, targets: ErasureTargets) -> ErasurePreview:
    """Return what would go. Raises UserError where nothing of it was ever here."""
    erasure, repeated = plan_erasure(lake, targets)
    removed = erase_from_lake(lake, erasure, rehearses=True)
    if not removed and not erasure.rows:
        at = _read_erasure_time(lake, targets)
        if at is None:
            message = (
                f"nothing of {describe_targets(targets)} has landed (nothing was changed): name an id as rows state it"
            )
            raise UserError(message)
        if not _has_older_files(settings, at):
            return ErasurePreview(erasure, repeated, removed, at)
        # another home over the lake erased it, and what this one published may still hold it
    removed += Counter(sort for sort, path in find_superseded_files(settings) if not path.is_symlink())
    return ErasurePreview(erasure, repeated, removed)


def continue_erasure(run: Run) -> Counter[str]:
    """Take from the lake what an erasure takes that has begun. Raises OSError as the disk does."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return Counter()
    _land_tombstones(run.lake, erasure)
    return erase_from_lake(run.lake, erasure)


def complete_erasure(run: Run, removed: Counter[str]) -> CompletedErasure | None:
    """Once it is published without: take it from the rest of the home, search all files, and end the erasure."""
    erasure = read_unfinished_erasure(run.lake)
    if erasure is None:
        return None
    home = erase_from_home(run.settings, run.lake, erasure)
    end_erasure(run.lake)
    return CompletedErasure(erasure, removed, home)


def describe_targets(targets: Sequence[tuple[str, str]]) -> str:
    """Return what was named, in words."""
    return ", ".join(f"{kind} {quote_shortened(name)}" for kind, name in targets)


def _land_tombstones(lake: Lake, erasure: Erasure) -> None:
    rows = decision_rows(make_tombstones(erasure, ensure_hash_key(lake.root)))
    day = erasure.begun_at.date()
    there = lake.row_hashes(Decisions, [day])
    fresh = rows.filter(~pl.col("row_hash").is_in(there.implode()))
    if fresh.height:
        lake.write_rows(Decisions, day, fresh)
        lake.compact(Decisions, day)


def _read_erasure_time(lake: Lake, targets: ErasureTargets) -> datetime | None:
    """Return when the last of them was erased; None where one was not."""
    tombstones = read_tombstones(lake.root)
    times = [tombstones.erased_at(kind, name) if tombstones else None for kind, name in targets]
    found = [time for time in times if time is not None]
    return max(found) if len(found) == len(times) else None


def _has_older_files(settings: Settings, at: datetime) -> bool:
    """Return whether anything that this home published, or made of it, is from before an instant."""
    current = current_run(settings)
    paths = [path for _, path in find_superseded_files(settings)] + ([current] if current else [])
    return any(path.lstat().st_mtime < at.replace(tzinfo=UTC).timestamp() for path in paths)
