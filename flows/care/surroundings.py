"""What could keep a nightly run from working: clock, Prefect, versions, engine, settings, what a bucket can do."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from importlib import metadata
from platform import python_version
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from slowwave.flows.engines.cluster import require_engine
from slowwave.flows.engines.engine import opened_cluster
from slowwave.flows.engines.settings import engine_settings
from slowwave.flows.imports.importer import source_settings
from slowwave.flows.imports.sources import SOURCES
from slowwave.flows.kernel.checks import CheckLine, run_check
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.client import BucketClient
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import in_words, utc_text
from slowwave.flows.lake.lake import Lake, microseconds
from slowwave.flows.land.readings import keeps_unknown
from slowwave.flows.lifetime.retention import read_retention_rules
from slowwave.flows.publish_to.target import settled_target
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


def engine_line(settings: Settings) -> CheckLine:
    """Whether the engine of the settings is there, and its cluster answers and has workers."""
    chosen = engine_settings(settings)
    memory = f"{chosen.memory / 1e9:g} GB each"
    try:
        require_engine(chosen)
        if chosen.address:
            with opened_cluster(chosen) as cluster:
                places = cluster.places()
            todo = "start workers there, or no night can be built"
            says = f"{chosen.name} answers at {chosen.address}: {format_count(places, 'task')} at once, {memory}"
            return CheckLine("engine", "ok" if places else "error", says, "" if places else todo)
    except UserError as error:
        todo = f"do what this says, or change [engine] in {settings.settings_file}"
        return CheckLine("engine", "error", str(error), todo)
    if chosen.name == "local":
        return CheckLine(
            "engine", "ok", f"local: nights are built in their own process, {memory.removesuffix(' each')}"
        )
    return CheckLine(
        "engine", "ok", f"{chosen.name}: {format_count(chosen.workers, 'worker')} are started here, {memory}"
    )


def settings_line(settings: Settings) -> CheckLine:
    """Whether what a night reads there can be used: a mistake is found before a night is stopped by it."""
    if not settings.settings_file.exists():
        return CheckLine("settings", "ok", "all at their defaults")
    try:
        read_retention_rules(settings)
        keeps_unknown(settings)
        source_settings(settings, SOURCES[0].name)
        settled_target(settings)
    except UserError as error:
        return CheckLine("settings", "error", str(error), f"mend {settings.settings_file}")
    return CheckLine("settings", "ok", f"{settings.settings_file} can be used")


def unusable_lines(settings: Settings) -> list[CheckLine]:
    """Return a line for each of `params.toml` and `settings.toml` that says what no command can use; none if all is."""
    lines = [
        run_check("params", lambda: _params_line(settings)),
        run_check("settings", lambda: settings_line(settings)),
    ]
    # rows land and what is published can be read all the same
    return [replace(line, state="warn") for line in lines if line.state != "ok"]


def _params_line(settings: Settings) -> CheckLine:
    try:
        settings.params()
    except WrongUsageError as error:
        return CheckLine("params", "warn", str(error), f"mend {settings.params_file}: no night is published until then")
    return CheckLine("params", "ok", "")


_PROBE = ".doctor"


def bucket_lacks(client: BucketClient) -> list[str]:
    """What cannot be done, each as a verb with the reason; [] when the bucket will do.

    Raises BucketError where it cannot even be listed.
    """
    client.holds_any()
    first, second = (f"{step} {uuid.uuid4().hex}".encode() for step in ("first", "second"))
    tags: list[str | None] = [None]

    def create() -> bool:
        tags[0] = client.write_if(key, first, None)
        return tags[0] is not None

    key = f"{_PROBE}/{uuid.uuid4().hex}"
    steps: dict[str, Callable[[], bool]] = {
        "write an object": create,
        "keep an object that is there from being written as new (If-None-Match)": lambda: (
            client.write_if(key, second, None) is None
        ),
        "keep an object that has changed from being replaced (If-Match)": lambda: (
            client.write_if(key, second, '"of another"') is None
        ),
        "replace an object that has not changed": lambda: client.write_if(key, second, tags[0]) is not None,
        "read what was written": lambda: client.read(key)[0] == second,
    }
    missing = []
    for ability, tries in steps.items():
        try:
            if not tries():
                missing.append(ability)
        except OSError as error:
            missing.append(f"{ability} ({error})")
            break
    try:
        client.delete([key], lambda: None)
    except OSError as error:
        missing.append(f"delete an object ({error})")
    return missing
