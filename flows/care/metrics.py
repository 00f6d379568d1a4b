"""Metrics of a home and of its receiver, as Prometheus reads them: each declared once, with its unit in its name.

They are numbers, with names of tables, stages and checks, and nothing of any content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
