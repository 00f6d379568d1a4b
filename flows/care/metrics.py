"""Metrics of a home and of its receiver, as Prometheus reads them: each declared once, with its unit in its name.

They are numbers, with names of tables, stages and checks, and nothing of any content.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import TEMPORARY
from slowwave.transforms.core.vocabularies import ROW_FATES

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Metric:
    """One family of values."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    says: str


@dataclass(frozen=True)
class Sample:
    """One value, with its labels; `suffix` is of a histogram."""

    value: float
    labels: Mapping[str, str | float] | None = None
    suffix: str = ""


Samples = dict[str, Sequence[Sample]]

METRICS: tuple[Metric, ...] = (
    Metric("slowwave_last_night_timestamp_seconds", "gauge", "When the last night began, since 1970."),
    Metric("slowwave_last_night_duration_seconds", "gauge", "How long it took."),
    Metric("slowwave_last_night_success", "gauge", "Whether it published, or had nothing to do: 1, else 0."),
    Metric("slowwave_last_publish_timestamp_seconds", "gauge", "When what is current was published, since 1970."),
    Metric("slowwave_last_landing_timestamp_seconds", "gauge", "When a file last landed, since 1970."),
    Metric("slowwave_newest_event_timestamp_seconds", "gauge", "Newest event time that has come, since 1970."),
    Metric("slowwave_landed_rows_total", "counter", "Rows by what became of them in landings."),
    Metric("slowwave_stage_cpu_seconds", "gauge", "CPU time of each stage of the last publish."),
    Metric("slowwave_table_rows", "gauge", "Rows of each published table."),
    Metric("slowwave_inbox_files", "gauge", "Files in the inbox that wait to be landed."),
    Metric("slowwave_review_items", "gauge", "Items that wait for a decision, by kind."),
    Metric("slowwave_serving_file_bytes", "gauge", "Size of the published file."),
    Metric("slowwave_disk_free_bytes", "gauge", "Room on the disk of the lake."),
    Metric(
        "slowwave_lake_daily_growth_bytes", "gauge", "What the last days of the log take, landed and derived, each."
    ),
    Metric("slowwave_check_state", "gauge", "Lines of `slowwave status`: 0 ok, 1 warn, 2 error."),
    Metric("slowwave_capture_requests_total", "counter", "Requests answered."),
    Metric("slowwave_capture_rows_total", "counter", "Rows, spans and log records."),
    Metric("slowwave_capture_written_bytes_total", "counter", "Bytes made durable in the inbox."),
    Metric("slowwave_capture_failed_commits_total", "counter", "Files that could not be written."),
    Metric("slowwave_capture_commit_seconds", "histogram", "How long a file took to be durable."),
    Metric("slowwave_capture_waiting_files", "gauge", "Files of the receiver that wait to be landed."),
    Metric("slowwave_capture_held_bytes", "gauge", "Bytes of bodies that are being taken in."),
)

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


def metrics_text(samples: Samples) -> str:
    """Return samples in Prometheus's text format, in the order in which the metrics are declared."""
    return "".join(
        f"{line}\n" for metric in METRICS if metric.name in samples for line in _lines(metric, samples[metric.name])
    )


def _lines(metric: Metric, samples: Sequence[Sample]) -> Iterable[str]:
    yield f"# HELP {metric.name} {metric.says}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in samples:
        labels = ",".join(f'{name}="{_escape(value)}"' for name, value in (sample.labels or {}).items())
        yield f"{metric.name}{sample.suffix}{f'{{{labels}}}' if labels else ''} {sample.value!r}"


def _escape(value: str | float) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def home_samples(settings: Settings, now: datetime) -> Samples:
    """Return what is known of a home now (naive UTC); what cannot be read is left out, as its check says."""
    from slowwave.flows.care.status import Clock, status_lines  # loads what a receiver does without at first

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
    from slowwave.flows.lake.files import files_by_day
    from slowwave.flows.lake.sql import lake_rows

    sums = ", ".join(f"sum(greatest({fate}, 0))::BIGINT AS {fate}" for fate in ROW_FATES if fate != "delivered")
    try:
        files = [file for of_day in files_by_day(settings.lake_folder, "run_files").values() for file in of_day]
        return lake_rows(_FATES.format(sums=sums), files)[0] if files else {}
    except (duckdb.Error, OSError, UserError):
        return {}


def _published_samples(settings: Settings) -> Samples:
    from slowwave.flows.lake.current import current_run

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
    return settings.home / Path(named).expanduser()


def write_textfile(settings: Settings, now: datetime) -> str:
    """Write the metrics where `[metrics]` says; return what went wrong, '' for nothing."""
    try:
        path = textfile(settings)
        if path is not None:
            _write_for_all(path, metrics_text(home_samples(settings, now)))
    except (UserError, OSError) as error:
        return f"metrics were not written: {error}"
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
