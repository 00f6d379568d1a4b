"""The metrics of a home, from what `status`, the ledger and the published file say: printed, or written to a file."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import typer

from slowwave.flows.care.metrics import Sample, Samples, metrics_text
from slowwave.flows.care.status import Clock, status_lines
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import TEMPORARY
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.sql import lake_rows
from slowwave.transforms.core.vocabularies import ROW_FATES

# By metric what is asked of the published file: a value, and a label where there are several.
_PUBLISHED = {
    "slowwave_stage_cpu_seconds": "SELECT sum(cpu_seconds), stage FROM run_steps GROUP BY stage ORDER BY stage",
    "slowwave_review_items": "SELECT count(*), kind FROM review_queue GROUP BY kind ORDER BY kind",
    "slowwave_table_rows": """
        SELECT estimated_size, table_name AS "table" FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY table_name
    """,
}
# Of a ledger each key once. What left the quarantine later counts below zero there, and a counter never falls.
_FATES = """
SELECT {sums}
FROM (SELECT DISTINCT ON (run_id, file_number) * FROM {{files}})
"""


def home_samples(settings: Settings, now: datetime) -> Samples:
    """Return what is known of a home now (naive UTC); what cannot be read is left out, as its check says."""
    lines = {line.name: line for line in status_lines(settings, Clock(now, 26.0, 50.0))}
    facts = {name: line.facts for name, line in lines.items()}
    found: dict[str, list[Sample]] = {}

    def add(name: str, value: Any, **labels: str) -> None:  # noqa: ANN401 - a number, a time or nothing
        if value is not None:
            number = value.replace(tzinfo=UTC).timestamp() if isinstance(value, datetime) else float(value)
            found.setdefault(name, []).append(Sample(number, labels))

    night = facts.get("last night", {})
    began, ended = night.get("started_at"), night.get("finished_at")
    add("slowwave_last_night_timestamp_seconds", began)
    add("slowwave_last_night_duration_seconds", (ended - began).total_seconds() if began and ended else None)
    add("slowwave_last_night_success", lines["last night"].state != "error" if night else None)
    add("slowwave_last_publish_timestamp_seconds", facts["publish"].get("finished_at"))
    add("slowwave_last_landing_timestamp_seconds", facts.get("landings", {}).get("landed_at"))
    for name, of_table in facts.items():
        add("slowwave_newest_event_timestamp_seconds", of_table.get("newest_event_at"), table=name)
    for fate, rows in _landed_rows(settings).items():
        add("slowwave_landed_rows_total", rows, outcome=fate)
    add("slowwave_inbox_files", facts["inbox"].get("files"))
    add("slowwave_disk_free_bytes", facts.get("disk", {}).get("free_bytes"))
    add("slowwave_lake_daily_growth_bytes", facts.get("disk", {}).get("bytes_a_day"))
    for name, line in lines.items():
        add("slowwave_check_state", ("ok", "warn", "error").index(line.state), check=name)
    return {**found, **_published_samples(settings)}


def _landed_rows(settings: Settings) -> dict[str, int]:
    sums = ", ".join(f"sum(greatest({fate}, 0))::BIGINT AS {fate}" for fate in ROW_FATES if fate != "delivered")
    try:
        files = [file for of_day in files_by_day(settings.lake_folder, "run_files").values() for file in of_day]
        return lake_rows(_FATES.format(sums=sums), files)[0] if files else {}
    except (duckdb.Error, OSError, UserError):
        return {}


def _published_samples(settings: Settings) -> Samples:
    found: Samples = {}
    try:
        current = current_run(settings)
        if current is None:
            return {}
        found["slowwave_serving_file_bytes"] = [Sample(current.stat().st_size)]
        with duckdb.connect(current, read_only=True) as connection:
            for name, query in _PUBLISHED.items():
                answer = connection.execute(query)
                label = (answer.description or [])[1][0]
                found[name] = [Sample(float(value), {label: text}) for value, text in answer.fetchall()]
    except (duckdb.Error, OSError, UserError):
        pass  # what is published is broken: the check `publish` says how
    return found


def print_metrics(settings: Settings, now: datetime) -> None:
    """Print the metrics of a home."""
    typer.echo(metrics_text(home_samples(settings, now)), nl=False)


def textfile(settings: Settings) -> Path | None:
    """Return the file that `[metrics]` names for node_exporter's textfile collector; None: none.

    Raises UserError when that cannot be understood.
    """
    named = settings.read_section("metrics", {"textfile"}).get("textfile", "")
    if named == "":
        return None
    if not isinstance(named, str) or not named.endswith(".prom"):
        message = f"{settings.settings_file} cannot be used: [metrics] textfile is a path that ends in .prom"
        raise UserError(message)
    try:
        return settings.home / Path(named).expanduser()
    except RuntimeError as error:
        message = f"{settings.settings_file} cannot be used: [metrics] textfile names a user who has no home here"
        raise UserError(message) from error


def write_textfile(settings: Settings, now: datetime) -> str:
    """Write the metrics where `[metrics]` says; return what went wrong, '' for nothing."""
    try:
        path = textfile(settings)
        if path is not None:
            _write_for_all(path, metrics_text(home_samples(settings, now)))
    except (UserError, ValueError) as error:  # ValueError: a path that no system has
        return f"metrics were not written: {error}"
    except OSError as error:
        wanted = "let [metrics] in settings.toml name a file in a folder that is there and can be written"
        return f"metrics were not written ({error.strerror}): {wanted}"
    return ""


def _write_for_all(path: Path, text: str) -> None:
    """Write a file whole or not at all. Another user's collector reads it: it says nothing that is secret."""
    aside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.chmod(0o644)
        aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink()
