"""OTLP JSON in files: what the collector's file exporter writes, documents of their own, and the SDK's spans."""

from __future__ import annotations

from collections.abc import Iterator

from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.json_records import json_objects
from slowwave.flows.imports.together import Dealt
from slowwave.transforms.imports.made import LeftOut, Located, Refused
from slowwave.transforms.imports.otlp.adapter import Otlp
from slowwave.transforms.imports.otlp.misfits import misfit
from slowwave.transforms.imports.otlp.parts import Part, parts


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
    reader=json_objects,
    deal=_by_trace,
    misfit=misfit,
)
