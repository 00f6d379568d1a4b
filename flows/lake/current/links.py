"""The serving files of a home, and the link to the current one."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import TEMPORARY, fsync_path

KEEP_RUNS = 7
GRACE_SECONDS = 24 * 3600.0


def run_path(settings: Settings, run_id: str) -> Path:
    """Where a run's serving file is."""
    return settings.serving / "runs" / f"{run_id}.duckdb"


def linked_run(settings: Settings) -> Path | None:
    """The serving file that is linked as current, or None; also where a copy that followed links left a file."""
    try:
        target = settings.serving / os.readlink(settings.current)  # noqa: PTH115 - the link's own words, unresolved
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.EINVAL}:
            return None
        raise
    return target if target.exists() else None


def old_runs(settings: Settings, current: Path | None, keep: int) -> list[Path]:
    """Serving files that may go: all but current and the `keep` newest others.

    None goes earlier than 24 hours after it ceased to be current: somebody may still be reading, or comparing.
    """
    others = [path for path in settings.serving.glob("runs/*.duckdb") if path != current]
    others.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [path for path in others[keep:] if path.stat().st_mtime < time.time() - GRACE_SECONDS]


def link_current(settings: Settings, run_id: str) -> None:
    """Make a run's file the current one of this home. Readers see the old file or the new one, never neither.

    The file that ceases to be current is touched, so that its age since then can be known.
    """
    before = linked_run(settings)
    link = settings.serving / f".current.{os.getpid()}{TEMPORARY}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path("runs") / f"{run_id}.duckdb")
    if before is not None:
        os.utime(before)
    link.rename(settings.current)
    fsync_path(settings.serving)
