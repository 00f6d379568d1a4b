"""`slowwave report` and the end of a night: the morning report of a publish, written as one HTML file.

It lies in `reports/<run>.html`, and `reports/latest.html` is a link to that of current. Reports outlive the serving
files they were made from; `prune` keeps the newest.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Literal

import duckdb
import typer

from slowwave.flows.ask.connection import OTHER_RELEASE, error_lines, find_run, is_of_another_release, locked_connection
from slowwave.flows.ask.narrowed import EVERYTHING, Narrowed, narrow
from slowwave.flows.kernel.doors import outside
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.lake.current import current_run, report_file

STANDARD_OUTPUT = "-"
_LATEST = "latest.html"
_MOST_SECONDS = 600
_SHOWN_REASON = 300


Form = Literal["html", "md", "slack", "png"]


def run_report(
    settings: Settings, run: str, to: str | None, narrowed: Narrowed = EVERYTHING, form: Form = "html"
) -> None:
    """Write the report of a run into `to` (None: into the reports folder) and print where; `-` prints the report.

    `narrowed`: whose memories it tells of. `form`: the whole page, or its six answers for mail and chat, which are
    printed unless `to` names a file.

    Raises UserError when nothing is published, there is no such run, or its file is damaged, typer.BadParameter when a
    report on some memories only would stand where that on all belongs.
    """
    if form != "html":
        _give_brief(settings, run, to, narrowed, form)
        return
    if narrowed and to is None:
        message = "--user, --agent and --tag need --to FILE: reports/<run>.html tells of all memories"
        raise typer.BadParameter(message)
    serving = find_run(settings, run)
    if to == STANDARD_OUTPUT:
        typer.echo(_report_of(serving, narrowed), nl=False)
    elif to is None:
        typer.echo(str(write_report(settings, serving)))
    else:
        _write_to(Path(to), _report_of(serving, narrowed))
        typer.echo(to)


def _give_brief(settings: Settings, run: str, to: str | None, narrowed: Narrowed, form: Form) -> None:
    """Print the six answers of a run, or write them into a file and print where."""
    if form == "png" and to is None:
        message = "a picture goes into a file: --to FILE, or --to - for standard output"
        raise typer.BadParameter(message)
    report = _report_of(find_run(settings, run), narrowed, form)
    if to is None or to == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(report)
        sys.stdout.buffer.flush()
    else:
        _write_to(Path(to), report)
        typer.echo(to)


def _write_to(path: Path, report: bytes) -> None:
    """Write the report into a file, or through a link to one; into a pipe or device as it comes."""
    if path.is_dir():
        message = f"{path} is a folder: name a file in it"
        raise UserError(message)
    with outside():
        _write_report_to(path, report)


def _write_report_to(path: Path, report: bytes) -> None:
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        path.write_bytes(report)
    else:
        write_durably(path.resolve(), lambda aside: aside.write_bytes(report))


def write_report(settings: Settings, serving: Path) -> Path:
    """Write the report of a serving file where it belongs; of current, `latest.html` leads to it from then on.

    Nobody ever sees half of it, and no lock is needed: two who write it write the same.

    Raises UserError when the file is damaged, OSError when the disk cannot be written.
    """
    report, path = _report_of(serving), report_file(settings, serving.stem)
    write_durably(path, lambda aside: aside.write_bytes(report))
    current = current_run(settings)
    if current is not None and current.stem == serving.stem:
        write_durably(path.with_name(_LATEST), lambda aside: aside.symlink_to(path.name))
    return path


def ensure_current_report(settings: Settings) -> str:
    """Write the report of current if it is not there, and say where it is, or why it is not; '' before any publish.

    A process of its own draws it: whatever ends that, or keeps it from ending, is said and no more. The publish stands.
    """
    serving = current_run(settings)
    if serving is None:
        return ""
    path = report_file(settings, serving.stem)
    if path.exists():
        return str(path)
    try:
        with stage_cost("report"):
            done = _run_report_process(settings, serving)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _not_written(str(error))
    if done.returncode == 0:
        return str(path)
    said = done.stderr.strip().splitlines()
    return _not_written(said[-1].removeprefix("slowwave: ") if said else f"exit code {done.returncode}")


def _run_report_process(settings: Settings, serving: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-P", "-m", "slowwave.flows.cli.main", "report", "--run", serving.stem],
        env={**os.environ, "SLOWWAVE_HOME": str(settings.home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_MOST_SECONDS,
        check=False,
    )


def _not_written(reason: str) -> str:
    return f"not written: {shorten_to_width(reason, _SHOWN_REASON)}; `slowwave report` tries again"


def _report_of(serving: Path, narrowed: Narrowed = EVERYTHING, form: Form = "html") -> bytes:
    # charts take a second to load, and the status needs none
    from slowwave.dashboards.report.page import brief, report_html

    try:
        with locked_connection(serving) as connection:
            narrow(connection, narrowed)
            if form != "html":
                return brief(connection, serving.stem, form)
            return report_html(connection, serving.stem, str(narrowed)).encode()
    except (duckdb.Error, ValueError) as error:
        said = str(error)
        if isinstance(error, duckdb.Error):
            said = OTHER_RELEASE if is_of_another_release(error) else error_lines(error)
        message = f"{serving} cannot be reported on: {said}"
        raise UserError(message) from error
