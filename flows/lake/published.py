"""Where what a run published is: its serving file, the link to the current one, its report."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from slowwave.flows.kernel.settings import Settings


def run_path(settings: Settings, run_id: str) -> Path:
    """Where a run's serving file is."""
    return settings.serving / "runs" / f"{run_id}.duckdb"


def current_run(settings: Settings) -> Path | None:
    """The published serving file, or None; also where a copy that followed links left a file: it names no run."""
    try:
        target = settings.serving / os.readlink(settings.current)  # noqa: PTH115 - the link's own words, unresolved
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.EINVAL}:
            return None
        raise
    return target if target.exists() else None


def reports_folder(settings: Settings) -> Path:
    """Where reports are."""
    return settings.home / "reports"


def report_file(settings: Settings, run_id: str) -> Path:
    """Where the report of a run is, or would be."""
    return reports_folder(settings) / f"{run_id}.html"
