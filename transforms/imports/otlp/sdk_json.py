"""Spans and log records as SDKs and tracing tools write them in JSON of their own, as OTLP JSON documents.

Each form is one line of a table: where it keeps ids, times and attributes. Known are OpenTelemetry's SDKs of Python
(`to_json()`, console exporter) and JavaScript (as Gemini CLI and Copilot write them to a file), Phoenix (REST, its
command line, a frame of spans as records) and MLflow (traces with `info` and `data`).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from slowwave.transforms.core.times import EPOCH_NANOSECONDS_BELOW, EPOCH_NANOSECONDS_FROM, epoch_microseconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ERROR = 2
_ERRORS = frozenset({"ERROR", "STATUSCODE.ERROR", "STATUS_CODE_ERROR", "2"})
_HEX = re.compile(r"[0-9a-fA-F]+")
_DEEPEST = 8
_LISTS = (("data", "spans"), ("spans",), ("data",), ("traces",))
_MOST_LISTS = 2  # traces hold spans

Path = tuple[str, ...]


@dataclass(frozen=True)
class SdkFormat:
    """A form of spans, or of log records: what must be there, and where what is needed stands; the first that is."""

    called: str
    marks: tuple[Path, ...]
    trace_id: tuple[Path, ...]
    span_id: tuple[Path, ...]
    parent_id: tuple[Path, ...] = ()
    started: tuple[Path, ...] = ()
    ended: tuple[Path, ...] = ()
    is_log: bool = False


_OF_SDK = SdkFormat(
    "spans of the OpenTelemetry SDK",
    (("context", "trace_id"), ("context", "span_id"), ("start_time",)),
    (("context", "trace_id"),),
    (("context", "span_id"),),
    (("parent_id",),),
    (("start_time",),),
    (("end_time",),),
)
FORMS = (
    replace(_OF_SDK, called="spans of Phoenix", marks=(("context", "trace_id"), ("span_kind",), ("start_time",))),
    SdkFormat(
        "a frame of Phoenix's spans",
        (("context.trace_id",), ("context.span_id",)),
        (("context.trace_id",),),
        (("context.span_id",),),
        (("parent_id",),),
        (("start_time",),),
        (("end_time",),),
    ),
    _OF_SDK,
    SdkFormat(
        "spans of MLflow",
        (("trace_id",), ("span_id",), ("start_time_unix_nano",), ("attributes",)),
        (("trace_id",),),
        (("span_id",),),
        (("parent_span_id",), ("parent_id",)),
        (("start_time_unix_nano",),),
        (("end_time_unix_nano",),),
    ),
    SdkFormat(
        "spans of OpenTelemetry's JavaScript SDK",
        (("_spanContext", "traceId"), ("startTime",)),
        (("_spanContext", "traceId"),),
        (("_spanContext", "spanId"),),
        (("parentSpanContext", "spanId"), ("_parentSpanContext", "spanId"), ("parentSpanId",)),
        (("startTime",),),
        (("endTime",),),
    ),
    SdkFormat(
        "logs of OpenTelemetry's JavaScript SDK",
        (("hrTime",), ("attributes",)),
        (("spanContext", "traceId"), ("_spanContext", "traceId")),
        (("spanContext", "spanId"), ("_spanContext", "spanId")),
        started=(("hrTime",),),
        is_log=True,
    ),
    SdkFormat(
        "logs of the OpenTelemetry SDK",
        (("observed_timestamp",), ("attributes",), ("trace_id",)),
        (("trace_id",),),
        (("span_id",),),
        started=(("timestamp",), ("observed_timestamp",)),
        is_log=True,
    ),
)


def form_of(record: Mapping[str, Any]) -> SdkFormat | None:
    """Return the form of a record, or of the first that it holds; None where it is of none."""
    return next((form for _, form in _inner(record)), None)


def as_otlp(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a document for each span or log record that a record is or holds; ids lose their `0x`."""
    for inner, form in _inner(record):
        yield _log_document(inner, form) if form.is_log else _span_document(inner, form)


def _inner(record: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[Mapping[str, Any], SdkFormat]]:
    form = next((one for one in FORMS if all(_at(record, mark) is not None for mark in one.marks)), None)
    if form is not None:
        yield record, form
        return
    for path in _LISTS if depth < _MOST_LISTS else ():
        held = _at(record, path)
        if isinstance(held, list):
            for one in held:
                if isinstance(one, dict):
                    yield from _inner(one, depth + 1)
            return


def _at(record: Mapping[str, Any], path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    value: Any = record
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _first(record: Mapping[str, Any], paths: tuple[Path, ...]) -> Any:  # noqa: ANN401
    return next((value for path in paths if (value := _at(record, path)) is not None), None)


def _span_document(record: Mapping[str, Any], form: SdkFormat) -> dict[str, Any]:
    events = record.get("events")
    links = record.get("links")
    span = {
        "traceId": _id(_first(record, form.trace_id), 32),
        "spanId": _id(_first(record, form.span_id), 16),
        "parentSpanId": _id(_first(record, form.parent_id), 16),
        "name": record.get("name"),
        "startTimeUnixNano": _nanoseconds(_first(record, form.started)),
        "endTimeUnixNano": _nanoseconds(_first(record, form.ended)),
        "attributes": _pairs(_attributes(record)),
        "status": _status(record),
        "events": [
            {
                "name": event.get("name"),
                "timeUnixNano": _nanoseconds(_first(event, (("timestamp",), ("time",), ("time_unix_nano",)))),
                "attributes": _pairs(event.get("attributes")),
            }
            for event in (events if isinstance(events, list) else ())
            if isinstance(event, dict)
        ],
        "links": [
            {"traceId": _id(linked.get("trace_id"), 32), "spanId": _id(linked.get("span_id"), 16)}
            for link in (links if isinstance(links, list) else ())
            if isinstance(link, dict) and isinstance(linked := link.get("context"), dict)
        ],
    }
    return {
        "resourceSpans": [{"resource": _resource(record), "scopeSpans": [{"scope": _scope(record), "spans": [span]}]}]
    }


def _log_document(record: Mapping[str, Any], form: SdkFormat) -> dict[str, Any]:
    log = {
        "traceId": _id(_first(record, form.trace_id), 32) or "",
        "spanId": _id(_first(record, form.span_id), 16) or "",
        "eventName": _first(record, (("eventName",), ("event_name",))) or "",
        "timeUnixNano": _nanoseconds(_first(record, form.started)),
        "attributes": _pairs(_attributes(record)),
        "body": _any_value(_first(record, (("body",), ("_body",)))),
    }
    if not log["eventName"]:
        del log["eventName"]
    return {
        "resourceLogs": [{"resource": _resource(record), "scopeLogs": [{"scope": _scope(record), "logRecords": [log]}]}]
    }


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span, flat; Phoenix may nest them, and has the kind of a span beside them."""
    held = record.get("attributes")
    flat = dict(_flat(held)) if isinstance(held, dict) else {}
    for name, value in record.items():
        if name.startswith("attributes."):
            flat |= dict(_flat({name.removeprefix("attributes."): value}))
    flat |= dict(_annotations(record.get("annotations")))
    kind = record.get("span_kind")
    if isinstance(kind, str) and kind and "openinference.span.kind" not in flat:
        flat["openinference.span.kind"] = kind
    return flat


def _annotations(held: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """What Phoenix's command line puts beside a span, under OpenInference's names."""
    annotations: list[Any] = held if isinstance(held, list) else []
    for place, one in enumerate(annotations):
        result = _at(one, ("result",))
        if isinstance(result, dict):
            stated = {name: one.get(name) for name in ("name", "annotator_kind", "identifier")} | result
            yield from (
                (f"annotations.{place}.annotation.{name}", value) for name, value in stated.items() if value is not None
            )


def _flat(held: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in held.items():
        name = f"{prefix}{key}"
        inner = value if isinstance(value, dict) else {}
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            inner = {str(place): one for place, one in enumerate(value)}
        if inner and depth < _DEEPEST:
            yield from _flat(inner, f"{name}.", depth + 1)
        else:
            yield name, value


def _status(record: Mapping[str, Any]) -> dict[str, Any]:
    code = _first(record, (("status", "status_code"), ("status", "code"), ("status_code",)))
    message = _first(record, (("status", "description"), ("status", "message"), ("status_message",)))
    return {"code": _ERROR if str(code).upper() in _ERRORS else 0, "message": message}


def _resource(record: Mapping[str, Any]) -> dict[str, Any]:
    held = _first(record, (("resource", "attributes"), ("resource", "_attributes")))
    raw = _at(record, ("resource", "_rawAttributes"))
    if held is None and isinstance(raw, list):
        held = {pair[0]: pair[1] for pair in raw if isinstance(pair, list) and len(pair) == 2}  # noqa: PLR2004
    return {"attributes": _pairs(held)}


def _scope(record: Mapping[str, Any]) -> dict[str, Any]:
    scope = _first(record, (("instrumentationScope",), ("instrumentationLibrary",)))
    return {name: scope[name] for name in ("name", "version") if name in scope} if isinstance(scope, dict) else {}


def _id(value: Any, digits: int) -> Any:  # noqa: ANN401 - what is no id is refused where ids are read
    """An id as hexadecimal digits: without `0x` or `tr-`, from base64; any other text as its digest."""
    if not isinstance(value, str) or not value:
        return value
    plain = value.removeprefix("0x").removeprefix("tr-")
    if _HEX.fullmatch(plain) and len(plain) <= digits:
        return plain.rjust(digits, "0") if value.startswith(("0x", "tr-")) else plain
    try:
        decoded = base64.b64decode(value, validate=True).hex()
    except ValueError:
        decoded = ""
    return decoded if len(decoded) == digits else hashlib.blake2b(value.encode(), digest_size=digits // 2).hexdigest()


def _nanoseconds(value: Any) -> int | None:  # noqa: ANN401
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, int) for one in value):  # noqa: PLR2004
        return value[0] * 10**9 + value[1]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value < EPOCH_NANOSECONDS_BELOW:
            return None
        return int(value) if value >= EPOCH_NANOSECONDS_FROM else int(epoch_microseconds(value) * 1000)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _pairs(held: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if not isinstance(held, dict):
        return []
    return [{"key": key, "value": _any_value(value)} for key, value in held.items() if isinstance(key, str)]


def _any_value(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _pairs(value)}}
    if isinstance(value, list):  # attributes hold lists of such values, and no lists in lists
        return {"arrayValue": {"values": [_any_value(one) for one in value if not isinstance(one, list)]}}
    return {}
