"""Removing what nothing needs: old serving files, the partitions only they named, kept bytes of rows that passed."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import TEMPORARY, write_durably
from slowwave.flows.kernel.times import is_run_id
from slowwave.flows.lake.current import (
    GRACE_SECONDS,
    KEEP_RUNS,
    bucket_of,
    current_run,
    old_runs,
    published_path,
    report_file,
    reports_folder,
)
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.run_ledger import partition_names
from slowwave.flows.land.quarantine import forget_resolved_bytes
from slowwave.flows.publish.states import superseded_states
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE, STATES

_KEEP_AS_OF = 5
# Reports are small, and tell of runs whose serving files are gone: more than a year of nights.
_KEEP_REPORTS = 400
# A home over the same lake that has had no night for so long keeps nothing in it any more.
_OTHER_HOMES = timedelta(days=90)


@dataclass
class Pruned:
    """What was removed."""

    serving_files: int = 0
    partitions: int = 0
    bytes: int = 0


def prune(settings: Settings, lake: Lake, keep: int = KEEP_RUNS) -> Pruned:
    """Remove all but current and the `keep` newest other runs; nothing within 24 hours of ceasing to be current.

    Evidence partitions stay as long as a run names them that this or another home over the lake keeps.
    The caller holds the writer lock.
    """
    pruned = Pruned()
    young = time.time() - GRACE_SECONDS
    for path in old_runs(settings, current_run(settings), keep):
        _remove(path, pruned)
        pruned.serving_files += 1
    cached = sorted(settings.serving.glob("as_of/*.duckdb"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in cached[_KEEP_AS_OF:]:
        _remove(path, pruned)
        pruned.serving_files += 1
    for left in [*settings.serving.glob(f".*{TEMPORARY}"), *settings.serving.glob(f"*/.*{TEMPORARY}*")]:
        if left.is_file() or left.is_symlink():
            left.unlink(missing_ok=True)
    _prune_reports(settings, young, pruned)
    _prune_published(settings, keep, young)
    _prune_partitions(settings, lake, young, pruned)
    _prune_states(lake, young, pruned)
    pruned.bytes += forget_resolved_bytes(lake, young)
    _note_kept_runs(settings, lake)  # last: on a full disk, there is room for it now
    bucket = bucket_of(settings)
    if bucket is not None:
        bucket.sweep()
    return pruned


def _prune_published(settings: Settings, keep: int, young: float) -> None:
    """In a bucket, remove all but current and the newest other serving files there."""
    bucket, current = bucket_of(settings), current_run(settings)
    if bucket is None or current is None:
        return
    there = sorted(bucket.files(published_path(settings, current.stem).parent), reverse=True)
    others = [path for path in there if path.stem != current.stem]
    bucket.remove(path for path in others[keep:] if bucket.changed_at(path) < young)


def _prune_reports(settings: Settings, young: float, pruned: Pruned) -> None:
    """Remove all but the newest reports and that of current; files under other names are not ours."""
    folder, current = reports_folder(settings), current_run(settings)
    kept = report_file(settings, current.stem) if current else None
    ours = sorted((path for path in folder.glob("*.html") if is_run_id(path.stem)), reverse=True)
    for path in ours[_KEEP_REPORTS:]:
        if path != kept and path.stat().st_mtime < young:
            _remove(path, pruned)
    for left in folder.glob(f".*{TEMPORARY}"):  # `slowwave report` takes no lock: a young one may be at work
        if left.lstat().st_mtime < young:
            left.unlink(missing_ok=True)


def _prune_partitions(settings: Settings, lake: Lake, young: float, pruned: Pruned) -> None:
    kept_runs = _kept_by_homes(settings, lake)
    storage = storage_of(lake.root)
    noted = [file for files in lake.files(DayInputs.name).values() for file in files]
    storage.remove(file.path for file in noted if file.path.stem not in kept_runs and file.changed_at < young)
    wanted = set(partition_names(lake.ledger(DayInputs)).iter_rows())
    unwanted = [
        file
        for table in EVIDENCE
        for day, files in lake.files(f"evidence/{table.name}").items()
        for file in files
        if (table.name, day, file.path.stem) not in wanted
    ]
    pruned.bytes += sum(file.size for file in unwanted)
    pruned.partitions += len(unwanted)
    storage.remove(file.path for file in unwanted)


def _prune_states(lake: Lake, young: float, pruned: Pruned) -> None:
    old = [file for state in STATES for file in superseded_states(lake, state) if file.changed_at < young]
    pruned.bytes += sum(file.size for file in old)
    storage_of(lake.root).remove(file.path for file in old)


def _kept_by_homes(settings: Settings, lake: Lake) -> set[str]:
    """The runs that this home keeps, and those that other homes over the lake have noted there."""
    since, ours = time.time() - _OTHER_HOMES.total_seconds(), _note_path(settings, lake)
    storage = storage_of(ours)
    noted = [path for path in storage.files(ours.parent) if path != ours and storage.changed_at(path) >= since]
    return _kept_here(settings).union(*(storage.read(path).decode().split() for path in noted))


def _note_kept_runs(settings: Settings, lake: Lake) -> None:
    """Note in the lake which runs this home keeps, so that other homes over it leave their partitions."""
    text = "".join(f"{run}\n" for run in sorted(_kept_here(settings)))
    write_durably(_note_path(settings, lake), lambda aside: aside.write_text(text))


def _kept_here(settings: Settings) -> set[str]:
    bucket = bucket_of(settings)
    published = bucket.files(published_path(settings, "any").parent) if bucket else []
    return {path.stem for path in (*settings.serving.glob("*/*.duckdb"), *published)}


def _note_path(settings: Settings, lake: Lake) -> Path:
    home = os.fsencode(settings.home.absolute())
    if bucket_of(settings) is not None:  # which several machines use, each with a home of that name
        home = socket.gethostname().encode() + b":" + home
    return lake.root / "kept_runs" / hashlib.sha256(home).hexdigest()


def _remove(path: Path, pruned: Pruned) -> None:
    pruned.bytes += path.stat().st_size
    path.unlink(missing_ok=True)
