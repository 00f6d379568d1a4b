"""What around a home could keep the nightly run from working: the clock, the Prefect server, the versions."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from importlib import metadata
from platform import python_version
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import in_words, utc_text
from slowwave.flows.lake.lake import Lake, microseconds
from slowwave.transforms.landing.ledger_tables import RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED

_SERVER_SECONDS = 2.0
_CLOCK_TOLERANCE = timedelta(minutes=1)
_SHOWN_PACKAGES = ("duckdb", "polars", "prefect", "pyarrow", "pydantic")


def clock_line(lake: Lake, now: datetime) -> CheckLine:
    """Whether the clock has gone back since the last run, or rows come from clocks that run ahead."""
    runs, files = lake.ledger(Runs), lake.ledger(RunFiles)
    noted = [*runs["started_at"], *runs["finished_at"], *files["landed_at"]]
    newest = max((time for time in noted if time is not None), default=None)
    if newest is not None and newest - now > _CLOCK_TOLERANCE:
        says = f"this machine's clock says {utc_text(now)}, but a run was noted at {utc_text(newest)}"
        return CheckLine("clock", "error", says, "set the clock: runs are put in order by it")
    listed = [file for table in LANDED for of_day in lake.files(table.name).values() for file in of_day]
    ahead = sum(file.newest_us > microseconds(now) for file in listed)
    if ahead:
        files = format_count(ahead, "landed file holds", "landed files hold")
        says = f"{files} rows of the future: a producer's clock runs ahead, or this one is behind"
        return CheckLine("clock", "warn", says, "set the clock that is wrong; such rows are not seen before their time")
    return CheckLine(
        "clock", "ok", f"the last run was noted {in_words(now - newest)}" if newest else "no run to compare it with"
    )


def prefect_server_line() -> CheckLine:
    """Whether the Prefect server that flows will call answers; only its host is named, the rest may hold a password."""
    address = os.environ.get("PREFECT_API_URL", "").strip()
    if not address:
        return CheckLine("prefect server", "ok", "PREFECT_API_URL is not set: each flow starts a server of its own")
    todo = "start it (`prefect server start`), or unset PREFECT_API_URL"
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return CheckLine("prefect server", "error", "PREFECT_API_URL is no http(s) address", todo)
    # A proxy for the way out is no way to a server on this machine.
    proxies = urllib.request.ProxyHandler({} if parts.hostname in {"localhost", "127.0.0.1", "::1"} else None)
    try:
        opener = urllib.request.build_opener(proxies)
        with opener.open(f"{address.rstrip('/')}/health", timeout=_SERVER_SECONDS):
            return CheckLine("prefect server", "ok", f"{parts.hostname} answers")
    except urllib.error.HTTPError as error:
        return CheckLine("prefect server", "warn", f"{parts.hostname} answers with {error.code}", todo)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return CheckLine("prefect server", "error", f"{parts.hostname} does not answer: {reason}", todo)


def versions_line() -> CheckLine:
    """Whether Python and the packages are of the versions this one was made for."""
    wanted = [Requirement(text) for text in metadata.requires("slowwave") or []]
    wrong = []
    if python_version() not in SpecifierSet(metadata.metadata("slowwave")["Requires-Python"] or ""):
        wrong.append(f"python is {python_version()}")
    found = {}
    for need in wanted:
        if need.marker is not None and not need.marker.evaluate():
            continue
        try:
            found[need.name] = metadata.version(need.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{need.name} is not installed (wanted {need.specifier})")
            continue
        if not need.specifier.contains(found[need.name], prereleases=True):
            wrong.append(f"{need.name} is {found[need.name]} (wanted {need.specifier})")
    if wrong:
        return CheckLine("versions", "error", "; ".join(wrong), "install the locked versions: requirements.lock")
    shown = [f"{name} {found[name]}" for name in _SHOWN_PACKAGES if name in found]
    return CheckLine("versions", "ok", f"python {python_version()}, {', '.join(shown)}")
