"""Documents of OTLP JSON as parts: what of each trace they hold, what is kept of them, and what is no OTLP JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import orjson

from slowwave.transforms.imports.adapter import LeftOut, Located, Record, Refused
from slowwave.transforms.imports.otlp.conventions import (
    DETAILS,
    MEANT,
    NAMED,
    attributes,
    client_of,
    client_of_scope,
    context_of,
    event_name,
    nanoseconds,
    plain_value,
)
from slowwave.transforms.imports.otlp.sdk_json import as_otlp, form_of
from slowwave.transforms.imports.secrets import clean_record

EVALUATION = "gen_ai.evaluation.result"
_FEEDBACK = ("annotations.", "evaluations.", "trace.annotations.", "trace.evaluations.")
# Whose token it was taken in by, says the receiver.
SENDERS_PROJECT = "slowwave.project"
# What is left of a span whose feedback went to the trace that it judges.
JUDGES = "slowwave.judges"
_OF_RESOURCE = frozenset({"service.name", "openinference.project.name", SENDERS_PROJECT})
_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")
_SPAN_ID = re.compile(r"[0-9a-fA-F]{16}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{11}=|[A-Za-z0-9+/]{22}==")
_NOT_OTLP = (
    "is no OTLP JSON but what protobuf's MessageToJson writes: its ids are base64 and its kinds are names. Export with"
    " the collector's file exporter (`format: json`), or write the ids as hex and the kinds as numbers"
)
_PLACE = ("startTimeUnixNano", "endTimeUnixNano")
_TIMES = ("endTimeUnixNano", "startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano")
_SHOWN = 2000


@dataclass(frozen=True)
class TraceDocument:
    """One span or log record as a document.

    `trace_id`: the trace it tells of, '' where it names none. `response_id`: the answer that it gives or, if it
    `is_judging`, that it is about, whichever trace that is in; '' for none.
    """

    number: int
    trace_id: str
    document: dict[str, Any]
    response_id: str
    is_judging: bool

    @property
    def seconds(self) -> int:
        """When it was written, in seconds since 1970; 0 where it does not say."""
        item = next(items(self.document))
        return max(nanoseconds(item.get(name)) or 0 for name in _TIMES) // 10**9


def parts(located: Located) -> Iterator[TraceDocument | LeftOut | Refused]:
    """The spans and log records of a document; those that are of no model, agent or memory keep their place only."""
    record: Mapping[str, Any] = located.record
    if "resourceSpans" in record or "resourceLogs" in record or form_of(record) is None:
        yield from _document_parts(located)
        return
    for document in as_otlp(record):
        yield from _document_parts(Located(located.number, document))


def _document_parts(located: Located) -> Iterator[TraceDocument | LeftOut | Refused]:
    record = located.record
    known = False
    for signal, scopes, items, take in (
        ("resourceSpans", "scopeSpans", "spans", _span),
        ("resourceLogs", "scopeLogs", "logRecords", _log_record),
    ):
        if not isinstance(record.get(signal), list):
            continue
        known = True
        for held in _objects(record[signal]):
            resource = _resource(held.get("resource"))
            for scoped in _objects(held.get(scopes)):
                scope = _scope(scoped.get("scope"))
                named = str(scope.get("name", ""))
                held_items = _objects(scoped.get(items))
                for found in chain.from_iterable(take(located.number, item, named) for item in held_items):
                    if isinstance(found, _TakenIds):
                        document = {signal: [{"resource": resource, scopes: [{"scope": scope, items: [found.item]}]}]}
                        answer = _response_id(found.item)
                        is_judging = bool(answer) and _event_name(found.item) == EVALUATION
                        yield TraceDocument(located.number, found.trace_id, document, answer, is_judging)
                    else:
                        yield found
    if not known:
        yield _unknown(located)


def why_not_otlp(record: Mapping[str, Any]) -> str | None:
    """What a record is that looks like OTLP JSON and is not, as the rest of a sentence; None where it does not."""
    if "resource_spans" in record or "resource_logs" in record:
        return _NOT_OTLP
    for item in items(record):
        if any(isinstance(item.get(name), str) and _BASE64.fullmatch(item[name]) for name in ("traceId", "spanId")):
            return _NOT_OTLP
        if isinstance(item.get("kind"), str) and item["kind"].startswith("SPAN_KIND_"):
            return _NOT_OTLP
        return None
    return None


def items(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The spans and log records of a document."""
    for signal, scopes, items in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for held in _objects(record.get(signal)):
            for scoped in _objects(held.get(scopes)):
                yield from _objects(scoped.get(items))


@dataclass(frozen=True)
class _TakenIds:
    trace_id: str
    item: dict[str, Any]


def _span(number: int, span: dict[str, Any], _scope_name: str) -> Iterator[_TakenIds | LeftOut | Refused]:
    trace_id, span_id, parent = span.get("traceId"), span.get("spanId"), span.get("parentSpanId") or ""
    wrong = _wrong_id("traceId", trace_id, _TRACE_ID) or _wrong_id("spanId", span_id, _SPAN_ID)
    if not wrong and parent:
        wrong = _wrong_id("parentSpanId", parent, _SPAN_ID)
    if not wrong and nanoseconds(span.get("startTimeUnixNano")) is None:
        wrong = "startTimeUnixNano is no time in nanoseconds"
    is_meant = _is_meant(span)
    if wrong:
        # a span of no model would have made no row
        yield Refused(number, f"a span's {wrong}", _shown_part(span)) if is_meant else LeftOut(f"spans whose {wrong}")
        return
    ids = {"traceId": str(trace_id).lower(), "spanId": str(span_id).lower(), "parentSpanId": str(parent).lower()}
    if not is_meant:
        yield _TakenIds(ids["traceId"], ids | {name: span[name] for name in _PLACE if name in span})
        return
    if judged := _judged_trace_id(span):
        yield _TakenIds(judged, {**span, **ids, "parentSpanId": ""})
        span = {name: held for name, held in span.items() if name not in {"events", "links"}}
        kept = [pair for pair in _objects(span.get("attributes")) if not _is_feedback(pair)]
        span["attributes"] = [*kept, {"key": JUDGES, "value": {"boolValue": True}}]
    yield _TakenIds(ids["traceId"], {**span, **ids})


def _log_record(number: int, log: dict[str, Any], scope_name: str) -> Iterator[_TakenIds | LeftOut | Refused]:
    held = attributes(log.get("attributes"))
    name = event_name(log, held, plain_value(log.get("body")))
    client = client_of(name)
    sender = client_of_scope(scope_name)
    if client is None and sender is not None and name in sender.events:  # the end of the name alone
        client, name = sender, sender.prefix + name
        log = {**log, "eventName": name}
    if client is not None and name.removeprefix(client.prefix) not in client.events:
        yield LeftOut(f"events of {client.called} that tell neither prompt nor answer: {name[:60]}")
        return
    if client is None and not _is_meant(log) and not name.startswith("gen_ai."):
        yield LeftOut("log records of something else than a model", example=name[:200])
        return
    trace_id, span_id = log.get("traceId") or "", log.get("spanId") or ""
    if not trace_id and (client is not None or name == DETAILS):
        trace_id, span_id = context_of(name, held, _shown_part(log).encode())
    wrong = (_wrong_id("traceId", trace_id, _TRACE_ID) if trace_id else "") or (
        _wrong_id("spanId", span_id, _SPAN_ID) if span_id else ""
    )
    if wrong:
        yield Refused(number, f"a log record's {wrong}", _shown_part(log))
    else:
        ids = {"traceId": str(trace_id).lower(), "spanId": str(span_id).lower()}
        yield _TakenIds(ids["traceId"], {**log, **ids})


def _is_meant(item: Mapping[str, Any]) -> bool:
    """Whether an attribute, also of an event, says that a model, an agent or a memory is what this is about."""
    if isinstance(name := item.get("name"), str) and name in NAMED:
        return True
    held = item.get("attributes")
    for pair in held if isinstance(held, list) else ():
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str) and key.startswith((*MEANT, JUDGES)):
            return True
    return any(str(event.get("name", "")).startswith("gen_ai.") for event in _objects(item.get("events")))


def _response_id(item: Mapping[str, Any]) -> str:
    named = (pair for pair in _objects(item.get("attributes")) if pair.get("key") == "gen_ai.response.id")
    value = next(named, {}).get("value")
    return str(value.get("stringValue", "")) if isinstance(value, dict) else ""


def _event_name(item: Mapping[str, Any]) -> str:
    if "eventName" in item:
        return str(item["eventName"])
    named = (pair for pair in _objects(item.get("attributes")) if pair.get("key") == "event.name")
    value = next(named, {}).get("value")
    return str(value.get("stringValue", "")) if isinstance(value, dict) else ""


def _judged_trace_id(span: Mapping[str, Any]) -> str:
    """The trace that a span with feedback links to: it tells of that one, not of its own."""
    links = _objects(span.get("links"))
    linked = next((str(link.get("traceId", "")).lower() for link in links), "")
    if not _TRACE_ID.fullmatch(linked):
        return ""
    carries = any(map(_is_feedback, _objects(span.get("attributes"))))
    judges = any(event.get("name") == EVALUATION for event in _objects(span.get("events")))
    return linked if carries or judges else ""


def _is_feedback(pair: Mapping[str, Any]) -> bool:
    return str(pair.get("key", "")).startswith(_FEEDBACK)


def _wrong_id(name: str, value: Any, form: re.Pattern[str]) -> str:  # noqa: ANN401
    """What is wrong with an id, as `traceId is …`; '' where nothing is."""
    if isinstance(value, str) and form.fullmatch(value):
        return "" if value.strip("0") else f"{name} is all zeros, which is no id"
    if isinstance(value, str) and _BASE64.fullmatch(value):
        return f"{name} is base64: OTLP JSON has ids as hex, so this was written by protobuf's own JSON"
    digits = 32 if form is _TRACE_ID else 16
    return f"{name} is no hexadecimal id of {digits} digits"


def _resource(resource: Any) -> dict[str, Any]:  # noqa: ANN401
    held = resource.get("attributes") if isinstance(resource, dict) else None
    pairs = held if isinstance(held, list) else ()
    return {"attributes": [pair for pair in pairs if isinstance(pair, dict) and str(pair.get("key")) in _OF_RESOURCE]}


def _scope(scope: Any) -> dict[str, Any]:  # noqa: ANN401
    return {name: scope[name] for name in ("name", "version") if name in scope} if isinstance(scope, dict) else {}


def _unknown(located: Located) -> LeftOut | Refused:
    record = located.record
    other = next((k for k in ("resourceMetrics", "resourceProfiles") if k in record), None)
    if other:
        return LeftOut(f"{other.removeprefix('resource').lower()} of OpenTelemetry, which hold no interaction")
    if why := why_not_otlp(record):
        return Refused(located.number, f"it {why}", _shown_part(record))
    return Refused(
        located.number, "it is no OTLP JSON: it has neither resourceSpans nor resourceLogs", _shown_part(record)
    )


def _objects(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _shown_part(item: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(item).decode()[:_SHOWN]
    except orjson.JSONEncodeError:  # which is how it says that lists lie in lists too deep
        return "(nested too deep to be shown)"


# ------------------------------------------------------------------------------------------
# What OpenTelemetry writes and is not OTLP JSON, and what to do to have that.

_ZSTD = b"\x28\xb5\x2f\xfd"
# The first field of every message of OTLP: a list of resources, as length-delimited messages.
_FIRST_FIELD = 0x0A
_SIZE_BYTES = 4
_CONTROL = frozenset(range(9))
_PROTO = (
    "is protobuf, as the collector's file exporter writes with `format: proto`: set `format: json` in its configuration"
)
_COMPRESSED = (
    "has blocks as the collector's file exporter writes with `compression: zstd`: leave `compression` out of its"
    " configuration; finished files may be packed with gzip or zstd"
)


def misfit(head: bytes, first: Sequence[Record]) -> str | None:
    """What a file is that OpenTelemetry wrote and that cannot be read, as the rest of a sentence; None for others."""
    if first:
        return why_not_otlp(first[0])
    if head[_SIZE_BYTES : 2 * _SIZE_BYTES] == _ZSTD:
        return _COMPRESSED
    size = int.from_bytes(head[:_SIZE_BYTES], "big")
    is_block = head[_SIZE_BYTES : _SIZE_BYTES + 1] == bytes([_FIRST_FIELD]) and 0 < size < 2**31
    is_message = head[:1] == bytes([_FIRST_FIELD])
    return _PROTO if (is_block or is_message) and not _CONTROL.isdisjoint(head) else None


# ------------------------------------------------------------------------------------------
# OTLP as it is taken in over the network: the project of its sender in it, and no secrets.

Signal = Literal["traces", "logs"]
_NAMED = "openinference.project.name"
_PLACES: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def why_not_taken(document: object, signal: Signal) -> str:
    """Why a document is no OTLP JSON of that signal; '' where it is."""
    name = _PLACES[signal][0]
    if not isinstance(document, dict) or not isinstance(document.get(name, []), list):
        return f"it is no OTLP JSON of {signal}: it has no list {name}"
    other: Signal = "logs" if signal == "traces" else "traces"
    if document.get(_PLACES[other][0]):
        return f"it has {other}, which go to /v1/{other}"
    wrong = why_not_otlp(document)
    return f"it {wrong}" if wrong else ""


def kept_document(document: Mapping[str, Any], signal: Signal, project: str | None) -> tuple[dict[str, Any], int]:
    """The document as it is kept, and how many spans or log records are not in it: they name another project.

    `project`: of the sender; None where it may name any.
    """
    name, scopes, items = _PLACES[signal]
    kept: list[dict[str, Any]] = []
    refused = 0
    for held in document.get(name, []):
        if not isinstance(held, dict):
            continue
        if project is None or _names(held) in (None, project):
            kept.append(held)
        else:
            refused += sum(len(one) for one in _lists(held.get(scopes), items))
    cleaned = clean_record({name: kept})
    return {name: [_of_project(held, project) for held in cleaned[name]]}, refused


def _lists(scopes: object, items: str) -> Iterator[list[Any]]:
    for scope in scopes if isinstance(scopes, list) else ():
        found = scope.get(items) if isinstance(scope, dict) else None
        if isinstance(found, list):
            yield found


def _clean_attributes(held: Mapping[str, Any]) -> list[Any]:
    resource = held.get("resource")
    found = resource.get("attributes") if isinstance(resource, dict) else None
    return found if isinstance(found, list) else []


def _names(held: Mapping[str, Any]) -> object:
    """The project that a resource names on purpose; None where it names none."""
    for pair in _clean_attributes(held):
        if isinstance(pair, dict) and pair.get("key") == _NAMED:
            value = pair.get("value")
            return value.get("stringValue", "") if isinstance(value, dict) else ""
    return None


def _of_project(held: dict[str, Any], project: str | None) -> dict[str, Any]:
    """With the sender's project; without what only a receiver may say."""
    pairs = [
        one for one in _clean_attributes(held) if not (isinstance(one, dict) and one.get("key") == SENDERS_PROJECT)
    ]
    if project is not None:
        pairs.append({"key": SENDERS_PROJECT, "value": {"stringValue": project}})
    resource = held.get("resource")
    return {**held, "resource": {**(resource if isinstance(resource, dict) else {}), "attributes": pairs}}
