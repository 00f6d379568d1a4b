"""OTLP as it is sent: protobuf or JSON becomes a document of OTLP JSON, and the answer is said in the same form."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import orjson

from slowwave.flows.capture.posts import HttpAnswer
from slowwave.transforms.imports.otlp.trace_documents import Signal
from slowwave.transforms.landing.posted_records import is_too_deep

PROTOBUF = "application/x-protobuf"
NEEDED = (
    "protobuf cannot be read here: install slowwave with the extra `otlp`, or send JSON"
    " (OTEL_EXPORTER_OTLP_PROTOCOL=http/json)"
)
_IDS = ("traceId", "spanId", "parentSpanId")
_SERVICE = {"traces": ("trace", "Trace"), "logs": ("logs", "Logs")}


class UnreadableError(Exception):
    """A body is not what it should be; the message says why."""


def can_read_protobuf() -> bool:
    """Whether what reads OTLP as protobuf is installed."""
    try:
        _messages("traces")
    except ImportError:
        return False
    return True


def document_of(body: bytes, signal: Signal, *, is_protobuf: bool) -> Any:  # noqa: ANN401 - JSON
    """The document that a body states. Raises UnreadableError."""
    if is_protobuf:
        document = _of_protobuf(body, signal)
    else:
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            message = f"the body is not JSON: {error.msg}"
            raise UnreadableError(message) from error
    if is_too_deep(document):
        message = "the body nests too deep"
        raise UnreadableError(message)
    return document


def taken_answer(signal: Signal, rejected: int, *, is_protobuf: bool) -> HttpAnswer:
    """That all was taken but `rejected` spans or log records, which name another project."""
    why = "they name another project than that of their token" if rejected else ""
    if not is_protobuf:
        name = {"traces": "rejectedSpans", "logs": "rejectedLogRecords"}[signal]
        partial = {"partialSuccess": {name: rejected, "errorMessage": why}} if rejected else {}
        return HttpAnswer(200, orjson.dumps(partial))
    if not rejected:
        return HttpAnswer(200, b"", PROTOBUF)
    stated = {f"rejected_{'spans' if signal == 'traces' else 'log_records'}": rejected, "error_message": why}
    return HttpAnswer(200, _messages(signal)[1](partial_success=stated).SerializeToString(), PROTOBUF)


def _messages(signal: Signal) -> tuple[Any, Any]:
    """What a request and an answer of the signal are. Raises ImportError."""
    module, name = _SERVICE[signal]
    found = import_module(f"opentelemetry.proto.collector.{module}.v1.{module}_service_pb2")
    return getattr(found, f"Export{name}ServiceRequest"), getattr(found, f"Export{name}ServiceResponse")


def _of_protobuf(body: bytes, signal: Signal) -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict, SerializeToJsonError
    from google.protobuf.message import DecodeError

    request = _messages(signal)[0]()
    try:
        request.ParseFromString(body)
        document = MessageToDict(request, use_integers_for_enums=True)
    except (DecodeError, SerializeToJsonError, UnicodeDecodeError, RecursionError, ValueError) as error:
        message = "the body is no OTLP in protobuf"
        raise UnreadableError(message) from error
    for item in _items(document, signal):
        for one in (item, *item.get("links", ())):
            one.update({name: _hex(one[name]) for name in _IDS if name in one})
    return document


def _items(document: dict[str, Any], signal: Signal) -> Iterator[dict[str, Any]]:
    names = ("resourceSpans", "scopeSpans", "spans")
    resources, scopes, items = names if signal == "traces" else ("resourceLogs", "scopeLogs", "logRecords")
    for held in document.get(resources, ()):
        for scoped in held.get(scopes, ()):
            yield from scoped.get(items, ())


def _hex(text: str) -> str:
    return base64.b64decode(text).hex()
