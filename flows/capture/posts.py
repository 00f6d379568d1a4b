"""What was posted, by whom, and what is answered. OTLP is protobuf or JSON, and answered in the same form."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import orjson

from slowwave.flows.kernel.bearer_tokens import Tokens
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.readings import command_readings
from slowwave.transforms.imports.otlp.trace_documents import Signal
from slowwave.transforms.landing.mapping.rules import ReadingOptions
from slowwave.transforms.landing.posted_records import is_too_deep

Where = Literal["interactions", "outcomes", "memories", "traces", "logs"]
_RETRY_SECONDS = 5


@dataclass(frozen=True)
class Sender:
    """Who posts: the name of the token, its project (None: any) and its mapping; nobody in particular without one."""

    name: str = ""
    project: str | None = None
    mapping: str = ""


@dataclass(frozen=True)
class HttpAnswer:
    """What is answered."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Post:
    """A body that came whole. `key`: the sender's for this request, '' for none; `answered` is told from any thread."""

    where: Where
    body: bytes
    is_protobuf: bool
    sender: Sender
    key: str
    answered: Callable[[HttpAnswer], None]


def error_answer(status: int, reason: str, **more: Any) -> HttpAnswer:  # noqa: ANN401 - JSON
    """An answer that says what is wrong."""
    return HttpAnswer(status, orjson.dumps({"error": reason, **more}))


def later(reason: str, seconds: int = _RETRY_SECONDS, status: int = 503) -> HttpAnswer:
    """An answer to post it again after some seconds: nothing of it was kept."""
    return HttpAnswer(status, orjson.dumps({"error": reason}), headers={"Retry-After": str(seconds)})


# Who posts, and how the rows of each are read.


class Senders:
    """The senders of a home; `must_have_token`: also where there never was a token."""

    def __init__(self, settings: Settings, *, must_have_token: bool) -> None:
        self._settings = settings
        self._tokens = Tokens(settings)
        self._must_have_token = must_have_token
        self._readings: dict[str, tuple[tuple[float, ...], ReadingOptions]] = {}

    def sender(self, authorization: str | None) -> Sender | None:
        """Who sends an `Authorization` header; None where nobody may who does. Raises UserError as `Tokens`."""
        token = self._tokens.verify_token(authorization, "capture")
        if token is not None:
            return Sender(token.name, token.project, token.mapping)
        return None if self._must_have_token or self._tokens.are_asked_for() else Sender()

    def reading(self, sender: Sender) -> ReadingOptions:
        """How a sender's rows are read. Raises UserError where its mapping, or `settings.toml`, cannot be used."""
        files = [self._settings.settings_file]
        if sender.mapping:
            files.append(self._settings.mappings / f"{sender.mapping}.toml")
        stamp = tuple(file.stat().st_mtime if file.exists() else 0.0 for file in files)
        known = self._readings.get(sender.mapping)
        if known is None or known[0] != stamp:
            readings = command_readings(self._settings, [], sender.mapping or None, as_is=False)
            mapping = readings.chosen
            if mapping is not None and (mapping.explode or mapping.where):
                message = (
                    f"the mapping {sender.mapping} has explode or where: posted rows are taken one by one, as they are"
                )
                raise UserError(message)
            keeps = readings.keeps_unknown or (mapping is not None and mapping.keeps_unknown)
            known = self._readings[sender.mapping] = stamp, ReadingOptions(mapping, keeps)
        return known[1]


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
