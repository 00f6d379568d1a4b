"""Connected sources: what lies where programs usually keep logs, and the import of what is connected.

What has not changed since, by the times of files, is not read.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from slowwave.flows.imports.connections import Connection, Imported, LastRead, connections, keep_last_reads, last_reads
from slowwave.flows.imports.files import IDLE_SECONDS
from slowwave.flows.imports.importer import (
    ImportOptions,
    ImportReport,
    found_by,
    importer,
    project_map,
    source_settings,
)
from slowwave.flows.imports.recognition import why_no_rows
from slowwave.flows.imports.sources import SOURCES, Source, is_store, source_named
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import shown_name
from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.secrets import clean_value

# ------------------------------------------------------------------------------------------
# What lies where the programs that can be imported from usually keep it: counted, and not read.


@dataclass(frozen=True)
class DetectedSource:
    """Files of a source under one path: how many, their bytes, and when the first and the last were written, UTC."""

    source: Source
    path: Path
    files_count: int
    bytes_count: int
    oldest: datetime
    newest: datetime


def detect_source_at(source: Source, path: Path) -> DetectedSource | None:
    """The files of a source under a path; None where there are none, or they cannot be listed."""
    try:
        states = [file.stat() for file in source.list_files(path)] if path.exists() else []
    except OSError:
        return None
    if not states:
        return None
    times = [state.st_mtime for state in states]
    return DetectedSource(
        source, path.absolute(), len(states), sum(state.st_size for state in states), _utc(min(times)), _utc(max(times))
    )


def detect_sources() -> list[DetectedSource]:
    """What is found where each source usually lies, each place once."""
    found: dict[tuple[str, Path], DetectedSource] = {}
    for source in SOURCES:
        for root in source.roots:
            place = os.path.expandvars(os.path.expanduser(root))  # noqa: PTH111 - a Path keeps no variables
            one = detect_source_at(source, Path(place))
            if one is not None:
                found.setdefault((source.name, one.path.resolve()), one)
    return list(found.values())


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


# ------------------------------------------------------------------------------------------
# The connected sources are imported: what has not changed since, by the times of files, is not read.


def import_connected(
    settings: Settings, lake: Lake, progress: Callable[[str, int, int], None], begin: Callable[[], None]
) -> Imported:
    """Import every connected source that has changed, or that could not be read last time, into the inbox.

    A source that fails is a warning with its reason. `begin` is called before the first is read. The caller holds the
    writer lock. Raises OSError where our own disk cannot be written.
    """
    imported = Imported()
    try:
        listed = connections(settings)
    except UserError as error:
        imported.warnings.append(str(error))
        return imported
    before = last_reads(lake.root)
    after = {one.key: before.get(one.key, LastRead()) for one in listed}
    for connection in listed:
        stamp = _stamp(connection, settings)
        last = after[connection.key]
        if stamp and last.stamp == stamp:
            imported.unchanged += 1
            continue
        begin()
        report, said = _import_connection(connection, settings, lake, progress)
        warnings = [clean_value(one, Counter()) for one in said]  # they are kept, and may name files
        imported.read += 1
        imported.rows.update(report.tally.kinds)
        kept = "" if warnings else stamp
        after[connection.key] = LastRead(kept, utc_iso(utc_now()), warnings)
        keep_last_reads(lake.root, after)
    for connection in listed:
        imported.warnings += [f"{connection.source}: {said}" for said in after[connection.key].warnings]
    if after.keys() != before.keys():
        keep_last_reads(lake.root, after)
    return imported


def _import_connection(
    connection: Connection, settings: Settings, lake: Lake, progress: Callable[[str, int, int], None]
) -> tuple[ImportReport, list[str]]:
    """What an import made, and what kept it from more."""
    source = source_named(connection.source)
    if source is None:
        return ImportReport(), [f"there is no such importer: correct it in {settings.connections_file}"]
    if not connection.place.exists():
        return ImportReport(), [f"{connection.path} is not there: it was moved, or its disk is not mounted"]

    def report_progress(done: int, total: int) -> None:
        progress("import", done // 10**6, total // 10**6)

    try:
        options = ImportOptions(
            projects=project_map(connection.project_map), settings=source_settings(settings, source.name)
        )
        at_work = importer(settings, lake, source, options, progress=report_progress)
        found = found_by(settings, source, [connection.place], options)
    except UserError as error:
        return ImportReport(), [str(error)]
    try:
        report = at_work.run(found)
    except UserError as error:
        return at_work.report, [str(error)]
    why = why_no_rows(source, report, [connection.place])
    if at_work.cursors is not None and report.units and not why:
        at_work.cursors.save()  # its deliveries are in the inbox, which nobody else takes them from
    return report, [*report.faults, *([why] if why else [])]


def _stamp(connection: Connection, settings: Settings) -> str:
    """How the files of a connection stand, and how they are read; '' where they are to be looked at in any case.

    So they are while a transcript was written to within the last hour: its last turn may be over since.
    """
    source = source_named(connection.source)
    if source is None:
        return ""
    try:
        files = source.list_files(connection.place)
        settings_said = repr(source_settings(settings, source.name))
        states = [(file, file.stat()) for file in _with_logs(source, files)]
        projects = sorted(project_map(connection.project_map).items())
    except (OSError, UserError):
        return ""
    if not is_store(source) and any(time.time() - state.st_mtime < IDLE_SECONDS for _, state in states):
        return ""
    stamp = sha256(f"{source.name} {source.adapter.version} {settings_said} {projects}".encode())
    for file, state in states:
        report_progress = f"\0{shown_name(file)}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ctime_ns}"
        stamp.update(report_progress.encode())
    return stamp.hexdigest()


def _with_logs(source: Source, files: Iterable[Path]) -> list[Path]:
    """With the write-ahead logs of stores that are not empty."""
    if not is_store(source):
        return [*files]
    logs = (Path(f"{file}-wal") for file in files)
    return [*files, *(log for log in logs if log.exists() and log.stat().st_size)]
