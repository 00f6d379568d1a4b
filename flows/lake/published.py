"""Where what a run published is: its serving file, the link to the current one, its report."""

from __future__ import annotations

from pathlib import Path

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current.links import linked_run, run_path
from slowwave.flows.lake.current.pointer import bucket_of, follow

__all__ = ["current_run", "report_file", "reports_folder", "run_path"]


def current_run(settings: Settings) -> Path | None:
    """The published serving file, or None; also where a copy that followed links left a file: it names no run.

    Of a lake in a bucket the pointer there says which, and it is fetched where this home has not got it.
    """
    bucket = bucket_of(settings)
    if bucket is not None:
        follow(settings, bucket)
    return linked_run(settings)


def reports_folder(settings: Settings) -> Path:
    """Where reports are."""
    return settings.home / "reports"


def report_file(settings: Settings, run_id: str) -> Path:
    """Where the report of a run is, or would be."""
    return reports_folder(settings) / f"{run_id}.html"
