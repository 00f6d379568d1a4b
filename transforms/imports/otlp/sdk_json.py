"""A span as the Python SDK's `to_json()` and its console exporter write it, as an OTLP JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_ERROR = 2


def is_sdk_span(record: Mapping[str, Any]) -> bool:
    """Whether a record is one: it names its trace in a `context`, and its attributes are one object."""
    context = record.get("context")
    return isinstance(context, dict) and "trace_id" in context and "span_id" in context and "start_time" in record


def as_otlp(record: Mapping[str, Any]) -> dict[str, Any]:
    """The document with this one span; ids lose their `0x`, times become nanoseconds."""
    context, resource, status = _object(record, "context"), _object(record, "resource"), _object(record, "status")
    span = {
        "traceId": _id(context.get("trace_id")),
        "spanId": _id(context.get("span_id")),
        "parentSpanId": _id(record.get("parent_id")),
        "name": record.get("name"),
        "startTimeUnixNano": _nanoseconds(record.get("start_time")),
        "endTimeUnixNano": _nanoseconds(record.get("end_time")),
        "attributes": _pairs(record.get("attributes")),
        "status": {
            "code": _ERROR if status.get("status_code") == "ERROR" else 0,
            "message": status.get("description"),
        },
        "events": [
            {
                "name": event.get("name"),
                "timeUnixNano": _nanoseconds(event.get("timestamp")),
                "attributes": _pairs(event.get("attributes")),
            }
            for event in _objects(record, "events")
        ],
        "links": [
            {"traceId": _id(linked.get("trace_id")), "spanId": _id(linked.get("span_id"))}
            for linked in (_object(link, "context") for link in _objects(record, "links"))
        ],
    }
    of_resource = {"attributes": _pairs(resource.get("attributes"))}
    return {"resourceSpans": [{"resource": of_resource, "scopeSpans": [{"spans": [span]}]}]}


def _object(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _id(value: Any) -> Any:  # noqa: ANN401 - what is no id is refused where ids are read
    return value.removeprefix("0x") if isinstance(value, str) else value


def _nanoseconds(value: Any) -> int | None:  # noqa: ANN401
    try:
        moment = datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _pairs(held: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if not isinstance(held, dict):
        return []
    return [{"key": key, "value": _any_value(value)} for key, value in held.items()]


def _any_value(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):  # attributes hold lists of such values, and no lists in lists
        return {"arrayValue": {"values": [_any_value(one) for one in value if not isinstance(one, list)]}}
    return {}
