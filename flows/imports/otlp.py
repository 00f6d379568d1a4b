"""OTLP JSON in files: what the collector's file exporter writes, documents of their own, and the SDK's spans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.json_records import json_objects
from slowwave.flows.imports.table_records import begins_array, table_rows
from slowwave.flows.imports.together import Dealt
from slowwave.flows.imports.units import ReadRecord
from slowwave.transforms.imports.adapter import LeftOut, Located, Refused
from slowwave.transforms.imports.otlp.adapter import Otlp
from slowwave.transforms.imports.otlp.parts import Part, misfit, parts


def _records(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """The documents of a file, which may also be the objects of one JSON array."""
    reader = table_rows if begins_array(path) else json_objects
    yield from reader(path, longest_row, is_idle=is_idle)


def _by_trace(located: Located) -> Iterator[Dealt | Refused | LeftOut]:
    for one in parts(located):
        if isinstance(one, Part):
            yield Dealt(one.trace_id, one.document, one.seconds, one.response_id, follows=one.is_judging)
        else:
            yield one


OTLP = FileSource(
    Otlp(),
    "traces and logs of OpenTelemetry",
    suffixes=(".json", ".jsonl", ".ndjson"),
    reader=_records,
    deal=_by_trace,
    misfit=misfit,
)
